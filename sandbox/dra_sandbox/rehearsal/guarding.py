"""The admission policies of a plan's guards on the rehearsed cluster, and a probe that shows when they are active."""

from __future__ import annotations

import time
from typing import Any, Final

from dra_planner.clouds import POOL
from dra_planner.model import Guards, ObjectKey, SteerRule
from dra_planner.planfile import placement_policies
from dra_sandbox.control_plane import ApiServer, ControlPlaneError

_PROBE: Final = ObjectKey("default", "pulumi-dra-probe")
_PROBE_RULE: Final = SteerRule(pool="pulumi-dra-probe", templates=(_PROBE,))
_POLL_SECONDS: Final = 0.2


def apply_guards(server: ApiServer, guards: Guards, within_seconds: float) -> None:
    """Create the policies of the guards, and return when the API server applies them.

    Raises Refused if the API server rejects a policy, ControlPlaneError if the policies don't become active in time.
    """
    if not guards.rules:
        return
    for document in (*placement_policies(guards), *placement_policies(Guards(rules=(_PROBE_RULE,)))):
        server.apply(document)
    until = time.monotonic() + within_seconds
    while not _is_active(server):
        if time.monotonic() > until:
            raise ControlPlaneError(f"the API server doesn't apply admission policies within {within_seconds:g} s")
        time.sleep(_POLL_SECONDS)


def _is_active(server: ApiServer) -> bool:
    """Return whether the policy of the probe changes a pod that is created as a dry run. It was created last."""
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": _PROBE.name, "namespace": _PROBE.namespace},
        "spec": {
            "automountServiceAccountToken": False,
            "containers": [{"name": "main", "image": "registry.example/probe:1"}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": _PROBE.name}],
        },
    }
    answer = server.call("POST", f"/api/v1/namespaces/{_PROBE.namespace}/pods?dryRun=All", pod)
    return POOL in answer["spec"].get("nodeSelector", {})
