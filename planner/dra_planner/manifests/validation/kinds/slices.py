"""Rules of ResourceSlices.

Source: kubernetes/kubernetes:pkg/apis/resource/validation/validation.go@v1.36.3, checked with
v1.34.3 and v1.35.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from dra_planner.manifests.validation.context import Context
from dra_planner.manifests.validation.fields.lists import check_set, name_of
from dra_planner.manifests.validation.fields.names import (
    check_driver,
    check_label,
    check_pool,
    check_subdomain,
)
from dra_planner.manifests.validation.kinds.devices import check_counters, check_device
from dra_planner.manifests.validation.pods.node_selectors import check_node_selector
from dra_planner.manifests.validation.violations import Violations, invalid, required, show
from dra_planner.releases import Features

Data = Mapping[str, Any]
MAX_DEVICES: Final = 128
MAX_ADVANCED_DEVICES: Final = 64
MAX_COUNTER_SETS: Final = 8
MAX_COUNTERS_OF_A_SLICE: Final = 32
MAX_CONSUMED_COUNTERS: Final = 1024
_LIST_VALUES: Final = ("bools", "ints", "strings", "versions")
_CHOICES: Final = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)
_UNSET_OR_TRUE: Final = "must be either unset or set to true"


def check_slice(data: Data, context: Context) -> Violations:
    spec = data.get("spec") or {}
    features = context.features
    yield from check_driver(spec.get("driver") or "", "spec.driver", features)
    yield from _check_pool(spec.get("pool") or {})
    yield from _check_nodes(spec)
    devices, counter_sets = spec.get("devices"), spec.get("sharedCounters")
    if counter_sets is not None and devices is not None and features.counter_sets_apart:
        yield invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed")
    devices, counter_sets = devices or (), counter_sets or ()
    sets_beside = None
    if not features.counter_sets_apart:
        sets_beside = {name_of(item): (item or {}).get("counters") or {} for item in counter_sets}
    yield from check_set(
        devices,
        MAX_ADVANCED_DEVICES
        if features.counter_sets_apart and _is_advanced(devices)
        else MAX_DEVICES,
        partial(
            check_device,
            per_device=bool(spec.get("perDeviceNodeSelection")),
            counter_sets=sets_beside,
            context=context,
        ),
        name_of,
        "spec.devices",
        features,
        key_field="name",
        size_declared=False,
    )
    if not features.counter_sets_apart:
        yield from _check_sums(devices, counter_sets)
    yield from check_set(
        counter_sets,
        MAX_COUNTER_SETS if features.counter_sets_apart else -1,
        partial(_check_counter_set, features=features),
        name_of,
        "spec.sharedCounters",
        features,
        key_field="name",
    )


def slice_warnings(data: Data, features: Features) -> list[str]:
    """Return the server's warnings about a slice that it accepts."""
    driver = (data.get("spec") or {}).get("driver") or ""
    if not features.warns_of_upper_case_drivers or driver == driver.lower():
        return []
    return [
        (
            f"spec.driver: driver names should be lowercase; {show(driver)} contains uppercase "
            "characters"
        )
    ]


def _check_pool(pool: Data) -> Violations:
    yield from check_pool(pool.get("name") or "", "spec.pool.name")
    count, generation = int(pool.get("resourceSliceCount") or 0), int(pool.get("generation") or 0)
    if count <= 0:
        yield invalid("spec.pool.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        yield invalid("spec.pool.generation", generation, "must be greater than or equal to zero")


def _check_nodes(spec: Data) -> Violations:
    chosen = []
    name, selector = spec.get("nodeName"), spec.get("nodeSelector")
    if name:
        chosen.append("`nodeName`")
        yield from check_subdomain(name, "spec.nodeName")
    elif name is not None:
        yield invalid("spec.nodeName", name, "must be either unset or set to a non-empty string")
    if selector is not None:
        chosen.append("`nodeSelector`")
        yield from check_node_selector(selector, "spec.nodeSelector")
        terms = selector.get("nodeSelectorTerms") or []
        if len(terms) != 1:
            yield invalid(
                "spec.nodeSelector.nodeSelectorTerms",
                terms,
                "must have exactly one node selector term",
            )
    for field in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(field):
            chosen.append(f"`{field}`")
        elif spec.get(field) is not None:
            yield invalid(f"spec.{field}", False, _UNSET_OR_TRUE)
    if not chosen:
        yield required("spec", _CHOICES)
    elif len(chosen) > 1:
        yield invalid(
            "spec", f"{{{', '.join(chosen)}}}", f"{_CHOICES}, but multiple fields are set"
        )


def _is_advanced(devices: Any) -> bool:
    """Return True if the devices of a slice have taints, counters, or lists.

    Such a slice can have only half as many devices.
    """
    for device in devices:
        device = device or {}
        if device.get("taints") or device.get("consumesCounters"):
            return True
        for attribute in (device.get("attributes") or {}).values():
            if any((attribute or {}).get(name) is not None for name in _LIST_VALUES):
                return True
    return False


def _check_counter_set(data: Data | None, path: str, *, features: Features) -> Violations:
    data = data or {}
    name = data.get("name") or ""
    if name:
        yield from check_label(name, f"{path}.name")
    else:
        yield required(f"{path}.name")
    yield from check_counters(data.get("counters") or {}, f"{path}.counters", features)


def _check_sums(devices: Any, counter_sets: Any) -> Violations:
    """Check the sums of counter sets in a slice. Counter sets in the same slice as devices are
    limited by their sums, not individually.
    """
    consumed = sum(
        len((entry or {}).get("counters") or {})
        for device in devices
        for entry in (device or {}).get("consumesCounters") or ()
    )
    if consumed > MAX_CONSUMED_COUNTERS:
        detail = f"the total number of counters in devices must not exceed {MAX_CONSUMED_COUNTERS}"
        yield invalid("spec.devices", consumed, detail)
    shared = sum(len((item or {}).get("counters") or {}) for item in counter_sets)
    if shared > MAX_COUNTERS_OF_A_SLICE:
        detail = f"the total number of shared counters must not exceed {MAX_COUNTERS_OF_A_SLICE}"
        yield invalid("spec.sharedCounters", shared, detail)
