"""Search for the smallest set of guards with which a cheap plan works.

A local search estimates sets of guards (`candidates`), and the full simulation proves the best
ones. If the simulation needs more nodes than the quick model expects, and steps are left, the
search continues with the simulation's results. A guard that saves less than `WORTH` of the price is
omitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import Guards
from dra_planner.placement.candidates import (
    GuardCandidate,
    GuardQuestion,
    cost_of,
    find_candidates,
    is_close,
)
from dra_planner.placement.proof import CountProver
from dra_planner.records import equality
from dra_planner.simulation import SimulatedCounts

_MOST_PROOFS: Final = 3
# maximum number of proofs for candidates that were derived from the results of earlier proofs
_MOST_FURTHER: Final = 8
_PART_OF_FURTHER: Final = 3  # share of the steps that these proofs and all earlier proofs can use


@equality(unhashed=("pool_of", "fills"))
class GuardedCounts(Struct, frozen=True, kw_only=True):
    """Guards, and the counts with which all pods were placed under these guards.

    `cost` has the units of `Pools.costs`.
    """

    guards: Guards
    found: SimulatedCounts
    cost: tuple[int, ...]
    pool_of: Mapping[str, str]  # pool of each steered shape, by the shape's ID
    # number of pods that fit on an empty node, by shape and pool
    fills: Mapping[tuple[str, str], int]
    in_any_order: tuple[str, ...]  # pools whose pods provably fit in any order


def find_guards(question: GuardQuestion) -> GuardedCounts | None:
    """Return the verified guards and counts, or None if no set was verified or no pods can be
    steered.
    """
    return _Search(question).run() if question.needs.works else None


class _Search:
    """The proofs of candidates, the best candidate so far, and the remaining steps."""

    def __init__(self, question: GuardQuestion) -> None:
        self._question = question
        self._steps = question.steps
        self._best: GuardedCounts | None = None
        # candidates for which the proof refuted some counts
        self._corrected: list[GuardCandidate] = []

    def run(self) -> GuardedCounts | None:
        candidates = _by_promise(find_candidates(self._question))
        for candidate in candidates[:_MOST_PROOFS]:
            if self._steps > 0:
                self._prove(candidate)
        self._search_on()
        return self._best

    def _search_on(self) -> None:
        """Prove more candidates, each derived from an earlier candidate and the results of its
        proof.
        """
        reserve = self._question.steps - self._question.steps // _PART_OF_FURTHER
        for _ in range(_MOST_FURTHER):
            if self._steps <= reserve:
                return
            further = [each.improved() for each in self._corrected]
            self._corrected = [each for each in further if each and self._is_worth(each)]
            if not self._corrected:
                return
            self._prove(min(self._corrected, key=lambda each: (each.cost, each.guards.kinds)))

    def _is_worth(self, candidate: GuardCandidate) -> bool:
        return self._is_worth_counts(candidate.counts, candidate.guards)

    def _is_worth_counts(self, counts: Mapping[str, int], guards: Guards) -> bool:
        cost = cost_of(counts, guards, self._question.pools)
        return self._best is None or not is_close(self._best.cost, cost)

    def _prove(self, candidate: GuardCandidate) -> None:
        """Store the proven counts of a candidate if they are clearly cheaper than the best known
        counts.
        """
        if not self._is_worth(candidate):
            return
        guards = candidate.guards
        question = self._question.question_of(guards)
        is_held = candidate.is_held_in_any_order(candidate.counts)
        checks = () if is_held else (*candidate.hard_orders, *question.checks)
        proof = CountProver(
            replace(question, checks=checks),
            candidate.pool_of,
            candidate.fills,
            self._steps,
            candidate.least,
        )
        found = proof.prove(candidate.counts, lambda counts: self._is_worth_counts(counts, guards))
        self._steps = proof.steps
        candidate.learn(proof.refuted)
        if proof.refuted and not any(each is candidate for each in self._corrected):
            self._corrected.append(candidate)
        if found is not None and found.counts is not None:
            self._best = GuardedCounts(
                guards=guards,
                found=found,
                cost=cost_of(found.counts, guards, self._question.pools),
                pool_of=candidate.pool_of,
                fills=candidate.fills,
                in_any_order=candidate.pools_in_any_order(found.counts),
            )


def _by_promise(candidates: Iterable[GuardCandidate]) -> list[GuardCandidate]:
    """Order candidates: first the candidates with about the lowest cost, by number of guards, and
    then the others by price.
    """
    candidates = list(candidates)
    least = min((each.cost for each in candidates), default=())
    unique = {
        (each.guards, tuple(sorted(each.counts.items()))): each for each in reversed(candidates)
    }
    return sorted(
        unique.values(),
        key=lambda each: (
            not is_close(each.cost, least),
            len(each.guards.kinds) if is_close(each.cost, least) else 0,
            each.cost,
            each.guards.kinds,
        ),
    )
