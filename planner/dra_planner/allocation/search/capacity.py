"""Consumable capacity: the amount of a device that a request consumes, and whether the device has
enough left.

Source of the behavior:
kubernetes/dynamic-resource-allocation:structured/internal/*/consumable_capacity.go @v0.34.9,
v0.35.6, v0.36.3 and v0.37.2. Amounts are in billionths (`amounts.nano`).
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.allocation.search.amounts import nano
from dra_planner.model import Device, DeviceCapacity, RequestPolicy, Unknown, ValidRange
from dra_planner.quantity import Quantity
from dra_planner.releases import Features

_INT64_MAX = 2**63 - 1
_ONE = 10**9
_MILLI = 10**6

Consumption = tuple[tuple[str, int], ...]


class UnknownCapacity(Exception):
    """The amount of a capacity is known only on the node, and the request depends on it."""


class CapacityError(Exception):
    """The range arithmetic of the device can't represent a request, which ends the scheduling
    attempt of the pod.
    """


def consumption(
    device: Device, requested: Mapping[str, Quantity], features: Features
) -> Consumption | None:
    """Return the amount of each capacity of the device that a request consumes, sorted by name.

    Returns None if a policy or an unknown name excludes the device. Raises CapacityError for
    amounts that the version can't represent, and UnknownCapacity if the result depends on a device
    amount that is known only at run time.
    """
    if any(name not in device.capacity for name in requested):
        return None
    taken: dict[str, int] = {}
    for name, capacity in device.capacity.items():
        if isinstance(capacity.value, Unknown):
            if _is_above(requested.get(name), capacity.at_most):
                return None
            if name in requested or device.allow_multiple_allocations:
                raise UnknownCapacity(name)
            continue  # the request gets the whole capacity, regardless of its amount
        taken[name] = _taken(name, requested.get(name), capacity, features)
    for name, amount in taken.items():
        policy = device.capacity[name].request_policy
        if policy is not None and _violates(amount, policy, features):
            return None
    return tuple(sorted(taken.items()))


def _is_above(amount: Quantity | None, at_most: Quantity | None) -> bool:
    return amount is not None and at_most is not None and amount > at_most


def fits(device: Device, used: Mapping[str, int], taken: Consumption) -> bool:
    """Return True if a device has enough left for the consumption."""
    for name, amount in taken:
        value = device.capacity[name].value
        if isinstance(value, Quantity) and used.get(name, 0) + amount > nano(value):
            return False
    return True


def _taken(
    name: str, requested: Quantity | None, capacity: DeviceCapacity, features: Features
) -> int:
    try:
        amount = _resolve(requested, capacity, features)
    except CapacityError as error:
        raise CapacityError(f'capacity "{name}": {error}') from None
    if features.checks_range_arithmetic and amount < 0:
        raise CapacityError(f'capacity "{name}": capacity value is negative')
    return amount


def _resolve(requested: Quantity | None, capacity: DeviceCapacity, features: Features) -> int:
    policy = capacity.request_policy
    # consumption() requests only capacities with a known quantity
    assert isinstance(capacity.value, Quantity)
    if requested is None:
        return nano(policy.default if policy and policy.default is not None else capacity.value)
    if policy is None:
        return nano(requested)
    if policy.valid_range is not None:
        return _round_up(requested, policy.valid_range, features)
    for value in policy.valid_values:
        if requested <= value:
            return nano(value)
    return nano(requested)


def _round_up(requested: Quantity, valid: ValidRange, features: Features) -> int:
    if requested < valid.minimum:
        return nano(valid.minimum)
    if valid.step is None:
        return nano(requested)
    unit = _unit(valid, features)
    if features.checks_range_arithmetic:
        _refuse_unrepresentable(requested, unit)
    amount, low, step = (_units(q, unit) for q in (requested, valid.minimum, valid.step))
    rounded = low + step * -((low - amount) // step)
    if features.checks_range_arithmetic and rounded > _INT64_MAX:
        what = "the milli-value range" if unit == _MILLI else "MaxInt64"
        raise CapacityError(
            f"{_NOT_REPRESENTABLE}: rounding request {requested} up to the next step passes {what}"
        )
    return rounded * unit


_NOT_REPRESENTABLE = "capacity request cannot be represented in the device's range arithmetic"


def _refuse_unrepresentable(requested: Quantity, unit: int) -> None:
    amount = nano(requested)
    if unit == _MILLI and (amount % _MILLI or amount // _MILLI > _INT64_MAX):
        raise CapacityError(
            f"{_NOT_REPRESENTABLE}: request {requested} is not a representable milli value"
        )
    if unit == _ONE and amount > _INT64_MAX * _ONE:
        raise CapacityError(f"{_NOT_REPRESENTABLE}: request {requested} exceeds MaxInt64")


def _unit(valid: ValidRange, features: Features) -> int:
    """Return the unit of amounts: thousandths if all bounds are multiples of a thousandth (from
    1.37 on), otherwise integers.
    """
    if not features.fractional_capacity_range:
        return _ONE
    bounds = [q for q in (valid.minimum, valid.maximum, valid.step) if q is not None]
    exact = all(nano(q) % _MILLI == 0 and nano(q) // _MILLI <= _INT64_MAX for q in bounds)
    return _MILLI if exact and (valid.step is None or nano(valid.step) >= _MILLI) else _ONE


def _units(quantity: Quantity, unit: int) -> int:
    return -(-nano(quantity) // unit)


def _violates(taken: int, policy: RequestPolicy, features: Features) -> bool:
    if policy.default is not None and taken == nano(policy.default):
        return False
    valid = policy.valid_range
    if valid is None:
        return bool(policy.valid_values) and all(taken != nano(v) for v in policy.valid_values)
    if valid.maximum is not None and taken > nano(valid.maximum):
        return True
    if valid.step is None:
        return False
    unit = _unit(valid, features)
    if features.checks_range_arithmetic and unit == _MILLI and taken % _MILLI:
        return True
    amount = -(-taken // unit)
    return (amount - _units(valid.minimum, unit)) % _units(valid.step, unit) != 0
