"""The target cluster of a migration, with the facts that determine replacements of extended
resources.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims.extended_resources import index_classes
from dra_planner.clouds import cloud
from dra_planner.documents.plain_values import block
from dra_planner.drivers import plugin_of
from dra_planner.drivers.protocol.device_plugin import ClaimSupport, DeviceSharing, PluginFacts
from dra_planner.fleet import Fleet
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.plan import fleet_classes
from dra_planner.releases import MAXIMUM_MINOR, features_of, parse_version


class Target(Struct, frozen=True, kw_only=True):
    """`minor` is Kubernetes' minor version.

    `served` maps extended resources to the DeviceClasses that serve them. `support` is how claims
    get devices. `keep` names pods that stay on the device plugin: "namespace/name" of their
    workloads.
    """

    minor: int
    served: Mapping[str, str] = {}
    support: ClaimSupport = ClaimSupport()
    keep: frozenset[str] = frozenset()

    def with_classes(self, objects: Iterable[KubernetesObject]) -> Target:
        """Return the target with the extended resources that DeviceClasses among objects serve.

        The fleet's classes take precedence.
        """
        if not features_of(self.minor).extended_resource:
            return self
        classes = [item for item in objects if item.kind == "DeviceClass"]
        found = {
            str(name): item.name
            for item in sorted(classes, key=lambda item: item.name, reverse=True)
            if (name := block(item.data, "spec").get("extendedResourceName"))
        }
        return replace(self, served={**found, **self.served}) if found else self


def facts_of_fleet(fleet: Fleet) -> PluginFacts:
    """Return the facts about the units of extended resources in the fleet's device-plugin pools.

    A resource that pools serve in different ways is omitted, because its name doesn't distinguish
    these ways.
    """
    shared: dict[str, set[DeviceSharing | None]] = {}
    partitions: set[str] = set()
    for pool in fleet.pools:
        serving, plugin = (
            fleet.plugin_serving(pool),
            plugin_of(fleet.machine(pool.machine)),
        )
        if serving is None or plugin is None:
            continue
        sharing = (
            DeviceSharing(serving.strategy, serving.replicas, f"pool {pool.name}")
            if serving.strategy
            else None
        )
        units = plugin.units(fleet.machine(pool.machine), serving)
        for resource in units:
            shared.setdefault(resource, set()).add(sharing)
        partitions.add(
            serving.mig.removeprefix("all-").replace(".me", "+me")
            if serving.mig_strategy == "single"
            else ""
        )
    return PluginFacts(
        shared={
            name: way
            for name, ways in shared.items()
            if len(ways) == 1
            for way in ways
            if way is not None
        },
        partition=partitions.pop() if len(partitions) == 1 else "",
        is_known=bool(shared),
    )


def target_of_fleet(
    fleet: Fleet | None, kubernetes: str = "", keep: frozenset[str] = frozenset()
) -> Target:
    """Return the cluster of a fleet as a target, or the newest Kubernetes version without a fleet.

    `kubernetes` replaces the fleet's version. Raises PlannerError if the version is unknown.
    """
    newest = parse_version(kubernetes) if kubernetes else MAXIMUM_MINOR
    if fleet is None:
        return Target(minor=newest, keep=keep)
    minor = parse_version(kubernetes) if kubernetes else fleet.minor
    features = features_of(minor)
    served = index_classes(fleet_classes(fleet, features)) if features.extended_resource else {}
    support = next(
        (
            driver.claim_support(options, cloud(fleet.cloud))
            for driver, options in fleet.drivers.installed()
            if driver.device_plugin is not None and driver.device_plugin.is_installable
        ),
        ClaimSupport(),
    )
    return Target(minor=minor, served=served, support=support, keep=keep)
