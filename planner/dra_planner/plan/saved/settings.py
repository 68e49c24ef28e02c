"""Differences between the settings of two plans: fleet, Kubernetes version, DeviceClasses, demand,
and guards.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from dra_planner.model import Guards, SteerRule
from dra_planner.planfile import PlanFile

_ABSENT = object()


class SettingDifference(Struct, frozen=True):
    """One value at its path in the fleet, with pools by name (for example, pools.l4.count.max).

    An empty text means that the value is absent.
    """

    path: str
    before: str
    after: str


def compare_settings(before: PlanFile, after: PlanFile) -> tuple[SettingDifference, ...]:
    """Return the settings that differ, in the order of the newer fleet, with removed settings last.

    A pool, driver, or class that only one plan has is one difference.
    """
    old, new = _settings(before), _settings(after)
    return tuple(_differences(old, new, ""))


def _settings(plan: PlanFile) -> Mapping[str, Any]:
    return {
        **plan.fleet.document(),
        "kubernetes": plan.kubernetes,
        "demand": plan.demand.level,
        "classes": {str(each.metadata["name"]): each.spec for each in plan.classes},
        "guards": {} if plan.guards is None else _guards(plan.guards.guards),
    }


def _guards(guards: Guards) -> Mapping[str, Any]:
    """Return the guards in readable form: each rule by its pool, with the names of the objects that
    it steers.
    """
    return {
        "packs": guards.packs,
        "parts": {part.name: part.pool for part in guards.parts},
        "rules": {
            f"{rule.pool} ({rule.spread})" if rule.spread else rule.pool: _steered(rule)
            for rule in guards.rules
        },
    }


def _steered(rule: SteerRule) -> str:
    templates = ", ".join(map(str, rule.templates))
    workloads = ", ".join(str(ref) for ref, _ in rule.workloads)
    return "; ".join(filter(None, (templates and f"claim templates {templates}", workloads)))


def _differences(before: Any, after: Any, path: str) -> Iterator[SettingDifference]:
    old, new = _by_key(before), _by_key(after)
    if old is None or new is None:
        if before != after:
            yield SettingDifference(path, _text(before), _text(after))
        return
    for key in dict.fromkeys((*new, *old)):
        yield from _differences(
            old.get(key, _ABSENT), new.get(key, _ABSENT), f"{path}.{key}" if path else str(key)
        )


def _by_key(value: Any) -> Mapping[str, Any] | None:
    """Return the parts of a mapping, or of a list of objects with names; None for other values."""
    if isinstance(value, Mapping):
        return value
    if (
        isinstance(value, list)
        and value
        and all(isinstance(each, Mapping) and "name" in each for each in value)
    ):
        return {str(each["name"]): each for each in value}
    return None


def _text(value: Any) -> str:
    if value is _ABSENT or value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(_set_values(value), ensure_ascii=False)


def _set_values(value: Any) -> Any:
    """Return a value without empty keys, so that a new pool is shown as its author wrote it."""
    if isinstance(value, Mapping):
        kept = {key: _set_values(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in (None, {}, [], "", False)}
    if isinstance(value, list):
        return [_set_values(each) for each in value]
    return value
