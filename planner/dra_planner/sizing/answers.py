"""Derive an answer for each workload from a packing and its proven facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from dra_planner.allocation import Placement, Refusal, place
from dra_planner.allocation.reasons.shares import share_limit, shares_of
from dra_planner.model import (
    Demand,
    DemandLevel,
    Member,
    Reason,
    Shape,
    SharedLimit,
    Verdict,
    WorkloadRef,
    worst,
)
from dra_planner.sizing.bound.proof import BoundProof
from dra_planner.sizing.daemons_in_the_way import blame_daemons
from dra_planner.sizing.full_nodes import fix_of_full_node
from dra_planner.sizing.items import Items, Shares, adds_pods
from dra_planner.sizing.packing.compatibility import Compatibility
from dra_planner.sizing.packing.filling import devices_suffice
from dra_planner.sizing.packing.first_fit import Packing
from dra_planner.sizing.reasons import (
    Shortage,
    errors_elsewhere,
    no_pools,
    refusals,
    too_small,
    unbounded,
)
from dra_planner.sizing.result import WorkloadSize
from dra_planner.sizing.topology import unjudged_rule


class Enough(Struct, frozen=True):
    """Maximums by pool, and raised shared limits, with which every pod that fits a node is placed.

    `used` contains the nodes that this packing uses. If pods are pending, `bounds` are the proven
    minimums of the pools without maximums.
    """

    nodes: tuple[int, ...]
    limits: tuple[tuple[SharedLimit, int], ...] = ()
    used: Sequence[int] = ()
    bounds: Sequence[int] = ()


class PackedLevel(Struct, frozen=True, kw_only=True):
    """The known facts about one level after its packing."""

    level: DemandLevel
    demand: Demand
    items: Items
    found: Compatibility
    packing: Packing
    used: Sequence[int]
    enough: Enough
    proof: BoundProof
    zones: Mapping[str, tuple[str, ...]]  # by pool


Fits = tuple[tuple[str, Verdict], ...]
"""Pools, sorted by name, each with whether such a pod fits an empty node of the pool."""


class _Left(Struct):
    """Pending pods of a shape, with the reason."""

    pods: int
    verdict: Verdict
    reasons: tuple[Reason, ...] = ()
    shortages: tuple[Shortage, ...] = ()

    def reasons_for(
        self, shape: Shape, workload: WorkloadRef, pods: int, wanted: int
    ) -> tuple[Reason, ...]:
        """Return why this number of a workload's pods are pending."""
        short = (too_small(each, shape, workload, pods, wanted) for each in self.shortages)
        return (*short, *self.reasons)


class _Answer(Struct):
    """Running totals for one workload."""

    wanted: int | None = 0
    placed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    pending: int = 0
    verdicts: list[Verdict] = []
    reasons: dict[Reason, None] = {}  # in pod arrival order
    fits: list[Fits] = []

    def wait(self, pods: int, verdict: Verdict, reasons: Iterable[Reason]) -> None:
        self.pending += pods
        self.verdicts.append(verdict)
        self.reasons.update(dict.fromkeys(reasons))


def answer_workloads(outcome: PackedLevel) -> tuple[WorkloadSize, ...]:
    """Return one answer per workload, sorted by kind, namespace, and name."""
    answers: dict[WorkloadRef, _Answer] = defaultdict(_Answer)
    shares = Shares(outcome.found.items)
    placed, left = _placed(outcome, shares), _left(outcome, shares)
    _doubt_rules(answers, outcome, placed)
    for shape in sorted(outcome.demand.shapes, key=lambda each: each.id):
        if not shape.per_node:
            _share_out(answers, shape, placed[shape.id], left[shape.id], outcome.level)
    for index, daemon in enumerate(outcome.items.daemons):
        _answer_daemon(answers, outcome, index, daemon)
    _match_pools(answers, outcome)
    _doubt_errors(answers, outcome)
    for blocked in outcome.demand.blocked:
        answer, pods = answers[blocked.member.workload], blocked.member.figures.at(outcome.level)
        _want(answer, pods)
        if pods != 0:
            answer.wait(pods or 0, blocked.verdict, [blocked.reason])
    return tuple(_sized(ref, answers[ref]) for ref in sorted(answers))


def _match_pools(answers: dict[WorkloadRef, _Answer], outcome: PackedLevel) -> None:
    for index, item in enumerate(outcome.found.items):
        refs = sorted({member.workload for shape in item.shapes for member in shape.members})
        fits: list[tuple[str, Verdict]] = []
        for pool, room in enumerate(outcome.found.rooms):
            verdict: Verdict = "fits"
            if not outcome.found.fills[index, pool]:
                verdict = (
                    "cannot-tell" if outcome.found.is_undecided(index, pool) else "does-not-fit"
                )
            fits.append((room.name, verdict))
        verdicts = tuple(sorted(fits))
        for ref in refs:
            answers[ref].fits.append(verdicts)


