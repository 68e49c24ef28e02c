"""Opaque configuration that a driver rejects when it prepares a claim."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.written import written_claims
from dra_planner.drivers import driver_of, nvidia
from dra_planner.errors import Place
from dra_planner.model import DeviceConfiguration
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None:
        return
    for title, place, configurations in _configured(view):
        for each in configurations:
            driver = driver_of(each.driver)
            options = _options(view) if driver is nvidia.DRIVER else None
            for fault in driver.config_faults(each.driver, each.parameters, options) if driver else ():
                yield Finding(
                    message=f"{title}: {fault.message}: its pods stay in ContainerCreating", fix=fault.fix, place=place
                )


def _configured(view: StackView) -> Iterator[tuple[str, Place, tuple[DeviceConfiguration, ...]]]:
    assert view.manifests is not None  # check has looked
    for claim in written_claims(view.manifests):
        yield claim.title, claim.place, claim.spec.config
    for name, device_class in sorted(view.manifests.classes.items()):
        yield f"DeviceClass {name}", device_class.meta.place, device_class.config


def _options(view: StackView) -> nvidia.NvidiaDriver | None:
    """Return how the NVIDIA driver of the fleet that is judged, or of the stack, is set up; None where nothing says."""
    if view.nvidia is None:
        return None
    settings = view.nvidia.settings
    return nvidia.NvidiaDriver.model_construct(
        version=view.nvidia.version, feature_gates=dict(settings.gates), compute_domains=settings.compute_domains
    )


RULE = Rule(
    id="driver-config-refused",
    says="The driver takes the configuration in claims and classes.",
    why="The API server takes any configuration; the driver refuses it when a pod starts, which then never does.",
    fix="Write the configuration as the driver's release decodes it, and turn on the gate that it needs.",
    level="mandatory",
    url=DRIVER_PAGE,
    check=check,
)
