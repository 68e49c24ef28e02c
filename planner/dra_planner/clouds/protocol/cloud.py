"""The protocol of a cloud: all facts that the rest of the project needs. Most of them are data, and
defaults apply to most clouds.
"""

from __future__ import annotations

import ipaddress
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from dra_planner.catalog import Machine, cloud_titles
from dra_planner.catalog.image_parts import image_parts
from dra_planner.catalog.kubernetes_support import supported
from dra_planner.clouds.protocol.allocatable import (
    Allocatable,
    AllocatableSettings,
    NodeImage,
    reserved_cpu_milli,
)
from dra_planner.clouds.protocol.identities import (
    IdentityResource,
    NodeAdmission,
    RegistryResource,
)
from dra_planner.clouds.protocol.labels import (
    GPU_TAINT,
    NodeLabel,
    NodeOrigin,
    contract_labels,
    contract_taints,
)
from dra_planner.clouds.protocol.node_networks import NodeNetwork
from dra_planner.clouds.protocol.plugin_serving import CloudPlugin, PluginServing
from dra_planner.clouds.protocol.resources import ClusterResource, KarpenterNodeClass, PoolResource
from dra_planner.clouds.protocol.setting_faults import NODES, huge_pages_fault, range_fault
from dra_planner.clouds.protocol.storage import DiskKeys, VolumeDriver
from dra_planner.errors import UnsupportedFeature
from dra_planner.model import Taint
from dra_planner.releases import MINIMUM_MINOR

