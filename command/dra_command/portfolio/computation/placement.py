"""The placement across clusters of a portfolio."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_command.portfolio.computation.batches import CellTask, row_of
from dra_command.portfolio.computation.cell_names import PLACE
from dra_command.portfolio.input_collection import Collected
from dra_planner.errors import PlannerError
from dra_planner.plan import read_checked
from dra_planner.portfolio.answers import CellFault
from dra_planner.portfolio.cells import StackCells
from dra_planner.portfolio.placing import (
    ClusterAssignment,
    Movable,
    PlacingCluster,
    place_workloads,
)


class PlacedWorkloads(Struct, frozen=True, kw_only=True):
    """The placement, and the clusters that are excluded because their inputs are invalid."""

    placement: ClusterAssignment
    left_out: tuple[str, ...]


class RunsInClusterError(PlannerError):
    """A workload to place that is already part of a cluster in the portfolio."""


def place_row(collected: Collected, digest: str) -> AnswerRow:
    """Return the placement as a row, or the reason why there is none."""
    task = CellTask(digest, "", 0, PLACE)
    try:
        return row_of(task, place(collected))
    except PlannerError as error:
        return row_of(task, CellFault.of(error))


def place(collected: Collected) -> PlacedWorkloads:
    """Return the placement of the portfolio's movable workloads. Raises PlannerError."""
    clusters: list[PlacingCluster] = []
    left_out: list[str] = []
    movable: dict[Any, Movable] = {}
    steps = 0
    sources = tuple(source for _, each in collected.placed for source in each)
    for inputs in collected.stacks:
        cells = StackCells(inputs, collected.portfolio.ask)
        steps = cells.steps
        if inputs.fault is not None:
            left_out.append(inputs.name)
            continue
        try:
            fleet = cells.fleet
            own = {each.ref for each in cells.manifests(inputs.sources, fleet.features).workloads}
            features = fleet.features
            for placing, texts in collected.placed:
                for workload in read_checked(texts, features).workloads:
                    if workload.ref in own:
                        raise RunsInClusterError(
                            f"place: {workload.ref} already runs in {inputs.name}",
                            fix=f"remove this workload from {inputs.name}, or rename it",
                        )
                    movable[workload.ref] = Movable(ref=workload.ref, clusters=placing.clusters)
            manifests = cells.manifests((*inputs.sources, *sources), fleet.features)
        except RunsInClusterError:
            raise
        except PlannerError:
            left_out.append(inputs.name)
            continue
        clusters.append(
            PlacingCluster(
                name=inputs.name,
                labels=collected.labels[inputs.name],
                fleet=fleet,
                manifests=manifests,
            )
        )
    if not clusters:
        raise PlannerError(
            "place: no stack in the portfolio can be read",
            fix="run the portfolio without `place` to see the error of each stack",
        )
    placement = place_workloads(clusters, movable.values(), collected.portfolio.ask.demand, steps)
    return PlacedWorkloads(placement=placement, left_out=tuple(left_out))
