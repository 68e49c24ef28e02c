"""The parts of a plan's HTML report that aren't just tables: findings, claims with their
conditions, pools, pod arrival orders, and cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from dra_command.claim_report.terms import term_of, term_state, term_values
from dra_command.pens.html.page import ReportEntry, coded_lines, diagnostic_entry
from dra_command.pens.signs import DRAWN
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_command.pens.visible_text import short
from dra_command.plan_report.figures import MANY, SHARED, Letters, in_held_order
from dra_command.plan_report.findings import diagnostics
from dra_command.plan_report.html.shapes import (
    Chart,
    Figure,
    LevelNodes,
    chart_of,
    held_cells,
    node_figures,
)
from dra_command.plan_report.obstacles import obstacles
from dra_command.plan_report.tables.view import MOST_GROUPS
from dra_planner.model import DEMAND_LEVELS, Verdict, WorkloadRef
from dra_planner.plan import Plan, PlannedPool
from dra_planner.plan.explanation.claims import ClaimExplanation
from dra_planner.plan.nodes.cost_shares import CostShare
from dra_planner.plan.nodes.devices import NIC, NodeDevice
from dra_planner.plan.nodes.groups import FilledNodes, NodeGroup
from dra_planner.plan.nodes.order_outcomes import OrderOutcome
from dra_planner.wording import counted

_BAR: Final = 120
_LIGHTEST: Final = 3
_RANKS: Final = {SHARED: 2, MANY: _LIGHTEST}  # of letters that represent several workloads
_MOST_NODES: Final = 12  # drawn for each pod arrival order
MOST_SHARES: Final = 15


class Key(Struct, frozen=True):
    """The letter of a workload, and the darkness of its color (1 to 3)."""

    letter: str
    rank: int


class TermCell(Struct, frozen=True):
    """Whether the devices of one pool satisfy one condition. `alone`: no other condition fails on
    this pool.
    """

    state: str
    style: str
    sign: str
    values: str
    alone: bool


class TermRow(Struct, frozen=True):
    text: str
    cells: tuple[TermCell, ...]


class ClaimTree(Struct, frozen=True):
    """A claim, and its conditions pool by pool."""

    title: str
    pools: tuple[str, ...]
    rows: tuple[TermRow, ...]
    verdicts: tuple[Verdict, ...]


class GroupView(Struct, frozen=True):
    title: str
    description: str
    figures: tuple[Figure, ...]


class PoolView(Struct, frozen=True):
    """One pool with its chart and its nodes. `hidden` describes the nodes that aren't drawn."""

    name: str
    machine: str
    chart: Chart | None
    groups: tuple[GroupView, ...]
    hidden: str


class OutcomeView(Struct, frozen=True):
    title: str
    verdict: Verdict
    words: str
    nodes: tuple[tuple[Figure, str], ...]


class ShareView(Struct, frozen=True):
    key: Key
    name: str
    usd: str
    width: int


def report_entries(plan: Plan) -> Iterator[ReportEntry]:
    """Yield the reasons why workloads can't run, and the findings about objects, with errors
    first.
    """
    for each in obstacles(plan, every=True):
        subject = f"{each.subject}: {each.state}"
        yield ReportEntry(
            kind=each.verdict,
            subject=subject,
            lines=coded_lines(each.lines),
            changes=each.changes,
            changed_for=each.changed_for,
        )
    yield from map(diagnostic_entry, diagnostics(plan))


def claim_tree(explanation: ClaimExplanation, most_pools: int = 12) -> ClaimTree | None:
    """Return the conditions of a claim's selectors on each pool. None if the selectors don't
    exclude any device.
    """
    pools = [pool for pool in explanation.pools if pool.selectors][:most_pools]
    texts = list(
        dict.fromkeys(term.text for pool in pools for each in pool.selectors for term in each.terms)
    )
    if not texts:
        return None
    states = {(pool.pool, text): term_of(pool, text) for pool in pools for text in texts}
    failing = Counter(
        name
        for (name, _), term in states.items()
        if term and term_state(term) in ("false", "error")
    )
    rows = []
    for text in texts:
        cells = []
        for pool in pools:
            term = states[pool.pool, text]
            state = "" if term is None else term_state(term)
            style = {"true": "ok", "unknown": "doubt"}.get(state, "bad")
            sign = {"true": DRAWN.fits, "unknown": DRAWN.cannot_tell}.get(state, DRAWN.does_not_fit)
            alone = style == "bad" and state != "" and failing[pool.pool] == 1
            cells.append(
                TermCell(
                    state, style, sign, "" if term is None else short(term_values(term)), alone
                )
            )
        rows.append(TermRow(text, tuple(cells)))
    title = f"{short(explanation.claim)} of {short(explanation.workload)}"
    return ClaimTree(
        title,
        tuple(pool.pool for pool in pools),
        tuple(rows),
        tuple(pool.verdict for pool in pools),
    )


