"""Opaque configuration that the driver rejects when it prepares a claim, so the pods stay in
ContainerCreating.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from dra_planner.claims.manifest_claims import WrittenClaim, written_claims
from dra_planner.clouds import Cloud
from dra_planner.drivers import driver_of, nvidia
from dra_planner.drivers.protocol.driver import ConfigFault
from dra_planner.errors import Place
from dra_planner.model import DeviceConfiguration, WorkloadRef
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation


class _Configured(Struct, frozen=True):
    title: str
    place: Place
    configurations: tuple[DeviceConfiguration, ...]
    users: tuple[WorkloadRef, ...]


def find_refused_configuration(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield rejected configuration.

    Checks that depend on the driver's feature gates need a known driver.
    """
    for each in _configured(situation):
        for config in each.configurations:
            driver = driver_of(config.driver)
            options = situation.nvidia if driver is nvidia.DRIVER else None
            if driver is None:
                continue
            for fault in driver.config_faults(config.driver, config.parameters, options):
                yield Blocker(
                    code="driver-config-refused",
                    message=f"{each.title}: {fault.message}, so pods with this configuration stay in ContainerCreating",
                    fix=_fix(fault, situation.cloud),
                    place=each.place,
                    workloads=each.users,
                )


def _fix(fault: ConfigFault, cloud: Cloud | None) -> str:
    """Return the fix of a fault, which doesn't need a feature gate that the cloud rejects."""
    if cloud is None or fault.gate not in cloud.unsupported_gates:
        return fault.fix
    return (
        "remove the sharing configuration, or use a pool with `allocation: device-plugin` and "
        f"`sharing`, because {cloud.title} doesn't support {fault.gate} with DRA"
    )


def _configured(situation: ClusterSituation) -> Iterator[_Configured]:
    claims = tuple(written_claims(situation.manifests))
    for claim in claims:
        yield _Configured(claim.title, claim.place, claim.spec.config, claim.users)
    for name, device_class in sorted({**situation.classes, **situation.manifests.classes}.items()):
        if device_class.config:
            users = dict.fromkeys(
                ref for claim in claims if _requests(claim, name) for ref in claim.users
            )
            yield _Configured(
                f"DeviceClass {name}", device_class.meta.place, device_class.config, tuple(users)
            )


def _requests(claim: WrittenClaim, name: str) -> bool:
    return any(
        way.device_class_name == name
        for request in claim.spec.requests
        for way in request.alternatives
    )
