"""Fixes with which a packing works unchanged, or with fewer additional nodes.

Each fix is simulated before it's reported. Possible fixes are a taint that makes a pool the last
choice, required affinity of pods to the packing's pools, a scheduler that prefers full nodes, and
more nodes than the maximums allow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.clouds import POOL
from dra_planner.model import (
    NO_GUARDS,
    Guards,
    NodeSelector,
    NodeSelectorTerm,
    PodSpec,
    Requirement,
    Shape,
    Taint,
    WorkloadRef,
)
from dra_planner.records import equality
from dra_planner.simulation.scheduler.profile import MOST_ALLOCATED
from dra_planner.simulation.sizing.counts import (
    CountQuestion,
    SimulatedCounts,
    SimulatedPool,
    simulate_counts,
)

FixKind = Literal["taint", "affinity", "profile", "maximum", "guards"]
FIX_KINDS: Final[tuple[FixKind, ...]] = ("taint", "affinity", "profile", "maximum", "guards")
"""The kinds of fixes, from the smallest change to the largest."""

PREFER_OTHERS: Final = Taint("pulumi-dra/prefer-other-pools", "true", "PreferNoSchedule")
"""The taint of a pool that pods use last. Pods don't need to tolerate it."""
_MOST_TAINTED: Final = 3  # number of pools to try, starting with the most expensive
_MOST_PINNED: Final = 64  # number of shapes among which the smallest set is searched
_ROOM: Final = 8  # number of nodes above twice the maximum that are tried


def prefer_others(level: int) -> tuple[Taint, ...]:
    """Return this number of PreferNoSchedule taints.

    TaintToleration prefers pools with fewer taints.
    """
    further = (
        replace(PREFER_OTHERS, key=f"{PREFER_OTHERS.key}-{at}") for at in range(2, level + 1)
    )
    return (PREFER_OTHERS, *further)[:level]


class PodSetRef(NamedTuple):
    """Pods of one template inside a workload."""

    workload: WorkloadRef
    pod_set: str


@equality(unhashed=("counts", "pins", "rollouts"))
class Fix(Struct, frozen=True, kw_only=True):
    """A change after which all pods were placed in every order, with `counts` nodes of each pool.

    taint: `pools` have `PREFER_OTHERS`. affinity: pods of each entry of `pins` can use only the
    entry's pools. profile: NodeResourcesFit prefers full nodes (MostAllocated). maximum: `pools`
    need a higher maximum, their count. guards: the plan adds `guards`; parts of a split pool count
    together. `rollouts` are the maximums by pool that the first pods of rollouts also need.
    """

    kind: FixKind
    counts: Mapping[str, int]
    pools: tuple[str, ...] = ()
    pins: Mapping[PodSetRef, tuple[str, ...]] = {}
    guards: Guards = NO_GUARDS
    rollouts: Mapping[str, int] = {}


Placements = Mapping[str, Collection[str]]
"""The pools on which the packing puts pods of a shape, by the ID of the shape."""


def find_fixes(
    question: CountQuestion,
    found: SimulatedCounts,
    placements: Placements,
    steps: int,
    plan_steps: int,
) -> tuple[tuple[Fix, ...], int]:
    """Return the fixes that work, cheapest and smallest first, and the remaining steps.

    `found` is the answer to the unchanged question. If it has counts, only cheaper fixes are
    returned. `steps` limits the whole search. Each fix is simulated with the steps of the next plan
    (`plan_steps`), so that a plan with the fix has the same result.
    """
    search = _FixSearch(question, found, placements, steps, plan_steps)
    return search.run(), max(0, search.left)


