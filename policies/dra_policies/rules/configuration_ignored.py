"""Opaque configuration for requests that the claim does not have, or for a driver that none of them is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.catalog import CHART_CLASSES
from dra_policies.rules.claim_specs import WrittenClaim, alternatives, written_claims
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.rules.view import StackView

GPU_DRIVER: Final = "gpu.nvidia.com"
DOMAIN_DRIVER: Final = "compute-domain.nvidia.com"


def check(view: StackView) -> Iterator[Finding]:
    for claim in written_claims(view.manifests) if view.manifests else ():
        drivers = _drivers(claim)
        for config in claim.spec.config:
            if drivers and config.driver not in drivers:
                listed = " and ".join(sorted(drivers))
                yield Finding(
                    message=f"{claim.title}: its configuration is for the driver {config.driver}, and its devices are "
                    f"of {listed}: nobody reads it",
                    fix=f"write driver: {sorted(drivers)[0]}",
                    place=claim.place,
                )


def _drivers(claim: WrittenClaim) -> frozenset[str]:
    """Return the drivers of a claim's devices, by the charts' classes; nothing where some class is another."""
    names = {exact.device_class_name for request in claim.spec.requests for exact in alternatives(request)}
    if not names or not names <= set(CHART_CLASSES):
        return frozenset()
    return frozenset(DOMAIN_DRIVER if name.startswith("compute-domain") else GPU_DRIVER for name in names)


RULE = Rule(
    id="configuration-ignored",
    says="Opaque configuration names a driver that the claim gets devices of.",
    why="A driver reads what is written for it alone: the devices run without the settings.",
    fix="Name the driver of the devices.",
    level="advisory",
    url=DRIVER_PAGE,
    check=check,
)
