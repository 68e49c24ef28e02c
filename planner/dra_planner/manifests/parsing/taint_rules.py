"""DeviceTaintRules in API form."""

from __future__ import annotations

from dra_planner.errors import NOWHERE, Place
from dra_planner.manifests.parsing.fields import Data, parse_meta, text_of
from dra_planner.model import DeviceTaint, DeviceTaintRule


def parse_taint_rule(data: Data, place: Place = NOWHERE) -> DeviceTaintRule:
    """Return the rule. A missing or empty selector selects all devices."""
    spec = data.get("spec") or {}
    selector, taint = spec.get("deviceSelector") or {}, spec.get("taint") or {}
    meta = parse_meta(data.get("metadata"), place, namespaced=False)
    return DeviceTaintRule(
        meta=meta,
        taint=DeviceTaint(
            key=text_of(taint.get("key")),
            value=text_of(taint.get("value")),
            effect=text_of(taint.get("effect")),
            rule=meta.name,
        ),
        driver=selector.get("driver"),
        pool=selector.get("pool"),
        device=selector.get("device"),
    )