class _FixSearch:
    def __init__(
        self,
        question: CountQuestion,
        found: SimulatedCounts,
        placements: Placements,
        steps: int,
        plan_steps: int,
    ) -> None:
        self._question = question
        self._found = found
        self._placements = placements
        self._plan_steps = plan_steps
        self.left = steps

    def run(self) -> tuple[Fix, ...]:
        if not self._found.at_packing:
            return ()
        fixes = [fix for find in (self._taints, self._affinity, self._profile) for fix in find()]
        if self._found.counts is None:
            fixes += self._more_nodes()
        return tuple(
            sorted(fixes, key=lambda fix: (self._cost(fix.counts), FIX_KINDS.index(fix.kind)))
        )

    def _cost(self, counts: Mapping[str, int]) -> tuple[int, ...]:
        """Return the additional cost of nodes compared with the packing, in the units of the pools'
        costs.
        """
        costs = [
            (counts[each.offer.name] - each.packing, each.cost) for each in self._question.pools
        ]
        return tuple(
            sum(nodes * cost[part] for nodes, cost in costs) for part in range(len(costs[0][1]))
        )

    def _counts(self, question: CountQuestion) -> Mapping[str, int] | None:
        """Return counts that work for a changed question, or None if no counts work, or if they
        don't cost less.
        """
        if self.left <= 0:
            return None
        answer = simulate_counts(question, self._plan_steps)
        self.left -= answer.spent
        if answer.counts is None:
            return None
        known = self._found.counts
        return (
            answer.counts
            if known is None or self._cost(answer.counts) < self._cost(known)
            else None
        )

    # -- candidates

    def _taints(self) -> Iterator[Fix]:
        used = [each for each in self._question.pools if each.packing]
        if len(used) < 2:
            return
        dear = sorted(used, key=lambda each: (each.cost, each.offer.name), reverse=True)
        several = [tuple(dear[:-1])] if len(dear) > 2 else []
        for pools in (*((each,) for each in dear[:_MOST_TAINTED]), *several):
            names = tuple(each.offer.name for each in pools)
            counts = self._counts(_change_pools(self._question, names, _tainted))
            if counts is not None:
                yield Fix(kind="taint", counts=counts, pools=names)

    def _affinity(self) -> Iterator[Fix]:
        names = {each.offer.name for each in self._question.pools}
        pins = {
            shape.id: tuple(sorted(self._placements[shape.id]))
            for shape in self._question.demand.shapes
            if not shape.per_node and 0 < len(self._placements.get(shape.id, ())) < len(names)
        }
        counts = self._counts(_pin(self._question, pins)) if pins else None
        if counts is None:
            return
        kept, counts = self._fewest(pins, counts)
        members = {
            PodSetRef(member.workload, member.pod_set): kept[shape.id]
            for shape in self._question.demand.shapes
            if shape.id in kept
            for member in shape.members
        }
        yield Fix(kind="affinity", counts=counts, pins=dict(sorted(members.items())))

    def _fewest(
        self, pins: Mapping[str, tuple[str, ...]], counts: Mapping[str, int]
    ) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, int]]:
        """Return a minimal set of pins for these counts, as far as the steps allow, and
        the counts.
        """
        names = [each.offer.name for each in self._question.pools]
        given, all_pins = (
            _change_pools(
                self._question, names, lambda pool: _with_count(pool, counts[pool.offer.name])
            ),
            pins,
        )
        for shape in sorted(pins)[:_MOST_PINNED]:
            fewer = {each: pools for each, pools in pins.items() if each != shape}
            if fewer and self._counts(_pin(given, fewer)) is not None:
                pins = fewer
        if len(pins) == len(all_pins):
            return pins, counts
        planned = self._counts(_pin(self._question, pins))
        return (all_pins, counts) if planned is None else (pins, planned)

    def _profile(self) -> Iterator[Fix]:
        if self._question.profile.fit.strategy == "MostAllocated":
            return
        counts = self._counts(replace(self._question, profile=MOST_ALLOCATED))
        if counts is not None:
            yield Fix(kind="profile", counts=counts)

    def _more_nodes(self) -> Iterator[Fix]:
        names = {each.offer.name for each in self._question.pools}
        counts = self._counts(_change_pools(self._question, names, _with_room))
        if counts is None:
            return
        above = {
            each.offer.name: each.offer.buildable(counts[each.offer.name])
            for each in self._question.pools
            if counts[each.offer.name] > each.maximum
        }
        raised = _change_pools(
            self._question, above, lambda pool: replace(pool, maximum=above[pool.offer.name])
        )
        # with these maximums, the next plan finds the same counts
        if self._counts(raised) is not None:
            yield Fix(kind="maximum", counts={**counts, **above}, pools=tuple(above))


# -- changed questions


def _change_pools(
    question: CountQuestion,
    names: Collection[str],
    change: Callable[[SimulatedPool], SimulatedPool],
) -> CountQuestion:
    return replace(
        question,
        pools=tuple(change(each) if each.offer.name in names else each for each in question.pools),
    )


def _tainted(pool: SimulatedPool) -> SimulatedPool:
    node = pool.offer.node
    return replace(
        pool, offer=replace(pool.offer, node=replace(node, taints=(*node.taints, PREFER_OTHERS)))
    )


def _with_room(pool: SimulatedPool) -> SimulatedPool:
    return replace(pool, maximum=2 * pool.maximum + _ROOM)


def _with_count(pool: SimulatedPool, count: int) -> SimulatedPool:
    return replace(pool, packing=count, maximum=count)


def _pin(question: CountQuestion, pins: Mapping[str, tuple[str, ...]]) -> CountQuestion:
    shapes = tuple(
        _pin_shape(shape, pins[shape.id]) if shape.id in pins else shape
        for shape in question.demand.shapes
    )
    return replace(question, demand=replace(question.demand, shapes=shapes))


def _pin_shape(shape: Shape, pools: tuple[str, ...]) -> Shape:
    return replace(shape, id=f"{shape.id}@{','.join(pools)}", pod=pin_pod(shape.pod, pools))


def pin_pod(pod: PodSpec, pools: tuple[str, ...]) -> PodSpec:
    """Return the pod with the requirement that its node belongs to one of the pools."""
    if len(pools) == 1:
        return replace(pod, node_selector={**pod.node_selector, POOL: pools[0]})
    wanted = Requirement(POOL, "In", pools)
    if pod.node_affinity is None:
        return replace(pod, node_affinity=NodeSelector((NodeSelectorTerm((wanted,)),)))
    terms = (
        replace(term, match_expressions=(*term.match_expressions, wanted))
        for term in pod.node_affinity.terms
        # a term without expressions doesn't match any node
        if term.match_expressions or term.match_fields
    )
    return replace(pod, node_affinity=NodeSelector(tuple(terms)))
