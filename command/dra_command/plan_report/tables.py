"""The tables of a plan, for text and Markdown: changes, workloads, pools, devices, and pod arrival
orders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from dra_command.pens.amounts import signed, usd
from dra_command.pens.signs import Signs
from dra_command.pens.table import Table
from dra_command.pens.visible_text import middle, short, visible
from dra_command.plan_report.figures import (
    MOST_CELLS,
    Letters,
    bar_of,
    drawn_bar,
    drawn_devices,
    has_many,
    is_shared,
    letters_of,
)
from dra_planner.model import DEMAND_LEVELS, DemandLevel, WorkloadRef
from dra_planner.plan import Plan, PlannedPool, PlannedWorkload
from dra_planner.plan.nodes.built_placements import built_placements
from dra_planner.plan.nodes.devices import NIC, KindCount
from dra_planner.plan.nodes.groups import FilledNodes, fill_nodes
from dra_planner.plan.nodes.order_outcomes import order_outcomes
from dra_planner.plan.nodes.share_limits import share_limits
from dra_planner.wording import counted

if TYPE_CHECKING:  # most plans don't need these modules
    from dra_planner.plan.nodes.order_outcomes import HeldDevices
    from dra_planner.plan.saved.difference import PlanDifference

MOST_ROWS = 15
MOST_GROUPS = 4
# if a plan has at least this many pools, its tables show only the largest group of each pool
MANY_POOLS = 8
NARROW = 72
NOT_SIMULATED = "not run while pods are pending"
_SHORTEST_NAME = 10
_BRIEF_POOL, _NARROW_POOL = 22, 12
_MOST_SHARES = 2
_SHORT_KINDS = {
    "CronJob": "cronjob",
    "DaemonSet": "ds",
    "Deployment": "deploy",
    "Job": "job",
    "Pod": "pod",
    "ReplicaSet": "rs",
    "StatefulSet": "sts",
}


def is_left_unsimulated(plan: Plan) -> bool:
    """Whether the plan has no simulated counts because pods stay pending at any node count."""
    return plan.judgement.simulated is None and any(each.pending for each in plan.workloads)


class PlanTables(Struct, frozen=True):
    """Creates the tables of one plan for lines of `width` columns. With `every`, nothing is
    collapsed.
    """

    plan: Plan
    signs: Signs
    filled: FilledNodes
    letters: Letters
    placements: Mapping[WorkloadRef, Counter[str]]
    width: int
    every: bool = False

    @classmethod
    def of(cls, plan: Plan, signs: Signs, *, width: int, every: bool = False) -> PlanTables:
        """Return the tables of a plan."""
        filled = fill_nodes(plan)
        letters, placements = letters_of(plan, filled), built_placements(plan, filled)
        return cls(plan, signs, filled, letters, placements, width, every)

    @property
    def narrow(self) -> bool:
        """Whether lines are too short for all columns."""
        return self.width < NARROW

    # -- workloads

    @property
    def is_placed_otherwise(self) -> bool:
        """Return whether the simulated scheduler uses other pools than the packing. The table of
        placements shows this difference.
        """
        if self.filled.source != "simulated":
            return False
        return any(
            pods != self.placements[each.workload][pool]
            for each in self.plan.workloads
            for pool, pods in each.placements
        )

    def workloads(self) -> Table:
        """Return workloads with their pods and their verdict for each demand. Workloads with
        pending pods come first.
        """
        plan, signs = self.plan, self.signs
        levels: tuple[DemandLevel, ...] = (
            (plan.level,) if plan.judgement.is_observed else DEMAND_LEVELS
        )
        ordered = sorted(
            plan.workloads,
            key=lambda each: (not self.pending(each), each.verdicts[plan.level] == "fits"),
        )
        shown = ordered if self.every or len(ordered) <= MOST_ROWS + 1 else ordered[:MOST_ROWS]
        pending = any(self.pending(each) for each in plan.workloads)
        waits = (("pend" if self.narrow else "pending"),) if pending else ()
        heads = ("workload", "pool" if plan.fleet is not None else "node", *waits, *levels)
        rows = self._rows(shown, heads)
        if len(shown) < len(ordered):
            fits = sum(each.verdicts[plan.level] == "fits" for each in ordered[len(shown) :])
            rows.append(
                (
                    f"… {len(ordered) - len(shown)} more, {fits} of them fit",
                    *("" for _ in heads[1:]),
                )
            )
        verdicts = (
            f"{signs.fits} fits · {signs.does_not_fit} does not fit · {signs.cannot_tell} "
            "cannot tell"
        )
        meanings = "floor: minimum · steady: declared · ceiling: maximum · peak: with surge"
        note = f"{meanings} · {verdicts}"
        if self.is_placed_otherwise:
            note = f"{note} · pool: as simulated, order {self.filled.order}"
        if pending and self.narrow:
            note = f"{note} · pend: pods pending"
        return Table("Workloads", heads, tuple(rows), frozenset(range(2, len(heads))), note)

    def _rows(
        self, shown: Sequence[PlannedWorkload], heads: Sequence[str]
    ) -> list[tuple[str, ...]]:
        """Return the rows of workloads. If the lines are too narrow, each row contains one pool,
        and the names are shortened.
        """
        levels = [level for level in DEMAND_LEVELS if level in heads]
        rows: list[tuple[str, ...]] = []
        for is_brief in (False, True):
            rest = [
                (
                    self.places(each, is_brief=is_brief),
                    *((self.pending(each) or "0",) if len(heads) > 2 + len(levels) else ()),
                    *(self._figure(each, level) for level in levels),
                )
                for each in shown
            ]
            room = self._room([heads[1:], *rest])
            names = self._names([each.workload for each in shown], room)
            rows = [(middle(name, room), *cells) for name, cells in zip(names, rest, strict=True)]
            if all(len(name) <= room for name in names):
                break
        return rows

    def _room(self, beside: Sequence[Sequence[str]]) -> int:
        """Return the number of characters for names in lines with these other cells."""
        taken = sum(max(map(len, column)) + 2 for column in zip(*beside, strict=True))
        return max(_SHORTEST_NAME, self.width - taken)

    def _names(self, refs: Sequence[WorkloadRef], room: int) -> list[str]:
        """Return the names of workloads, spelled so that they fit if possible."""
        names: list[str] = []
        one_namespace = len({ref.namespace for ref in refs}) == 1
        shortest = (_without_namespace, _only_name) if one_namespace else (_without_kind,)
        for spell in (_in_full, _short_kind, *shortest):
            names = [f"{self._letter(ref)} {visible(spell(ref))}" for ref in refs]
            if max(map(len, names), default=0) <= room:
                break
        return names

    def _letter(self, ref: WorkloadRef) -> str:
        return self.letters.get(ref, "+" if self._is_claiming(ref) else " ")

    def _is_claiming(self, ref: WorkloadRef) -> bool:
        return len(self.letters) == 26 and ref not in self.letters

    def pending(self, workload: PlannedWorkload) -> str:
        """Return the number of pending pods, or the highest number in any pod arrival order, or ""
        for none.
        """
        if workload.pending:
            return str(workload.pending)
        found = self.plan.judgement.simulated
        if found is None or found.counts is not None:
            return ""
        ends = [
            each.pending.get(workload.workload, 0) for each in found.at_maximum or found.at_packing
        ]
        if not any(ends):
            return ""
        fewest = min(ends) if len(ends) == len(found.orders) else 0
        return f"{fewest}–{max(ends)}" if fewest < max(ends) else str(fewest)

    def places(self, workload: PlannedWorkload, *, is_brief: bool = False) -> str:
        """Return the pools of a workload's pods, or a shortened name of one pool if `is_brief`."""
        placements = self.placements[workload.workload].items()
        places = [short(pool, 40) for pool, pods in placements if pods]
        if not places:
            return "none"
        more = f" +{len(places) - 1}" if len(places) > 1 else ""
        if is_brief:
            most = _NARROW_POOL if self.narrow else _BRIEF_POOL
            return middle(places[0], most - len(more)) + more
        if len(places) == 1 or self.narrow:
            return places[0] + more
        pods_by_pool = [f"{short(pool, 40)} {pods}" for pool, pods in placements if pods]
        return ", ".join(pods_by_pool[:3]) + (
            f", {len(pods_by_pool) - 3} more" if len(pods_by_pool) > 3 else ""
        )

    def _figure(self, workload: PlannedWorkload, level: DemandLevel) -> str:
        figure = workload.figures.at(level)
        return f"{'any' if figure is None else figure} {self.signs.of(workload.verdicts[level])}"

    # -- pools

    def pools(self) -> Table:
        """Return the nodes of each pool as a bar and as numbers, with their cost."""
        plan = self.plan
        if plan.fleet is None:
            return self._nodes()
        if plan.judgement.is_observed:
            return self._growth()
        cells = MOST_CELLS // 2 if self.narrow else MOST_CELLS
        bars = {pool.name: drawn_bar(bar_of(pool), self.signs, cells) for pool in plan.pools}
        widest = max(map(len, bars.values()), default=0)
        rows = [self._pool(pool, bars[pool.name].ljust(widest)) for pool in plan.pools]
        heads = ["pool", "machine", "nodes of max", "bound", "packing", "simulated", "USD/h"]
        if len(rows) > 1:
            rows.append(self._total())
        if self.narrow:
            heads.pop(1)
            rows = [[row[0], *row[2:]] for row in rows]
        start = len(heads) - 4
        numbers = frozenset(range(start, len(heads)))
        return Table("Pools", tuple(heads), tuple(map(tuple, rows)), numbers, self._legend())

    def _pool(self, pool: PlannedPool, bar: str) -> list[str]:
        needed = max(pool.recommended, pool.bound if pool.bound > pool.maximum else 0)
        price = None if pool.hourly_usd is None else pool.nodes.desired * pool.hourly_usd
        return [
            short(pool.name, 40),
            short(pool.machine, 40),
            f"{bar} {needed}/{pool.maximum}",
            str(pool.bound),
            str(pool.packing),
            "–" if pool.simulated is None else str(pool.simulated),
            "unknown" if price is None else f"{price:,.2f}",
        ]

    def _total(self) -> list[str]:
        plan = self.plan
        simulated = [pool.simulated for pool in plan.pools]
        known = [each for each in simulated if each is not None]
        return [
            "total",
            "",
            "",
            str(plan.nodes_bound),
            str(sum(pool.packing for pool in plan.pools)),
            str(sum(known)) if len(known) == len(simulated) else "–",
            "unknown" if plan.cost is None else f"{plan.cost.hourly_usd:,.2f}",
        ]

    def _legend(self) -> str:
        bars, signs = [bar_of(pool) for pool in self.plan.pools], self.signs
        own = sum(pool.bound or 0 for pool in self.plan.pools)
        joint = (
            ""
            if self.plan.nodes_bound <= own
            else " (0 if other pools can run the pods; total: bound for all pools)"
        )
        entries = [f"{signs.bound} bound: proven minimum{joint}"]
        if any(bar.more for bar in bars):
            entries.append(f"{signs.simulated} recommended beyond it")
        if any(bar.allowed for bar in bars):
            entries.append(f"{signs.allowed} allowed, not needed")
        if any(bar.beyond for bar in bars):
            entries.append(f"{signs.beyond} beyond the maximum")
        if any(bar.is_open for bar in bars):
            entries.append(f"{signs.cannot_tell} not known")
        guarded = " with the guards" if self.plan.guards.kinds else ""
        entries.append(f"packing: best found{guarded}")
        found = self.plan.judgement.simulated
        rest = " for the other workloads" if found is not None and found.left_out else ""
        needed = f"nodes that the default scheduler needs{guarded}{rest}"
        entries.append(f"simulated: {NOT_SIMULATED if is_left_unsimulated(self.plan) else needed}")
        return " · ".join(entries)

    def _growth(self) -> Table:
        """Return how many nodes each pool needs in addition to the existing ones."""
        rows = tuple(
            (
                short(pool.name, 40),
                short(pool.machine, 40),
                f"{pool.minimum}–{pool.maximum}",
                str(pool.existing),
                str(pool.nodes.desired - (pool.existing or 0)),
                "unknown" if pool.hourly_usd is None else f"{pool.hourly_usd:,.2f}",
            )
            for pool in self.plan.pools
        )
        heads = ("pool", "machine", "allowed", "existing", "more", "USD/h each")
        found = self.plan.judgement.simulated
        note = (
            "more: additional nodes with which the default scheduler places all pods in "
            "every simulated order"
            if found is None or found.counts is not None
            else "more: additional nodes within the maximums, which aren't enough for all pods"
        )
        return Table("Pools", heads, rows, frozenset(range(2, 6)), note)

    def _nodes(self) -> Table:
        rows = tuple(
            (
                short(node.name, 60),
                node.machine or "?",
                *map(str, (node.devices.total, node.devices.used)),
            )
            for node in self.plan.pools
        )
        return Table("Nodes", ("node", "machine", "devices", "used"), rows, frozenset({2, 3}))

    # -- devices

    def devices(self) -> Table | None:
        """Return the devices of each group of identical nodes. None if no node has devices."""
        kinds = [kind for group in self.filled.groups for kind in group.kinds]
        if not kinds:
            return None
        stranded = any(kind.stranded for kind in kinds)
        names = list(dict.fromkeys(group.pool for group in self.filled.groups))
        if not self.every and self.plan.fleet is None:
            names = names[:MOST_ROWS]
        rows = [
            (*row, str(kind.stranded)) if stranded else row
            for pool in names
            for row, kind in self._devices(pool)
        ]
        heads = ("pool", "nodes", "each node", "used", "free", *(("stranded",) if stranded else ()))
        numbers = frozenset({1, *range(3, len(heads))})
        return Table("Devices", heads, tuple(rows), numbers, self._device_legend(stranded))

    def _devices(self, pool: str) -> Iterator[tuple[tuple[str, ...], KindCount]]:
        groups = self.filled.of_pool(pool)
        most = MOST_GROUPS if len(self.plan.pools) <= MANY_POOLS else 1
        shown = groups if self.every or len(groups) <= most + 1 else groups[:most]
        name = short(pool, 40)
        for group in shown:
            for kind in (kind for kind in group.kinds if kind.kind != NIC):
                yield (
                    self._row(
                        name, str(group.nodes), drawn_devices(group, self.letters, self.signs), kind
                    ),
                    kind,
                )
                name = ""
        hidden = groups[len(shown) :]
        if hidden:
            rest = Counter(kind.kind for group in hidden for kind in group.kinds)
            each = f"{len(hidden)} more ways to fill a node"
            for kind in self.filled.kinds(pool):
                if kind.kind != NIC and rest[kind.kind]:
                    of_kind = (
                        each for group in hidden for each in group.kinds if each.kind == kind.kind
                    )
                    mine = sum(of_kind, KindCount(kind=kind.kind))
                    yield self._row("", str(sum(group.nodes for group in hidden)), each, mine), mine
        for kind in self.filled.kinds(pool):
            if kind.kind == NIC:
                nodes = sum(group.nodes for group in groups)
                yield self._row(name, str(nodes), counted(kind.total // nodes, NIC), kind), kind
                name = ""

    @staticmethod
    def _row(pool: str, nodes: str, each: str, kind: KindCount) -> tuple[str, ...]:
        return (pool, nodes, each, counted(kind.used, kind.kind), str(kind.free))

    def _device_legend(self, stranded: bool) -> str:
        signs, used = self.signs, sorted(self.letters.values())
        entries = (
            [f"{used[0]}–{used[-1]} used by that workload" if len(used) > 1 else f"{used[0]} used"]
            if used
            else []
        )
        if has_many(self.filled, self.letters):
            entries.append("+ used by another workload")
        if is_shared(self.filled):
            entries.append("* * shared by several workloads")
        entries.append(f"{signs.free} free")
        if self.is_placed_otherwise:
            entries.append(f"as simulated, order {self.filled.order}")
        if stranded:
            entries.append(f"{signs.stranded} stranded: free, but no pod can use it")
        limits = list(share_limits(self.plan))
        entries += limits if self.every else limits[:_MOST_SHARES]
        return " · ".join(entries)

    # -- arrival orders

    def orders(self) -> Table | None:
        """Return the results of the pod arrival orders if every pool has its maximum number of
        nodes. None if no pod stays pending.
        """
        found = self.plan.judgement.simulated
        if found is None or found.counts is not None or not found.at_maximum:
            return None
        rows = []
        for end in order_outcomes(self.plan)[: None if self.every else 6]:
            pods = ", ".join(
                f"{count} {self.letters.get(ref, short(str(ref), 60))}"
                for ref, count in end.pending
            )
            sign = self.signs.does_not_fit if end.pending else self.signs.fits
            nodes = "  ".join(
                f"{self._held(each.devices)}{f' ×{each.nodes}' if each.nodes > 1 else ''}"
                for each in end.nodes
            )
            more = [f"{len(end.orders) - 2} more"] if len(end.orders) > 2 else []
            orders = ", ".join([*end.orders[:2], *more])
            rows.append((orders, nodes, f"{pods or '0'} {sign}"))
        if not rows:
            return None
        nodes_at_most = sum(pool.maximum for pool in self.plan.pools)
        heads = ("order", f"{counted(nodes_at_most, 'node')} at most, by workload", "pending")
        return Table("Pod arrival orders", heads, tuple(rows), frozenset({2}))

    def _held(self, devices: Sequence[HeldDevices]) -> str:
        return "".join(
            (self.signs.free if each.workload is None else self.letters.get(each.workload, "+"))
            * each.devices
            for each in devices
            if each.kind != NIC
        )


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


def difference_table(difference: PlanDifference) -> Table:
    """Return the differences from the saved plan by pool, without unchanged pools."""
    rows = [
        (
            short(pool.pool, 40),
            str(pool.before),
            str(pool.after),
            f"{pool.after - pool.before:+d}" if pool.after != pool.before else "0",
            "unknown" if pool.hourly_usd is None else signed(pool.hourly_usd),
            "; ".join(short(each) for each in pool.because[:3])
            + (f"; {len(pool.because) - 3} more" if len(pool.because) > 3 else ""),
        )
        for pool in difference.pools
        if pool.is_changed
    ]
    heads = ("pool", "saved", "now", "change", "USD/h", "because")
    return Table("Difference", heads, tuple(rows), frozenset({1, 2, 3, 4}))


def difference_line(difference: PlanDifference) -> str:
    """Return the difference in nodes and cost: "+2 nodes, +USD 59.64 per hour, compared with the
    saved plan".
    """
    if difference.is_empty:
        return "same nodes and cost as the saved plan"
    noun = "node" if abs(difference.nodes) == 1 else "nodes"
    nodes = f"{difference.nodes:+d} {noun}" if difference.nodes else "same number of nodes"
    if difference.hourly_usd is None:
        price = "unknown cost"
    elif not difference.hourly_usd:
        price = "same cost"
    else:
        sign = "+" if difference.hourly_usd > 0 else "−"
        price = f"{sign}{usd(abs(difference.hourly_usd))} per hour"
    return f"{nodes}, {price}, compared with the saved plan"
