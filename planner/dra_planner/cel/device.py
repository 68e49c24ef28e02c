"""A device as selectors see it: names are split into domain and identifier, and values are CEL
values.

Source of the behavior: kubernetes/dynamic-resource-allocation:cel/compile.go@v0.36.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from dra_planner.cel.libraries.semvers import SemverError, parse_semver
from dra_planner.cel.values import INT_MAX, INT_MIN, MapValue, QuantityValue, UnknownValue
from dra_planner.quantity import Quantity

Capacity = Quantity | UnknownValue
Quantities = dict[str, dict[str, QuantityValue | UnknownValue]]
_LISTS: Final = ("ints", "bools", "strings", "versions")
_EMPTY_MAP: Final = MapValue({})


class DeviceError(ValueError):
    """A device on which selectors can't be evaluated."""


class DeviceView:
    """A device that is prepared for evaluation. Reuse it if several selectors read the same device.

    `attributes` and `capacity` map domain to identifier to value. `failure` is the reason if every
    selector fails on the device, and `list_failure` is the reason for dialects without list
    attributes.
    """

    __slots__ = (
        "_maps",
        "allow_multiple_allocations",
        "attributes",
        "capacity",
        "driver",
        "failure",
        "list_failure",
        "shared_quantities",
    )

    def __init__(
        self,
        driver: str,
        allow_multiple_allocations: bool,
        attributes: Mapping[str, Mapping[str, Any]],
        capacity: Mapping[str, Mapping[str, Capacity]],
        failure: str = "",
        list_failure: str = "",
    ) -> None:
        self.driver = driver
        self.allow_multiple_allocations = allow_multiple_allocations
        self.attributes = attributes
        self.capacity = capacity
        self.failure = failure
        self.list_failure = list_failure
        self.shared_quantities = self.quantities()
        self._maps: dict[tuple[str, Any], MapValue] = {}

    def attributes_of(self, domain: Any) -> MapValue:
        """Return the attributes of a domain as a CEL value, or an empty map."""
        return self._map("attributes", domain, self.attributes)

    def shared_quantities_of(self, domain: Any) -> MapValue:
        """Return the capacity of a domain as a CEL value, for selectors that can't detect the
        format of a quantity.
        """
        return self._map("capacity", domain, self.shared_quantities)

    def _map(self, kind: str, domain: Any, domains: Mapping[str, Mapping[str, Any]]) -> MapValue:
        found = self._maps.get((kind, domain))
        if found is None:
            within = domains.get(domain)
            if within is None:
                return _EMPTY_MAP
            found = self._maps[kind, domain] = MapValue.of_strings(within)
        return found

    def __repr__(self) -> str:
        return f"DeviceView({self.driver!r}, {dict(self.attributes)!r}, {dict(self.capacity)!r})"

    def quantities(self) -> Quantities:
        """Return the capacity for one evaluation that can detect the format of a quantity."""
        return {
            d: {n: _in_expression(q) for n, q in within.items()}
            for d, within in self.capacity.items()
        }


def _in_expression(value: Capacity) -> QuantityValue | UnknownValue:
    return QuantityValue(value) if isinstance(value, Quantity) else value


EMPTY: Final = DeviceView("", False, {}, {})


def device_value(
    device: DeviceView, capacity: Mapping[str, Mapping[str, QuantityValue | UnknownValue]]
) -> MapValue:
    """Return `device` as a CEL value. An unknown domain reads as an empty map."""
    attributes = {d: device.attributes_of(d) for d in device.attributes}
    capacities = {d: MapValue.of_strings(v) for d, v in capacity.items()}
    return MapValue.of_strings(
        {
            "driver": device.driver,
            "allowMultipleAllocations": device.allow_multiple_allocations,
            "attributes": MapValue.of_strings(attributes, _EMPTY_MAP),
            "capacity": MapValue.of_strings(capacities, _EMPTY_MAP),
        }
    )


def prepare(device: Any) -> DeviceView:
    """Return the view of a device in API form, or of the model's device with its driver.

    The API form is a mapping with `driver`, `allowMultipleAllocations`, `attributes`, and
    `capacity`. Raises `DeviceError` for any other value.
    """
    if isinstance(device, DeviceView):
        return device
    if isinstance(device, Mapping):
        return _from_mapping(device)
    return _from_model(device)


