"""API versions that the API server can serve although they're off by default, with their kinds.

Source: kubernetes/api:{resource,scheduling,admissionregistration}/v1*/
zz_generated.prerelease-lifecycle.go@v0.36.3 (introduced, removed).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from dra_planner.records import equality

RESOURCE: Final = "resource.k8s.io"
_DEVICES: Final = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")
_MUTATING: Final = ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")


@equality(unhashed=("kinds",))
class OptionalVersion(Struct, frozen=True, kw_only=True):
    """An API version such as resource.k8s.io/v1beta2: the first and the last minor version that can
    serve it, and the first minor version for each kind.
    """

    first: int
    last: int
    kinds: Mapping[str, int]

    def has(self, kind: str, minor: int) -> bool:
        """Return whether the API version has a kind in this minor version."""
        return self.first <= minor <= self.last and minor >= self.kinds.get(kind, minor + 1)


def _version(first: int, last: int, *kinds: str, **later: int) -> OptionalVersion:
    return OptionalVersion(first=first, last=last, kinds={**dict.fromkeys(kinds, first), **later})


OPTIONAL_VERSIONS: Final[Mapping[str, OptionalVersion]] = MappingProxyType(
    {
        f"{RESOURCE}/v1alpha3": _version(33, 38, "DeviceTaintRule"),
        f"{RESOURCE}/v1beta1": _version(32, 37, *_DEVICES),
        f"{RESOURCE}/v1beta2": _version(33, 38, *_DEVICES, DeviceTaintRule=36),
        "admissionregistration.k8s.io/v1alpha1": _version(32, 37, *_MUTATING),
        "admissionregistration.k8s.io/v1beta1": _version(34, 39, *_MUTATING),
    }
)
"""The kinds of each API version."""


def serves(served: frozenset[str], api_version: str, kind: str, minor: int) -> bool:
    """Return whether a cluster with these optional versions serves a kind."""
    known = OPTIONAL_VERSIONS.get(api_version)
    return known is not None and api_version in served and known.has(kind, minor)


def optional_version_fault(name: str, minor: int, *, on: bool) -> str:
    """Return why an API version can't be switched in a minor version, or ""."""
    known = OPTIONAL_VERSIONS[name]
    if minor < known.first:
        return f"exists only in Kubernetes 1.{known.first} and later; remove it"
    if minor > known.last:
        return f"was removed in Kubernetes 1.{known.last + 1}; remove it"
    return "" if on else "is off by default; remove it"
