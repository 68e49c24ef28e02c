"""Gangs that don't fit completely: the number of complete groups that start.

Pods that are held until their group fits don't use capacity until then, so a packing with only some
of them is meaningless. The search finds the most groups that fit together with the other placed
pods. Each candidate is sized like any demand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import Demand, GangPart, Reason, worst
from dra_planner.plan.judgement.gang_groups import GangGroups, PodSetKey, find_groups, with_pods
from dra_planner.sizing import PoolSize, Sizing, WorkloadSize
from dra_planner.wording import counted

MOST_SIZINGS = 24
"""Maximum number of candidates to size. The search tries fewer if each takes long."""
_SIZINGS_OF_PAIRS = 20_000  # maximum of shapes × pools, over all candidates
_FEWEST_SIZINGS = 4
# maximum number of candidates to check, most of which are known not to fit without sizing
_MOST_GUESSES = 5_000

Size = Callable[[Demand], Sizing]


class _Kind(Struct):
    """Equal groups of one or more gangs."""

    groups: list[GangGroups] = []

    @property
    def count(self) -> int:
        return sum(group.count for group in self.groups)


def start_gangs(demand: Demand, first: Sizing, size: Size, pools: int) -> Sizing:
    """Return the sizing with pods of gangs placed by complete groups, or the unchanged sizing if
    all pods of gangs are placed.

    `first` is the sizing of the whole demand, and `size` sizes parts of it at the same level, on
    this number of `pools`. Verdicts don't change: pods that don't fit one by one don't fit as a
    group.
    """
    pending = {each.workload for each in first.workloads if each.pending}
    gangs = [gang for gang in demand.gangs if any(part.workload in pending for part in gang.parts)]
    if not gangs:
        return first
    held = find_groups(demand, [gang for gang in demand.gangs if gang.held_by], first.level)
    loose = find_groups(demand, [gang for gang in gangs if not gang.held_by], first.level)
    answer = first
    for groups, is_held in ((held, True), (loose, False)):
        if any(part.workload in pending for group in groups for part, _ in group.pods):
            search = _Search(demand, first, size, groups, max(1, len(demand.shapes) * pools))
            answer = search.answer(answer, is_held=is_held)
    return answer


class _Search:
    """Searches for the largest number of groups that start, and for a proof that an
    additional group doesn't fit.
    """

    def __init__(
        self, demand: Demand, first: Sizing, size: Size, groups: list[GangGroups], pairs: int
    ) -> None:
        self._demand, self._first, self._size = demand, first, size
        self._left = max(_FEWEST_SIZINGS, min(MOST_SIZINGS, _SIZINGS_OF_PAIRS // pairs))
        self._before = {each.workload: each for each in first.workloads}
        kinds: dict[object, _Kind] = {}
        for group in sorted(groups, key=self._rank):
            kinds.setdefault(group.alike, _Kind()).groups.append(group)
        self._kinds = list(kinds.values())
        self._mine = {part.workload for group in groups for part, _ in group.pods}
        self._others_wait = any(
            each.pending for each in first.workloads if each.workload not in self._mine
        )
        self._sized: dict[tuple[int, ...], Sizing] = {}
        self._too_many: list[tuple[int, ...]] = []  # counts that provably don't fit
        self._is_complete = True

    def _rank(self, group: GangGroups) -> tuple[object, ...]:
        waits = any(self._before[part.workload].pending for part, _ in group.pods)
        return (*group.weight, waits, group.gang.name)

    def answer(self, sizing: Sizing, *, is_held: bool) -> Sizing:
        """Return the sizing with the groups that start. If no controller holds the other groups,
        only add a note.
        """
        starting, is_most = self._most()
        started = self._started(starting)
        if is_held:
            sizing = self._held_back(sizing, starting, started)
        best = (
            "no plan within these limits fits more pods"
            if is_most
            else "the search found no plan that fits more pods"
        )
        several = len(started) > 1
        whole = (
            f"; {sum(started.values())} of {sum(each.count for each in started)} groups fit"
            if several
            else ""
        )
        sentences = {
            part.workload: f"{_sentence(group, count)}{whole} ({best})"
            for group, count in started.items()
            for part, _ in group.pods
            if count < group.count
        }
        workloads = tuple(
            _with_sentence(each, sentences.get(each.workload, ""), is_held=is_held)
            for each in sizing.workloads
        )
        return replace(
            sizing, workloads=workloads, verdict=worst(each.verdict for each in workloads)
        )

    def _most(self) -> tuple[tuple[int, ...], bool]:
        best = tuple(0 for _ in self._kinds)
        for at, kind in enumerate(self._kinds):
            low, high = 0, kind.count
            while low < high:
                middle = (low + high + 1) // 2
                guess = (*best[:at], middle, *best[at + 1 :])
                low, high = (middle, high) if self._fits(guess) else (low, middle - 1)
            best = (*best[:at], low, *best[at + 1 :])
        better = self._one_more(best)
        while better is not None:
            best = better
            better = self._one_more(best)
        return best, self._is_complete and not self._others_wait

    def _one_more(self, best: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return counts with one more group at which all groups fit, or None if none were found."""
        for tried, guess in enumerate(
            _with_sum([kind.count for kind in self._kinds], sum(best) + 1)
        ):
            self._is_complete = self._is_complete and tried < _MOST_GUESSES
            if self._fits(guess):
                return guess
            if not self._is_complete:
                break
        return None

    def _fits(self, counts: tuple[int, ...]) -> bool:
        """Return whether this number of groups of each kind fits together with the placed pods of
        other workloads.
        """
        if any(
            all(many <= count for many, count in zip(known, counts, strict=True))
            for known in self._too_many
        ):
            return False
        if counts not in self._sized:
            if not self._left:
                self._is_complete = False
                return False
            self._left -= 1
            self._sized[counts] = self._size(self._part(counts))
        sizing = self._sized[counts]
        waiting = [
            each for each in sizing.workloads if each.workload in self._mine and each.pending
        ]
        before = self._before
        kept = all(
            each.placed >= before[each.workload].placed
            for each in sizing.workloads
            if each.workload not in self._mine
        )
        if not waiting and kept:
            return True
        if any(each.verdict == "does-not-fit" for each in sizing.workloads if each.pending):
            self._too_many.append(counts)
        else:
            self._is_complete = False
        return False

    def _part(
        self, counts: tuple[int, ...], extra: Mapping[PodSetKey, int] | None = None
    ) -> Demand:
        """Return the demand with the pods of this number of groups, and other gangs unchanged."""
        pods: dict[PodSetKey, int] = {(part.workload, part.pod_set): 0 for part in self._parts()}
        for group, count in self._started(counts).items():
            for part, number in group.starting():
                pods[part.workload, part.pod_set] += count * number
        for key, number in (extra or {}).items():
            pods[key] += number
        return with_pods(self._demand, pods, self._first.level)

    def _parts(self) -> Iterator[GangPart]:
        return (part for kind in self._kinds for group in kind.groups for part, _ in group.pods)

    def _started(self, counts: tuple[int, ...]) -> dict[GangGroups, int]:
        started: dict[GangGroups, int] = {}
        for kind, count in zip(self._kinds, counts, strict=True):
            for group in kind.groups:
                started[group] = min(count, group.count)
                count -= started[group]
        return started

    def _held_back(
        self, sizing: Sizing, counts: tuple[int, ...], started: Mapping[GangGroups, int]
    ) -> Sizing:
        """Return the nodes for the groups that start, with the bounds and reasons of the whole
        demand.
        """
        found = self._with_others(counts, started)
        placed = {each.workload: each for each in found.workloads}
        workloads = tuple(
            self._counted(each, placed.get(each.workload, each)) for each in sizing.workloads
        )
        pools = tuple(_beside(pool, found.pool(pool.name)) for pool in sizing.pools)
        return replace(
            sizing,
            pools=pools,
            workloads=workloads,
            nodes_plan=found.nodes_plan,
            hourly_plan=found.hourly_plan,
            method=found.method,
            patterns=found.patterns,
        )

    def _with_others(self, counts: tuple[int, ...], started: Mapping[GangGroups, int]) -> Sizing:
        """Return the sizing with as many pods beyond each group's minimum as still fit."""
        extra: dict[PodSetKey, int] = {}
        best = self._sized.get(counts) or self._size(self._part(counts))
        for group, count in started.items():
            more = dict(zip(group.pods, (number for _, number in group.starting()), strict=True))
            for (part, pods), start in more.items():
                low, high = 0, (pods - start) * count
                while low < high and self._left:
                    self._left -= 1
                    middle = (low + high + 1) // 2
                    guess = {**extra, (part.workload, part.pod_set): middle}
                    sizing = self._size(self._part(counts, guess))
                    if any(
                        each.pending for each in sizing.workloads if each.workload in self._mine
                    ):
                        high = middle - 1
                    else:
                        low, best = middle, sizing
                extra[part.workload, part.pod_set] = low
        return best

    def _counted(self, before: WorkloadSize, after: WorkloadSize) -> WorkloadSize:
        """Return the placed pods of a workload, with its verdict and the reasons of the group that
        doesn't start.
        """
        if before.workload not in self._mine or before.wanted is None:
            return replace(
                before, placed=after.placed, pending=after.pending, placements=after.placements
            )
        pending = before.wanted - after.placed
        changed = replace(before, placed=after.placed, pending=pending, placements=after.placements)
        if not pending:
            kept = tuple(reason for reason in before.reasons if not before.pending)
            return replace(
                changed, verdict="fits" if before.pending else before.verdict, reasons=kept
            )
        if before.pending:
            return changed
        blamed = [
            each for each in self._first.workloads if each.workload in self._mine and each.pending
        ]
        reasons = tuple(dict.fromkeys(reason for each in blamed for reason in each.reasons))
        return replace(changed, verdict=worst(each.verdict for each in blamed), reasons=reasons)


