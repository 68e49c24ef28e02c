"""AKS resources compared with Azure's own API models: every property, type, limit, and enum value
is checked.

The models are those of azure-mgmt-containerservice 40 (API 2025-10-01; the components send
2025-09-01), read as data: its own serializer checks only types, and later releases check nothing.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from azure.mgmt.containerservice import models

REQUESTS = {
    "azure-native:containerservice:ManagedCluster": "ManagedCluster",
    "azure-native:containerservice:AgentPool": "AgentPool",
    "azure-native:containerservice:MaintenanceConfiguration": "MaintenanceConfiguration",
}
# What stands in the path of the request: the operations' parameters, not the models', have their
# limits.
IN_PATH = {
    "resourceGroupName": re.compile(r".{1,90}"),
    "resourceName": re.compile(r"[a-zA-Z0-9]$|^[a-zA-Z0-9][-_a-zA-Z0-9]{0,61}[a-zA-Z0-9]"),
    "agentPoolName": re.compile(r"[a-z][a-z0-9]{0,11}"),
    "configName": re.compile(r".+"),
}
_SCALARS: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
}


def refusals(token: str, inputs: Mapping[str, Any]) -> list[str]:
    """Return the errors in a resource's inputs according to the models, each with the path of the
    property.
    """
    in_path = {key: inputs[key] for key in IN_PATH if key in inputs}
    errors = [
        f"{key}: {value}"
        for key, value in in_path.items()
        if not IN_PATH[key].fullmatch(str(value))
    ]
    body = {key: value for key, value in inputs.items() if key not in in_path}
    return [*errors, *_of_model(REQUESTS[token], body, "")]


@cache
def _properties(name: str) -> Mapping[str, tuple[str, str, Mapping[str, Any], str]]:
    """Return a model's properties by their name in requests: type, enum, limits, and name in
    Python.
    """
    model = getattr(models, name)
    hints = inspect.get_annotations(model.__init__)
    found = {}
    for base in reversed(model.__mro__):
        for attribute, entry in getattr(base, "_attribute_map", {}).items():
            limits = getattr(model, "_validation", {}).get(attribute, {})
            wire = entry["key"].removeprefix("properties.").replace("\\.", ".")
            enum = re.search(r"_models\.(\w+)", str(hints.get(attribute, "")))
            known = enum[1] if enum and hasattr(getattr(models, enum[1]), "__members__") else ""
            if not limits.get("readonly") or wire not in found:
                found[wire] = (entry["type"], known, limits, attribute)
    return found


def _of_model(name: str, given: Mapping[str, Any], path: str) -> Iterator[str]:
    known = _properties(name)
    yield from (f"{path}{key}: is not of {name}" for key in given if key not in known)
    for wire, (kind, enum, limits, _) in known.items():
        here = f"{path}{wire}"
        if wire not in given:
            if limits.get("required") and not limits.get("readonly"):
                yield f"{here}: is missing"
        elif limits.get("readonly"):
            yield f"{here}: is Azure's to say"
        else:
            yield from _of_type(kind, enum, limits, given[wire], here)


def _of_type(
    kind: str, enum: str, limits: Mapping[str, Any], value: Any, path: str
) -> Iterator[str]:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # numbers cross the engine as floats
    if kind.startswith("{ManagedServiceIdentity") and isinstance(value, list):
        # in the form in which azure-native sends IDs that it accepts as a list
        value = {identity: {} for identity in value}
    if kind.startswith("[") and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _of_type(kind[1:-1], enum, {}, item, f"{path}[{index}]")
    elif kind.startswith("{") and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _of_type(kind[1:-1], enum, {}, item, f"{path}.{key}")
    elif kind in _SCALARS:
        is_flag = isinstance(value, bool)
        if not isinstance(value, _SCALARS[kind]) or (is_flag and kind != "bool"):
            yield f"{path}: {value!r} is not of type {kind}"
        elif enum and value not in {each.value for each in getattr(models, enum)}:
            yield f"{path}: {value!r} is not one of {enum}"
        else:
            yield from _of_limits(limits, value, path)
    elif isinstance(value, Mapping) and hasattr(models, kind):
        yield from _of_model(kind, value, f"{path}.")
    elif kind not in ("date", "time", "iso-8601"):
        yield f"{path}: {value!r} is not of type {kind}"


def _of_limits(limits: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    checks = {
        "minimum": lambda bound: value >= bound,
        "maximum": lambda bound: value <= bound,
        "min_length": lambda bound: len(value) >= bound,
        "max_length": lambda bound: len(value) <= bound,
        "pattern": lambda bound: re.search(bound, value),
    }
    for limit, bound in limits.items():
        if limit in checks and not checks[limit](bound):
            yield f"{path}: {value!r} is against {limit} {bound}"
