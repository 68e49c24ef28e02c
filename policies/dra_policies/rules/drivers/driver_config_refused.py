"""Opaque configuration that the NVIDIA driver refuses when it prepares a claim."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from dra_planner import catalog
from dra_planner.catalog import DriverRelease, DriverSettings
from dra_planner.catalog.driver_config import config_faults
from dra_planner.claims.written import written_claims
from dra_planner.errors import Place, PlannerError
from dra_planner.model import DeviceConfiguration
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None:
        return
    release, settings = _driver(view)
    for title, place, configurations in _configured(view):
        for each in configurations:
            for fault in config_faults(each.driver, each.parameters, release, settings):
                yield Finding(
                    message=f"{title}: {fault.message}: its pods stay in ContainerCreating", fix=fault.fix, place=place
                )


def _configured(view: StackView) -> Iterator[tuple[str, Place, tuple[DeviceConfiguration, ...]]]:
    assert view.manifests is not None  # check has looked
    for claim in written_claims(view.manifests):
        yield claim.title, claim.place, claim.spec.config
    for name, device_class in sorted(view.manifests.classes.items()):
        yield f"DeviceClass {name}", device_class.meta.place, device_class.config


def _driver(view: StackView) -> tuple[DriverRelease | None, DriverSettings | None]:
    """Return the driver of the fleet that is judged, or of the stack; None for both where nothing says which."""
    if view.nvidia is None:
        return None, None
    return _release(view.nvidia.version), view.nvidia.settings


@cache
def _release(version: str) -> DriverRelease | None:
    try:
        return nvidia.driver_release(version)
    except PlannerError:
        return None


RULE = Rule(
    id="driver-config-refused",
    says="The NVIDIA driver takes the configuration in claims and classes.",
    why="The API server takes any configuration; the driver refuses it when a pod starts, which then never does.",
    fix="Write the configuration as the driver's release decodes it, and turn on the gate that it needs.",
    level="mandatory",
    url=DRIVER_PAGE,
    check=check,
)
