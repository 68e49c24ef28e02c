"""Fields that the API server fills in.

Source: kubernetes/kubernetes:pkg/apis/resource/v1/defaults.go@v1.36.3 and
pkg/apis/core/v1/defaults.go (requests from limits), pkg/apis/scheduling/v1/defaults.go (a class's
policy), plugin/pkg/admission/priority (a pod's priority).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.tree import Map, new_map
from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.manifests.validation.quotas import pod_level_requests

_PREEMPTS: Final = "PreemptLowerPriority"
# the planner doesn't read the clock, and only the existence of the time is relevant
NOW: Final = "1970-01-01T00:00:00Z"


def fill_defaults(
    kind: str, data: Map, priorities: Mapping[str, int], non_preempting: Container[str] = ()
) -> None:
    """Fill in the API server's defaults in place.

    `priorities` are the cluster's priority classes, `non_preempting` are the classes with the
    policy Never, and "" is the name of the default class.
    """
    if kind in ("ResourceClaim", "ResourceClaimTemplate"):
        spec = data.get("spec")
        if kind == "ResourceClaimTemplate":
            spec = spec.get("spec") if isinstance(spec, Map) else None
        _fill_claim(spec)
    elif kind == "ResourceSlice":
        for device in _items(data.get("spec"), "devices"):
            for taint in _items(device, "taints"):
                _default(taint, "timeAdded", NOW)
    elif kind == "DeviceTaintRule":
        rule = data.get("spec")
        added = rule.get("taint") if isinstance(rule, Map) else None
        if isinstance(added, Map):
            _default(added, "timeAdded", NOW)
    elif kind == "PriorityClass":
        _default(data, "preemptionPolicy", _PREEMPTS)
    elif kind == "Pod":
        _fill_pod(data.get("spec"), priorities, non_preempting)


def _fill_claim(spec: Any) -> None:
    devices = spec.get("devices") if isinstance(spec, Map) else None
    for request in _items(devices, "requests"):
        exactly = request.get("exactly")
        if isinstance(exactly, Map):
            _fill_request(exactly)
        for alternative in _items(request, "firstAvailable"):
            _fill_request(alternative)


def _fill_request(request: Map) -> None:
    for toleration in _items(request, "tolerations"):
        _default(toleration, "operator", "Equal")
    _default(request, "allocationMode", "ExactCount")
    if request.get("allocationMode") == "ExactCount":
        _default(request, "count", 1)


def _fill_pod(spec: Any, priorities: Mapping[str, int], non_preempting: Container[str]) -> None:
    if not isinstance(spec, Map):
        return
    for field in ("containers", "initContainers"):
        for container in _items(spec, field):
            resources = container.get("resources")
            limits = resources.get("limits") if isinstance(resources, Map) else None
            if isinstance(resources, Map) and isinstance(limits, Map):
                _fill_requests(resources, limits)
    resources = spec.get("resources")
    if isinstance(resources, Map) and isinstance(resources.get("limits"), Map):
        _fill_requests(resources, pod_level_requests(spec))
    name = spec.get("priorityClassName") or ""
    _default(spec, "priority", SYSTEM_PRIORITIES.get(name, priorities.get(name, 0)))
    _default(spec, "preemptionPolicy", "Never" if name in non_preempting else _PREEMPTS)


def _fill_requests(resources: Map, amounts: Mapping[str, Any]) -> None:
    requests = resources.get("requests")
    if not isinstance(requests, Map):
        requests = new_map((), resources.line)
        resources.put("requests", requests, resources.line)
    for name, amount in amounts.items():
        if name not in requests:
            requests.put(name, amount, requests.line)


def _default(node: Map, key: str, value: Any) -> None:
    if not node.get(key):
        node.put(key, value, node.line)


def _items(node: Any, key: str) -> Iterator[Map]:
    listed = node.get(key) if isinstance(node, Map) else None
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, Map):
            yield item