# so many nodes of a pool, and its maxPods, None for the cloud's own
PodsOfNodes = tuple[int, int | None]
# key of the fleet or of the pool ("network.subnetIds", "maxPods"), and the whole sentence
Fault = tuple[str, str]
_ARCHITECTURES = {"arm64": "ARM_64", "amd64": "x86_64"}  # in names of images
_NOTHING: Mapping[str, str] = MappingProxyType({})
WHOLE = ("none", "all-disabled")
"""The value of a pool's `mig` if its GPUs aren't partitioned."""
_LONGEST_KEY = 253 + 1 + 63  # Kubernetes: a domain, a slash and a name
_OF_KUBERNETES = re.compile(r"(.*\.)?(kubernetes\.io|k8s\.io)")
_OF_KUBELET = re.compile(r"(.*\.)?(kubelet|node)\.kubernetes\.io")


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The capacity of a pool: on-demand, spot, flex-start, queued, reservation, or capacity-block,
    with the ID of bought capacity.
    """

    kind: str = "on-demand"
    reservation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountStep:
    """The number whose multiple a pool's node count must be, with the reason and the fix, each as
    the end of a sentence.
    """

    nodes: int = 1
    why: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """The settings of a cluster that a cloud may reject. `asked` are the set keys of the fleet."""

    region: str
    kubernetes: str = ""  # of the control plane, "" where that is not asked about
    autoscaler: str = "none"
    subnet_ids: tuple[str, ...] = ()
    zone_count: int | None = None  # of a new network, None where zones are named or subnets given
    public_access_cidrs: tuple[str, ...] = ()
    asked: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """The settings of a pool that a cloud may reject. `asked` are the set keys of the pool."""

    name: str
    machine: Machine | None = None
    capacity: Capacity = Capacity()
    zones: tuple[str, ...] = ()
    autoscaler: str = "none"
    min_nodes: int = 0
    max_nodes: int = 0
    max_pods: int | None = None
    disk_gib: int | None = None
    local_ssds: int | None = None
    huge_pages: Mapping[str, int] = field(default_factory=dict, hash=False)
    mig: str = "none"
    plugin: PluginServing | None = None  # None for DRA pools
    image: NodeImage | None = None
    is_served: bool = False  # a driver of the fleet publishes devices on it
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    taint_keys: tuple[str, ...] = ()
    asked: frozenset[str] = frozenset()


class Cloud(ABC):
    """One cloud. Its sentences contain the cloud, the rejected value, and a fix."""

    name: ClassVar[str]  # what a fleet calls it, and the name of its module

    # Where clusters run.
    region_setting: ClassVar[str]  # the stack's configuration that names the region
    sdk_extra: ClassVar[str]  # extra of the package that brings the cloud's SDK
    # further configuration that its provider needs
    account_settings: ClassVar[tuple[str, ...]] = ()
    region_pattern: ClassVar[str]
    region_example: ClassVar[str]
    zone_pattern: ClassVar[str]  # with a group `region`
    zone_suffixes: ClassVar[tuple[str, ...]]  # a region and one of them make a zone
    zone_counts: ClassVar[range] = range(1, 7)  # how many zones a new network may span
    # keys of a fleet or pool, or key.value, not for this cloud: why
    refused: ClassVar[Mapping[str, str]] = _NOTHING

    # Who changes counts, and whether that wakes an empty pool for a claim.
    autoscalers: ClassVar[Mapping[str, bool]]
    # those of them that leave a pool's count as it was planned
    keep_counts: ClassVar[frozenset[str]] = frozenset()

    # Machines: where they come from, how large a node may be, what it boots.
    capacities: ClassVar[Mapping[str, str]]  # kind → what follows "the"/"use" in a message
    # kinds of which the catalogue knows all
    judged_purchases: ClassVar[tuple[str, ...]] = ("on-demand", "spot")
    huge_pages_doubt: ClassVar[str] = ""  # what is not known of those that it reserves
    version_pattern: ClassVar[str] = r"1\.\d+(\.\d+)?"  # of a control plane
    # properties of its pools and the values that mean Spot
    spot: ClassVar[tuple[tuple[str, str], ...]] = ()
    reservation_pattern: ClassVar[str] = ".+"
    reservation_meaning: ClassVar[str] = "what was bought"
    pods_range: ClassVar[str] = ""
    """Default address range of the pods in a new cluster, or "" if pods have no separate range."""
    nodes_of_a_pool: ClassVar[range] = NODES
    pods_of_a_node: ClassVar[range] = range(1, 251)
    disk_gib: ClassVar[range] = range(50, 16_385)  # of a node's boot disk
    longest_pool_name: ClassVar[int] = 40
    pool_name_pattern: ClassVar[str] = ""  # where the cloud takes less than any name of that length
    zone_names: ClassVar[tuple[str, ...]] = ()  # as its pools name zones, where not by the region
    regions_without_zones: ClassVar[tuple[str, ...]] = ()
    # property of its pools and the value of one for system pods
    system_mode: ClassVar[tuple[str, str]] = ("", "")
    system_machine: ClassVar[str]  # for nodes without GPUs, where nobody says
    gpu_images: ClassVar[Mapping[str, str]]  # by architecture
    system_images: ClassVar[Mapping[str, str]]
    # how names of images begin that bring one
    images_with_device_plugin: ClassVar[tuple[str, ...]] = ()
    # that GPU machines boot, and find no driver in
    images_without_driver: ClassVar[tuple[str, ...]] = ()
    # list of GPUs, property, value that installs nothing
    installer_off: ClassVar[tuple[str, str, str]] = ("", "", "")
    # how names of images begin, each with parts of the names of installers that work there
    installer_images: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = ()
    image_label: ClassVar[str] = ""  # of nodes, names their image and its release
    image_titles: ClassVar[Mapping[str, str]] = _NOTHING  # what people call images
    # on which the GPU Operator can't install a driver
    images_without_operator_driver: ClassVar[tuple[str, ...]] = ()
    # properties of its pools and values that leave it out
    driver_left_out: ClassVar[tuple[tuple[str, str], ...]] = ()

    # Admission.
    # the plugin ExtendedResourceToleration is on
    tolerates_extended_resources: ClassVar[bool] = False

    # Labels and taints.
    longest_key: ClassVar[int] = _LONGEST_KEY
    takes_empty_label_values: ClassVar[bool] = True
    reserved_domains: ClassVar[tuple[str, ...]] = ()  # of labels, beside Kubernetes' own
    # by its API when the pool is made, whatever their domain
    labels_are_judged: ClassVar[bool] = False
    # as its API writes them, where not as Kubernetes does
    taint_effects: ClassVar[tuple[str, ...]] = ()
    # all that the cloud adds to some nodes by itself
    possible_taints: ClassVar[tuple[Taint, ...]] = ()
    # labels and prefixes with values known at run time only, first its own
    unknown_labels: ClassVar[tuple[str, ...]]
    # says of which pool a node is, by the name that the cloud has for it
    pool_label: ClassVar[str] = ""
    accelerator_label: ClassVar[str] = ""  # says which GPUs a node has, in the cloud's words
    plugin: ClassVar[CloudPlugin] = CloudPlugin()
    no_device_plugin_label: ClassVar[str] = ""  # keeps the cloud's own device plugin off a node
    wakes_by_label: ClassVar[str] = ""  # lets the cloud's autoscaler wake an empty pool for a claim
    # API group of what Karpenter's pools take their nodes' settings from
    karpenter: ClassVar[str] = ""
    node_class: ClassVar[KarpenterNodeClass | None] = None  # what that is

    # Resources and commands that only this cloud has.
    addon_token: ClassVar[str] = ""  # add-ons of a cluster, kube-proxy among them
    serverless_token: ClassVar[str] = ""  # pods that run on no node of the cluster
    commands: ClassVar[tuple[str, ...]] = ()  # how commands begin that make clusters and nodes

    # Drivers.
    driver_root: ClassVar[str]  # where the NVIDIA driver lies on a node
    installs_driver: ClassVar[bool] = True  # False: a DaemonSet of this project does
    # who collects metrics of GPUs, as component GpuMetrics calls it
    metrics_collector: ClassVar[str] = "annotations"
    supports_mig: ClassVar[bool] = True
    unsupported_gates: ClassVar[tuple[str, ...]] = ()  # of the NVIDIA DRA driver
    driver_source: ClassVar[str] = ""  # who says so
    critical_pods_need_quota: ClassVar[bool] = False
    own_driver: ClassVar[str] = ""  # what `own_dra_driver` is about, in messages
    network_label: ClassVar[str] = ""  # with the value "true", nodes publish network devices
    infiniband_needs: ClassVar[str] = ""  # what jobs over InfiniBand need beside the machines

    # Facts with a date.
    # keys of the table `facts` that plans for it depend on
    dated_facts: ClassVar[tuple[str, ...]] = ()
    # parts of the names of sources that are about this cloud alone
    fact_sources: ClassVar[tuple[str, ...]] = ()

    # Resources of Pulumi.
    provider: ClassVar[str] = ""  # type token of the one that says where clusters are made
    provider_region: ClassVar[str] = "region"  # its setting that does
    cluster: ClassVar[ClusterResource]
    pool: ClassVar[PoolResource]
    # RuntimeClasses that clusters have from the start
    runtime_classes: ClassVar[tuple[str, ...]] = ()
    # taints that the cluster's own pods tolerate
    tolerated_by_system: ClassVar[tuple[str, ...]] = ("CriticalAddonsOnly",)
    # adds GPU_TAINT to a new GPU pool if the cluster has other nodes
    taints_new_gpu_pools: ClassVar[bool] = False
    # what can cut nodes off from the API server and registries
    node_network: ClassVar[NodeNetwork] = NodeNetwork()
    # what clusters and nodes act as
    identity: ClassVar[IdentityResource]
    node_admission: ClassVar[NodeAdmission | None] = None
    volume_drivers: ClassVar[tuple[VolumeDriver, ...]] = ()
    default_storage_class: ClassVar[str] = ""  # of a new cluster
    disk_keys: ClassVar[DiskKeys | None] = None
    registry: ClassVar[RegistryResource | None] = None
    # definitions of policies that reject privileged pods or host paths, by the resource that
    # assigns them, its property, and the parts of the names of the definitions
    pod_policies: ClassVar[tuple[str, str, tuple[str, ...]]] = ("", "", ())

    @property
    def title(self) -> str:
        """The common name of the cloud."""
        return cloud_titles()[self.name]

    @property
    def new_cluster(self) -> str:
        """Return the Kubernetes of a new cluster if no day is given: the newest version of the
        support calendar, or the first one with resource.k8s.io/v1.
        """
        return f"1.{max((each.minor for each in supported(self.name)), default=MINIMUM_MINOR)}"

    @abstractmethod
    def allocatable(
        self, machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
    ) -> Allocatable:
        """Return kubelet's allocatable resources for a machine type of that size. Raises
        CatalogError for an invalid setting.
        """

    def reserved_cpu_milli(self, vcpus: int) -> int:
        """Return kubelet's reservation of the cores, in thousandths."""
        return reserved_cpu_milli(vcpus)

    def labels(self, nodes: NodeOrigin) -> tuple[NodeLabel, ...]:
        """Return the labels that this project sets on a pool's nodes, in addition to the
        owner's.
        """
        return contract_labels(nodes)

    def taints(self, nodes: NodeOrigin) -> tuple[Taint, ...]:
        """Return the taints that this project sets on a pool's nodes, in addition to the
        owner's.
        """
        return contract_taints(nodes)

    def added_labels(self, nodes: NodeOrigin) -> dict[str, str]:
        """Return the labels that the cloud adds to nodes, with values that are known in advance."""
        return {}

    def added_taints(self, nodes: NodeOrigin) -> tuple[Taint, ...]:
        """Return the taints that the cloud adds to nodes."""
        return ()

    def image_fault(self, machine: Machine, image: str) -> str:
        """Return why a machine type can't run a node image, with the fix, or "" if nothing is
        known.
        """
        return ""

    def keeps_device_plugin(self, image: str, boot_script: str) -> bool | None:
        """Return True if nodes with an image that contains a device plugin run it, or None if it
        isn't known.
        """
        return None

    def own_dra_driver(
        self, pool: Mapping[str, Any], image: str = "", boot_script: str = ""
    ) -> str:
        """Return the setting with which nodes run a DRA driver of the cloud or of their image, or
        "" if they don't.
        """
        return ""

    def image_labels(self, machine: Machine) -> dict[str, str]:
        """Return the labels of every node for its machine type and image, with or without GPUs."""
        return {}

    def knows_network_interfaces(self, machine: Machine) -> bool:
        """Return whether the catalog has the number of claimable network interfaces of a machine
        type.
        """
        return True

    def image_arch(self, image: str) -> str:
        """Return the architecture of an image, or "" if its name doesn't contain it."""
        return next((arch for arch, part in _ARCHITECTURES.items() if part in image), "")

    def image_ended(self, image: str) -> int | None:
        """Return the last minor version of an image, or None if it's still published."""
        return next(
            (
                int(part.gone_since.partition(".")[2]) - 1
                for part in image_parts(self.name)
                if part.kind == "image" and image.startswith(part.images)
            ),
            None,
        )

    def boot_disk_types(self, instance_type: str) -> tuple[str, ...]:
        """Return the boot disk types of a machine type, the default first, or none if they aren't
        known.
        """
        return ()

    def subnet_addresses(
        self, machine: Machine, settings: AllocatableSettings, pods: int
    ) -> int | None:
        """Return how many addresses of its subnet a node needs, with this number of pods that don't
        use the host network.

        None if it isn't known.
        """
        return None

    def pod_range_addresses(self, settings: AllocatableSettings) -> int | None:
        """Return how many addresses of the pods' separate range a node needs.

        None if it isn't known, and 0 if pods use addresses of the subnet.
        """
        return None

    def pods_range_fault(self, cidr: str, nodes: Iterable[PodsOfNodes], system_nodes: int) -> str:
        """Return why the pods' range is too small for the nodes, or "".

        It counts one more system node, which an upgrade starts before it removes an old one. An
        invalid or empty range isn't checked.
        """
        counted = [*nodes, (system_nodes + 1, None)]
        try:
            there = ipaddress.ip_network(cidr).num_addresses
        except ValueError:
            return ""
        taken = sum(
            count * (self.pod_range_addresses(AllocatableSettings(max_pods=max_pods)) or 0)
            for count, max_pods in counted
        )
        if taken <= there:
            return ""
        return (
            f"{sum((count for count, _ in counted))} nodes, including one for upgrades, need "
            f"{taken} addresses of the pod range {cidr}, which has {there}; lower the counts "
            "of pools, or set a larger podsCidr in the cluster and a pod-addresses quota of "
            "the same size in the fleet"
        )

    def count_step(self, zones: int, *, autoscaled: bool) -> CountStep:
        """Return the number whose multiple a pool's node count must be, with this number of
        zones.
        """
        return CountStep()

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
        example = f'write for example "{region or self.region_example}{self.zone_suffixes[0]}"'
        if not found:
            return f'"{zone}" is not a zone of {self.title}; {example}'
        return (
            f'zone "{zone}" is not in region {region}; {example}'
            if region not in ("", found)
            else ""
        )

    def region_fault(self, region: str) -> str:
        """Return why clusters can't be in a region, or ""."""
        if of_zone := self.region_of(region):
            return f'"{region}" is a zone; its region is "{of_zone}"'
        if not re.fullmatch(self.region_pattern, region):
            return (
                f'"{region}" is not a region of {self.title}; write for example '
                f"{self.region_example}"
            )
        return ""

    def version_fault(self, version: str) -> str:
        """Return why a text isn't a valid Kubernetes version of a control plane, or ""."""
        if re.fullmatch(self.version_pattern, version):
            return ""
        minor = re.match(r"\s*v?(1\.\d+)", version)
        return (
            f'{self.title} has no version "{version}"; write '
            f'"{minor[1] if minor else self.new_cluster}"'
        )

    def address_fault(self, cidr: str) -> str:
        """Return why a network can't have access to the API server from outside, or "".

        `public_network_fault` covers networks that every cloud rejects.
        """
        return ""

    def label_fault(self, key: str, value: str | None) -> str:
        """Return why the cloud rejects a node label, or "". None is an unknown value."""
        if key in self.reserved_labels:
            return (
                f'every pool already has the label "{key}", which drivers use to find their nodes'
            )
        domain = key.rpartition("/")[0]
        taken = _OF_KUBERNETES.fullmatch(domain) and not _OF_KUBELET.fullmatch(domain)
        if taken or domain in self.reserved_domains:
            return (
                f'{self.title} rejects labels in the domain {domain}, such as "{key}"; use '
                "your own domain"
            )
        if value == "" and not self.takes_empty_label_values:
            return f'{self.title} rejects labels without a value, such as "{key}"; give it one'
        return self._key_fault("label", key)

    def taint_fault(self, key: str) -> str:
        """Return why the cloud rejects a node taint, or ""."""
        if key == GPU_TAINT.key:
            return f'every GPU node already has the taint "{key}"'
        return self._key_fault("taint", key)

    def _key_fault(self, what: str, key: str) -> str:
        if len(key) <= self.longest_key:
            return ""
        return (
            f'the key of the {what} "{key}" has {len(key)} characters; {self.title} allows at '
            f"most {self.longest_key}"
        )

    @property
    def reserved_labels(self) -> frozenset[str]:
        """Label keys that this project sets on pools, so that users can't set them."""
        nodes = NodeOrigin(name="", machine=None)
        return frozenset(label.key for label in self.labels(nodes))

    def local_disks_fault(self, instance_type: str, count: int) -> str:
        """Return why a machine type can't have this number of local disks, or ""."""
        return ""

    def reservation_fault(self, reservation: str) -> str:
        """Return why a text can't be the name of bought capacity, or ""."""
        if re.fullmatch(self.reservation_pattern, reservation):
            return ""
        return f'"{reservation}" is not {self.reservation_meaning}'

    def unsupported(self, what: str) -> UnsupportedFeature:
        """Return the error for a feature that the cloud doesn't support together with DRA."""
        return UnsupportedFeature(
            f"{self.title} does not support {what} with DRA ({self.driver_source})",
            fix="turn it off, or use a pool without DRA",
        )

    def cluster_faults(self, cluster: ClusterSettings) -> Iterator[Fault]:
        """Yield the cluster settings that the cloud rejects, each with its key in the fleet."""
        if fault := self.region_fault(cluster.region):
            yield "region", fault
        if cluster.kubernetes and (fault := self.version_fault(cluster.kubernetes)):
            yield "kubernetes", fault
        if cluster.zone_count is not None and (
            fault := range_fault(cluster.zone_count, self.zone_counts)
        ):
            yield "network.zones", fault
        if cluster.autoscaler not in self.autoscalers:
            known = self.refused.get(f"autoscaler.{cluster.autoscaler}")
            use = (
                f"{self.title} has no {cluster.autoscaler} autoscaler; use "
                f"{_either(self.autoscalers)}"
            )
            yield "autoscaler", known or use
        for index, cidr in enumerate(cluster.public_access_cidrs):
            if fault := self.address_fault(cidr):
                yield f"endpoint.publicAccessCidrs.{index}", fault
        yield from ((key, reason) for key, reason in self.refused.items() if key in cluster.asked)

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
        if fault := self._capacity_fault(pool):
            yield "capacity", fault
        if fault := range_fault(pool.max_nodes, self.nodes_of_a_pool):
            yield "count", fault
        if pool.max_pods is not None and (fault := range_fault(pool.max_pods, self.pods_of_a_node)):
            yield "maxPods", fault
        if pool.disk_gib is not None and (fault := range_fault(pool.disk_gib, self.disk_gib)):
            yield "diskGib", fault
        if pool.huge_pages and (fault := huge_pages_fault(pool.huge_pages, pool.machine)):
            yield "hugePages", fault
        yield from (
            ("labels", fault)
            for key, value in pool.labels.items()
            if (fault := self.label_fault(key, value))
        )
        for index, key in enumerate(pool.taint_keys):
            if fault := self.taint_fault(key):
                yield f"taints.{index}.key", fault
        yield from ((key, reason) for key, reason in self.refused.items() if key in pool.asked)
        if pool.plugin is not None:
            yield from self.plugin.faults(self.title, pool.plugin)

    def _capacity_fault(self, pool: PoolSettings) -> str:
        kind, bought = pool.capacity.kind, pool.capacity.reservation
        if kind not in self.capacities:
            return f"{self.title} has no {kind}; use {_either(self.capacities.values())}"
        fault = self.reservation_fault(bought) if bought else ""
        if fault or pool.machine is None or kind == "on-demand":
            # a pool that says nothing is on demand: that is told, and nothing is refused
            return fault
        return self.purchase_fault(pool.machine, kind)

    def capacity_assumptions(self, kind: str) -> tuple[str, ...]:
        """Return the assumptions of a plan about a pool's capacity type."""
        return ()

    def purchase_fault(self, machine: Machine, capacity: str) -> str:
        """Return why a machine type isn't available with a capacity type, or "" if it is or nothing
        is known.
        """
        if (
            not machine.purchase
            or capacity in machine.purchase
            or capacity not in self.judged_purchases
        ):
            return ""
        ways = [meaning for kind, meaning in self.capacities.items() if kind in machine.purchase]
        return (
            f"{machine.name} isn't available {_AS.get(capacity, f'as {capacity}')}; use "
            f"{_either(ways)}"
        )


_AS: Mapping[str, str] = MappingProxyType(
    {"on-demand": "on demand", "reservation": "by a reservation"}
)


def _either(choices: Iterable[str]) -> str:
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last
