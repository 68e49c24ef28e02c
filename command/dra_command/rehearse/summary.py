"""The results of a rehearsal, as sentences and tables for every output format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dra_command.pens.table import Table
from dra_planner.model import Verdict
from dra_planner.wording import counted

if TYPE_CHECKING:  # the sandbox is an optional extra
    from dra_sandbox.rehearsal import ComparedWorkload, Comparison, OutcomeDifference, ScenarioRow

_LEGEND = (
    "plan: placement of the packing · simulation: predicted placement for this pod arrival order · "
    "outcome: placement by the scheduler · pods per pool in parentheses"
)


def verdict_of(found: Comparison) -> Verdict:
    """Return whether every pod has a node. *Cannot tell* if a difference is unexplained, or if the
    time ran out.
    """
    if (
        _unexplained(found)
        or not found.outcome.decided
        or not all(each.decided for each in found.scenarios)
    ):
        return "cannot-tell"
    is_pending = found.pending or any(each.pending for each in found.scenarios)
    return (
        "does-not-fit" if is_pending or any(row.outcome.refused for row in found.rows) else "fits"
    )


def headline(found: Comparison) -> str:
    """Return the outcome in one sentence, and one for each scenario that leaves pods pending."""
    pods = sum(row.outcome.placed for row in found.rows)
    if _unexplained(found):
        differences = counted(_unexplained(found), "unexplained difference")
        return f"{differences} between plan, simulation, and scheduler."
    if not found.outcome.decided:
        return "The time limit was reached before the scheduler had tried every pod."
    first = f"All {pods} pods were placed." if pods != 1 else "The pod was placed."
    if found.pending:
        first = f"{counted(found.pending, 'pod')} pending, {counted(pods, 'pod')} placed."
    left = [
        f"After {each.scenario}: {counted(each.pending, 'pod')} pending."
        for each in found.scenarios
        if each.pending
    ]
    return " ".join([first, *left])


def setting(found: Comparison) -> str:
    """Return where and how the rehearsal ran."""
    fleet = found.plan.fleet
    where = f"{fleet.cloud} {fleet.region} · " if fleet is not None else ""
    return f"{where}kube-scheduler {found.release} · order {found.order} · {found.seconds:.1f} s"


def workloads_table(found: Comparison) -> Table:
    """Return the plan and the outcome for every workload."""
    rows = tuple(
        (
            _name(row),
            str(row.wanted),
            _counted(row.planned.placed, dict(row.planned.placements)) if row.planned else "–",
            _counted(row.simulated.placed, row.simulated.pools) if row.simulated else "–",
            _counted(row.outcome.placed, row.outcome.pools),
            str(row.pending) if row.pending else "",
            _reasons(row.difference, row.deviation),
        )
        for row in found.rows
    )
    heads = ("workload", "pods", "plan", "simulation", "outcome", "pending", "difference")
    return Table("Workloads", heads, rows, frozenset({1, 5}), _LEGEND)


def scenario_tables(found: Comparison) -> Iterator[Table]:
    """Yield for each scenario the earlier placement, the result of the simulation, and the result
    of every workload.
    """
    heads = ("workload", "before", "pods", "simulation", "outcome", "pending", "difference")
    for each in found.scenarios:
        rows = tuple(
            (
                _name(row),
                str(row.before),
                str(row.wanted),
                _counted(row.simulated.placed, row.simulated.pools),
                _counted(row.outcome.placed, row.outcome.pools),
                str(row.pending) if row.pending else "",
                _reasons(row.deviation),
            )
            for row in each.rows
        )
        note = (
            ""
            if each.decided
            else "The time limit was reached before the scheduler had tried every pod."
        )
        title = f"Scenario {each.scenario}: {each.event}"
        yield Table(title, heads, rows, frozenset({1, 2, 5}), note)


def pools_table(found: Comparison) -> Table:
    """Return the nodes and devices of every pool."""
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
    """Yield the workloads that differ, were rejected, or have pending pods, with the reasons and
    the scheduler's own messages. Workloads with the same explanation are listed together.
    """
    yield from _by_explanation(
        (row, [*_messages(row.difference, row.deviation), *_rejection(row)]) for row in found.rows
    )
    for each in found.scenarios:
        explained = ((row, _messages(row.deviation)) for row in each.rows)
        for names, lines in _by_explanation(explained):
            yield f"{each.scenario}, {names}", lines


def _by_explanation(
    rows: Iterable[tuple[ComparedWorkload | ScenarioRow, Sequence[str]]],
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names of workloads, and the reasons and the scheduler's messages that they
    share.
    """
    names: dict[tuple[str, ...], list[str]] = {}
    for row, reasons in rows:
        words = (f"kube-scheduler: {words}" for words in row.outcome.words)
        if lines := tuple(dict.fromkeys((*reasons, *words))):
            names.setdefault(lines, []).append(_name(row))
    for lines, sharing in names.items():
        yield ", ".join(sharing), lines


def _messages(*differences: OutcomeDifference | None) -> list[str]:
    return [each.message for each in differences if each is not None]


def _rejection(row: ComparedWorkload) -> list[str]:
    is_only_reason = row.outcome.refused and not row.difference
    return [f"refused: {row.outcome.refused}"] if is_only_reason else []


def fixes(found: Comparison) -> Iterator[str]:
    """Yield the changes that prevent pending pods: the plan's fixes, and spare nodes for the
    failure of a node.
    """
    fleet = found.plan.fleet
    if found.pending and found.plan.running != "fits":
        yield "for reasons and fixes, run `pulumi-dra plan` with the same options"
    if fleet is None or fleet.redundancy.is_requested:
        return
    lost = {each.scenario.kind for each in found.scenarios if each.pending}
    for kind, unit in (("node-lost", "nodes"), ("zone-lost", "zones")):
        if kind in lost:
            yield (
                f"to have spare nodes for this case, set `redundancy: {{{unit}: 1}}` in the fleet, "
                "and plan again"
            )


def _unexplained(found: Comparison) -> int:
    return len(found.unexplained) + sum(len(each.unexplained) for each in found.scenarios)


def _reasons(*differences: OutcomeDifference | None) -> str:
    """The codes of the differences, without duplicates."""
    return ", ".join(dict.fromkeys(each.reason for each in differences if each is not None))


def _name(row: ComparedWorkload | ScenarioRow) -> str:
    ref = row.outcome.workload
    return f"{ref.kind} {ref.namespace}/{ref.name}"


def _counted(pods: int, pools: Mapping[str, int]) -> str:
    where = ", ".join(f"{pool} {count}" for pool, count in sorted(pools.items()) if count)
    return f"{pods} ({where})" if where else str(pods)
