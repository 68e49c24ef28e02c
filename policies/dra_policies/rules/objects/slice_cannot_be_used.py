"""ResourceSlices that the scheduler can't use."""

from __future__ import annotations

from dra_planner.plan.blockers.slices import find_unusable_slices
from dra_policies.rules.blockers import cluster_check
from dra_policies.rules.rule import DRIVER_PAGE, Rule

RULE = Rule(
    id="slice-cannot-be-used",
    description="A driver's ResourceSlices contradict each other.",
    why="If the slices of a device pool contradict each other, the scheduler skips the pool.",
    fix="Restart or upgrade the driver that publishes the slices.",
    level="advisory",
    url=DRIVER_PAGE,
    check=cluster_check("slice-cannot-be-used", find_unusable_slices, needs_pools=False),
)
