"""The workloads with their pools, their pending pods, and their verdict for each demand."""

from __future__ import annotations

from collections.abc import Sequence

from dra_command.pens.table import Table
from dra_command.pens.visible_text import middle, short, visible
from dra_command.plan_report.tables.view import MOST_ROWS, SHORTEST_NAME, PlanView
from dra_command.plan_report.workload_order import listed_workloads, pending_pods
from dra_planner.model import DEMAND_LEVELS, DemandLevel, WorkloadRef
from dra_planner.plan import PlannedWorkload

_BRIEF_POOL, _NARROW_POOL = 22, 12
_SHORT_KINDS = {
    "CronJob": "cronjob",
    "DaemonSet": "ds",
    "Deployment": "deploy",
    "Job": "job",
    "Pod": "pod",
    "ReplicaSet": "rs",
    "StatefulSet": "sts",
}


def workload_table(view: PlanView) -> Table:
    """Return workloads with their pods and their verdict for each demand. Workloads with
    pending pods come first.
    """
    plan, signs = view.plan, view.signs
    levels: tuple[DemandLevel, ...] = (plan.level,) if plan.judgement.is_observed else DEMAND_LEVELS
    ordered = listed_workloads(plan)
    shown = ordered if view.every or len(ordered) <= MOST_ROWS + 1 else ordered[:MOST_ROWS]
    pending = any(pending_pods(plan, each) for each in plan.workloads)
    waits = (("pend" if view.narrow else "pending"),) if pending else ()
    heads = ("workload", "pool" if plan.fleet is not None else "node", *waits, *levels)
    rows = _rows(view, shown, heads)
    if len(shown) < len(ordered):
        fits = sum(each.verdicts[plan.level] == "fits" for each in ordered[len(shown) :])
        rows.append(
            (
                f"… {len(ordered) - len(shown)} more, {fits} of them fit",
                *("" for _ in heads[1:]),
            )
        )
    verdicts = (
        f"{signs.fits} fits · {signs.does_not_fit} does not fit · {signs.cannot_tell} cannot tell"
    )
    meanings = "floor: minimum · steady: declared · ceiling: maximum · peak: with surge"
    note = f"{meanings} · {verdicts}"
    if view.is_placed_otherwise:
        note = f"{note} · pool: as simulated, order {view.filled.order}"
    if pending and view.narrow:
        note = f"{note} · pend: pods pending"
    return Table("Workloads", heads, tuple(rows), frozenset(range(2, len(heads))), note)


def _rows(
    view: PlanView, shown: Sequence[PlannedWorkload], heads: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the rows of workloads. If the lines are too narrow, each row contains one pool,
    and the names are shortened.
    """
    levels = [level for level in DEMAND_LEVELS if level in heads]
    rows: list[tuple[str, ...]] = []
    for is_brief in (False, True):
        rest = [
            (
                pools_of(view, each, is_brief=is_brief),
                *((pending_pods(view.plan, each) or "0",) if len(heads) > 2 + len(levels) else ()),
                *(_figure(view, each, level) for level in levels),
            )
            for each in shown
        ]
        room = view.room([heads[1:], *rest])
        names = _names(view, [each.workload for each in shown], max(SHORTEST_NAME, room))
        rows = [
            (middle(name, max(SHORTEST_NAME, room)), *cells)
            for name, cells in zip(names, rest, strict=True)
        ]
        if all(len(name) <= room for name in names):
            break
    return rows


def _names(view: PlanView, refs: Sequence[WorkloadRef], room: int) -> list[str]:
    """Return the names of workloads, spelled so that they fit if possible."""
    names: list[str] = []
    one_namespace = len({ref.namespace for ref in refs}) == 1
    shortest = (_without_namespace, _only_name) if one_namespace else (_without_kind,)
    for spell in (_in_full, _short_kind, *shortest):
        names = [f"{_letter(view, ref)} {visible(spell(ref))}" for ref in refs]
        if max(map(len, names), default=0) <= room:
            break
    return names


def _letter(view: PlanView, ref: WorkloadRef) -> str:
    return view.letters.get(ref, "+" if _is_claiming(view, ref) else " ")


def _is_claiming(view: PlanView, ref: WorkloadRef) -> bool:
    return len(view.letters) == 26 and ref not in view.letters


def pools_of(view: PlanView, workload: PlannedWorkload, *, is_brief: bool = False) -> str:
    """Return the pools of a workload's pods, or a shortened name of one pool if `is_brief`."""
    placements = view.placements[workload.workload].items()
    places = [short(pool, 40) for pool, pods in placements if pods]
    if not places:
        return "none"
    more = f" +{len(places) - 1}" if len(places) > 1 else ""
    if is_brief:
        most = _NARROW_POOL if view.narrow else _BRIEF_POOL
        return middle(places[0], most - len(more)) + more
    if len(places) == 1 or view.narrow:
        return places[0] + more
    pods_by_pool = [f"{short(pool, 40)} {pods}" for pool, pods in placements if pods]
    return ", ".join(pods_by_pool[:3]) + (
        f", {len(pods_by_pool) - 3} more" if len(pods_by_pool) > 3 else ""
    )


def _figure(view: PlanView, workload: PlannedWorkload, level: DemandLevel) -> str:
    figure = workload.figures.at(level)
    return f"{'any' if figure is None else figure} {view.signs.of(workload.verdicts[level])}"


def _in_full(ref: WorkloadRef) -> str:
    return f"{ref.kind} {ref.namespace}/{ref.name}"


def _short_kind(ref: WorkloadRef) -> str:
    return f"{_SHORT_KINDS.get(ref.kind, ref.kind)} {ref.namespace}/{ref.name}"


def _without_namespace(ref: WorkloadRef) -> str:
    return f"{_SHORT_KINDS.get(ref.kind, ref.kind)} {ref.name}"


def _without_kind(ref: WorkloadRef) -> str:
    return f"{ref.namespace}/{ref.name}"


def _only_name(ref: WorkloadRef) -> str:
    return ref.name
