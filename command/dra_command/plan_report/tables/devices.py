"""The devices of each group of identical nodes: who uses them, and which are free."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dra_command.pens.table import Table
from dra_command.pens.visible_text import short
from dra_command.plan_report.figures import (
    drawn_devices,
    has_many,
    is_shared,
)
from dra_command.plan_report.tables.view import MOST_GROUPS, MOST_ROWS, PlanView
from dra_planner.plan.nodes.devices import NIC, KindCount
from dra_planner.plan.nodes.share_limits import share_limits
from dra_planner.wording import counted

# if a plan has at least this many pools, the table shows only the largest group of each pool
_MANY_POOLS = 8
_MOST_SHARES = 2


def device_table(view: PlanView) -> Table | None:
    """Return the devices of each group of identical nodes. None if no node has devices."""
    kinds = [kind for group in view.filled.groups for kind in group.kinds]
    if not kinds:
        return None
    stranded = any(kind.stranded for kind in kinds)
    names = list(dict.fromkeys(group.pool for group in view.filled.groups))
    if not view.every and view.plan.fleet is None:
        names = names[:MOST_ROWS]
    rows = [
        (*row, str(kind.stranded)) if stranded else row
        for pool in names
        for row, kind in _devices(view, pool)
    ]
    heads = ("pool", "nodes", "each node", "used", "free", *(("stranded",) if stranded else ()))
    numbers = frozenset({1, *range(3, len(heads))})
    return Table("Devices", heads, tuple(rows), numbers, _legend(view, stranded))


def _devices(view: PlanView, pool: str) -> Iterator[tuple[tuple[str, ...], KindCount]]:
    groups = view.filled.of_pool(pool)
    most = MOST_GROUPS if len(view.plan.pools) <= _MANY_POOLS else 1
    shown = groups if view.every or len(groups) <= most + 1 else groups[:most]
    name = short(pool, 40)
    for group in shown:
        for kind in (kind for kind in group.kinds if kind.kind != NIC):
            yield (
                _row(name, str(group.nodes), drawn_devices(group, view.letters, view.signs), kind),
                kind,
            )
            name = ""
    hidden = groups[len(shown) :]
    if hidden:
        rest = Counter(kind.kind for group in hidden for kind in group.kinds)
        each = f"{len(hidden)} more ways to fill a node"
        for kind in view.filled.kinds(pool):
            if kind.kind != NIC and rest[kind.kind]:
                of_kind = (
                    each for group in hidden for each in group.kinds if each.kind == kind.kind
                )
                mine = sum(of_kind, KindCount(kind=kind.kind))
                yield _row("", str(sum(group.nodes for group in hidden)), each, mine), mine
    for kind in view.filled.kinds(pool):
        if kind.kind == NIC:
            nodes = sum(group.nodes for group in groups)
            yield _row(name, str(nodes), counted(kind.total // nodes, NIC), kind), kind
            name = ""


def _row(pool: str, nodes: str, each: str, kind: KindCount) -> tuple[str, ...]:
    return (pool, nodes, each, counted(kind.used, kind.kind), str(kind.free))


def _legend(view: PlanView, stranded: bool) -> str:
    signs, used = view.signs, sorted(view.letters.values())
    entries = (
        [f"{used[0]}–{used[-1]} used by that workload" if len(used) > 1 else f"{used[0]} used"]
        if used
        else []
    )
    if has_many(view.filled, view.letters):
        entries.append("+ used by another workload")
    if is_shared(view.filled):
        entries.append("* * shared by several workloads")
    entries.append(f"{signs.free} free")
    if view.is_placed_otherwise:
        entries.append(f"as simulated, order {view.filled.order}")
    if stranded:
        entries.append(f"{signs.stranded} stranded: free, but no pod can use it")
    limits = list(share_limits(view.plan))
    entries += limits if view.every else limits[:_MOST_SHARES]
    return " · ".join(entries)
