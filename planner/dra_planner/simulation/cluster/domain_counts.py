"""Count pods by the domains of nodes. Nodes are given as (stage, number of nodes).

The label `kubernetes.io/hostname` means the node itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dra_planner.allocation.node.filters import HOSTNAME
from dra_planner.simulation.cluster.stages import NodeStage, Population
from dra_planner.simulation.scheduler.pod_rules import KindSet

Count = Callable[[NodeStage], int]


def count_pods(
    key: str, kinds: KindSet, population: Iterable[tuple[NodeStage, int]]
) -> dict[str | None, int]:
    """Return the number of pods of these kinds by value of a label.

    Nodes without the label count under None.
    """
    counts: dict[str | None, int] = {}
    for stage, nodes in population:
        value = stage.label(key)
        counts[value] = counts.get(value, 0) + stage.count(kinds) * nodes
    return counts


def counter_of(key: str, kinds: KindSet, population: Population) -> Count:
    """Return a function that returns the number of pods of these kinds in a node's domain.

    It returns 0 for a node without the label.
    """
    if key == HOSTNAME:
        return lambda stage: stage.count(kinds) if stage.label(key) is not None else 0
    counts = count_pods(key, kinds, population)
    counts.pop(None, None)
    return lambda stage: counts.get(stage.label(key), 0)
