"""A matrix of plans as rows and sentences, for all formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_command.pens.table import Table
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_command.plan_report.workload_order import all_pending_pods
from dra_planner.plan import Plan
from dra_planner.plan.matrix import Combination, Matrix
from dra_planner.wording import counted

REFUSED = "refused"
_MOST_REASONS: Final = 5


def matrix_table(matrix: Matrix) -> Table:
    """Return a row for each combination: its values, its verdict, pending pods, nodes of each pool,
    and the cost.
    """
    pools = pool_names(matrix)
    heads = (*matrix.axes, "verdict", "pending", *pools, "USD/h")
    rows = tuple(tuple(_cells(each, pools)) for each in matrix.combinations)
    first = len(matrix.axes) + 1
    note = "pool columns: nodes to create, of the maximum · –: no pool, or invalid fleet"
    return Table("Combinations", heads, rows, frozenset(range(first, len(heads))), note)


def matrix_headline(matrix: Matrix) -> str:
    """Return the number of combinations that fit."""
    fitting = sum(
        each.plan is not None and each.plan.verdict == "fits" for each in matrix.combinations
    )
    return f"{fitting} of {len(matrix.combinations)} combinations fit."


def obstacles_of(matrix: Matrix) -> Iterator[tuple[str, str, str]]:
    """Yield the names of combinations that don't fit, with a reason and its fix for each of their
    workloads, and of combinations in which a rollout never finishes. Combinations with the same
    reasons are yielded together.
    """
    names: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for each in matrix.combinations:
        values = zip(matrix.axes, each.values, strict=True)
        if reasons := tuple(_obstacles(each)):
            name = ", ".join(f"{path}={value}" for path, value in values)
            names.setdefault(reasons, []).append(name)
    for reasons, sharing in names.items():
        for what, fix in reasons:
            yield "; ".join(sharing), what, fix


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
    yield all_pending_pods(plan)
    by_name = {pool.name: pool for pool in plan.pools}
    for name in pools:
        pool = by_name.get(name)
        yield "–" if pool is None else f"{pool.nodes.desired} of {pool.maximum}"
    yield "unknown" if plan.cost is None else f"{plan.cost.hourly_usd:,.2f}"


def _obstacles(each: Combination) -> Iterator[tuple[str, str]]:
    if each.error is not None:
        yield each.error.message, each.error.fix
    elif each.plan is not None:
        if each.plan.running != "fits":
            yield from _reasons(each.plan)
        for found in each.plan.beside:
            if found.severity == "error":
                yield found.message, found.fix


def _reasons(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the first reason of each workload, after the errors about objects."""
    errors = [(each.message, each.fix) for each in plan.findings if each.severity == "error"]
    of_workloads = [
        (f"{each.workload}: {each.reasons[0].text}", each.reasons[0].fix)
        for each in plan.workloads
        if each.verdicts[plan.level] != "fits" and each.reasons
    ]
    found = errors[:1] if errors else of_workloads
    yield from found[:_MOST_REASONS]
    if len(found) > _MOST_REASONS:
        yield f"{counted(len(found) - _MOST_REASONS, 'more workload')} can't run", ""
    if not found:
        yield "plan only this combination", ""
