"""Suggest the domain of an attribute that a constraint names without one."""

from __future__ import annotations

from typing import Any, Final

from dra_planner.drivers import known_classes
from dra_planner.manifests.validation.field_paths import value_at

_STANDARD: Final = {each.lower(): each for each in ("pcieRoot", "pciBusID", "numaNode")}
"""The attributes of Kubernetes' own domain, which drivers share."""


def qualified_name_fix(data: Any, field: str) -> str:
    """Return the fix for the attribute in a field of a claim's constraint, in the domain of the
    constraint's devices if it's known.
    """
    constraint, _, _ = field.rpartition(".")
    devices, _, _ = constraint.rpartition(".")
    name = str(value_at(data, field))
    if not name:
        return ""  # the violation's text names the form
    if standard := _STANDARD.get(name.lower()):
        return f"use resource.kubernetes.io/{standard}"
    drivers = _drivers(value_at(data, f"{devices}.requests"), value_at(data, constraint))
    if len(drivers) == 1:
        return f"use {drivers.pop()}/{name}"
    return f"add the name of the driver that publishes {name} as its domain: DRIVER/{name}"


def _drivers(requests: Any, constraint: Any) -> set[str]:
    """Return the known drivers of the requests that a constraint covers."""
    covered = {each.partition("/")[0] for each in constraint.get("requests") or ()}
    ways = [
        way
        for request in requests or ()
        if request and (not covered or request.get("name") in covered)
        for way in (request.get("exactly"), *(request.get("firstAvailable") or ()))
        if way
    ]
    known = (known_classes().get(way.get("deviceClassName")) for way in ways)
    return {each.driver for each in known if each is not None}
