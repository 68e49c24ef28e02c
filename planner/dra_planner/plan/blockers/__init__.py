"""Blockers: causes that prevent pods from running although their devices fit. No node affects
them.

    find_blockers(situation)    everything that is known before any node exists
    with_blockers(plan)         the plan with its verdicts made worse accordingly

`plan` adds them to its verdict, rules word them, and both ask the same functions.
"""

from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.plan.blockers.collection import find_blockers, with_blockers
from dra_planner.plan.blockers.lifecycle_stages import STAGES, Stage

__all__ = ["STAGES", "Blocker", "ClusterSituation", "Stage", "find_blockers", "with_blockers"]
