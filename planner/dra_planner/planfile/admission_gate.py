"""Objects that keep a cluster within its plan when manifests bypass CI: admission policies and
quotas.

A ValidatingAdmissionPolicy checks one object at a time, so it can't add up devices. A ResourceQuota
counts devices by DeviceClass, and limits their number per namespace. The APIs are stable in
Kubernetes 1.30 (policies) and 1.34 (claims).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.clouds import DRA
from dra_planner.planfile.schema import PlanFile

PREFIX: Final = "pulumi-dra-gate-"
# number of devices for which a request of all devices counts; resource/v1 AllocationResultsMaxSize
MOST_DEVICES: Final = 32
_API: Final = "admissionregistration.k8s.io/v1"
_PLUGINS: Final = "/var/lib/kubelet/device-plugins"
_SYSTEM: Final = ["kube-system"]  # managed add-ons, which the cloud keeps off DRA nodes


def admission_gate(plan: PlanFile) -> tuple[dict[str, Any], ...]:
    """Return the policies with their bindings, and a ResourceQuota for each namespace of the
    plan.
    """
    classes = sorted(str(each.metadata["name"]) for each in plan.classes)
    return (
        *_policy("claims", ("resource.k8s.io", "resourceclaims"), _classes("object.spec", classes)),
        *_policy(
            "templates",
            ("resource.k8s.io", "resourceclaimtemplates"),
            _classes("object.spec.spec", classes),
        ),
        *_policy("device-plugins", ("apps", "daemonsets"), [_no_plugin()], exempt=_SYSTEM),
        *_quotas(plan),
    )


def _policy(
    name: str,
    resource: tuple[str, str],
    validations: list[dict[str, str]],
    exempt: list[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield a policy and its binding. Existing objects can be updated as long as their
    specification doesn't change.
    """
    rule = {"apiGroups": [resource[0]], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"]}
    constraints: dict[str, Any] = {"resourceRules": [{**rule, "resources": [resource[1]]}]}
    if exempt:
        names = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": exempt}
        constraints["namespaceSelector"] = {"matchExpressions": [names]}
    changed = "oldObject == null || object.spec != oldObject.spec"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": constraints,
        "matchConditions": [{"name": "specification-changes", "expression": changed}],
        "validations": validations,
    }
    yield {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": PREFIX + name},
        "spec": spec,
    }
    yield {
        "apiVersion": _API,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": PREFIX + name},
        "spec": {"policyName": PREFIX + name, "validationActions": ["Deny"]},
    }


def _classes(spec: str, classes: list[str]) -> list[dict[str, str]]:
    """Return the validation that every request uses a DeviceClass of the plan."""
    known, requests = json.dumps(classes), f"{spec}.devices.requests"
    expression = (
        f"!has({spec}.devices) || !has({requests}) || {requests}.all(r, "
        f"(!has(r.exactly) || r.exactly.deviceClassName in {known}) && "
        f"(!has(r.firstAvailable) || r.firstAvailable.all(s, s.deviceClassName in {known})))"
    )
    message = (
        "The plan doesn't have this DeviceClass. Use one of its classes "
        f"({', '.join(classes) or 'none'}), or add the class to the fleet."
    )
    return [{"expression": expression, "message": message, "reason": "Invalid"}]


def _no_plugin() -> dict[str, str]:
    """Return the validation that a DaemonSet with a device plugin stays off DRA nodes."""
    pod = "object.spec.template.spec"
    affinity = f"{pod}.affinity.nodeAffinity"
    terms = f"{affinity}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    is_plugin = (
        f"has({pod}.volumes) && {pod}.volumes.exists(v, has(v.hostPath) && "
        f"v.hostPath.path.startsWith('{_PLUGINS}'))"
    )
    keeps_off = (
        f"has({pod}.affinity) && has({affinity}) && "
        f"has({affinity}.requiredDuringSchedulingIgnoredDuringExecution) && "
        f"{terms}.all(t, has(t.matchExpressions) && t.matchExpressions.exists(e, e.key == '{DRA}' "
        "&& "
        "(e.operator == 'DoesNotExist' || (e.operator == 'NotIn' && 'true' in e.values))))"
    )
    message = (
        f"This device plugin can run on DRA nodes, so two pods could get the same GPU. Add {DRA} "
        "NotIn [true] to every term of its required node affinity."
    )
    return {
        "expression": f"!({is_plugin}) || ({keeps_off})",
        "message": message,
        "reason": "Invalid",
    }


def _quotas(plan: PlanFile) -> Iterator[dict[str, Any]]:
    """Yield a quota for each namespace: the maximum devices of each class that its workloads
    request, including rollouts.

    A class doesn't have a limit if the maximum replicas are unknown.
    """
    for namespace, devices in sorted(_devices(plan).items()):
        hard = {
            f"{name}.deviceclass.resource.k8s.io/devices": str(count)
            for name, count in sorted(devices.items())
            if count is not None
        }
        if hard:
            yield {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": f"{PREFIX}devices", "namespace": namespace},
                "spec": {"hard": hard},
            }


def _devices(plan: PlanFile) -> dict[str, dict[str, int | None]]:
    """Return devices by namespace and class, or None if they aren't limited."""
    found: dict[str, dict[str, int | None]] = defaultdict(dict)
    shared: set[tuple[str, str]] = set()
    for shape in plan.demand.shapes:
        peaks = [member.figures.peak for member in shape.members]
        pods = None if None in peaks else sum(peak for peak in peaks if peak is not None)
        for claim in shape.claims:
            times = pods
            if claim.shared is not None:
                key = (claim.shared.namespace, claim.shared.name)
                times = 0 if key in shared else 1
                shared.add(key)
            of_namespace = found[shape.namespace]
            for name, count in _requested(claim.spec).items():
                before = of_namespace.get(name, 0)
                of_namespace[name] = (
                    None if times is None or before is None else before + times * count
                )
    return found


def _requested(spec: Mapping[str, Any]) -> dict[str, int]:
    """Return devices by class in one claim.

    For requests with alternatives, each class counts as if it were chosen.
    """
    devices: dict[str, int] = defaultdict(int)
    for request in spec.get("devices", {}).get("requests", ()):
        ways = [request["exactly"]] if "exactly" in request else request.get("firstAvailable", [])
        most: dict[str, int] = {}
        for way in ways:
            count = MOST_DEVICES if way.get("allocationMode") == "All" else int(way.get("count", 1))
            most[way["deviceClassName"]] = max(count, most.get(way["deviceClassName"], 0))
        for name, count in most.items():
            devices[name] += count
    return devices
