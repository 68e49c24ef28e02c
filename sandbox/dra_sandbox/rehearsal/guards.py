"""A plan's guards on the rehearsed cluster: admission policies, or patches of the manifests before
Kubernetes 1.36.
"""

from __future__ import annotations

import copy
import time
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.clouds import POOL
from dra_planner.model import Guards, ObjectKey, SteerRule
from dra_planner.plan import Plan
from dra_planner.plan.judgement.kustomize import guards_component
from dra_planner.planfile import placement_policies
from dra_planner.releases import has_mutating_policies
from dra_sandbox.control_plane import ApiServer, ControlPlaneError
from dra_sandbox.rehearsal.workloads import Arrival, Workloads

Json = dict[str, Any]

_PROBE: Final = ObjectKey("default", "pulumi-dra-probe")
_PROBE_RULE: Final = SteerRule(pool="pulumi-dra-probe", templates=(_PROBE,))
_POLL_SECONDS: Final = 0.2


def apply_guards(server: ApiServer, plan: Plan, within_seconds: float) -> None:
    """Create the policies of a plan's guards, and return when the API server applies them.

    Before Kubernetes 1.36, `patch_workloads` replaces them. Raises ApiRejection if the API server
    rejects a policy, and ControlPlaneError if the policies don't become active in time.
    """
    guards = plan.guards
    if not guards.rules or not has_mutating_policies(plan.judgement.features.minor):
        return
    for document in (
        *placement_policies(guards),
        *placement_policies(Guards(rules=(_PROBE_RULE,))),
    ):
        server.apply(document)
    until = time.monotonic() + within_seconds
    while not _is_active(server):
        if time.monotonic() > until:
            raise ControlPlaneError(
                f"the API server didn't apply admission policies within {within_seconds:g} s"
            )
        time.sleep(_POLL_SECONDS)


def patch_workloads(workloads: Workloads, plan: Plan) -> Workloads:
    """Return the workloads with the patches of `plan --constraints`, if the API server doesn't
    support such policies.
    """
    if not plan.guards.rules or has_mutating_policies(plan.judgement.features.minor):
        return workloads
    assert plan.manifests is not None  # plans for a rehearsal are always made from manifests
    component, _ = guards_component(plan.guards, plan.manifests)
    patches: dict[tuple[str, str, str], list[Json]] = {}
    for patch in [] if component is None else component["patches"]:
        target = patch["target"]
        patches.setdefault(
            (target["kind"], target.get("namespace", ""), target["name"]), []
        ).extend(patch["patch"])
    return replace(
        workloads, arrivals=tuple(_patched(each, patches) for each in workloads.arrivals)
    )


def _patched(arrival: Arrival, patches: dict[tuple[str, str, str], list[Json]]) -> Arrival:
    ref = arrival.workload
    operations = patches.get((ref.kind, ref.namespace, ref.name), [])
    if arrival.made_here or not operations:
        return arrival
    objects = copy.deepcopy(arrival.objects)
    for document in objects:
        for operation in operations:
            *steps, key = operation["path"].lstrip("/").split("/")
            found: Json = document
            for step in steps:
                found = found[step]
            found[key] = operation["value"]
    return replace(arrival, objects=objects)


def _is_active(server: ApiServer) -> bool:
    """Return True if the probe's policy changes a pod that is created as a dry run. The probe's
    policy was created last.
    """
    pod: Json = {
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
