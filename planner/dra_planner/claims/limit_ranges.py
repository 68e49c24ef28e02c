"""What LimitRanges make of a pod when it is created: requests and limits that it lacks, or a refusal.

Source: kubernetes/kubernetes:plugin/pkg/admission/limitranger/admission.go@v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dra_planner.model import Container, LimitRange, PodSpec, Reason


def with_defaults(pod: PodSpec, ranges: Iterable[LimitRange]) -> PodSpec:
    """Return the pod with the requests and limits that the LimitRanges of its namespace give its containers."""
    for each in ranges:
        pod = replace(
            pod,
            containers=tuple(_with_defaults(container, each) for container in pod.containers),
            init_containers=tuple(_with_defaults(container, each) for container in pod.init_containers),
        )
    return pod


def _with_defaults(container: Container, limits: LimitRange) -> Container:
    return replace(
        container,
        requests={**limits.default_requests, **container.requests},
        limits={**limits.default_limits, **container.limits},
    )


def refuse(pod: PodSpec, ranges: Iterable[LimitRange]) -> Reason | None:
    """Return why the API server refuses such pods (as `with_defaults` gives them), or None."""
    for each in ranges:
        for container in (*pod.containers, *pod.init_containers):
            for resource, least in each.least.items():
                if container.requests.get(resource, 0) < least:
                    return _reason(each, container, resource, "requests less than the minimum")
            for resource, most in each.most.items():
                if container.limits.get(resource, most + 1) > most:
                    return _reason(each, container, resource, "has no limit, or one above the maximum")
    return None


def _reason(limits: LimitRange, container: Container, resource: str, what: str) -> Reason:
    return Reason(
        code="limit-range",
        message=f'LimitRange {limits.meta.key}: container "{container.name}" {what} of {resource}, so that no such pod '
        "is created",
        fix=f"give the container requests and limits for {resource} within the range",
    )
