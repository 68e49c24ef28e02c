"""Rules of shared capacity: the amounts that a consumer can request.

Source: kubernetes/kubernetes:pkg/apis/resource/validation/validation.go@v1.36.3
(validateRequestPolicy).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dra_planner.manifests.parsing.fields import parse_quantity
from dra_planner.manifests.validation.violations import (
    Violations,
    duplicate,
    forbidden,
    invalid,
    required,
    too_many,
)
from dra_planner.quantity import Quantity
from dra_planner.releases import Features

Data = Mapping[str, Any]
MAX_VALUES: Final = 10
_LARGEST: Final = Quantity.from_int(2**63 - 1)


def check_capacity(
    data: Data | None, path: str, *, multiple: bool, features: Features
) -> Violations:
    """Check a capacity. `multiple` is True if the device can be allocated several times.

    Only the capacity of such a device can have a policy.
    """
    data = data or {}
    policy, path = data.get("requestPolicy"), f"{path}.requestPolicy"
    if policy is None:
        return
    if not multiple:
        yield forbidden(path, "allowMultipleAllocations must be true")
        return
    values, valid_range, default = (
        policy.get("validValues") or (),
        policy.get("validRange"),
        policy.get("default"),
    )
    if values and valid_range is not None:
        detail = (
            'exactly one policy can be specified, cannot specify "validValues" and '
            '"validRange" at the same time'
        )
        yield forbidden(path, detail)
        return
    kind = "validValues" if values else "validRange"
    if not values and valid_range is None:
        return
    if default is None:
        yield required(f"{path}.default", f"required when {kind} is defined")
        return
    capacity = parse_quantity(data.get("value") or 0)
    if values:
        options, path = [parse_quantity(value or 0) for value in values], f"{path}.validValues"
        yield from _check_values(options, parse_quantity(default), capacity, path, features)
    else:
        yield from _check_range(
            valid_range, parse_quantity(default), capacity, f"{path}.validRange", features
        )


def _check_values(
    values: Sequence[Quantity], default: Quantity, capacity: Quantity, path: str, features: Features
) -> Violations:
    for index in range(1, len(values)):
        if values[index - 1] > values[index]:
            yield invalid(
                f"{path}[{index}]", str(values[index]), "values must be sorted in ascending order"
            )
    found = False
    if len(values) > MAX_VALUES:
        yield too_many(path, len(values), MAX_VALUES)
    else:
        seen: set[int | Quantity] = set()
        for index, value in enumerate(values):
            if value > capacity:
                yield invalid(
                    f"{path}[{index}]",
                    str(value),
                    f"option is larger than capacity value: {capacity}",
                )
            found |= value == default
            key = value if features.fractional_capacity_range else value.value
            if key in seen:
                yield duplicate(f"{path}[{index}]", str(key))
            seen.add(key)
    if not found:
        yield invalid(
            path, str(default), "default value is not valid according to the requestPolicy"
        )


def _check_range(
    data: Data, default: Quantity, capacity: Quantity, path: str, features: Features
) -> Violations:
    if data.get("min") is None:
        yield required(f"{path}.min", "required when validRange is defined")
        return
    blamed = "default" if features.blames_default_of_range else ""
    amounts = {
        name: parse_quantity(data[name])
        for name in ("min", "max", "step")
        if data.get(name) is not None
    }
    minimum, maximum = amounts["min"], amounts.get("max")
    if minimum > capacity:
        yield invalid(f"{path}.min", str(minimum), f"min is larger than capacity value: {capacity}")
    if default < minimum:
        yield invalid(
            f"{path}.{blamed or 'min'}", str(default), f"default is less than min: {minimum}"
        )
    if maximum is not None:
        if minimum > maximum:
            yield invalid(f"{path}.max", str(minimum), f"min is larger than max: {maximum}")
        if maximum > capacity:
            yield invalid(
                f"{path}.max", str(maximum), f"max is larger than capacity value: {capacity}"
            )
        if default > maximum:
            yield invalid(
                f"{path}.{blamed or 'max'}", str(default), f"default is more than max: {maximum}"
            )
    amounts = {"default": default, **amounts}
    fine = features.fractional_capacity_range and any(
        _is_fractional(amount) for amount in amounts.values()
    )
    if fine:
        unsafe = [
            name for name, amount in amounts.items() if amount.scale < -3 and _is_finer(amount)
        ]
        for name in unsafe:
            yield invalid(
                f"{path}.{name}", str(amounts[name]), "value cannot be represented as a milli value"
            )
        if unsafe:
            return
    if "step" in amounts:
        yield from _check_step(amounts, capacity, path, features, fine=fine)


def _is_fractional(amount: Quantity) -> bool:
    return amount.scale < 0 and amount.unscaled % int(10**-amount.scale) != 0


def _is_finer(amount: Quantity) -> bool:
    """Return True if an amount isn't an integer number of thousandths."""
    return amount.unscaled % int(10 ** (-3 - amount.scale)) != 0


def _check_step(
    amounts: Mapping[str, Quantity],
    capacity: Quantity,
    path: str,
    features: Features,
    *,
    fine: bool,
) -> Violations:
    """Check that every value is the minimum plus a number of steps.

    All amounts are first rounded up to integers (to thousandths if one of them is fractional and
    DRAFractionalCapacityRange is on). 1.37 separately reports a step of zero, and amounts that its
    integers can't hold. Up to 1.36, upstream divides by zero.
    """
    step, minimum = amounts["step"], amounts["min"]
    if features.checks_range_arithmetic and step.sign <= 0:
        yield invalid(f"{path}.step", str(step), "must be greater than zero")
        return
    if minimum + step > capacity:
        detail = f"one step {minimum + step} is larger than capacity value: {capacity}"
        yield invalid(f"{path}.step", str(step), detail)
    if features.checks_range_arithmetic and not fine:
        unsafe = {
            name: detail for name, amount in amounts.items() if (detail := _out_of_range(amount))
        }
        for name, detail in unsafe.items():
            yield invalid(f"{path}.{name}", str(amounts[name]), detail)
        if unsafe:
            return
    width, start = (step.milli_value, minimum.milli_value) if fine else (step.value, minimum.value)
    for name in ("default", "max"):
        value = amounts.get(name)
        if value is None:
            continue
        distance = (value.milli_value if fine else value.value) - start
        if width == 0 or distance % width:
            detail = f"value is not a multiple of a given step ({step}) from ({minimum})"
            yield invalid(f"{path}.step", str(value), detail)


def _out_of_range(amount: Quantity) -> str:
    if amount.sign < 0:
        return "must be greater than or equal to 0"
    return f"must not be larger than {_LARGEST.unscaled}" if amount > _LARGEST else ""
