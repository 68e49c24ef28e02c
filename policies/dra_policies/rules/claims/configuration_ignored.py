"""Opaque configuration for requests that the claim doesn't have, or for a driver that no request
uses.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.manifest_claims import WrittenClaim, written_claims
from dra_planner.drivers.nvidia import (
    CHART_CLASSES,
    COMPUTE_DOMAIN_DRIVER,
    CONFIG_KINDS,
    GPU_DRIVER,
)
from dra_planner.model import DeviceConfiguration
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for claim in written_claims(view.manifests) if view.manifests else ():
        drivers = _drivers(claim)
        for config in claim.spec.config:
            if drivers and config.driver not in drivers:
                listed = " and ".join(sorted(drivers))
                yield Finding(
                    message=f"{claim.title}: its configuration is for driver {config.driver}, but "
                    f"its devices belong to {listed}, so the drivers ignore the "
                    "configuration",
                    fix=f"set driver to {sorted(drivers)[0]}",
                    place=claim.place,
                )
            yield from _of_another_kind(claim, config)


def _of_another_kind(claim: WrittenClaim, config: DeviceConfiguration) -> Iterator[Finding]:
    """Yield configuration of a kind that doesn't apply to any of its devices, by the charts'
    classes.

    Source: kubernetes-sigs/dra-driver-nvidia-gpu:cmd/gpu-kubelet-plugin/device_state.go@v25.8.1
    (applyConfig).
    """
    kind = str(config.parameters.get("kind"))
    named = {each.partition("/")[0] for each in config.requests}
    requests = [each for each in claim.spec.requests if not named or each.name in named]
    classes = sorted(
        {exact.device_class_name for request in requests for exact in request.alternatives}
    )
    kinds = {CONFIG_KINDS.get(each, "") for each in classes}
    if (
        config.driver == GPU_DRIVER
        and kind in CONFIG_KINDS.values()
        and len(kinds) == 1
        and kinds.isdisjoint({"", kind})
    ):
        yield Finding(
            message=f"{claim.title}: kind {kind} isn't valid for devices of DeviceClass "
            f'"{classes[0]}", so the driver ignores this configuration',
            fix=f"set kind to {kinds.pop()}",
            place=claim.place,
        )


def _drivers(claim: WrittenClaim) -> frozenset[str]:
    """Return the drivers of a claim's devices, by the charts' classes. Empty if a class is
    unknown.
    """
    names = {
        exact.device_class_name for request in claim.spec.requests for exact in request.alternatives
    }
    if not names or not names <= set(CHART_CLASSES):
        return frozenset()
    return frozenset(
        COMPUTE_DOMAIN_DRIVER if name.startswith("compute-domain") else GPU_DRIVER for name in names
    )


RULE = Rule(
    id="configuration-ignored",
    description="A claim's opaque configuration belongs to another driver or to other devices.",
    why="Each driver reads only its own configuration, so the devices run without the settings.",
    fix="Set the configuration's driver to the devices' driver, and use a kind that this "
    "driver supports for these devices.",
    level="advisory",
    url=DRIVER_PAGE,
    check=check,
)
