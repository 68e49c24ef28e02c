"""The cost of one more pod of each workload, and the savings of one more node in each limit.

Each case is sized again with one more pod or node, instead of using dual prices of a linear
program. Additional pods first use free capacity on the built nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation import NodeState, Placement, place
from dra_planner.model import Demand, DemandLevel, Member, Shape, Verdict, WorkloadRef
from dra_planner.plan.demand.headroom import KIND
from dra_planner.plan.judgement.system_pods import set_aside
from dra_planner.plan.model import Plan
from dra_planner.plan.nodes.groups import FilledState, node_states
from dra_planner.sizing import Sizer, Sizing, unjudged_rule

MOST_TRIED: Final = 250
"""Maximum number of pods of one workload to try on one node."""
MOST_ASKED: Final = 20_000
"""Maximum number of pods to try on different nodes, over all workloads. Larger cases aren't
reported.
"""
MOST_PAIRS: Final = 20_000
"""Maximum sum of pod shapes × pools over all cases. At least `_FEWEST` cases are sized."""
_FEWEST: Final = 4


class OnePodMore(Struct, frozen=True, kw_only=True):
    """Cost of one more pod of a workload, or of one of its pod sets.

    `room` is the number of additional pods that fit the built nodes, or at least that many if
    `is_least` is set. It's None if rules between pods span nodes, or if the check was too large.
    `hourly_usd` is the cost of one more pod: 0 if it fits, otherwise the cost increase of the
    packing, with the change of `nodes` by pool. It's None if a price is unknown, if the pod wasn't
    sized again, or if it doesn't fit. `verdict` is None if the pod wasn't sized again.
    """

    workload: WorkloadRef
    pod_set: str
    room: int | None
    is_least: bool = False
    verdict: Verdict | None = None
    hourly_usd: Decimal | None = None
    nodes: tuple[tuple[str, int], ...] = ()


class OneNodeMore(Struct, frozen=True, kw_only=True):
    """One more node of a pool's maximum, or of a shared limit (`pool` is "" then).

    `saves_usd` is the cost reduction of the packing, or None if it's unknown or if pods are pending
    without the node. `pods` is the number of additional pods that are placed.
    """

    name: str
    pool: str
    saves_usd: Decimal | None
    pods: int


class OneMore(Struct, frozen=True, kw_only=True):
    """The results for one more pod and one more node of each kind.

    `left_out` is the number of cases that weren't sized again.
    """

    pods: tuple[OnePodMore, ...]
    nodes: tuple[OneNodeMore, ...]
    left_out: int = 0


def find_one_more(plan: Plan) -> OneMore | None:
    """Return the cost of more pods and nodes at the plan's demand.

    Returns None for existing nodes, which aren't sized.
    """
    if plan.fleet is None or plan.judgement.is_observed:
        return None
    return _Search(plan).answer()


class _Search:
    """Sizes each case with one more pod or node, within the steps."""

    def __init__(self, plan: Plan) -> None:
        judgement = plan.judgement
        on_pools, _ = set_aside(plan.demand, judgement.offers)
        self._plan = plan
        self._level: DemandLevel = plan.level
        limits = () if plan.fleet is None else plan.fleet.limits
        sizer = Sizer.of(
            on_pools, judgement.offers, judgement.classes, judgement.features, limits=limits
        )
        self._sizer = replace(sizer, with_raises=False)
        self._before = self._sizer.size(self._level)
        pairs = max(1, len(on_pools.shapes) * len(judgement.offers))
        self._left = max(_FEWEST, MOST_PAIRS // pairs)
        self._left_out = 0
        self._rooms = _Rooms(plan)

    def answer(self) -> OneMore:
        pods = tuple(self._pods())
        nodes = tuple(self._nodes())
        return OneMore(pods=pods, nodes=nodes, left_out=self._left_out)

    def _pods(self) -> Iterator[OnePodMore]:
        found: list[OnePodMore] = []
        for shape in self._sizer.demand.shapes:
            members = [each for each in shape.members if each.workload.kind != KIND]
            if shape.per_node or not members or shape.figures.at(self._level) is None:
                continue
            more = self._pod(shape, members[0])
            found += (
                replace(more, workload=each.workload, pod_set=each.pod_set) for each in members
            )
        yield from sorted(found, key=lambda each: (each.workload, each.pod_set))

    def _pod(self, shape: Shape, member: Member) -> OnePodMore:
        """Return the cost of one more pod of the shape, which is the same for all its workloads."""
        room, is_least = self._rooms.of(shape)
        more = OnePodMore(
            workload=member.workload, pod_set=member.pod_set, room=room, is_least=is_least
        )
        if room:
            return replace(
                more, verdict="fits", hourly_usd=None if self._plan.cost is None else Decimal(0)
            )
        after = self._sized(replace(self._sizer, demand=self._with_one(shape, member)))
        if after is None:
            return more
        verdict = next(each.verdict for each in after.workloads if each.workload == member.workload)
        if verdict == "fits" and _placed(after) <= _placed(self._before):
            verdict = "cannot-tell"  # the additional pod displaced another pod
        if verdict != "fits":
            return replace(more, verdict=verdict)
        changed = (
            (each.name, each.plan - self._before.pool(each.name).plan) for each in after.pools
        )
        return replace(
            more,
            verdict=verdict,
            hourly_usd=_difference(after.hourly_plan, self._before.hourly_plan),
            nodes=tuple((name, nodes) for name, nodes in changed if nodes),
        )

    def _with_one(self, shape: Shape, member: Member) -> Demand:
        figures = member.figures._replace(
            **{self._level: (member.figures.at(self._level) or 0) + 1}
        )
        members = tuple(
            replace(each, figures=figures) if each is member else each for each in shape.members
        )
        demand = self._sizer.demand
        shapes = (
            replace(each, members=members) if each is shape else each for each in demand.shapes
        )
        return replace(demand, shapes=tuple(shapes))

    def _nodes(self) -> Iterator[OneNodeMore]:
        """Yield pools and limits with one more node each.

        Even a limit that isn't used up counts, because two small nodes can cost more than one large
        node.
        """
        offers, limits = self._sizer.offers, self._sizer.limits
        for offer in offers:
            if offer.count_min < offer.count_max:
                raised = (
                    replace(each, count_max=each.count_max + (each is offer)) for each in offers
                )
                yield from self._node(
                    f'pool "{offer.name}"', offer.name, replace(self._sizer, offers=tuple(raised))
                )
        for limit in limits:
            node = max(limit.takes.values(), default=0)
            more = (
                replace(each, most=each.most + node) if each is limit else each for each in limits
            )
            if node:
                yield from self._node(limit.name, "", replace(self._sizer, limits=tuple(more)))

    def _node(self, name: str, pool: str, sizer: Sizer) -> Iterator[OneNodeMore]:
        after = self._sized(sizer)
        if after is not None:
            pods = _placed(after) - _placed(self._before)
            saved = _difference(self._before.hourly_plan, after.hourly_plan)
            fits = self._before.verdict == "fits"
            yield OneNodeMore(
                name=name, pool=pool, saves_usd=saved if fits else None, pods=max(0, pods)
            )

    def _sized(self, sizer: Sizer) -> Sizing | None:
        if not self._left:
            self._left_out += 1
            return None
        self._left -= 1
        return sizer.size(self._level)


def _difference(more: Decimal | None, less: Decimal | None) -> Decimal | None:
    """Return the difference in price, at least 0. If more demand costs less, the earlier packing
    wasn't the cheapest.
    """
    return None if more is None or less is None else max(Decimal(0), more - less)


def _placed(sizing: Sizing) -> int:
    return sum(each.placed for each in sizing.workloads)


class _Rooms:
    """The number of additional pods that fit the built nodes, for each shape separately."""

    def __init__(self, plan: Plan) -> None:
        self._nodes: Sequence[FilledState] = tuple(node_states(plan))
        self._level: DemandLevel = plan.level
        self._left = MOST_ASKED

    def of(self, shape: Shape) -> tuple[int | None, bool]:
        """Return the number of additional pods, and whether it's only a minimum. None if it can't
        be determined by node.
        """
        if unjudged_rule(shape, (shape.figures.at(self._level) or 0) + 1, ()) is not None:
            return None, False
        shared = [claim.shared for claim in shape.claims if claim.shared is not None]
        room, is_least = 0, False
        for each in self._nodes:
            if any(each.state.held_claim(key) is None for key in shared):
                continue  # a shared claim's devices are on only one node
            if shape.claims and not shared and not each.state.template.searched & ~each.state.taken:
                continue  # no free device remains
            more = self._more(shape, each.state)
            is_least = is_least or more == MOST_TRIED
            room += more * each.nodes
            if self._left <= 0:
                return None, False
        return room, is_least

    def _more(self, shape: Shape, state: NodeState) -> int:
        for more in range(MOST_TRIED):
            self._left -= 1
            answer = place(shape, state)
            if not isinstance(answer, Placement):
                return more
            state = answer.node
        return MOST_TRIED
