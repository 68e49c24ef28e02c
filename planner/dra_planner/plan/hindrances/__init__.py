"""Hindrances: causes that prevent pods from running although their devices fit. No node affects
them.

    find_hindrances(situation)    everything that is known before any node exists
    with_hindrances(plan)         the plan with its verdicts made worse accordingly

`plan` adds them to its verdict, rules word them, and both ask the same functions.
"""

from dra_planner.plan.hindrances.finding import find_hindrances, with_hindrances
from dra_planner.plan.hindrances.hindrance import ClusterSituation, Hindrance
from dra_planner.plan.hindrances.stages import STAGES, Stage

__all__ = ["STAGES", "ClusterSituation", "Hindrance", "Stage", "find_hindrances", "with_hindrances"]
