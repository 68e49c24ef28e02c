"""Set the feature gates of the server together with the corresponding features of the planner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from dra_planner.releases import GATES, Features, features_of

_NEEDED: Final = {
    "device_status": 36,
    "device_taints": 37,
    "device_taint_rules": 34,
    "workload_claims": 34,
}
"""Field of Features → the minor version from which its gate can't change, because other gates
depend on it, or it depends on them.
"""

_OFF_BESIDE_OLDER: Final = ("fractional_capacity_range",)
"""Features that are on by default only in servers that don't run together with an older version
(--min-compatibility-version). The planner assumes such a server. The servers here don't set this
flag, so the features are off.
"""


def as_planned(minor: int) -> dict[str, bool]:
    """Return the settings of the gates in `_OFF_BESIDE_OLDER` for a server with this minor version.
    With these settings, the server has the features that the planner assumes by default.
    """
    release = features_of(minor)
    found = ((GATES[field], getattr(release, field)) for field in _OFF_BESIDE_OLDER)
    return {gate.name: on for gate, on in found if gate.is_known(minor)}


def _known(minor: int) -> dict[str, str]:
    return {
        field: gate.name
        for field, gate in GATES.items()
        if gate.modelled and gate.is_known(minor) and not gate.is_locked(minor)
        if minor < _NEEDED.get(field, minor + 1)
    }


def _default(minor: int) -> tuple[Features, Mapping[str, bool]]:
    return features_of(minor).with_gates(**dict.fromkeys(_OFF_BESIDE_OLDER, False)), {}


def _all(minor: int) -> tuple[Features, Mapping[str, bool]]:
    known = _known(minor)
    return features_of(minor).with_gates(**dict.fromkeys(known, True)), dict.fromkeys(
        known.values(), True
    )


def _none(minor: int) -> tuple[Features, Mapping[str, bool]]:
    known = _known(minor)
    return features_of(minor).with_gates(**dict.fromkeys(known, False)), dict.fromkeys(
        known.values(), False
    )


GATE_SETS: Final[dict[str, Callable[[int], tuple[Features, Mapping[str, bool]]]]] = {
    "default": _default,
    "all": _all,
    "none": _none,
}
"""Name → function that returns the features of the planner and the gates of the server."""
