"""An item's minimum needs of a node's devices: the possible devices, and their number."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from dra_planner.allocation import NodeState
from dra_planner.allocation.search.amounts import nano
from dra_planner.allocation.search.constraints import lookup_attribute
from dra_planner.allocation.search.counters import draws_of
from dra_planner.allocation.search.devices import Candidate
from dra_planner.allocation.search.requests import PlannedClaim, PlannedRequest, plan_claims
from dra_planner.model import ClaimSpec, Unknown
from dra_planner.records import equality
from dra_planner.sizing.items import Item


@equality(unhashed=("counters", "shares"))
class DeviceNeeds(Struct, frozen=True, kw_only=True):
    """`exclusive` contains (possible devices, number of devices).

    Sets of devices are bits over the candidates of the node's template.

    `counters` is the consumption of each family of counters. `draws` is the same by device (family,
    amount, number of devices), if every possible device uses a single counter set. `shares` is the
    consumption of each capacity of shared devices, in billionths. `is_steady` is set if other pods
    can't increase the number of items that fit on a node: there are no alternatives, partitions, or
    shares, and no two requests compete for some devices but not for all.
    """

    exclusive: tuple[tuple[int, int], ...] = ()
    counters: Mapping[str, int] = {}
    draws: tuple[tuple[str, int, int], ...] = ()
    shares: Mapping[str, int] = {}
    is_steady: bool = True

    @staticmethod
    def counter_capacities(state: NodeState) -> dict[str, int]:
        """Return the free amount of each family of counters on a node, over all its partitioned
        devices.
        """
        capacities: dict[str, int] = defaultdict(int)
        for pool in state.template.pools:
            for counter_set in pool.counter_sets:
                for name, value in counter_set.counters.items():
                    capacities[_family(name)] += nano(value)
        for candidate in state.template.candidates:
            if candidate.bit & state.taken:
                for (_, name), amount in draws_of(state.template, candidate):
                    capacities[_family(name)] -= amount
        return dict(capacities)

    @staticmethod
    def set_capacities(state: NodeState) -> dict[str, tuple[int, int]]:
        """Return the number of counter sets with each family on a node, and the amount in one, if
        all are equal.
        """
        capacities: dict[str, list[int]] = defaultdict(list)
        for pool in state.template.pools:
            for counter_set in pool.counter_sets:
                totals: dict[str, int] = defaultdict(int)
                for name, value in counter_set.counters.items():
                    totals[_family(name)] += nano(value)
                for family, total in totals.items():
                    capacities[family].append(total)
        drawing = any(
            each.bit & state.taken and each.device.consumes_counters
            for each in state.template.candidates
        )
        return {
            family: (len(totals), totals[0])
            for family, totals in capacities.items()
            if not drawing and len(set(totals)) == 1
        }

    @staticmethod
    def share_capacities(state: NodeState) -> dict[str, int]:
        """Return the free amount of each capacity over all shareable devices of a node."""
        capacities: dict[str, int] = defaultdict(int)
        unknown: set[str] = set()
        for candidate in state.template.candidates:
            if (
                not candidate.shareable
                or not candidate.bit & state.template.searched & ~state.taken
            ):
                continue
            for name, capacity in candidate.device.capacity.items():
                if isinstance(capacity.value, Unknown):
                    unknown.add(name)
                else:
                    capacities[name] += nano(capacity.value)
        for _, used in state.shares:
            for name, amount in used:
                capacities[name] -= amount
        return {name: amount for name, amount in capacities.items() if name not in unknown}


def device_needs(item: Item, state: NodeState) -> DeviceNeeds:
    """Return the needs of one item on a node in this state. Claims that its pods share
    count once.
    """
    template = state.template
    exclusive: dict[int, int] = defaultdict(int)
    counters: dict[str, int] = defaultdict(int)
    draws: list[tuple[str, int, int]] = []
    shares: dict[str, int] = defaultdict(int)
    steady, constraints = True, 0
    claims = list(_claims(item))
    shareable = sum(each.bit for each in template.candidates if each.shareable)
    for name, spec, times in claims:
        (planned,) = plan_claims([(name, spec)], template).claims
        constraints += len(spec.constraints)
        steady &= all(each.match_attribute is not None for each in spec.constraints)
        drawing: dict[str, _Drawing] = {}
        for request in planned.requests:
            bits, count = _least(request, shareable)
            if not count:
                continue
            inside = [each for each in template.candidates if each.bit & bits]
            steady &= len(request.alternatives) == 1
            steady &= not any(each.shareable or each.device.consumes_counters for each in inside)
            if inside and not any(each.shareable for each in inside):
                exclusive[bits] += count * times
                from_one_set = all(
                    len({each.counter_set for each in c.device.consumes_counters}) == 1
                    for c in inside
                )
                least = _least_draws(inside, state)
                for family, amount in least.items():
                    counters[family] += amount * count * times
                if from_one_set:
                    drawing[request.name] = _Drawing(inside, least, count)
            if inside and all(each.shareable for each in inside):
                for name, amount in _least_shares(request, inside).items():
                    shares[name] += amount * count * times
        draws += [
            (family, amount, devices * times)
            for family, amount, devices in _draws_by_set(spec, drawing)
        ]
        steady &= not _has_fault(planned)
    sets = list(exclusive)
    steady &= not any(one & other for at, one in enumerate(sets) for other in sets[:at])
    steady &= constraints == 0 or (constraints == 1 and len(claims) == 1)
    return DeviceNeeds(
        exclusive=tuple(sorted(exclusive.items())),
        counters={family: amount for family, amount in sorted(counters.items()) if amount},
        draws=tuple(draws),
        shares={name: amount for name, amount in sorted(shares.items()) if amount},
        is_steady=steady,
    )


class _Drawing(Struct, frozen=True):
    """A request whose devices each use one counter set: candidates, the minimum use of each family,
    and the number of devices.
    """

    inside: Sequence[Candidate]
    least: Mapping[str, int]
    count: int


def _draws_by_set(
    spec: ClaimSpec, drawing: Mapping[str, _Drawing]
) -> Iterator[tuple[str, int, int]]:
    """Yield a claim's use of single counter sets: family, amount, count.

    A constraint can tie the devices of requests to one counter set, which they then use together.
    """
    left = dict(drawing)
    for constraint in spec.constraints:
        names = [each for each in left if not constraint.requests or each in constraint.requests]
        if constraint.match_attribute is None or not names:
            continue
        tied = [left[each] for each in names]
        if _is_one_set(constraint.match_attribute, [c for each in tied for c in each.inside]):
            total: dict[str, int] = defaultdict(int)
            for each in tied:
                for family, amount in each.least.items():
                    total[family] += amount * each.count
            yield from ((family, amount, 1) for family, amount in total.items())
            for name in names:
                del left[name]
    for each in left.values():
        yield from ((family, amount, each.count) for family, amount in each.least.items())


def _is_one_set(attribute: str, candidates: Iterable[Candidate]) -> bool:
    """Return whether devices with equal values of an attribute draw from one counter set. Values
    that are known at run time only count if it is known which of them are equal.
    """
    sets: dict[tuple[type, str], set[str]] = defaultdict(set)
    for candidate in candidates:
        value = lookup_attribute(candidate, attribute)
        if value is None:  # the constraint excludes the device
            continue
        if isinstance(value, tuple) or (isinstance(value, Unknown) and not value.group):
            return False
        key = (Unknown, value.group) if isinstance(value, Unknown) else (type(value), str(value))
        sets[key].update(each.counter_set for each in candidate.device.consumes_counters)
    if 0 < sum(kind is Unknown for kind, _ in sets) < len(sets):
        return False  # a known value might equal an unknown value
    return all(len(found) == 1 for found in sets.values())


def _claims(item: Item) -> Iterator[tuple[str, ClaimSpec, int]]:
    seen = set()
    for part in item.parts:
        for claim in part.shape.claims:
            if claim.shared is None:
                yield f"{part.shape.namespace}/{claim.name}", claim.spec, part.pods
            elif claim.shared not in seen:
                seen.add(claim.shared)
                yield str(claim.shared), claim.spec, 1


def _least(request: PlannedRequest, shareable: int) -> tuple[int, int]:
    """Return the devices that satisfy any alternative, and the lowest number that any alternative
    needs, or (0, 0) for none.

    `shareable` are the devices that several claims can use.
    """
    bits, counts = 0, []
    for way in request.alternatives:
        if way.fault:
            continue
        if way.spec.admin_access:
            return 0, 0
        bits |= way.matching("optimistic")
        if way.takes_all and shareable & way.matching("optimistic"):
            # `All` requests the devices with free capacity, and other claims can share the other
            # devices
            counts.append(1)
        elif way.takes_all:
            counts.append(max(1, way.matching("pessimistic").bit_count()))
        else:
            counts.append(way.spec.count)
    return bits, min(counts, default=0)


def _has_fault(claim: PlannedClaim) -> bool:
    return bool(claim.fault) or any(
        way.fault for request in claim.requests for way in request.alternatives
    )


def _least_draws(inside: Sequence[Candidate], state: NodeState) -> dict[str, int]:
    """Return the minimum use of each family of counters among these devices."""
    least: dict[str, int] | None = None
    for candidate in inside:
        drawn: dict[str, int] = defaultdict(int)
        for (_, name), amount in draws_of(state.template, candidate):
            drawn[_family(name)] += amount
        if least is None:
            least = dict(drawn)
        else:
            least = {
                family: min(amount, drawn[family])
                for family, amount in least.items()
                if drawn.get(family)
            }
    return least or {}


def _least_shares(request: PlannedRequest, inside: Sequence[Candidate]) -> dict[str, int]:
    """Return a request's minimum need of each capacity, for any alternative and device."""
    least: dict[str, int] | None = None
    for way in request.alternatives:
        for candidate in inside:
            if way.fault or not candidate.bit & way.matching("optimistic"):
                continue
            taken = dict(way.consumptions.get(candidate.index, ()))
            if least is None:
                least = taken
            else:
                least = {
                    name: min(amount, taken[name])
                    for name, amount in least.items()
                    if name in taken
                }
    return least or {}


def _family(counter: str) -> str:
    """Return the name without numbers: memory-slice-0 to memory-slice-7 are one family."""
    return re.sub(r"\d+", "#", counter)
