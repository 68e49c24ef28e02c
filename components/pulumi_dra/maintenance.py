"""Times in which GKE leaves a cluster alone. Apart from the cluster, because a platform for EKS has the shape too."""

# No `from __future__ import annotations` here: Pulumi's schema analyzer reads the annotations.
from typing import NotRequired, TypedDict

from pulumi_dra.inputs import InputReader

EXCLUSION_SCOPES = ("NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES")
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)"


class MaintenanceExclusion(TypedDict):
    """A time in which GKE upgrades nothing, or not all."""

    name: str
    """Name, unique in the cluster."""
    start_time: str
    """Begin: 2026-11-20T00:00:00Z."""
    end_time: str
    """End: 2026-12-04T00:00:00Z. GKE says how long each scope may last."""
    scope: NotRequired[str]
    """What does not happen: NO_MINOR_OR_NODE_UPGRADES (default), NO_MINOR_UPGRADES or NO_UPGRADES."""


def read_exclusions(read: InputReader) -> list[MaintenanceExclusion]:
    """Return `maintenance_exclusions` with their scopes filled in."""
    exclusions: list[MaintenanceExclusion] = []
    for index, block in enumerate(read.blocks("maintenance_exclusions")):
        inner = read.inside(f"maintenance_exclusions[{index}]", block, MaintenanceExclusion)
        exclusion = MaintenanceExclusion(
            name=inner.text("name"),
            start_time=inner.text("start_time", pattern=_TIME, meaning="a time (2026-11-20T00:00:00Z)"),
            end_time=inner.text("end_time", pattern=_TIME, meaning="a time (2026-12-04T00:00:00Z)"),
            scope=inner.choice("scope", EXCLUSION_SCOPES, "NO_MINOR_OR_NODE_UPGRADES"),
        )
        if any(exclusion["name"] == other["name"] for other in exclusions):
            inner.refuse("name", f'"{exclusion["name"]}" is there twice')
        exclusions.append(exclusion)
    return exclusions
