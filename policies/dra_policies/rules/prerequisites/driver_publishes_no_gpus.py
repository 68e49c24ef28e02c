"""A DRA driver that doesn't publish GPUs, in a stack whose claims are for GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.manifest_claims import written_claims
from dra_planner.drivers.nvidia import GPU_CLASSES
from dra_planner.model import ClaimSpec
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.stack_view import StackView

_GPUS: Final = "resources.gpus.enabled"


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    if not view.complete or not view.drivers:
        return
    if any(
        driver.values is None or driver.values.flag(_GPUS, True) is not False
        for driver in view.drivers
    ):
        return
    for title, spec in _claims(view):
        names = {
            exact.device_class_name for request in spec.requests for exact in request.alternatives
        }
        if names & GPU_CLASSES:
            yield Finding(
                message=f"{title} requests a GPU, but {view.drivers[0].title} doesn't publish GPUs "
                f"({_GPUS} is false in the driver's chart values)",
                fix=f"set {_GPUS} and gpuResourcesEnabledOverride to true in the driver's chart "
                "values",
                urn=view.drivers[0].urn,
            )
            return


def _claims(view: StackView) -> Iterator[tuple[str, ClaimSpec]]:
    """Yield the claims in the stack's objects and in its plan's demand."""
    for claim in written_claims(view.manifests) if view.manifests is not None else ():
        yield claim.title, claim.spec
    for shape in view.judgement.demand.shapes if view.judgement is not None else ():
        for shape_claim in shape.claims:
            yield str(shape.members[0].workload), shape_claim.spec


RULE = Rule(
    id="driver-publishes-no-gpus",
    description="Claims request GPUs that the DRA driver doesn't publish.",
    why="The driver publishes only the devices that its chart enables, so the claims are never "
    "allocated.",
    fix="Enable GPUs in the chart values.",
    level="mandatory",
    is_outage=True,
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