def _doubt_errors(answers: dict[WorkloadRef, _Answer], outcome: PackedLevel) -> None:
    """Mark items as uncertain if their selector fails on another pool's node with free capacity,
    which stops their pods everywhere.
    """
    for index, item in enumerate(outcome.found.items):
        if not outcome.found.pools_of(index):
            continue
        for pool, room in enumerate(outcome.found.rooms):
            if outcome.used[pool] and outcome.found.is_error(index, pool):
                stop = outcome.found.stop(index, pool)
                for ref in sorted(
                    {member.workload for shape in item.shapes for member in shape.members}
                ):
                    answers[ref].wait(0, "cannot-tell", errors_elsewhere(room, stop))


def _doubt_rules(
    answers: dict[WorkloadRef, _Answer], outcome: PackedLevel, placed: dict[str, dict[str, int]]
) -> None:
    """Mark placed pods with rules that span nodes as uncertain."""
    for shape in outcome.demand.shapes:
        where = {pool: pods for pool, pods in placed[shape.id].items() if pods}
        zones = {zone for pool in where for zone in outcome.zones.get(pool, ())}
        reason = unjudged_rule(shape, sum(where.values()), zones) if where else None
        if reason is not None:
            for ref in sorted({member.workload for member in shape.members}):
                answers[ref].wait(0, "cannot-tell", [reason])


def _placed(outcome: PackedLevel, shares: Shares) -> dict[str, dict[str, int]]:
    placed: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for (item, pool), count in sorted(outcome.packing.placed.items()):
        for part in shares.take(item, count):
            placed[part.shape.id][outcome.found.rooms[pool].name] += part.pods
    return placed


def _left(outcome: PackedLevel, shares: Shares) -> dict[str, list[_Left]]:
    left: dict[str, list[_Left]] = defaultdict(list)
    for item, count in sorted(outcome.packing.pending.items()):
        for part in shares.take(item, count):
            left[part.shape.id].append(_left_reason(outcome, item, part.pods))
    for cut in outcome.found.cut:
        left[cut.shape.id].append(
            _Left(cut.pods, "does-not-fit" if cut.proved else "cannot-tell", cut.reasons)
        )
    return left


def _left_reason(outcome: PackedLevel, item: int, pods: int) -> _Left:
    found = outcome.found
    if not found.rooms:
        return _Left(pods, "does-not-fit", (no_pools(),))
    takers = found.pools_of(item)
    open_question = found.is_open_question(item)
    if not takers:
        stops = [(room, found.stop(item, pool)) for pool, room in enumerate(found.rooms)]
        reasons = blame_daemons(refusals(stops), found, item, outcome.items.daemons)
        return _Left(pods, "cannot-tell" if open_question else "does-not-fit", reasons)
    proved = item in outcome.proof.excessive and not open_question
    undecided = [
        pool for pool in range(len(found.rooms)) if open_question and found.is_undecided(item, pool)
    ]
    doubts = refusals([(found.rooms[pool], found.stop(item, pool)) for pool in undecided])
    return _Left(
        pods,
        "does-not-fit" if proved else "cannot-tell",
        doubts,
        (_shortage(outcome, item, proved=proved),),
    )


def _shortage(outcome: PackedLevel, item: int, *, proved: bool) -> Shortage:
    """Return the pool that is too small for an item.

    Pools whose pods can't use this pool don't need a raise for the item.
    """
    found, takers = outcome.found, outcome.found.pools_of(item)
    connected = found.connected_pools(item)
    growing = [
        pool for pool in connected if outcome.enough.nodes[pool] > (found.rooms[pool].maximum or 0)
    ]
    growing.sort(key=lambda pool: (pool not in takers, pool))
    first = growing[0] if growing and growing[0] in takers else takers[0]
    node_limit, node_fix = _node_limit(outcome, item, first)
    return Shortage(
        room=found.rooms[first],
        bound=outcome.proof.nodes[first],
        raises=tuple((found.rooms[pool], outcome.enough.nodes[pool]) for pool in growing),
        limits=tuple(
            (limit, most)
            for limit, most in outcome.enough.limits
            if any(found.rooms[pool].name in limit.takes for pool in connected)
        ),
        method=outcome.packing.method,
        proved=proved,
        node_limit=node_limit,
        node_fix=node_fix,
        share_limit=_share_limit(outcome, item, first),
    )


