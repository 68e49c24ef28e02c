"""A matrix of plans as rows and sentences, for all formats."""

from __future__ import annotations

from collections.abc import Iterator

from dra_command.pens.table import Table
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_planner.plan import Plan
from dra_planner.plan.matrix import Combination, Matrix

REFUSED = "refused"


def matrix_table(matrix: Matrix) -> Table:
    """Return a row for each combination: its values, its verdict, pending pods, nodes of each pool,
    and the cost.
    """
    pools = pool_names(matrix)
    heads = (*matrix.axes, "verdict", "pending", *pools, "USD/h")
    rows = tuple(tuple(_cells(each, pools)) for each in matrix.combinations)
    first = len(matrix.axes) + 1
    note = "pool columns: nodes at creation, of the allowed number · –: fleet or pool doesn't exist"
    return Table("Combinations", heads, rows, frozenset(range(first, len(heads))), note)


def matrix_headline(matrix: Matrix) -> str:
    """Return the number of combinations that fit."""
    fitting = sum(
        each.plan is not None and each.plan.verdict == "fits" for each in matrix.combinations
    )
    return f"{fitting} of {len(matrix.combinations)} combinations fit."


def obstacles_of(matrix: Matrix) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each combination that doesn't fit, the first reason, and its fix."""
    for each in matrix.combinations:
        name = ", ".join(
            f"{path}={value}" for path, value in zip(matrix.axes, each.values, strict=True)
        )
        if each.error is not None:
            yield name, each.error.message, each.error.fix
        elif each.plan is not None and each.plan.verdict != "fits":
            yield name, *_first_reason(each.plan)


def pool_names(matrix: Matrix) -> tuple[str, ...]:
    """Return the pools of all plans, in the same order as in the fleets."""
    plans = (each.plan for each in matrix.combinations if each.plan is not None)
    return tuple(dict.fromkeys(pool.name for plan in plans for pool in plan.pools))


def _cells(each: Combination, pools: tuple[str, ...]) -> Iterator[str]:
    yield from each.values
    plan = each.plan
    if plan is None:
        yield from (REFUSED, "–", *("–" for _ in pools), "–")
        return
    yield VERDICT_WORDS[plan.verdict]
    yield str(sum(workload.pending for workload in plan.workloads))
    by_name = {pool.name: pool for pool in plan.pools}
    for name in pools:
        pool = by_name.get(name)
        yield "–" if pool is None else f"{pool.nodes.desired} of {pool.maximum}"
    yield "unknown" if plan.cost is None else f"{plan.cost.hourly_usd:,.2f}"


def _first_reason(plan: Plan) -> tuple[str, str]:
    for finding in plan.findings:
        if finding.severity == "error":
            return finding.message, finding.fix
    for workload in plan.workloads:
        if workload.verdicts[plan.level] != "fits" and workload.reasons:
            reason = workload.reasons[0]
            return f"{workload.workload}: {reason.message}", reason.fix
    return "plan only this combination", ""
