"""Blockers: causes that prevent pods from running although their devices fit.

More nodes don't remove them.

    find_blockers(situation)    find the causes that are known before any node exists
    with_blockers(plan)         add the blockers to the plan, and lower its verdicts accordingly

`plan` includes blockers in its verdict, and rules report them. Both call the same functions.
"""

from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.plan.blockers.collection import Finder, find_blockers, with_blockers
from dra_planner.plan.blockers.lifecycle_stages import STAGES, Stage

__all__ = [
    "STAGES",
    "Blocker",
    "ClusterSituation",
    "Finder",
    "Stage",
    "find_blockers",
    "with_blockers",
]
