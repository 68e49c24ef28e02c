"""Helm releases for the engine: their names, their differences, and the outputs of `helm install`.

Only a control plane renders charts (see `helm_releases`). Otherwise, releases are recorded as
installed. For the charts of the NVIDIA DRA driver, the errors that only occur in `up` are
simulated, because a preview doesn't render charts.
"""

from __future__ import annotations

import copy
import os

from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.differences import ReplaceRule
from dra_sandbox.clouds.naming import Autonamed
from dra_sandbox.clouds.wire_values import UNKNOWN, Values

TOKEN = "kubernetes:helm.sh/v3:Release"

# The inputs with which the release was last installed, even if the installation failed. The real
# provider compares new inputs with them, and a refresh reads them
# (pulumi/pulumi-kubernetes:provider/pkg/provider/helm_release.go, `checkpointRelease`, `Read`).
INPUTS = "__inputs"

_NAMES = Autonamed(suffix_length=8)
# Helm's own limit for release names.
_NAME_LIMIT = 53
# pulumi/pulumi-kubernetes:provider/pkg/provider/helm_release.go: a release can't be renamed or
# moved.
REPLACE = ReplaceRule(frozenset({"name", "namespace"}))


def named_release(
    inputs: Values, old: Values, request: provider_pb2.CheckRequest, default_namespace: str
) -> Values:
    """Return the release's inputs with a name and a namespace.

    Raises NameRefused if it can't generate the name.
    """
    ready = copy.deepcopy(inputs)
    if not ready.get("name"):
        ready["name"] = old.get("name") or _NAMES.name(request, _NAME_LIMIT)
    ready.setdefault("namespace", default_namespace)
    return ready


def planned_release(inputs: Values) -> Values:
    """Return the outputs that a preview knows."""
    return {**inputs, "status": UNKNOWN}


FAILING = "DRA_SANDBOX_FAILING_RELEASES"
"""Environment variable with the names of releases, separated by commas, whose pods don't become
ready in time.
"""


def times_out(inputs: Values) -> bool:
    """Return True if the release must time out, so that users can practice the repair."""
    return inputs["name"] in os.environ.get(FAILING, "").split(",")


def refusal(inputs: Values) -> str:
    """Return the reason why the chart doesn't render, or an empty text.

    Only the NVIDIA DRA driver's templates check their values
    (kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm/*/templates/validation.yaml, v25.8.1 to
    main). As in a Go template, the text "false" counts as true.
    """
    if _chart_name(inputs) not in ("nvidia-dra-driver-gpu", "dra-driver-nvidia-gpu"):
        return ""
    values = inputs.get("values") or {}
    gpus = ((values.get("resources") or {}).get("gpus") or {}).get("enabled", True)
    if gpus and not values.get("gpuResourcesEnabledOverride"):
        return "resources.gpus.enabled needs gpuResourcesEnabledOverride=true"
    if "namespace" in values:
        return "the value namespace isn't supported; set the release's namespace instead"
    if inputs.get("namespace") == "default" and not (
        values.get("namespaceOverride") or values.get("allowDefaultNamespace")
    ):
        return "the namespace default needs allowDefaultNamespace=true"
    return ""


def _chart_name(inputs: Values) -> str:
    return str(inputs.get("chart", "")).rstrip("/").rsplit("/", 1)[-1]


def installed_release(inputs: Values, old: Values) -> Values:
    """Return the outputs of a release that was just installed or upgraded."""
    revision = int((old.get("status") or {}).get("revision") or 0) + 1
    version = str(inputs.get("version") or "")
    status = {
        "name": inputs["name"],
        "namespace": inputs["namespace"],
        "chart": _chart_name(inputs),
        "version": version,
        "appVersion": version,
        "revision": revision,
        "status": "failed" if times_out(inputs) else "deployed",
    }
    return {
        **inputs,
        INPUTS: inputs,
        "status": status,
        "resourceNames": inputs.get("resourceNames") or {},
    }


def id_of(inputs: Values) -> str:
    """Return the identifier that the real provider uses for a release."""
    return f"{inputs['namespace']}/{inputs['name']}"
