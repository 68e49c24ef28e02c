"""The smallest set of guards that makes a cheap plan hold.

Four sets are tried: steer; steer and split; steer and pack; all three. A local search
(`assignment`) estimates each, and the full simulation proves the best ones. A guard that saves less
than `WORTH` of the price is left out.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from dra_planner.model import Guards, Shape
from dra_planner.placement.arrivals import Scoring
from dra_planner.placement.assignment import Assignment, Pools
from dra_planner.placement.building import build_guards
from dra_planner.placement.crowds import Crowd, CrowdSizes
from dra_planner.placement.proof import CountProver
from dra_planner.placement.whole_works import assign_whole_works
from dra_planner.simulation import CountQuestion, SimulatedCounts
from dra_planner.sizing import LevelNeeds, Sizing
from dra_planner.sizing.bound.proof import load_solver

WORTH: Final = 0.01
"""The part of the price that a further guard has to save."""
_MOST_PROOFS: Final = 3
_SEED: Final = 1  # of the moves that the search makes by chance
_QUICK_STEPS: Final = 1_500_000  # of the quick model, for each set of guards


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardQuestion:
    """A level of demand, the pools, and how guarded counts are simulated.

    `ask` returns the question of counts under guards, with the pools that a split creates. `steps`
    bounds the simulations. `name_pool` turns a text into the name of a pool.
    """

    needs: LevelNeeds
    sizing: Sizing
    pools: Pools
    shapes: Mapping[str, Shape]
    ask: Callable[[Guards], CountQuestion]
    steps: int
    name_pool: Callable[[str], str]
    mode: Literal["guided", "exact"] = "guided"


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedCounts:
    """Guards, and the counts with which everything was placed under them. `cost` has the units of
    `Pools.costs`.
    """

    guards: Guards
    found: SimulatedCounts
    cost: tuple[int, ...]
    pool_of: Mapping[str, str] = field(hash=False)  # of each steered shape, by its id
    # pods that an empty node holds, by shape and pool
    fills: Mapping[tuple[str, str], int] = field(hash=False)


@dataclass(slots=True)
class _Candidate:
    guards: Guards
    counts: dict[str, int]
    cost: tuple[int, ...]
    pool_of: dict[str, str]
    least: dict[str, int]  # nodes below which a pool is known not to do


def find_guards(question: GuardQuestion) -> GuardedCounts | None:
    """Return the guards and counts that were proved; None if no set of guards was, or if no pods
    can be steered.
    """
    if not question.needs.works:
        return None
    candidates = _by_promise([each for each in _candidates(question) if each is not None])
    steps, best = question.steps, None
    for tried, candidate in enumerate(candidates):
        if tried >= _MOST_PROOFS or steps <= 0:
            break
        found, steps = _prove(candidate, question, steps, None if best is None else best.cost)
        best = found or best
    return best


def _prove(
    candidate: _Candidate, question: GuardQuestion, steps: int, known: tuple[int, ...] | None
) -> tuple[GuardedCounts | None, int]:
    """Return the proved counts of a candidate, if they are clearly cheaper than what is known, and
    the steps left.
    """
    guards, pools = candidate.guards, question.pools

    def is_worth(counts: Mapping[str, int]) -> bool:
        return known is None or not _is_close(known, _cost_of(counts, guards, pools))

    fills = _fills(question.needs, candidate)
    proof = CountProver(
        question.ask(guards),
        candidate.pool_of,
        fills,
        steps,
        candidate.least,
    )
    found = proof.prove(candidate.counts, is_worth) if is_worth(candidate.counts) else None
    if found is None or found.counts is None:
        return None, proof.steps
    cost = _cost_of(found.counts, guards, pools)
    return GuardedCounts(
        guards=guards, found=found, cost=cost, pool_of=candidate.pool_of, fills=fills
    ), proof.steps


def _is_close(cost: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Return whether `other` saves too little to be worth other guards."""
    return cost[0] * (1 - WORTH) <= other[0]


def _by_promise(candidates: list[_Candidate]) -> list[_Candidate]:
    """Order candidates: the fewest guards among those that cost about the least, then the others by
    price.
    """
    if not candidates:
        return []
    least = min(each.cost for each in candidates)
    unique = {
        (each.guards, tuple(sorted(each.counts.items()))): each for each in reversed(candidates)
    }
    return sorted(
        unique.values(),
        key=lambda each: (
            not _is_close(each.cost, least),
            len(each.guards.kinds) if _is_close(each.cost, least) else 0,
            each.cost,
            each.guards.kinds,
        ),
    )


