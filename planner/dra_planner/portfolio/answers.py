"""The answer of a plan for one stack in one scenario, small enough to store a million of them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct

from dra_planner.errors import PlannerError, located
from dra_planner.model import Verdict

if TYPE_CHECKING:
    from dra_planner.plan import Plan

MOST_REASONS = 5


class PoolCount(Struct, frozen=True, kw_only=True):
    """The three node counts of one pool, and the built nodes."""

    name: str
    machine: str
    bound: int
    packing: int
    simulated: int | None
    recommended: int
    maximum: int


class CellAnswer(Struct, frozen=True, kw_only=True):
    """Verdict, counts, and cost. `stalled` is the number of rollouts that never finish. `reasons`
    are the first reasons with their subjects, and `more_reasons` is the number of others.
    """

    verdict: Verdict
    kubernetes: str
    nodes_bound: int  # total of all pools
    pools: tuple[PoolCount, ...]
    placed: int
    pending: int
    stalled: int
    hourly_usd: Decimal | None
    bound_usd: Decimal | None
    reasons: tuple[str, ...]
    more_reasons: int
    assumptions: tuple[str, ...] = ()

    @property
    def nodes_packing(self) -> int:
        return sum(pool.packing for pool in self.pools)

    @property
    def nodes_simulated(self) -> int | None:
        found = [pool.simulated for pool in self.pools if pool.simulated is not None]
        return sum(found) if len(found) == len(self.pools) else None

    @property
    def nodes(self) -> int:
        """The built nodes."""
        return sum(pool.recommended for pool in self.pools)


class CellFault(Struct, frozen=True, kw_only=True):
    """The reason why one stack in one scenario has no result. `kind` is "input" if the input is
    invalid.
    """

    kind: str
    message: str
    place: str = ""
    fix: str = ""

    @classmethod
    def of(cls, error: PlannerError) -> CellFault:
        """Return invalid input as an error."""
        more = f" (and {len(error.others)} more)" if error.others else ""
        return cls(
            kind="input", message=error.message + more, place=str(error.place), fix=error.fix
        )

    def __str__(self) -> str:
        return located(self.place, self.message) + (f"; {self.fix}" if self.fix else "")


def answer_of(plan: Plan, assumptions: tuple[str, ...] = ()) -> CellAnswer:
    """Return the stored answer of a plan. `assumptions` are the assumptions of the scenario's
    edits.
    """
    reasons = list(_reasons(plan))
    return CellAnswer(
        verdict=plan.verdict,
        kubernetes=plan.kubernetes,
        nodes_bound=plan.nodes_bound,
        pools=tuple(
            PoolCount(
                name=pool.name,
                machine=pool.machine,
                bound=pool.bound,
                packing=pool.packing,
                simulated=pool.simulated,
                recommended=pool.recommended,
                maximum=pool.maximum,
            )
            for pool in plan.pools
        ),
        placed=sum(each.placed for each in plan.workloads),
        pending=sum(each.pending for each in plan.workloads),
        stalled=len(plan.stalled),
        hourly_usd=None if plan.cost is None else plan.cost.hourly_usd,
        bound_usd=None if plan.cost is None else plan.cost.bound_usd,
        reasons=tuple(reasons[:MOST_REASONS]),
        more_reasons=max(0, len(reasons) - MOST_REASONS),
        assumptions=assumptions,
    )


def _reasons(plan: Plan) -> Iterator[str]:
    for each in plan.diagnostics:
        if each.severity == "error":
            yield f"{each.code}: {each.message}"
    for workload in plan.workloads:
        if workload.verdicts[plan.level] != "fits":
            yield from (f"{workload.workload}: {reason.text}" for reason in workload.reasons[:1])
    for each in plan.beside:
        if each.severity == "error":
            yield f"{each.code}: {each.message}"
