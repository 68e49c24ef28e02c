"""Rules of the devices in a ResourceSlice.

Source: kubernetes/kubernetes:pkg/apis/resource/validation/validation.go@v1.36.3, checked with
v1.34.3 and v1.35.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from dra_planner.manifests.validation.context import Context
from dra_planner.manifests.validation.fields.formats import (
    label_value,
    length_of,
    qualified_name,
    semantic_version,
)
from dra_planner.manifests.validation.fields.lists import check_list, check_map, check_set, name_of
from dra_planner.manifests.validation.fields.names import (
    check_attribute_name,
    check_label,
    check_subdomain,
)
from dra_planner.manifests.validation.kinds.request_policies import check_capacity
from dra_planner.manifests.validation.pods.node_selectors import check_node_selector
from dra_planner.manifests.validation.violations import (
    Violations,
    duplicate,
    each_invalid,
    invalid,
    not_supported,
    required,
    too_long,
)
from dra_planner.releases import Features

Data = Mapping[str, Any]
MAX_ATTRIBUTES_AND_CAPACITIES: Final = 32
MAX_VALUE_BYTES: Final = 64
MAX_CONSUMPTIONS: Final = 2
MAX_COUNTERS: Final = 32
MAX_CONDITIONS: Final = 4
_LIST_VALUES: Final = ("bools", "ints", "strings", "versions")
_VALUES: Final = ("bool", "int", "string", "version", *_LIST_VALUES)
_PLACES: Final = ("nodeName", "nodeSelector", "allNodes")
_ONE_PLACE: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
    "`perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_NO_PLACE: Final = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set "
    "to true in the "
    "ResourceSlice spec"
)


def check_device(
    data: Data | None,
    path: str,
    *,
    per_device: bool,
    counter_sets: Mapping[str, Data] | None,
    context: Context,
) -> Violations:
    """Check a device. In 1.34, `counter_sets` are the sets of the same slice, and devices can only
    consume these.
    """
    data, features = data or {}, context.features
    yield from check_label(name_of(data), f"{path}.name")
    attributes, capacity = data.get("attributes") or {}, data.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > MAX_ATTRIBUTES_AND_CAPACITIES:
        detail = (
            "the total number of attributes and capacities must not exceed "
            f"{MAX_ATTRIBUTES_AND_CAPACITIES}"
        )
        yield invalid(path, count, detail)
    values = sum(_count_values(attribute or {}) for attribute in attributes.values())
    most = features.max_attribute_values
    if most is not None and values > most:
        yield invalid(path, values, f"the total number of attribute values must not exceed {most}")
    check_name = partial(check_attribute_name, features=features)
    check_value = partial(_check_attribute, features=features)
    yield from check_map(attributes, -1, check_name, check_value, f"{path}.attributes", features)
    multiple = bool(data.get("allowMultipleAllocations"))
    check_amount = partial(check_capacity, multiple=multiple, features=features)
    yield from check_map(capacity, -1, check_name, check_amount, f"{path}.capacity", features)
    yield from check_list(
        data.get("taints") or (),
        features.max_device_taints,
        partial(check_taint, features=features),
        f"{path}.taints",
        features,
        size_declared=False,
    )
    yield from _check_consumptions(data.get("consumesCounters") or (), path, counter_sets, features)
    yield from _check_nodes(data, path, per_device)
    yield from _check_conditions(data, path, features)


def check_counters(counters: Data, path: str, features: Features) -> Violations:
    if not counters:
        yield required(path)
        return
    yield from check_map(
        counters,
        MAX_COUNTERS if features.counter_sets_apart else -1,
        check_label,
        _anything,
        path,
        features,
        shown_length=63,
    )


def _anything(item: Any, path: str) -> Violations:
    yield from ()


def _count_values(attribute: Data) -> int:
    return sum(len(attribute.get(name) or ()) for name in _LIST_VALUES) or 1


def _check_attribute(data: Data | None, path: str, *, features: Features) -> Violations:
    data = data or {}
    present = [name for name in _VALUES if data.get(name) is not None]
    for name in present:
        value = data[name]
        if name in _LIST_VALUES and not value:
            yield invalid(f"{path}.{name}", value, "must not be empty if specified")
        if name in ("string", "version"):
            yield from _check_text(value, f"{path}.{name}", name)
        elif name in ("strings", "versions"):
            for index, item in enumerate(value):
                yield from _check_text(
                    item or "", f"{path}.{name}[{index}]", name.removesuffix("s")
                )
    if not present:
        detail = "exactly one value must be specified"
        yield invalid(path, "", detail) if features.empty_is_invalid else required(path, detail)
    elif len(present) > 1 or (
        features.declared_validation and data[present[0]] == []
    ):  # a declared rule, for which an empty value counts as unset
        yield invalid(path, dict(data), "exactly one value must be specified")


def _check_text(value: str, path: str, kind: str) -> Violations:
    if kind == "version":
        yield from each_invalid(path, value, semantic_version(value))
    if length_of(value) > MAX_VALUE_BYTES:
        yield too_long(path, MAX_VALUE_BYTES)


def check_taint(data: Data | None, path: str, *, features: Features) -> Violations:
    data = data or {}
    key, value, effect = data.get("key") or "", data.get("value") or "", data.get("effect") or ""
    yield from each_invalid(f"{path}.key", key, qualified_name(key))
    yield from each_invalid(f"{path}.value", value, label_value(value))
    if not effect:
        yield required(f"{path}.effect")
    elif effect not in features.device_taint_effects:
        yield not_supported(f"{path}.effect", effect, features.device_taint_effects)


def _check_consumptions(
    entries: Any, path: str, counter_sets: Mapping[str, Data] | None, features: Features
) -> Violations:
    where = f"{path}.consumesCounters"
    yield from check_set(
        entries,
        MAX_CONSUMPTIONS if features.counter_sets_apart else -1,
        partial(_check_consumption, features=features),
        lambda entry: (entry or {}).get("counterSet") or "",
        where,
        features,
        key_field="counterSet",
    )
    if counter_sets is None:
        return
    total = sum(len((entry or {}).get("counters") or {}) for entry in entries)
    if total > MAX_COUNTERS:
        yield invalid(path, total, f"the total number of counters must not exceed {MAX_COUNTERS}")
    for index, entry in enumerate(entries):
        name = (entry or {}).get("counterSet") or ""
        known = counter_sets.get(name)
        if known is None:
            detail = "must reference a counterSet defined in the ResourceSlice sharedCounters"
            yield invalid(f"{where}[{index}].counterSet", name, detail)
            continue
        for counter in (entry or {}).get("counters") or {}:
            if counter not in known:
                detail = "must reference a counter defined in the ResourceSlice sharedCounters"
                yield invalid(f"{where}[{index}].counters", counter, detail)


def _check_consumption(data: Data | None, path: str, *, features: Features) -> Violations:
    data = data or {}
    name = data.get("counterSet") or ""
    if not name:
        yield required(f"{path}.counterSet")
    elif features.counter_sets_apart:
        yield from check_label(name, f"{path}.counterSet")
    yield from check_counters(data.get("counters") or {}, f"{path}.counters", features)


def _check_nodes(data: Data, path: str, per_device: bool) -> Violations:
    if not per_device:
        if any(data.get(field) is not None for field in _PLACES):
            yield invalid(path, None, _NO_PLACE)
        return
    chosen = []
    name, selector = data.get("nodeName"), data.get("nodeSelector")
    if name:
        chosen.append("`nodeName`")
        yield from check_subdomain(name, f"{path}.nodeName")
    elif name is not None:
        yield invalid(f"{path}.nodeName", name, "must not be empty")
    if selector is not None:
        chosen.append("`nodeSelector`")
        yield from check_node_selector(selector, f"{path}.nodeSelector")
    if data.get("allNodes"):
        chosen.append("`allNodes`")
    elif data.get("allNodes") is not None:
        yield invalid(f"{path}.allNodes", False, "must be either unset or set to true")
    if not chosen:
        yield required(path, _ONE_PLACE)
    elif len(chosen) > 1:
        yield invalid(path, f"{{{', '.join(chosen)}}}", _ONE_PLACE)


def _check_conditions(data: Data, path: str, features: Features) -> Violations:
    binding, failure = (
        data.get("bindingConditions") or (),
        data.get("bindingFailureConditions") or (),
    )
    for field, listed in (("bindingConditions", binding), ("bindingFailureConditions", failure)):
        where = f"{path}.{field}"
        yield from check_list(listed, MAX_CONDITIONS, _check_condition, where, features)
        for index, condition in enumerate(listed):
            if condition in listed[:index]:
                yield duplicate(f"{where}[{index}]", condition)
    for index, condition in enumerate(failure):
        if condition in binding:
            detail = "bindingFailureConditions must not overlap with bindingConditions"
            yield invalid(f"{path}.bindingFailureConditions[{index}]", condition, detail)
    if failure and not binding:
        detail = "bindingConditions are required to use bindingFailureConditions"
        yield invalid(f"{path}.bindingConditions", None, detail)
    if binding and not failure:
        detail = "bindingFailureConditions are required to use bindingConditions"
        yield invalid(f"{path}.bindingFailureConditions", None, detail)


def _check_condition(condition: str | None, path: str) -> Violations:
    yield from each_invalid(path, condition or "", qualified_name(condition or ""))
