"""Helm releases: recorded as installed, with what `helm install` reports; charts are not rendered here."""

from __future__ import annotations

import copy

from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.differences import ReplaceRule
from dra_sandbox.clouds.naming import Autonamed
from dra_sandbox.clouds.wire import UNKNOWN, Values

TOKEN = "kubernetes:helm.sh/v3:Release"

_NAMES = Autonamed(suffix_length=8)
# Helm's own limit for release names.
_NAME_LIMIT = 53
# pulumi/pulumi-kubernetes:provider/pkg/provider/helm_release.go: a release cannot be renamed or moved.
REPLACE = ReplaceRule(frozenset({"name", "namespace"}))


def named_release(inputs: Values, old: Values, request: provider_pb2.CheckRequest, default_namespace: str) -> Values:
    """The release's inputs with a name and a namespace. Raises NameRefused."""
    ready = copy.deepcopy(inputs)
    if not ready.get("name"):
        ready["name"] = old.get("name") or _NAMES.name(request, _NAME_LIMIT)
    ready.setdefault("namespace", default_namespace)
    return ready


def planned_release(inputs: Values) -> Values:
    """The outputs that a preview knows."""
    return {**inputs, "status": UNKNOWN}


def installed_release(inputs: Values, old: Values) -> Values:
    """The outputs of a release that has just been installed or upgraded."""
    revision = int((old.get("status") or {}).get("revision") or 0) + 1
    chart = str(inputs.get("chart", "")).rstrip("/").rsplit("/", 1)[-1]
    version = str(inputs.get("version") or "")
    status = {
        "name": inputs["name"],
        "namespace": inputs["namespace"],
        "chart": chart,
        "version": version,
        "appVersion": version,
        "revision": revision,
        "status": "deployed",
    }
    return {**inputs, "status": status, "resourceNames": inputs.get("resourceNames") or {}}


def id_of(inputs: Values) -> str:
    """The identifier that the real provider gives a release."""
    return f"{inputs['namespace']}/{inputs['name']}"
