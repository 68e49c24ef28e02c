"""Rules of DeviceTaintRules, which 1.37 and later serve as v1.

Source: kubernetes/kubernetes:pkg/apis/resource/validation/validation.go@v1.37.0
(validateDeviceTaintRuleSpec).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_planner.manifests.validation.context import Context
from dra_planner.manifests.validation.fields.names import check_driver, check_label, check_pool
from dra_planner.manifests.validation.kinds.devices import check_taint
from dra_planner.manifests.validation.violations import Violations


def check_taint_rule(data: Mapping[str, Any], context: Context) -> Violations:
    spec = data.get("spec") or {}
    selector, path = spec.get("deviceSelector") or {}, "spec.deviceSelector"
    driver, pool, device = (selector.get(field) for field in ("driver", "pool", "device"))
    if driver is not None:
        yield from check_driver(driver, f"{path}.driver", context.features)
    if pool is not None:
        yield from check_pool(pool, f"{path}.pool")
    if device is not None:
        yield from check_label(device, f"{path}.device")
    yield from check_taint(spec.get("taint"), "spec.taint", features=context.features)