def _from_mapping(device: Mapping[str, Any]) -> DeviceView:
    driver = device.get("driver") or ""
    attributes: dict[str, dict[str, Any]] = {}
    failure = list_failure = ""
    for name, attribute in (device.get("attributes") or {}).items():
        domain, identifier = _split(name, driver)
        try:
            value, is_list = _attribute(name, attribute)
        except DeviceError as error:
            failure = failure or f"attribute {name}: {error}"
            continue
        if is_list:
            list_failure = list_failure or f"attribute {name}: unsupported attribute value"
        attributes.setdefault(domain, {})[identifier] = value
    capacity: dict[str, dict[str, Capacity]] = {}
    for name, published in (device.get("capacity") or {}).items():
        domain, identifier = _split(name, driver)
        capacity.setdefault(domain, {})[identifier] = _capacity(name, published)
    shared = bool(device.get("allowMultipleAllocations"))
    return DeviceView(driver, shared, attributes, capacity, failure, list_failure)


def _from_model(device: Any) -> DeviceView:
    try:
        driver: str = device.driver
        attributes: dict[str, dict[str, Any]] = {}
        failure = list_failure = ""
        for name, value in device.attributes.items():
            domain, identifier = _split(name, driver)
            try:
                attributes.setdefault(domain, {})[identifier] = _model_value(name, value)
            except DeviceError as error:
                failure = failure or f"attribute {name}: {error}"
            if isinstance(value, tuple):
                list_failure = list_failure or f"attribute {name}: unsupported attribute value"
        capacity: dict[str, dict[str, Capacity]] = {}
        for name, published in device.capacity.items():
            domain, identifier = _split(name, driver)
            capacity.setdefault(domain, {})[identifier] = _model_capacity(name, published.value)
        shared = bool(device.allow_multiple_allocations)
    except AttributeError as error:
        raise DeviceError(f"not a device: {type(device).__name__} ({error})") from None
    return DeviceView(driver, shared, attributes, capacity, failure, list_failure)


def _split(name: str, driver: str) -> tuple[str, str]:
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _version(text: str) -> Any:
    try:
        return parse_semver(text)
    except SemverError as error:
        raise DeviceError(f"parse semantic version: {error}") from None


# all devices of a cluster share a few values
_published_version = lru_cache(maxsize=1024)(_version)


def _model_value(name: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return [_model_value(name, v) for v in value]
    if isinstance(value, bool | int | str):
        return value
    if hasattr(value, "group"):
        like = value.like if isinstance(value.like, str) else _published_version(value.like.text)
        return UnknownValue(name, value.group or "", like)
    return _published_version(value.text)


def _attribute(name: str, attribute: Mapping[str, Any]) -> tuple[Any, bool]:
    """Return the value of an attribute in API form, and whether it is a list."""
    unknown = attribute.get("unknown")
    if unknown is not None and unknown is not False:
        return UnknownValue(name, "" if unknown is True else str(unknown)), False
    for kind in _LISTS:
        values = attribute.get(kind)
        if values is not None:
            return [_version(v) for v in values] if kind == "versions" else list(values), True
    for kind, expected in (("int", int), ("bool", bool), ("string", str)):
        value = attribute.get(kind)
        if value is not None:
            if not isinstance(value, expected) or (kind == "int" and not _is_int64(value)):
                raise DeviceError(f"{value!r} is not of type {kind}")
            return value, False
    version = attribute.get("version")
    if version is not None:
        return _version(version), False
    raise DeviceError("unsupported attribute value")


def _is_int64(value: Any) -> bool:
    return not isinstance(value, bool) and INT_MIN <= value <= INT_MAX


def _model_capacity(name: str, value: Any) -> Capacity:
    if isinstance(value, Quantity):
        return value
    return UnknownValue(name, value.group or "")


def _capacity(name: str, value: Any) -> Capacity:
    if isinstance(value, Mapping):
        unknown = value.get("unknown")
        if unknown is not None and unknown is not False:
            return UnknownValue(name, "" if unknown is True else str(unknown))
        value = value.get("value")
    if isinstance(value, Quantity):
        return value
    if isinstance(value, int):
        return Quantity.from_int(value)
    if not isinstance(value, str):
        raise DeviceError(f"capacity {name}: {value!r} is not a valid quantity")
    return Quantity.parse(value)