def _node_limit(outcome: PackedLevel, item: int, pool: int) -> tuple[str, str]:
    """Return why an empty node runs only some of an item's pods although it has free devices for
    more, and a change of the pods with which it runs more of them. Both can be "".
    """
    found, packed = outcome.found, outcome.found.items[item]
    count = found.fills[item, pool]
    if (item, pool) not in found.ended or packed.pods > 1 or not packed.parts[0].shape.claims:
        return "", ""
    full = found.nodes.filling.fill(packed, found.rooms[pool].empty, count)[1]
    stop = found.nodes.try_to_place(packed, pool, full)
    answer = None if stop is None else stop.answer
    if stop is None or not isinstance(answer, Refusal) or answer.kind != "filter":
        return "", ""
    if not devices_suffice(answer.shape, answer.node):
        return "", ""
    exhausted = ", and ".join(reason.message for reason in stop.reasons)
    fix = fix_of_full_node(answer, found.rooms[pool].empty.state)
    return f"a node runs at most {count} of these pods, because {exhausted}", fix


def _share_limit(outcome: PackedLevel, item: int, pool: int) -> str:
    """Return how many claims of an item's first pod share a device of the pool, or ""."""
    shape = outcome.found.items[item].parts[0].shape
    answer = place(shape, outcome.found.rooms[pool].empty.state)
    return share_limit(shares_of(answer)) if isinstance(answer, Placement) else ""


def _share_out(
    answers: dict[WorkloadRef, _Answer],
    shape: Shape,
    placed: dict[str, int],
    left: list[_Left],
    level: DemandLevel,
) -> None:
    """Assign the placed pods of a shape to its members in canonical order, with the members that
    add pods last, and then assign the pending pods.
    """
    for member in sorted(
        shape.members, key=lambda each: (adds_pods(each, level), _member_key(each))
    ):
        answer, pods = answers[member.workload], member.figures.at(level)
        _want(answer, pods)
        if pods is None:
            answer.wait(0, "cannot-tell", [unbounded(member, level)])
            continue
        wanted = pods
        for pool in list(placed):
            taken = min(pods, placed[pool])
            if taken:
                answer.placed[pool] += taken
                placed[pool] -= taken
                pods -= taken
        for waiting in left:
            taken = min(pods, waiting.pods)
            if taken:
                answer.wait(
                    taken,
                    waiting.verdict,
                    waiting.reasons_for(shape, member.workload, taken, wanted),
                )
                waiting.pods -= taken
                pods -= taken


def _answer_daemon(
    answers: dict[WorkloadRef, _Answer], outcome: PackedLevel, index: int, daemon: Shape
) -> None:
    """Return the answer for a DaemonSet: one pod on every suitable planned node.

    A full node leaves one pod pending.
    """
    for member in sorted(daemon.members, key=_member_key):
        answer = answers[member.workload]
        for pool, (room, nodes) in enumerate(zip(outcome.found.rooms, outcome.used, strict=True)):
            stop = outcome.found.daemon_stops.get((index, pool))
            if stop is None:
                _want(answer, nodes)
                if nodes:
                    answer.placed[room.name] += nodes
            elif nodes and not stop.is_elsewhere:
                _want(answer, nodes)
                verdict: Verdict = "cannot-tell" if stop.is_undecided else "does-not-fit"
                answer.wait(nodes, verdict, refusals([(room, stop)]))


def _member_key(member: Member) -> tuple[WorkloadRef, str]:
    return member.workload, member.pod_set


def _want(answer: _Answer, pods: int | None) -> None:
    answer.wanted = None if answer.wanted is None or pods is None else answer.wanted + pods


def _worst_of_each(fits: Sequence[Fits]) -> Fits:
    """Return the combined reasons of a workload's items for each pool."""
    first, *others = dict.fromkeys(fits) or [()]  # items of the same workload can share their pods
    if not others:
        return first
    return tuple(
        (pool, worst([verdict, *(other[at][1] for other in others)]))
        for at, (pool, verdict) in enumerate(first)
    )


def _sized(ref: WorkloadRef, answer: _Answer) -> WorkloadSize:
    return WorkloadSize(
        workload=ref,
        wanted=answer.wanted,
        placed=sum(answer.placed.values()),
        pending=answer.pending,
        verdict=worst(answer.verdicts),
        placements=tuple((pool, pods) for pool, pods in sorted(answer.placed.items())),
        fits=_worst_of_each(answer.fits),
        reasons=tuple(answer.reasons),
    )
