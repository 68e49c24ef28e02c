"""ResourceSlices that the scheduler can't use."""

from __future__ import annotations

from dra_planner.plan.blockers.slices import find_unusable_slices
from dra_policies.rules.blockers import tell_of_clusters
from dra_policies.rules.rule import DRIVER_PAGE, Rule

RULE = Rule(
    id="slice-cannot-be-used",
    says="ResourceSlices of a driver contradict each other.",
    why="The scheduler skips a pool of devices whose slices contradict each other.",
    fix="Restart or upgrade the driver, which publishes the slices.",
    level="advisory",
    url=DRIVER_PAGE,
    check=tell_of_clusters("slice-cannot-be-used", find_unusable_slices, needs_pools=False),
)
