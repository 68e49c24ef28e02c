"""The protocol of a cloud: its data (`CloudFacts`), the properties of its nodes (`CloudNodes`), and
the names, versions, and settings that it rejects.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.allocatable import AllocatableSettings
from dra_planner.clouds.protocol.labels import GPU_TAINT
from dra_planner.clouds.protocol.nodes import CloudNodes
from dra_planner.clouds.protocol.setting_faults import huge_pages_fault, range_fault
from dra_planner.clouds.protocol.settings import (
    ClusterSettings,
    Fault,
    PoolSettings,
)
from dra_planner.errors import RejectedValue, UnsupportedFeature
from dra_planner.wording import either

# number of nodes in a pool, and the pool's maxPods (None means the cloud's default)
PodsOfNodes = tuple[int, int | None]
_OF_KUBERNETES = re.compile(r"(.*\.)?(kubernetes\.io|k8s\.io)")
_OF_KUBELET = re.compile(r"(.*\.)?(kubelet|node)\.kubernetes\.io")
_NOT: Mapping[str, str] = MappingProxyType(
    {"on-demand": "isn't available on demand", "reservation": "can't be reserved"}
)


class Cloud(CloudNodes):
    """One cloud. Its sentences contain the cloud, the rejected value, and a fix."""

    def pods_range_fault(
        self, cidr: str, nodes: Iterable[PodsOfNodes], system_nodes: int
    ) -> RejectedValue | None:
        """Return why the pods' range is too small for the nodes, or None.

        The nodes include one more system node, because an upgrade starts a node before it removes
        an old one. An invalid or empty range isn't checked.
        """
        counted = [*nodes, (system_nodes + 1, None)]
        try:
            there = ipaddress.ip_network(cidr).num_addresses
        except ValueError:
            return None
        taken = sum(
            count * (self.pod_range_addresses(AllocatableSettings(max_pods=max_pods)) or 0)
            for count, max_pods in counted
        )
        if taken <= there:
            return None
        return RejectedValue(
            f"{sum((count for count, _ in counted))} nodes, including one for upgrades, need "
            f"{taken} addresses, but the pod range {cidr} has only {there}",
            "lower the pools' counts, or set a larger podsCidr in the cluster and an equally large "
            "pod-addresses quota in the fleet",
        )

    def pool_name(self, text: str) -> str:
        """Return a valid pool name made from another name, such as a machine type."""
        return (
            re.sub(r"[^a-z0-9-]+", "-", text.lower())
            .strip("-")[: self.longest_pool_name]
            .strip("-")
        )

    def region_of(self, zone: str) -> str:
        """Return the region of a zone, or "" for other texts."""
        found = re.fullmatch(self.zone_pattern, zone)
        return found["region"] if found else ""

    def zone_fault(self, zone: str, region: str = "") -> str:
        """Return why nodes of that region, or of any region, can't be in a zone, or ""."""
        found = self.region_of(zone)
        example = f'use a zone such as "{region or self.region_example}{self.zone_suffixes[0]}"'
        if not found:
            return f'"{zone}" isn\'t a zone of {self.title}; {example}'
        return (
            f'zone "{zone}" isn\'t in region {region}; {example}'
            if region not in ("", found)
            else ""
        )

    def region_fault(self, region: str) -> RejectedValue | None:
        """Return why clusters can't be in a region, or None."""
        if of_zone := self.region_of(region):
            return RejectedValue(f'"{region}" is a zone', f'use region "{of_zone}"')
        if not re.fullmatch(self.region_pattern, region):
            return RejectedValue(
                f'"{region}" isn\'t a region of {self.title}',
                f"use a region such as {self.region_example}",
            )
        return None

    def version_fault(self, version: str) -> str:
        """Return why a text isn't a valid Kubernetes version for a control plane, or ""."""
        if re.fullmatch(self.version_pattern, version):
            return ""
        minor = re.match(r"\s*v?(1\.\d+)", version)
        return (
            f'{self.title} doesn\'t offer version "{version}"; use '
            f'"{minor[1] if minor else self.new_cluster}"'
        )

    def address_fault(self, cidr: str) -> str:
        """Return why a network can't have access to the public API server endpoint, or "".

        `public_network_fault` covers networks that every cloud rejects.
        """
        return ""

    def label_fault(self, key: str, value: str | None) -> RejectedValue | None:
        """Return why the cloud rejects a node label, or None. None is an unknown value."""
        if key in self.reserved_labels:
            return RejectedValue(
                f'every pool already has the label "{key}", which drivers use to find their nodes'
            )
        domain = key.rpartition("/")[0]
        taken = _OF_KUBERNETES.fullmatch(domain) and not _OF_KUBELET.fullmatch(domain)
        if taken or (domain in self.reserved_domains and key not in self.settable_labels):
            return RejectedValue(
                f'{self.title} rejects labels with the prefix {domain}/, such as "{key}"',
                "use your own prefix",
            )
        if value == "" and not self.takes_empty_label_values:
            return RejectedValue(
                f'{self.title} rejects labels without a value, such as "{key}"', "set a value"
            )
        too_long = self._key_fault("label", key)
        return RejectedValue(too_long) if too_long else None

    def taint_fault(self, key: str) -> str:
        """Return why the cloud rejects a node taint, or ""."""
        if key == GPU_TAINT.key:
            return f'every GPU node already has the taint "{key}"'
        return self._key_fault("taint", key)

    def _key_fault(self, what: str, key: str) -> str:
        if len(key) <= self.longest_key:
            return ""
        return (
            f'the {what} key "{key}" has {len(key)} characters, but {self.title} allows at '
            f"most {self.longest_key}"
        )

    def local_disks_fault(self, instance_type: str, count: int) -> str:
        """Return why a machine type can't have this number of local disks, or ""."""
        return ""

    def reservation_fault(self, reservation: str) -> RejectedValue | None:
        """Return why a text can't be the name of bought capacity, or None."""
        if re.fullmatch(self.reservation_pattern, reservation):
            return None
        return RejectedValue(f'"{reservation}" isn\'t {self.reservation_meaning}')

    def unsupported(self, what: str) -> UnsupportedFeature:
        """Return the error for a feature that the cloud doesn't support together with DRA."""
        return UnsupportedFeature(
            f"{self.title} doesn't support {what} with DRA ({self.driver_source})",
            fix=f"turn {what} off, or use a pool without DRA",
        )

    def cluster_faults(self, cluster: ClusterSettings) -> Iterator[Fault]:
        """Yield the cluster settings that the cloud rejects, each with its key in the fleet."""
        if rejection := self.region_fault(cluster.region):
            yield "region", str(rejection)
        if cluster.kubernetes and (fault := self.version_fault(cluster.kubernetes)):
            yield "kubernetes", fault
        if cluster.zone_count is not None and (
            fault := range_fault(cluster.zone_count, self.zone_counts)
        ):
            yield "network.zones", fault
        if cluster.autoscaler not in self.autoscalers:
            known = self.refused.get(f"autoscaler.{cluster.autoscaler}")
            use = (
                f"{self.title} doesn't support autoscaler: {cluster.autoscaler}; use "
                f"{either(self.autoscalers)}"
            )
            yield "autoscaler", known or use
        for index, cidr in enumerate(cluster.public_access_cidrs):
            if fault := self.address_fault(cidr):
                yield f"endpoint.publicAccessCidrs.{index}", fault
        yield from (
            (key, reason) for key, reason in self.refused.items() if key in cluster.set_keys
        )

    def pool_faults(self, pool: PoolSettings) -> Iterator[Fault]:
        """Yield the pool settings that the cloud rejects, each with its key in the pool."""
        if len(pool.name) > self.longest_pool_name:
            yield (
                "name",
                (
                    f"{self.title} allows at most {self.longest_pool_name} characters, not "
                    f"{len(pool.name)}"
                ),
            )
        if rejection := self._capacity_fault(pool):
            yield "capacity", str(rejection)
        if fault := range_fault(pool.max_nodes, self.nodes_of_a_pool):
            yield "count", fault
        if pool.max_pods is not None and (fault := range_fault(pool.max_pods, self.pods_of_a_node)):
            yield "maxPods", fault
        if pool.disk_gib is not None and (fault := range_fault(pool.disk_gib, self.disk_gib)):
            yield "diskGib", fault
        if pool.huge_pages and (fault := huge_pages_fault(pool.huge_pages, pool.machine)):
            yield "hugePages", fault
        yield from (
            ("labels", str(rejection))
            for key, value in pool.labels.items()
            if (rejection := self.label_fault(key, value))
        )
        for index, key in enumerate(pool.taint_keys):
            if fault := self.taint_fault(key):
                yield f"taints.{index}.key", fault
        yield from ((key, reason) for key, reason in self.refused.items() if key in pool.set_keys)
        if pool.plugin is not None:
            yield from self.plugin.faults(self.title, pool.plugin)

    def _capacity_fault(self, pool: PoolSettings) -> RejectedValue | None:
        kind, bought = pool.capacity.kind, pool.capacity.reservation
        if kind not in self.capacities:
            return RejectedValue(
                f"{self.title} doesn't offer {kind}", f"use {either(self.capacities.values())}"
            )
        fault = self.reservation_fault(bought) if bought else None
        if fault or pool.machine is None or kind == "on-demand":
            # a pool without a capacity type is on demand: the plan prints a note instead of
            # rejecting it
            return fault
        return self.purchase_fault(pool.machine, kind)

    def purchase_fault(self, machine: Machine, capacity: str) -> RejectedValue | None:
        """Return why a machine type isn't available with a capacity type, or None if it's available
        or unknown.
        """
        if (
            not machine.purchase
            or capacity in machine.purchase
            or capacity not in self.judged_purchases
        ):
            return None
        ways = [meaning for kind, meaning in self.capacities.items() if kind in machine.purchase]
        fault = _NOT.get(capacity) or f"isn't available as {capacity}"
        return RejectedValue(f"{machine.name} {fault}", f"use {either(ways)}")
