"""Effects of LimitRanges on a new pod: default requests and limits, or a rejection.

Source: kubernetes/kubernetes:plugin/pkg/admission/limitranger/admission.go@v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from dra_planner.model import Amounts, Container, LimitRange, PodSpec, Reason, peak_amounts
from dra_planner.quantity import amount_text


def with_defaults(pod: PodSpec, ranges: Iterable[LimitRange]) -> PodSpec:
    """Return the pod with the default requests and limits from the LimitRanges of its namespace."""
    for each in ranges:
        names = {
            name
            for container in (*pod.containers, *pod.init_containers)
            for name in each.default_requests.keys() - container.requests.keys()
        }
        pod = replace(
            pod,
            defaulted_by={**pod.defaulted_by, **dict.fromkeys(sorted(names), str(each.meta.key))},
            containers=tuple(_with_defaults(container, each) for container in pod.containers),
            init_containers=tuple(
                _with_defaults(container, each) for container in pod.init_containers
            ),
        )
    return pod


def _with_defaults(container: Container, limits: LimitRange) -> Container:
    return replace(
        container,
        requests={**limits.default_requests, **container.requests},
        limits={**limits.default_limits, **container.limits},
    )


def refuse(pod: PodSpec, ranges: Iterable[LimitRange]) -> Reason | None:
    """Return why the API server rejects such pods (after `with_defaults`), or None."""
    for each in ranges:
        for container in (*pod.containers, *pod.init_containers):
            subject = f'container "{container.name}"'
            reason = _refuse(
                each, subject, container.requests, container.limits, each.least, each.most
            )
            above = [
                name
                for name, limit in container.limits.items()
                if container.requests.get(name, 0) > limit
            ]
            if reason is None and above:
                reason = _reason(each, subject, above[0], "requests more than its limit")
            reason = reason or _above_ratio(
                each, subject, container.requests, container.limits, each.ratios
            )
            if reason is not None:
                return reason
        requests = {**peak_amounts(pod, lambda container: container.requests), **pod.pod_requests}
        # or a larger amount: this value isn't stored
        own = {**peak_amounts(pod, lambda container: container.limits), **pod.pod_requests}
        reason = _refuse(each, "the pod", requests, own, each.least_of_pod, each.most_of_pod)
        reason = reason or _above_ratio(each, "the pod", requests, own, each.ratios_of_pod)
        if reason is not None:
            return reason
    return None


def _refuse(
    limits: LimitRange, subject: str, requests: Amounts, own: Amounts, least: Amounts, most: Amounts
) -> Reason | None:
    for resource, amount in least.items():
        shown = amount_text(resource, amount)
        if requests.get(resource, 0) < amount or own.get(resource, amount) < amount:
            what = f"requests less {resource} than the minimum ({shown})"
            return _reason(limits, subject, resource, what)
    for resource, amount in most.items():
        shown = amount_text(resource, amount)
        if own.get(resource, amount + 1) > amount:
            what = (
                f"sets a {resource} limit above the maximum ({shown})"
                if resource in own
                else f"doesn't set a {resource} limit (maximum: {shown})"
            )
            return _reason(limits, subject, resource, what)
        if requests.get(resource, 0) > amount:
            what = f"requests more {resource} than the maximum ({shown})"
            return _reason(limits, subject, resource, what)
    return None


def _above_ratio(
    limits: LimitRange, subject: str, requests: Amounts, own: Amounts, ratios: Amounts
) -> Reason | None:
    """Return the reason if a limit is too large for its request, or if either is missing
    (limitRequestRatioConstraint).
    """
    for resource, most in ratios.items():
        request, limit = requests.get(resource, 0), own.get(resource, 0)
        if request and limit and limit * 1000 <= most * request:
            continue
        what = (
            f"sets a {resource} limit that exceeds {most / 1000:g} times the request "
            "(maxLimitRequestRatio)"
            if request and limit
            else f"must set a request and a limit for {resource}, because maxLimitRequestRatio is "
            f"{most / 1000:g}"
        )
        return _reason(limits, subject, resource, what)
    return None


def _reason(limits: LimitRange, subject: str, resource: str, what: str) -> Reason:
    return Reason(
        code="limit-range",
        message=f"{subject} {what}, so LimitRange {limits.meta.key} rejects the pods",
        fix=f"set the container's {resource} request and limit to values that the LimitRange allows",
    )
