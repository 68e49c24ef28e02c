"""Labels and taints of a planned pool's nodes, from the project's label contract and the cloud."""

from __future__ import annotations

from msgspec import Struct

from dra_planner.clouds import NodeLabel, cloud
from dra_planner.errors import PlannerError
from dra_planner.model import Taint
from dra_planner.planfile import PlanFile


class PlannedNodes(Struct, frozen=True, kw_only=True):
    """Labels and taints that the pool's declaration sets, together with those that the cloud
    adds.
    """

    labels: tuple[NodeLabel, ...]
    taints: tuple[Taint, ...]
    added_labels: dict[str, str]
    added_taints: tuple[Taint, ...]

    @property
    def all_labels(self) -> dict[str, str]:
        """All labels with values that are known before a node exists."""
        return {**self.added_labels, **{label.key: label.value for label in self.labels}}


def planned_nodes(plan_file: PlanFile, pool: str) -> PlannedNodes:
    """Return the labels and taints of a planned pool's nodes. An unknown machine type is assumed to
    have GPUs.
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


def plugin_pools(plan_file: PlanFile | None) -> frozenset[str]:
    """Return the names of the plan's pools whose devices a device plugin serves."""
    pools = () if plan_file is None else plan_file.fleet.pools
    return frozenset(pool.name for pool in pools if not pool.is_dra)
