"""Candidates: sets of guards with the counts that the quick model predicts for them.

Five combinations are searched: steer; steer and split; steer and pack; all three; and steer, split,
and spread evenly. A search can continue from a candidate with the results of its proof.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import Guards, Shape, WorkloadRef
from dra_planner.placement.arrivals import Scoring
from dra_planner.placement.assignment import Assignment, Pools
from dra_planner.placement.assignment_search import find_assignment, search_further
from dra_planner.placement.building import build_guards
from dra_planner.placement.even_spread import SpreadClass
from dra_planner.placement.single_pools import assign_single_pools
from dra_planner.placement.spread_groups import SpreadSizes
from dra_planner.placement.workload_groups import GroupSizes, WorkloadGroup
from dra_planner.simulation import ArrivalOrder, CountQuestion
from dra_planner.sizing import LevelNeeds, Sizing
from dra_planner.sizing.bound.solver import load_solver

WORTH: Final = 0.01
"""The share of the price that an additional guard must save."""
_QUICK_STEPS: Final = 1_500_000  # steps of the quick model for each set of guards
_SPREAD_STEPS: Final = 10_000_000  # steps of the quick model for even spread
_MOST_HARD: Final = 12  # number of orders by size that the full simulation tries
# steps of the quick model for continuing the search from a candidate
_FURTHER_STEPS: Final = 300_000


class GuardQuestion(Struct, frozen=True, kw_only=True):
    """A level of demand, the pools, and how guarded counts are simulated.

    `question_of` returns the question of counts under guards, with the pools that a split creates.
    `steps` limits the simulations. `name_pool` converts a text to the name of a pool. `spreads` is
    set if guards can require pods to spread evenly.
    """

    needs: LevelNeeds
    sizing: Sizing
    pools: Pools
    shapes: Mapping[str, Shape]
    question_of: Callable[[Guards], CountQuestion]
    steps: int
    name_pool: Callable[[str], str]
    mode: Literal["guided", "exact"] = "guided"
    spreads: bool = True


class GuardCandidate(Struct, frozen=True, kw_only=True):
    """Guards, the counts predicted for them, and the assignment from which they were built.

    `least` are the minimum nodes of each pool. With fewer nodes, pods probably stay pending.
    `group_of` is the group of each used pool.
    """

    question: GuardQuestion
    assignment: Assignment
    guards: Guards
    counts: dict[str, int]
    cost: tuple[int, ...]
    pool_of: dict[str, str]
    least: dict[str, int]
    group_of: dict[str, WorkloadGroup]

    def learn(self, refuted: Mapping[str, int]) -> None:
        """Record the counts with which pods of a pool stayed pending in the full simulation."""
        for pool, nodes in refuted.items():
            self.assignment.sizes.refute(self.group_of[pool], nodes)

    @property
    def hard_orders(self) -> tuple[ArrivalOrder, ...]:
        """Return orders in which the workloads of each pool arrive by size, in several ways."""
        sizes, works = self.assignment.sizes, self.question.needs.works
        ways = [sizes.arrangements(group) for group in self.group_of.values()]
        orders: dict[tuple[WorkloadRef, ...], None] = {}
        for number in range(min(_MOST_HARD, max(map(len, ways), default=0))):
            shapes = [
                self.question.shapes[shape]
                for way in ways
                for work in way[number % len(way)]
                for shape in works[work].shapes
            ]
            members = [member.workload for shape in shapes for member in shape.members]
            orders[tuple(dict.fromkeys(members))] = None
        return tuple(ArrivalOrder("by-size", seed, each) for seed, each in enumerate(orders, 1))

    def is_held_in_any_order(self, counts: Mapping[str, int]) -> bool:
        """Return whether the pods of all pools fit on these nodes in any order."""
        return len(self.pools_in_any_order(counts)) == len(self.group_of)

    def pools_in_any_order(self, counts: Mapping[str, int]) -> tuple[str, ...]:
        """Return the pools whose pods fit on these nodes in any order, for all choices of the
        scheduler.
        """
        sizes = self.assignment.sizes
        return tuple(
            pool
            for pool, group in self.group_of.items()
            if sizes.fits_in_any_order(group, counts[pool])
        )

    def improved(self) -> GuardCandidate | None:
        """Return the result of continuing the search from this candidate, or None if there is none
        within the limits.
        """
        before = self.assignment
        again = Assignment(
            before.pools,
            before.sizes,
            list(before.groups),
            may_split=before.may_split,
            steps=before.sizes.steps + _FURTHER_STEPS,
        )
        return _candidate(self.question, search_further(again))

    @property
    def fills(self) -> dict[tuple[str, str], int]:
        """Number of pods of each steered shape that fit on an empty node of its pool."""
        needs = self.question.needs
        at = {
            part: pool
            for pool, name in enumerate(needs.pools)
            for part in self.guards.parts_of(name)
        }
        return {
            (shape, self.pool_of[shape]): max(1, work.fills[at[self.pool_of[shape]]])
            for work in needs.works
            for shape in work.shapes
            if shape in self.pool_of
        }


def find_candidates(question: GuardQuestion) -> Iterator[GuardCandidate]:
    """Yield a candidate for each set of guards.

    Each search also starts from the results of earlier searches.
    """
    starts, costs = list(_starts(question)), list[tuple[int, ...]]()
    split = list(starts)
    scorings: tuple[Scoring, ...] = ("spread", "pack")
    for scoring in scorings:
        sizes = GroupSizes(question.needs, scoring)
        for may_split in (False, True):
            is_hopeful = may_split or scoring == "pack"
            steps = _QUICK_STEPS if is_hopeful else _QUICK_STEPS // 8
            pools = question.pools
            whole = pools.whole if may_split else range(len(pools.names))
            merged = [_merge_pools(start, whole) for start in starts]
            found = find_assignment(pools, sizes, merged, steps, may_split=may_split)
            starts.append(list(found.groups))
            if may_split:
                split.append(starts[-1])
            candidate = _candidate(question, found)
            if candidate is not None:
                costs.append(candidate.cost)
                yield candidate
    if question.spreads and not any(is_close(cost, _packing_cost(question)) for cost in costs):
        spread = SpreadSizes(question.needs, shapes=question.shapes)
        found = find_assignment(question.pools, spread, split, _SPREAD_STEPS)
        candidate = _candidate(question, found)
        if candidate is not None:
            yield candidate


def _candidate(question: GuardQuestion, best: Assignment) -> GuardCandidate | None:
    if not best.is_within_limits:
        return None
    sizes = best.sizes
    for group in best.groups:
        sizes.harden(group)
    best = replace(best)  # with its current number of required nodes
    if not best.is_within_limits:
        return None
    guards, group_of = build_guards(
        best.groups,
        question.needs,
        question.shapes,
        question.name_pool,
        packs=sizes.scoring == "pack",
        exact=question.mode == "exact",
        classes_of=partial(_classes_of, sizes),
    )
    pools = question.pools
    counts = {part: 0 for name in pools.names for part in guards.parts_of(name)}
    for pool, group in group_of.items():
        counts[pool] = sizes.nodes(group) or 0
    least = dict(zip(pools.names, pools.least, strict=True))
    for name in pools.names:
        first = guards.parts_of(name)[0]
        counts[first] = max(counts[first], least[name])
    pool_of = {
        shape: pool
        for pool, group in group_of.items()
        for work in group.works
        for shape in question.needs.works[work].shapes
    }
    least_nodes = {pool: sizes.nodes(group) or 0 for pool, group in group_of.items()}
    return GuardCandidate(
        question=question,
        assignment=best,
        guards=guards,
        counts=counts,
        cost=cost_of(counts, guards, pools),
        pool_of=pool_of,
        least=least_nodes,
        group_of=group_of,
    )


def _classes_of(sizes: GroupSizes, group: WorkloadGroup) -> Sequence[SpreadClass]:
    """Return the classes of a group that must spread evenly over its nodes."""
    if not isinstance(sizes, SpreadSizes):
        return ()
    return sizes.classes(group, sizes.nodes(group) or 0)


def _merge_pools(groups: Iterable[WorkloadGroup], pools: Collection[int]) -> list[WorkloadGroup]:
    """Return the groups with one group for each of these pools."""
    merged: dict[int, WorkloadGroup] = {}
    others: list[WorkloadGroup] = []
    for group in groups:
        if group.pool in pools:
            merged[group.pool] = merged.get(
                group.pool, WorkloadGroup(group.pool, frozenset())
            ).with_works(group.works)
        else:
            others.append(group)
    return [*merged.values(), *others]


def _starts(question: GuardQuestion) -> Iterable[list[WorkloadGroup]]:
    """Yield initial assignments, in which each work is on a single pool: the pool that an integer
    program chooses, the packing's main pool, or the pool with the lowest cost.
    """
    needs, costs = question.needs, question.pools.costs
    packed: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for pattern in question.sizing.patterns:
        for shape, pods in pattern.pods:
            packed[shape][pattern.pool] += pods * pattern.nodes
    main, cheap = dict[int, int](), dict[int, int]()
    for at, work in enumerate(needs.works):
        there = packed[work.shapes[0]]
        main[at] = max(work.needs, key=lambda pool: (there.get(needs.pools[pool], 0), -pool))
        cheap[at] = min(work.needs, key=lambda pool: (costs[pool][0] * needs.share(at, pool), pool))
    solver = load_solver()
    whole = None if solver is None else assign_single_pools(needs, question.pools, solver)
    for chosen in (whole, main, cheap):
        if chosen is not None:
            yield _by_devices(chosen, needs)


def _by_devices(chosen: Mapping[int, int], needs: LevelNeeds) -> list[WorkloadGroup]:
    """Return a group for each pool and number of devices."""
    groups: dict[tuple[int, tuple[int, ...]], set[int]] = defaultdict(set)
    for work, pool in chosen.items():
        rows = zip(needs.works[work].needs[pool], needs.devices[pool], strict=True)
        groups[pool, tuple(need for need, is_device in rows if is_device)].add(work)
    return [WorkloadGroup(pool, frozenset(works)) for (pool, _), works in sorted(groups.items())]


def is_close(cost: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether `other` saves too little to justify its additional guards."""
    return cost[0] * (1 - WORTH) <= other[0]


def _packing_cost(question: GuardQuestion) -> tuple[int, ...]:
    nodes = {pool.name: pool.plan for pool in question.sizing.pools}
    return question.pools.cost([nodes[name] for name in question.pools.names])[1:]


def cost_of(counts: Mapping[str, int], guards: Guards, pools: Pools) -> tuple[int, ...]:
    """Return the cost of the counts of pools and their parts, in the units of `pools`."""
    nodes = [sum(counts[part] for part in guards.parts_of(name)) for name in pools.names]
    return pools.cost(nodes)[1:]
