"""Sentences and tables of a comparison, which text and Markdown share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from dra_command.diff.comparison import ComparedSides
from dra_command.pens.amounts import signed, usd
from dra_command.pens.table import Table
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_command.pens.visible_text import short
from dra_planner.catalog import HOURS_PER_MONTH
from dra_planner.model import Verdict
from dra_planner.plan.saved.difference import PlanDifference, PoolDifference
from dra_planner.plan.saved.workload_difference import WorkloadDifference
from dra_planner.wording import counted, verb

_MOST_CAUSES = 3
_LONGEST_VALUE = 60
_LONGEST_OBJECT = 400


def headline(found: ComparedSides) -> str:
    """Return the change in one sentence: verdict, nodes, and cost."""
    difference = found.difference
    if difference.is_same:
        return f"No differences. Verdict: {VERDICT_WORDS[difference.verdict_after]}."
    parts = [_verdicts(difference), _nodes(difference)]
    if worse := difference.worse:
        parts.insert(
            1,
            f"{counted(len(worse), 'workload')} {verb(len(worse), 'have')} a worse verdict than before",
        )
    return "; ".join(filter(None, parts)) + "."


def _verdicts(difference: PlanDifference) -> str:
    before, after = difference.verdict_before, VERDICT_WORDS[difference.verdict_after]
    if before is None:
        return f"New: {after}"
    if before == difference.verdict_after:
        return f"Verdict: still {after}"
    return f"Verdict: {VERDICT_WORDS[before]} → {after}"


def _nodes(difference: PlanDifference) -> str:
    if not difference.nodes and not difference.hourly_usd and difference.hourly_usd is not None:
        return "the same number of nodes and the same cost"
    noun = "node" if abs(difference.nodes) == 1 else "nodes"
    nodes = f"{difference.nodes:+d} {noun}" if difference.nodes else "the same number of nodes"
    return f"{nodes}, {_cost(difference.hourly_usd)}"


def _cost(hourly: Decimal | None) -> str:
    if hourly is None:
        return "at unknown cost"
    if not hourly:
        return "at the same cost"
    sign = "+" if hourly > 0 else "−"
    return (
        f"{sign}{usd(abs(hourly))} per hour ({sign}{usd(abs(hourly) * HOURS_PER_MONTH)} per month)"
    )


def tables(found: ComparedSides, *, every: bool = False) -> Iterator[Table]:
    """Yield the tables with differences. With `every`, also include rows of unchanged pools and
    workloads.
    """
    difference = found.difference
    pools = [pool for pool in difference.pools if every or pool.is_changed]
    workloads = [each for each in difference.workloads if every or each.is_changed]
    if pools:
        heads = ("pool", "machine type", "nodes", "change", "USD/h", "because")
        yield Table("Pools", heads, tuple(map(_pool, pools)), frozenset({2, 3, 4}))
    if workloads:
        columns = ("workload", "pods", "pending", "verdict", "pools")
        yield Table("Workloads", columns, tuple(map(_workload, workloads)), frozenset({1, 2}))
    if difference.settings:
        rows = tuple(
            (short(each.path, 80), _value(each.before), _value(each.after))
            for each in difference.settings
        )
        yield Table("Settings", ("setting", "before", "after"), rows)


def _pool(pool: PoolDifference) -> tuple[str, ...]:
    machine = (
        _changed(pool.machine_before, pool.machine) if pool.machine_before and pool.machine else ""
    )
    return (
        short(pool.pool, 40),
        machine or pool.machine or pool.machine_before,
        _changed(str(pool.before), str(pool.after)),
        f"{pool.after - pool.before:+d}" if pool.after != pool.before else "0",
        "unknown" if pool.hourly_usd is None else signed(pool.hourly_usd),
        _causes(tuple(each for each in pool.because if each != machine)),
    )


def _causes(causes: tuple[str, ...]) -> str:
    text = "; ".join(short(each) for each in causes[:_MOST_CAUSES])
    return f"{text}; {len(causes) - _MOST_CAUSES} more" if len(causes) > _MOST_CAUSES else text


def _workload(each: WorkloadDifference) -> tuple[str, ...]:
    before, after = each.before, each.after
    return (
        short(str(each), 60),
        _changed(_pods(before is None, each.pods_before), _pods(after is None, each.pods_after)),
        _changed(str(before.pending) if before else "–", str(after.pending) if after else "–"),
        _changed(_verdict(each.verdict_before), _verdict(each.verdict_after)),
        _changed(", ".join(each.pools_before) or "–", ", ".join(each.pools) or "–"),
    )


def _changed(before: str, after: str) -> str:
    return after if before == after else f"{before} → {after}"


def _pods(is_absent: bool, pods: int | None) -> str:
    return "–" if is_absent else "unbounded" if pods is None else str(pods)


def _verdict(verdict: Verdict | None) -> str:
    return "–" if verdict is None else VERDICT_WORDS[verdict]


def _value(text: str) -> str:
    """Return a setting's value. If the value is an object, such as a pool that exists on only one
    side, return a list of its nonzero values.
    """
    if text.startswith(("{", "[{")):
        values = [f"{path}: {value}" for path, value in _leaves("", json.loads(text))]
        return short(", ".join(values), _LONGEST_OBJECT)
    return short(text, _LONGEST_VALUE) if text else "–"


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the single values of an object, with their paths."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(f"{path}.{key}" if path else key, each)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for number, each in enumerate(value):
            yield from _leaves(f"{path}[{number}]", each)
    elif value not in (0, "0"):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield path, text


def reasons(found: ComparedSides) -> Iterator[tuple[str, str, str]]:
    """Yield for each workload with a worse verdict: its name, the reason, and the fix."""
    for each in found.difference.worse:
        for reason in each.after.reasons if each.after is not None else ():
            yield str(each), reason.message, reason.fix
