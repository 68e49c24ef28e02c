"""What the nodes of a planned pool carry: as the plan counts on it, by the contract of labels and
the cloud.
"""

from __future__ import annotations

from dataclasses import dataclass

from dra_planner.clouds import NodeLabel, cloud
from dra_planner.errors import PlannerError
from dra_planner.model import Taint
from dra_planner.planfile import PlanFile


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNodes:
    """Labels and taints: those that the pool's declaration sets, and those that the cloud adds to
    its nodes.
    """

    labels: tuple[NodeLabel, ...]
    taints: tuple[Taint, ...]
    added_labels: dict[str, str]
    added_taints: tuple[Taint, ...]

    @property
    def all_labels(self) -> dict[str, str]:
        """Every label whose value is known before there is a node."""
        return {**self.added_labels, **{label.key: label.value for label in self.labels}}


def planned_nodes(plan_file: PlanFile, pool: str) -> PlannedNodes:
    """Return what nodes of a planned pool carry; a machine that no table holds any more is taken
    for one with GPUs.
    """
    fleet = plan_file.fleet
    own, of_cloud = fleet.pool(pool), cloud(fleet.cloud)
    try:
        machine = fleet.machine(own.machine)
    except PlannerError:
        machine = None
    nodes = fleet.nodes_of(own, machine)
    return PlannedNodes(
        labels=(
            *(NodeLabel(key, value) for key, value in own.labels.items()),
            *of_cloud.labels(nodes),
        ),
        taints=(
            *of_cloud.taints(nodes),
            *(Taint(taint.key, taint.value, taint.effect) for taint in own.taints),
        ),
        added_labels=of_cloud.added_labels(nodes),
        added_taints=of_cloud.added_taints(nodes),
    )
