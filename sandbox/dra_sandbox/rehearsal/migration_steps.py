"""Run the steps of a migration on the real scheduler.

Each step runs once with the pods of both versions, and again with the pods after the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager

from msgspec import Struct

from dra_planner.migration import MigrationStep
from dra_planner.plan import PlanRequest, make_plan
from dra_sandbox.control_plane import ControlPlane
from dra_sandbox.rehearsal.comparison import Comparison
from dra_sandbox.rehearsal.rehearsing import RehearsalRequest, Where, rehearse

OpenCluster = Callable[[], AbstractContextManager[ControlPlane | Where]]
"""Opens an empty cluster, and removes it afterward."""


class RehearsedStep(Struct, frozen=True):
    """A step and its rehearsals: with old and new pods together, and after the step.

    A step without moves has only one rehearsal.
    """

    step: MigrationStep
    rehearsals: tuple[Comparison, ...]

    @property
    def pending(self) -> int:
        """The largest number of pods without a node, including rejected pods."""
        return max(
            each.pending + sum(bool(row.outcome.refused) for row in each.rows)
            for each in self.rehearsals
        )

    @property
    def placed(self) -> int:
        """Number of pods with a node, in the rehearsal that has more pods."""
        return max(sum(row.outcome.placed for row in each.rows) for each in self.rehearsals)

    @property
    def decided(self) -> bool:
        """False if the time limit was reached before the scheduler had evaluated every pod."""
        return all(each.outcome.decided for each in self.rehearsals)


def rehearse_steps(
    cluster: OpenCluster,
    steps: Iterable[MigrationStep],
    kubernetes: str = "",
    within_seconds: float = 180,
) -> Iterator[RehearsedStep]:
    """Yield the scheduler's result for each step. Each state is rehearsed on an empty cluster.

    Raises the same exceptions as `rehearse`.
    """
    for step in steps:
        states = [(step.together, step.fleet)]
        if step.fleet_after != step.fleet:
            states.append((step.sources, step.fleet_after))
        found = []
        for sources, fleet in states:
            plan = make_plan(
                PlanRequest(sources=sources, fleet=fleet, kubernetes=kubernetes, with_fixes=False)
            )
            with cluster() as where:
                found.append(
                    rehearse(
                        where,
                        RehearsalRequest(plan=plan, sources=sources, within_seconds=within_seconds),
                    )
                )
        yield RehearsedStep(step, tuple(found))