class Drawer:
    """Draws pools and workloads with the same letters throughout a report."""

    def __init__(self, plan: Plan, filled: FilledNodes, letters: Letters) -> None:
        self._plan = plan
        self._filled = filled
        self._letters = letters
        self._ranks: dict[WorkloadRef, int] = {}
        for pool in plan.pools:
            users = self._users(filled.of_pool(pool.name))
            free = [rank for rank in (1, 2) if rank not in map(self._ranks.get, users)]
            for ref in users:
                if ref not in self._ranks:
                    self._ranks[ref] = free.pop(0) if free else _LIGHTEST

    def key(self, ref: WorkloadRef | None) -> Key:
        """Return the letter of a workload, or an empty letter if there is no workload."""
        if ref is None:
            return Key("", 1)
        letter = self._letters.get(ref, MANY if ref in self._ranks else "")
        return Key(letter, self._rank(letter, ref))

    @staticmethod
    def _users(groups: Iterable[NodeGroup]) -> list[WorkloadRef]:
        """Return the workloads on these nodes, starting with those that use the most devices."""
        uses: Counter[WorkloadRef] = Counter()
        for group in groups:
            for device in group.devices:
                for ref in device.holders:
                    uses[ref] += group.nodes
        return sorted(uses, key=lambda ref: (-uses[ref], ref))

    def _rank(self, letter: str, ref: WorkloadRef) -> int:
        """Return the darkness of a letter, which is the same on the whole page."""
        return _RANKS.get(letter, self._ranks.get(ref, _LIGHTEST))

    def _look(self, device: NodeDevice) -> tuple[str, str]:
        """Return the style and the letter of a device."""
        if device.state != "used":
            return ("str" if device.state == "stranded" else "free"), ""
        first, *others = sorted(set(device.holders))
        letter = SHARED if others else self._letters.get(first, MANY)
        return f"f{self._rank(letter, first)}", letter

    def pool(self, pool: PlannedPool) -> PoolView:
        """Return a pool with its nodes and a chart of its demands."""
        groups = self._filled.of_pool(pool.name)
        shown = groups if len(groups) <= MOST_GROUPS + 1 else groups[:MOST_GROUPS]
        hidden = groups[len(shown) :]
        more = sum(group.nodes for group in hidden)
        return PoolView(
            name=pool.name,
            machine=_machine(pool, groups),
            chart=self._chart(pool),
            groups=tuple(map(self._group, shown)),
            hidden=f"{counted(len(hidden), 'more way')} to fill a node, {counted(more, 'node')}"
            if hidden
            else "",
        )

    def _group(self, group: NodeGroup) -> GroupView:
        figures = tuple(node_figures(group, self._look))
        title = f"{group.nodes} identical nodes" if group.nodes > 1 else "1 node"
        letters = [box.letter for figure in figures for box in figure.boxes]
        return GroupView(title, self._description(group, letters), figures)

    def _description(self, group: NodeGroup, drawn: Sequence[str]) -> str:
        """Return a description of each node: which workloads use it, in the order of the letters
        that are drawn, and which devices are free or stranded.
        """
        places = {letter: at for at, letter in reversed(list(enumerate(drawn)))}
        uses: Counter[tuple[int, str, str]] = Counter()
        for device in group.devices:
            for ref in dict.fromkeys(device.holders):
                letter = self._letters.get(ref, MANY)
                place = places.get(letter, len(drawn))
                uses[place, letter if letter != MANY else short(str(ref)), device.kind] += 1
        by_user: dict[str, list[str]] = {}
        for (_, user, kind), number in sorted(uses.items()):
            by_user.setdefault(user, []).append(counted(number, kind))
        parts = [f"{user} {' and '.join(kinds)}" for user, kinds in list(by_user.items())[:8]]
        if len(by_user) > 8:
            parts.append(f"{len(by_user) - 8} more workloads")
        idle = Counter((each.state, each.kind) for each in group.devices if each.state != "used")
        parts += [
            f"{counted(number, kind)} {state}" for (state, kind), number in sorted(idle.items())
        ]
        each = " each" if group.nodes > 1 and parts else ""
        return ", ".join(parts) + each

    def _chart(self, pool: PlannedPool) -> Chart | None:
        plan = self._plan
        if plan.judgement.is_observed:
            return None
        levels = []
        of_simulation = plan.fleet is not None and plan.fleet.sizing != "packing"
        for level in DEMAND_LEVELS:
            size = plan.judgement.sizings[level].pool(pool.name)
            verdict = plan.verdict_at(level)
            simulated = plan.judgement.simulated_nodes(pool.name, level) if of_simulation else None
            if plan.judgement.sizings[level] is plan.judgement.sizing:
                needed = pool.recommended
            else:
                needed = size.plan if simulated is None else simulated
            levels.append(
                LevelNodes(
                    level=level,
                    bound=size.bound,
                    needed=needed,
                    verdict=VERDICT_WORDS[verdict],
                    sign="" if size.bound <= pool.maximum else DRAWN.does_not_fit,
                    is_judged=level == plan.level,
                    is_packed=of_simulation and pool.simulated is not None and simulated is None,
                )
            )
        return chart_of(pool.name, levels, pool.maximum)

    def outcome(self, end: OrderOutcome) -> OutcomeView:
        """Return the result of some pod arrival orders: the used devices on each node, and the
        number of pending pods.
        """
        nodes = []
        for each in end.nodes[:_MOST_NODES]:
            cells = [
                self._held_cell(held.workload)
                for held in in_held_order(each.devices, self._letters)
                if held.kind != NIC
                for _ in range(min(held.devices, 16))
            ]
            nodes.append(
                (held_cells(cells), f"{each.pool}{f' ×{each.nodes}' if each.nodes > 1 else ''}")
            )
        pods = sum(count for _, count in end.pending)
        who = ", ".join(f"{count} of {short(str(ref))}" for ref, count in end.pending[:3])
        words = f"{counted(pods, 'pod')} pending: {who}" if pods else "all pods placed"
        if hidden := sum(each.nodes for each in end.nodes[_MOST_NODES:]):
            words += f" ({counted(hidden, 'more node')} not shown)"
        title = ", ".join(end.orders[:3]) + (
            f" and {len(end.orders) - 3} more" if len(end.orders) > 3 else ""
        )
        return OutcomeView(title, "fits" if not pods else "cannot-tell", words, tuple(nodes))

    def _held_cell(self, ref: WorkloadRef | None) -> tuple[str, str]:
        if ref is None:
            return "free", ""
        letter = self._letters.get(ref, MANY)
        return f"f{self._rank(letter, ref)}", letter

    def shares(self, shares: Sequence[CostShare]) -> list[ShareView]:
        """Return the cost share of each workload. The largest share has the longest bar."""
        most = max((each.hourly_usd for each in shares), default=None)
        return [
            ShareView(
                self.key(each.workload),
                short(str(each.workload)) if each.workload is not None else _NOBODY[each.state],
                f"{each.hourly_usd:,.2f}",
                0 if not most else int(each.hourly_usd / most * _BAR),
            )
            for each in shares
        ]


_NOBODY: Final = {"free": "free", "stranded": "stranded or not in a MIG slice", "used": "used"}


def _machine(pool: PlannedPool, groups: Sequence[NodeGroup]) -> str:
    """Return a description of the pool's node: machine type, GPUs with their memory, and network
    interfaces.
    """
    if not groups:
        return pool.machine
    group = groups[0]
    nics = sum(device.kind == NIC for device in group.devices)
    boards = len({device.board or device.name for device in group.devices if device.kind != NIC})
    memory = "" if group.gpu_memory_mib is None else f", {group.gpu_memory_mib / 1024:.4g} GiB each"
    parts = [
        pool.machine,
        f"{boards} × {group.gpu}{memory}" if group.gpu else "",
        counted(nics, "NIC") if nics else "",
    ]
    slices = Counter(device.profile for device in group.devices if device.profile)
    if slices:
        parts.append(
            "MIG "
            + ", ".join(f"{number} × {profile}" for profile, number in sorted(slices.items()))
        )
    return " · ".join(part for part in parts if part)
