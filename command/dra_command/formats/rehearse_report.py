"""What a rehearsal says, in words and tables that every format shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from dra_command.formats.plan_report import Table
from dra_planner.model import Verdict

if TYPE_CHECKING:  # the sandbox is an extra
    from dra_sandbox.rehearsal import Comparison, WorkloadRow

_LEGEND = "plan: what the packing found places · outcome: what the scheduler did · pods per pool in brackets"


def verdict_of(found: Comparison) -> Verdict:
    """Return whether every pod has a node; cannot tell where something is unexplained, or time ran out."""
    if found.unexplained or not found.outcome.decided:
        return "cannot-tell"
    return "does-not-fit" if found.pending or any(row.outcome.refused for row in found.rows) else "fits"


def headline(found: Comparison) -> str:
    """Return the outcome in one sentence."""
    pods = sum(row.outcome.placed for row in found.rows)
    if found.unexplained:
        count = len(found.unexplained)
        return f"{count} unexplained difference{'s' if count != 1 else ''} between plan and scheduler."
    if not found.outcome.decided:
        return "The time limit was reached before the scheduler had judged every pod."
    if found.pending:
        return f"{_pods(found.pending)} pending, {_pods(pods)} placed."
    return f"All {pods} pods were placed." if pods != 1 else "The pod was placed."


def setting(found: Comparison) -> str:
    """Return where and how this was rehearsed."""
    fleet = found.plan.fleet
    where = f"{fleet.cloud} {fleet.region} · " if fleet is not None else ""
    return f"{where}kube-scheduler {found.release} · order {found.order} · {found.seconds:.1f} s"


def workloads_table(found: Comparison) -> Table:
    """Return plan and outcome of every workload."""
    rows = tuple(
        (
            _name(row),
            str(row.wanted),
            _counted(row.planned.placed, dict(row.planned.placements)) if row.planned else "–",
            _counted(row.outcome.placed, row.outcome.pools),
            str(row.pending) if row.pending else "",
            row.difference.reason if row.difference else "",
        )
        for row in found.rows
    )
    return Table(
        "Workloads", ("workload", "pods", "plan", "outcome", "pending", "difference"), rows, frozenset({1, 4}), _LEGEND
    )


def pools_table(found: Comparison) -> Table:
    """Return nodes and devices of every pool."""
    planned = {pool.name: str(pool.devices.used) for pool in found.plan.pools}
    rows = tuple(
        (
            pool.name,
            str(pool.nodes),
            str(pool.nodes_used),
            str(pool.pods),
            str(pool.devices),
            planned.get(pool.name, ""),
            str(pool.devices_used),
        )
        for pool in found.outcome.pools
    )
    heads = ("pool", "nodes", "with pods", "pods", "devices", "used in plan", "used")
    return Table("Node pools", heads, rows, frozenset(range(1, 7)))


def explanations(found: Comparison) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each workload that differs, was refused or has pending pods, with the reason and the scheduler's words."""
    for row in found.rows:
        lines = [row.difference.message] if row.difference else []
        if row.outcome.refused and not row.difference:
            lines.append(f"refused: {row.outcome.refused}")
        lines += [f"kube-scheduler: {words}" for words in row.outcome.words]
        if lines:
            yield _name(row), tuple(lines)


def _name(row: WorkloadRow) -> str:
    ref = row.outcome.workload
    return f"{ref.kind} {ref.namespace}/{ref.name}"


def _counted(pods: int, pools: Mapping[str, int]) -> str:
    where = ", ".join(f"{pool} {count}" for pool, count in sorted(pools.items()) if count)
    return f"{pods} ({where})" if where else str(pods)


def _pods(count: int) -> str:
    return f"{count} pod{'s' if count != 1 else ''}"