def _candidates(question: GuardQuestion) -> Iterable[_Candidate | None]:
    """Yield a candidate for each set of guards; a search also begins with what those before it
    found.
    """
    starts = list(_starts(question))
    scorings: tuple[Scoring, ...] = ("spread", "pack")
    for scoring in scorings:
        sizes = CrowdSizes(question.needs, scoring)
        for may_split in (False, True):
            is_hopeful = may_split or scoring == "pack"
            steps = _QUICK_STEPS if is_hopeful else _QUICK_STEPS // 8
            found = _assign(question, sizes, starts, steps, may_split=may_split)
            starts.append(list(found.crowds))
            yield _candidate(question, sizes, found)


def _assign(
    question: GuardQuestion,
    sizes: CrowdSizes,
    starts: Sequence[list[Crowd]],
    steps: int,
    *,
    may_split: bool,
) -> Assignment:
    """Return the best assignment found: from each start for half of the steps, and by chance for
    the others.
    """
    before, found = sizes.steps, list[Assignment]()
    for at, start in enumerate(starts, 1):
        crowds = _merge_pools(
            start, question.pools.whole if may_split else range(len(question.pools.names))
        )
        share = before + steps // 2 * at // len(starts)
        found.append(Assignment(question.pools, sizes, crowds, may_split=may_split, steps=share))
        found[-1].improve()
    best = min(found, key=lambda each: each.cost)
    best.steps = before + steps
    best.improve_further(random.Random(_SEED))
    return best


def _candidate(question: GuardQuestion, sizes: CrowdSizes, best: Assignment) -> _Candidate | None:
    if not best.is_within_limits:
        return None
    guards, crowd_of = build_guards(
        best.crowds,
        question.needs,
        question.shapes,
        question.name_pool,
        packs=sizes.scoring == "pack",
        exact=question.mode == "exact",
    )
    pools = question.pools
    counts = {part: 0 for name in pools.names for part in guards.parts_of(name)}
    for pool, crowd in crowd_of.items():
        counts[pool] = sizes.nodes(crowd) or 0
    least = dict(zip(pools.names, pools.least, strict=True))
    for name in pools.names:
        first = guards.parts_of(name)[0]
        counts[first] = max(counts[first], least[name])
    pool_of = {
        shape: pool
        for pool, crowd in crowd_of.items()
        for work in crowd.works
        for shape in question.needs.works[work].shapes
    }
    fewest = {pool: sizes.rows_least(crowd) for pool, crowd in crowd_of.items()}
    return _Candidate(guards, counts, _cost_of(counts, guards, pools), pool_of, fewest)


def _merge_pools(crowds: Iterable[Crowd], pools: Collection[int]) -> list[Crowd]:
    """Return the crowds with one crowd for each of these pools."""
    merged: dict[int, Crowd] = {}
    others: list[Crowd] = []
    for crowd in crowds:
        if crowd.pool in pools:
            merged[crowd.pool] = merged.get(crowd.pool, Crowd(crowd.pool, frozenset())).with_works(
                crowd.works
            )
        else:
            others.append(crowd)
    return [*merged.values(), *others]


def _starts(question: GuardQuestion) -> Iterable[list[Crowd]]:
    """Yield first assignments: works whole on pools by an integer program, on the main pool of the
    packing, and each on the pool where it costs least.
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
    whole = None if solver is None else assign_whole_works(needs, question.pools, solver)
    for chosen in (whole, main, cheap):
        if chosen is not None:
            yield _by_devices(chosen, needs)


def _by_devices(chosen: Mapping[int, int], needs: LevelNeeds) -> list[Crowd]:
    """Return a crowd for each pool and number of devices."""
    groups: dict[tuple[int, tuple[int, ...]], set[int]] = defaultdict(set)
    for work, pool in chosen.items():
        rows = zip(needs.works[work].needs[pool], needs.devices[pool], strict=True)
        groups[pool, tuple(need for need, is_device in rows if is_device)].add(work)
    return [Crowd(pool, frozenset(works)) for (pool, _), works in sorted(groups.items())]


def _cost_of(counts: Mapping[str, int], guards: Guards, pools: Pools) -> tuple[int, ...]:
    nodes = [sum(counts[part] for part in guards.parts_of(name)) for name in pools.names]
    return pools.cost(nodes)[1:]


def _fills(needs: LevelNeeds, candidate: _Candidate) -> dict[tuple[str, str], int]:
    """Return how many pods of each steered shape an empty node of its pool holds."""
    at = {
        part: pool
        for pool, name in enumerate(needs.pools)
        for part in candidate.guards.parts_of(name)
    }
    return {
        (shape, candidate.pool_of[shape]): max(1, work.fills[at[candidate.pool_of[shape]]])
        for work in needs.works
        for shape in work.shapes
        if shape in candidate.pool_of
    }
