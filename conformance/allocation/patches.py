"""Older patches of a minor: the module to ask, and how our allocator is made to behave as that
patch does.

Sources: kubernetes/kubernetes pull requests 140663 (v0.36.3 releases the counters of rejected
devices), 139211 (v0.36.2 counts shares that were allocated before), 138988 (v0.36.2 no longer falls
over `All` with counters).
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
"""(minor, patch, what differs in all patches of the minor before that one), against the behaviour
of the latest.
"""


class Patch(Struct, frozen=True):
    """One patch release: `version` is that of k8s.io/dynamic-resource-allocation."""

    minor: int
    patch: int

    @property
    def version(self) -> str:
        return f"0.{self.minor}.{self.patch}"

    def behaviour(self, features: Features) -> Behaviour:
        """Return how this patch behaves with these features."""
        behaviour = behaviour_of(features)
        for minor, patch, changes in BEFORE:
            if self.minor == minor and self.patch < patch:
                behaviour = replace(behaviour, **changes)
        return behaviour


def parse_patch(text: str) -> Patch:
    """Return the patch of "1.36.2" or "0.36.2"; raises ValueError for anything else."""
    match = re.fullmatch(r"[01]\.(\d+)\.(\d+)", text)
    if match is None:
        raise ValueError(f'"{text}" is no patch release: write it as 1.36.2')
    return Patch(int(match[1]), int(match[2]))
