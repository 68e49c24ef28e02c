"""Shared counters of partitionable devices, and their consumption.

Source of the behavior: kubernetes/dynamic-resource-allocation:structured/internal/*/allocator_*.go
(checkAvailableCounters) @v0.34.9, v0.35.6, v0.36.3 and v0.37.2. Amounts are in billionths.
"""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct

from dra_planner.allocation.behaviour import Behaviour
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.search.amounts import nano
from dra_planner.allocation.search.devices import Candidate, indexes
from dra_planner.model import CounterSet

CounterName = tuple[str, str]  # counter set, counter
Draws = tuple[tuple[CounterName, int], ...]


class _Table(Struct):
    """The remaining counters of one pool (in 1.34, of one slice)."""

    left: dict[CounterName, int]
    owner: object
    overdrawn: bool


class CounterLedger(Struct):
    """The counters of one search. `occupied` are the devices that were allocated before it."""

    template: Template
    behaviour: Behaviour
    occupied: int
    tables: dict[Hashable, _Table] = {}
    met_foreign_table: bool = False
    _known: dict[int, Draws] = {}  # consumption of devices, cached as it is computed

    def __post_init__(self) -> None:
        self._known = _draws(self.template)

    def charge(self, candidate: Candidate) -> bool:
        """Consume the device's counters. Return False, and change nothing, if they don't
        suffice.
        """
        table = self._table(candidate)
        if table.overdrawn:
            return False
        left = table.left
        draws = self._known.get(candidate.index) or draws_of(self.template, candidate)
        for name, amount in draws:
            if left.get(name, amount) < amount:
                return False
        for name, amount in draws:
            if name in left:
                left[name] -= amount
        return True

    def release(self, candidate: Candidate) -> None:
        """Release the counters that `charge` consumed."""
        left = self._table(candidate).left
        for name, amount in draws_of(self.template, candidate):
            if name in left:
                left[name] += amount

    def _table(self, candidate: Candidate) -> _Table:
        owner = candidate.id[:2]
        key: Hashable = owner
        if self.behaviour.counters_by_slice:
            key = candidate.slice.name
        elif self.behaviour.counters_by_pool_name:
            key = candidate.id.pool
        table = self.tables.get(key)
        if table is None:
            table = self.tables[key] = self._open(candidate)
        if table.owner != owner:
            self.met_foreign_table = True
        return table

    def _open(self, candidate: Candidate) -> _Table:
        total, consumers = self._untouched(candidate)
        left = dict(total)
        for index in indexes(consumers & self.occupied):
            for name, amount in self._known.get(index) or draws_of(
                self.template, self.template.candidates[index]
            ):
                if name in left:
                    left[name] -= amount
        return _Table(left, candidate.id[:2], min(left.values(), default=0) < 0)

    def _untouched(self, candidate: Candidate) -> tuple[dict[CounterName, int], int]:
        """Return the initial counters of a device's table, and the devices that consume them, as
        bits.
        """
        template = self.template
        by_slice = self.behaviour.counters_by_slice
        key = candidate.slice.name if by_slice else candidate.id[:2]
        cache: dict[Hashable, tuple[dict[CounterName, int], int]] = template.memory.setdefault(
            "counters", {}
        )
        if key not in cache:
            if by_slice:
                sets: tuple[CounterSet, ...] = candidate.slice.shared_counters
                bits = sum(c.bit for c in template.candidates if c.slice is candidate.slice)
            else:
                pool = template.pool_of(candidate)
                sets = pool.counter_sets
                bits = sum(c.bit for c in template.candidates if c.id[:2] == pool.id)
            cache[key] = (
                {(s.name, name): nano(value) for s in sets for name, value in s.counters.items()},
                bits,
            )
        return cache[key]


def draws_of(template: Template, candidate: Candidate) -> Draws:
    """Return the amount that a device consumes of each counter. Amounts for a repeated counter are
    added up.
    """
    cache = _draws(template)
    draws = cache.get(candidate.index)
    if draws is None:
        total: dict[CounterName, int] = {}
        for consumption in candidate.device.consumes_counters:
            for name, value in consumption.counters.items():
                key = (consumption.counter_set, name)
                total[key] = total.get(key, 0) + nano(value)
        draws = cache[candidate.index] = tuple(total.items())
    return draws


def _draws(template: Template) -> dict[int, Draws]:
    known: dict[int, Draws] = template.memory.setdefault("draws", {})
    return known
