"""Effects of LimitRanges on a new pod: default requests and limits, or a rejection.

Source: kubernetes/kubernetes:plugin/pkg/admission/limitranger/admission.go@v1.36.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from dra_planner.model import Amounts, Container, LimitRange, PodSpec, Reason, peak_amounts
from dra_planner.quantity import amount_of, amount_text


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
                name = above[0]
                requested = amount_of(name, container.requests[name])
                limit = amount_text(name, container.limits[name])
                problem = f"{subject} requests {requested}, but with the defaults of LimitRange "
                reason = _reason(name, f"{problem}{each.meta.key}, its limit is {limit}")
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
        smallest = min(requests.get(resource, 0), own.get(resource, amount))
        if smallest < amount:
            field = "requests" if requests.get(resource, 0) == smallest else "has a limit of"
            return _reason(
                resource,
                f"{subject} {field} {amount_of(resource, smallest)}, but LimitRange "
                f"{limits.meta.key} requires at least {amount_text(resource, amount)}",
            )
    for resource, amount in most.items():
        limit, request = own.get(resource), requests.get(resource, 0)
        if limit is not None and limit <= amount and request <= amount:
            continue
        if limit is None:
            problem = f"doesn't set a {resource} limit"
        elif limit > amount:
            problem = f"has a limit of {amount_of(resource, limit)}"
        else:
            problem = f"requests {amount_of(resource, request)}"
        return _reason(
            resource,
            f"{subject} {problem}, but LimitRange {limits.meta.key} "
            f"{'requires a limit of' if limit is None else 'allows'} at most "
            f"{amount_text(resource, amount)}",
        )
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
        ratio = f"{most / 1000:g} times the request (maxLimitRequestRatio)"
        name = f"LimitRange {limits.meta.key}"
        if not (request and limit):
            problem = f"lacks a {resource} request or limit, but {name} requires both and allows "
            return _reason(resource, f"{subject} {problem}a limit of at most {ratio}")
        return _reason(
            resource,
            f"{subject} requests {amount_of(resource, request)} and has a limit of "
            f"{amount_text(resource, limit)}, but {name} allows at most {ratio}",
        )
    return None


def _reason(resource: str, problem: str) -> Reason:
    return Reason(
        code="limit-range",
        message=f"{problem}, so the API server rejects the pods",
        fix=f"set the container's {resource} request and limit to values that the LimitRange allows",
    )
