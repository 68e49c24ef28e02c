"""Feature gates and API versions that guides set for DRA, and their effect on current versions.

Source: kubernetes/kubernetes:pkg/features/kube_features.go@v1.37.0-beta.0; kubernetes/api:resource
at each minor version.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from dra_planner.errors import Severity

GATE: Final = "DynamicResourceAllocation"
CONTROLLER_GATE: Final = "DRAControlPlaneController"
GROUP: Final = "resource.k8s.io"
_GONE: Final = {"v1alpha1": "1.27", "v1alpha2": "1.31"}


class FlagFault(NamedTuple):
    """A problem with a flag or setting."""

    severity: Severity
    code: str
    message: str
    fix: str


def gate_faults(gate: str, value: str) -> Iterator[FlagFault]:
    """Yield the problem with a Kubernetes feature gate that is set to `value` ("true" or
    "false").
    """
    if gate == CONTROLLER_GATE:
        message = (
            f"Kubernetes 1.32 removed the {gate} feature gate, so a component that sets this "
            "gate doesn't start"
        )
        yield FlagFault(
            "error",
            "gate-gone",
            message,
            "remove the feature gate, and use a driver that publishes ResourceSlices",
        )
    elif gate == GATE and value == "true":
        yield FlagFault(
            "note",
            "gate-not-needed",
            f"the {gate} feature gate is on in 1.34 and later",
            "remove the feature gate",
        )
    elif gate == GATE:
        message = (
            f"the {gate} feature gate can't be turned off in 1.35 and later, so the component "
            "doesn't start"
        )
        yield FlagFault("error", "gate-locked", message, "remove the feature gate")


def version_faults(version: str, value: str = "true") -> Iterator[FlagFault]:
    """Yield the problem with a version of resource.k8s.io that the API server is configured to
    serve.
    """
    if value == "false" or not version.startswith(("v1alpha", "v1beta")):
        return
    fix = "remove the flag, and rewrite manifests with `check --rewrite`"
    if version in _GONE:
        message = (
            f"Kubernetes {_GONE[version]} removed {GROUP}/{version}, so later API servers "
            "can't serve it"
        )
        yield FlagFault("error", "version-gone", message, fix)
    else:
        message = f"{GROUP}/{version} isn't needed in 1.34 and later, which serve v1 without a flag"
        yield FlagFault("warning", "version-not-needed", message, fix)


def faults_of_gates(text: str) -> Iterator[FlagFault]:
    """Yield the problems with the value of --feature-gates: NAME=true,NAME=false."""
    for part in text.strip("'\"").split(","):
        name, _, value = part.strip().partition("=")
        yield from gate_faults(name, value.lower())


def faults_of_versions(text: str) -> Iterator[FlagFault]:
    """Yield the problems with the value of --runtime-config: GROUP/VERSION=true,…."""
    for part in text.strip("'\"").split(","):
        name, _, value = part.strip().partition("=")
        group, _, version = name.partition("/")
        if group == GROUP:
            yield from version_faults(version, value.lower())
