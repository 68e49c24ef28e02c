"""NodeResourcesBalancedAllocation: prefers nodes with a balanced use of CPU and memory.

Since 1.36, it also prefers nodes whose balance the pod improves.

The arithmetic is the same as upstream, including doubles, because one point can change the result.
Source of the behavior:
kubernetes/kubernetes:pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go @v1.34.9
to v1.37.1.
"""

from __future__ import annotations

from collections.abc import Callable

from dra_planner.model import Node
from dra_planner.releases import Features
from dra_planner.simulation.cluster.pod_requests import PodAmounts
from dra_planner.simulation.cluster.stages import NodeLoad
from dra_planner.simulation.plugins.plugin import MAX_SCORE, Plugin
from dra_planner.simulation.scheduler.profile import Profile


def score_balance(
    amounts: PodAmounts, node: Node, features: Features, _profile: Profile
) -> Callable[[NodeLoad], int] | None:
    """Return a function that scores loads of nodes like this one, or None for pods without CPU and
    memory requests.
    """
    if amounts.is_best_effort:
        return None
    more_cpu, more_memory = amounts.requested
    have_cpu, have_memory = node.allocatable.get("cpu", 0), node.allocatable.get("memory", 0)

    def evenness(load: NodeLoad) -> int:
        cpu, memory = load.used
        return _evenness(cpu + more_cpu, memory + more_memory, have_cpu, have_memory)

    def change(load: NodeLoad) -> int:
        before = load.scores.get("evenness")
        if before is None:
            before = load.scores["evenness"] = _evenness(*load.used, have_cpu, have_memory)
        return MAX_SCORE // 2 + (MAX_SCORE // 2 + evenness(load) - before) // 2

    return change if features.scores_balance_change else evenness


def _evenness(cpu: int, memory: int, have_cpu: int, have_memory: int) -> int:
    """Return the balance of CPU and memory, 0 to 100. Only the real requests of pods count."""
    if not (have_cpu and have_memory):
        return MAX_SCORE
    share_of_cpu, share_of_memory = cpu / have_cpu, memory / have_memory
    if share_of_cpu > 1.0:
        share_of_cpu = 1.0
    if share_of_memory > 1.0:
        share_of_memory = 1.0
    return int((1 - abs((share_of_cpu - share_of_memory) / 2)) * MAX_SCORE)


PLUGIN = Plugin(name="NodeResourcesBalancedAllocation", order=140, weight=1, by_load=score_balance)
