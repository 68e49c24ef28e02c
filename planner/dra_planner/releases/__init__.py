"""The DRA features and behavior of each Kubernetes minor version.

Other modules use the record (`features.partitionable_devices`) instead of comparing minor versions.
"""

from __future__ import annotations

import re

from dra_planner.errors import NOWHERE, Place, UnsupportedFeature
from dra_planner.releases.features import CHANGES, GATES, Features, Gate, UngatedChange
from dra_planner.releases.optional_versions import (
    OPTIONAL_VERSIONS,
    optional_version_fault,
    serves,
)
from dra_planner.releases.table import PREVIEWS, RELEASES

__all__ = [
    "CHANGES",
    "GATES",
    "MAXIMUM_MINOR",
    "MINIMUM_MINOR",
    "OPTIONAL_VERSIONS",
    "PREVIEWS",
    "RELEASES",
    "Features",
    "Gate",
    "UngatedChange",
    "default_since",
    "features_of",
    "has_mutating_policies",
    "is_between",
    "is_left_behind",
    "is_newer",
    "is_too_old",
    "optional_version_fault",
    "parse_version",
    "preview_note",
    "served_since",
    "serves",
    "version_note",
]

MINIMUM_MINOR = min(RELEASES)
MAXIMUM_MINOR = max(RELEASES)


def features_of(minor: int) -> Features:
    """Return the record of Kubernetes 1.<minor> with its default gates, including previews.

    Raises UnsupportedFeature for other versions.
    """
    features = RELEASES.get(minor)
    if features is None and minor in PREVIEWS:
        return PREVIEWS[minor][1]
    if features is None:
        oldest, newest = RELEASES[MINIMUM_MINOR].version, RELEASES[MAXIMUM_MINOR].version
        raise UnsupportedFeature(
            f"Kubernetes 1.{minor} isn't supported",
            fix=f"use a version from {oldest} (the first with resource.k8s.io/v1) to {newest}",
        )
    return features


def is_too_old(minor: int) -> bool:
    """Return whether Kubernetes 1.<minor> is older than all known versions, so that it doesn't
    serve `resource.k8s.io/v1`.
    """
    return minor < MINIMUM_MINOR


def is_newer(minor: int, other: int) -> bool:
    """Return whether Kubernetes 1.<minor> is newer than 1.<other>."""
    return minor > other


def is_left_behind(kubelet: int, control_plane: int) -> bool:
    """Return whether nodes are too old for their control plane.

    Source: kubernetes.io/releases/version-skew-policy.
    """
    return kubelet < control_plane - 3


def parse_version(text: str, place: Place = NOWHERE) -> int:
    """Return the minor version of a text such as "1.36" or "1.36.3" (with or without a leading v).

    Raises UnsupportedFeature for other texts.
    """
    match = re.fullmatch(r"v?1\.(\d+)(?:\.\d+)?(?:[-+].*)?", str(text).strip())
    if match is None:
        raise UnsupportedFeature(
            f'"{text}" isn\'t a Kubernetes version',
            place=place,
            fix=f'use a version such as "{RELEASES[MINIMUM_MINOR].version}"',
        )
    try:
        return features_of(int(match[1])).minor
    except UnsupportedFeature as error:
        raise UnsupportedFeature(error.message, place=place, fix=error.fix) from None


def preview_note(minor: int) -> str:
    """Return a sentence if Kubernetes 1.<minor> isn't released yet, or ""."""
    if minor not in PREVIEWS:
        return ""
    return (
        f"Kubernetes 1.{minor} is a preview. The plan uses the behavior of {PREVIEWS[minor][0]}, "
        "but the final version might differ"
    )


def version_note(text: str) -> str:
    """Return a sentence if the exact version isn't in the tables, or "".

    A newer patch version ("1.36.9") counts as the newest known patch version. A version before its
    release ("1.38") counts as the known pre-release.
    """
    match = re.match(r"v?1\.(\d+)(?:\.(\d+))?", text.strip())
    if match is None:
        return ""
    minor = int(match[1])
    if note := preview_note(minor):
        return note
    features = features_of(minor)
    if match[2] is None or int(match[2]) <= features.latest_patch:
        return ""
    known = f"{features.version}.{features.latest_patch}"
    return (
        f"Kubernetes {text} isn't in the tables, so the plan uses {known}, the newest known patch "
        "version"
    )


def default_since(gate: str) -> str:
    """Return the first version, such as "1.36", in which this field's feature gate is on by
    default, or "".
    """
    return next((release.version for release in RELEASES.values() if getattr(release, gate)), "")


def served_since(kind: str) -> str:
    """Return the first version, such as "1.37", whose resource.k8s.io/v1 has a kind, or ""."""
    return next(
        (release.version for release in RELEASES.values() if kind in release.resource_kinds), ""
    )


def is_between(minor: int, first: int | None, last: int | None) -> bool:
    """Return whether a minor version is in a table's range, including both ends.

    None means an open end.
    """
    return (first is None or minor >= first) and (last is None or minor <= last)


def has_mutating_policies(minor: int) -> bool:
    """Return whether admissionregistration.k8s.io/v1 has MutatingAdmissionPolicy, which is stable
    in 1.36 and later.
    """
    return minor >= 36
