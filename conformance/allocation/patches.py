"""Older patch versions of Kubernetes: the module to run, and the settings with which our allocator
behaves like that version.

Sources: kubernetes/kubernetes pull requests 140663 (v0.36.3 releases the counters of rejected
devices), 139211 (v0.36.2 counts shares that were allocated before), 138988 (v0.36.2 no longer fails
for `All` together with counters).
"""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation.behaviour import Behaviour, behaviour_of
from dra_planner.releases import Features

Changes = dict[str, Any]

BEFORE: Final[tuple[tuple[int, int, Changes], ...]] = (
    (36, 3, {"leaks_counters": True}),
    (36, 2, {"shares_draw_counters": False}),
)
"""(minor version, patch version, difference in all earlier patch versions), compared with the
latest behavior.
"""


class Patch(Struct, frozen=True):
    """One patch version. `version` is the version of k8s.io/dynamic-resource-allocation."""

    minor: int
    patch: int

    @property
    def version(self) -> str:
        return f"0.{self.minor}.{self.patch}"

    def behaviour(self, features: Features) -> Behaviour:
        """Return the behavior of this patch version with these features."""
        behaviour = behaviour_of(features)
        for minor, patch, changes in BEFORE:
            if self.minor == minor and self.patch < patch:
                behaviour = replace(behaviour, **changes)
        return behaviour


def parse_patch(text: str) -> Patch:
    """Return the patch version in a text such as "1.36.2" or "0.36.2". Raises ValueError for other
    texts.
    """
    match = re.fullmatch(r"[01]\.(\d+)\.(\d+)", text)
    if match is None:
        raise ValueError(f'"{text}" is not a patch version; use a version such as 1.36.2')
    return Patch(int(match[1]), int(match[2]))