def _with_sentence(size: WorkloadSize, sentence: str, *, is_held: bool) -> WorkloadSize:
    if not sentence or not size.pending:
        return size
    reasons = map(_of_room, size.reasons) if is_held else size.reasons
    return replace(size, reasons=(Reason(code="gang-stays-out", message=sentence), *reasons))


def _sentence(group: GangGroups, started: int) -> str:
    gang, pods = group.gang, counted(group.size, "pod")
    if group.count > 1:
        held = (
            f", and {gang.held_by} starts only complete groups"
            if gang.held_by
            else "; pods in the other groups start one by one"
        )
        return f"{gang.name}: {started} of its {group.count} groups of {pods} fit{held}"
    if not gang.held_by:
        return f"{gang.name}: its group of {pods} doesn't fit, so its pods start one by one"
    if group.least < group.size:
        return (
            f"{gang.name}: {gang.held_by} doesn't start any of its {pods} until {group.least} of "
            "them fit"
        )
    return f"{gang.name}: {gang.held_by} doesn't start its {pods} until all of them fit"


def _with_sum(most: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    """Yield counts with this sum within their maximums, in order, without creating unused ones."""
    counts = _at_the_end(most, total)
    while counts is not None:
        yield tuple(counts)
        behind = 0
        for at in range(len(most) - 1, -1, -1):
            if behind and counts[at] < most[at]:
                break
            behind += counts[at]
        else:
            return
        rest = _at_the_end(most[at + 1 :], behind - 1)
        counts = None if rest is None else [*counts[:at], counts[at] + 1, *rest]


def _at_the_end(most: Sequence[int], total: int) -> list[int] | None:
    """Return the first counts with this sum, with as many groups as possible in the last positions,
    or None if no counts have this sum.
    """
    counts: list[int] = []
    for each in reversed(most):
        counts.append(min(each, total))
        total -= counts[-1]
    return None if total or not most else counts[::-1]


def _beside(pool: PoolSize, found: PoolSize) -> PoolSize:
    """Return the pool's size for the groups that start, with the whole demand's bounds."""
    return replace(found, bound=pool.bound, enough=pool.enough)


def _of_room(reason: Reason) -> Reason:
    """Return whether a reason refers to capacity: more pods are pending than the reason's pods
    without capacity.
    """
    message = reason.message.replace("stays pending", "doesn't fit")
    message = message.replace("stay pending", "don't fit")
    return replace(reason, message=message)
