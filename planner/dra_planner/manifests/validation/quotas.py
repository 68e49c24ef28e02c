"""Resource quotas: an object's usage, and whether it's within the quota.

Source: kubernetes/kubernetes:pkg/quota/v1/evaluator/core/{resource_claims,pods}.go@v1.36.3 and
apiserver/pkg/admission/plugin/resourcequota.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.tree import child
from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.fields import parse_pod_amount
from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.quantity import Quantity
from dra_planner.releases import Features

Data = Mapping[str, Any]
Usage = dict[str, Quantity]

CLASS_SUFFIX: Final = ".deviceclass.resource.k8s.io/devices"
IMPLICIT: Final = "requests.deviceclass.resource.kubernetes.io/"
_COUNTED_PREFIXES: Final = ("requests.", "count/")
_COUNTED_DOMAINS: Final = (
    CLASS_SUFFIX.partition("/")[0],
    ".storageclass.storage.k8s.io",
    ".volumeattributesclass.storage.k8s.io",
)
ALL_DEVICES: Final = 32  # the number of devices that an `All` request counts as
_COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
_REQUIRED: Final = ("cpu", "memory")
_BOTH: Final = {f"requests.{name}": name for name in ("cpu", "memory", "ephemeral-storage")}


def claim_usage(spec: Data, features: Features, classes: Mapping[str, str]) -> Usage:
    """Return one claim's usage: one claim, and its devices by class and by the class's extended
    resources.

    `classes` are the existing DeviceClasses, with their extendedResourceName.
    """
    usage = {"count/resourceclaims.resource.k8s.io": Quantity.from_int(1)}
    counts: dict[str, int] = {}
    for request in (spec.get("devices") or {}).get("requests") or ():
        alternatives = (request or {}).get("firstAvailable") or ()
        charged: dict[str, int] = {}
        for item in alternatives or [(request or {}).get("exactly") or {}]:
            name = (item or {}).get("deviceClassName") or ""
            charged[name] = max(charged.get(name, 0), _devices(item or {}))
        for name, count in charged.items():
            counts[name] = counts.get(name, 0) + count
    for name, count in counts.items():
        usage[name + CLASS_SUFFIX] = Quantity.from_int(count)
        if (
            features.extended_resource
            and features.charges_implicit_extended_resources
            and name in classes
        ):
            usage[IMPLICIT + name] = Quantity.from_int(count)
            if classes[name]:
                extended = f"requests.{classes[name]}"
                usage[extended] = usage.get(extended, Quantity.from_int(0)) + Quantity.from_int(
                    count
                )
    return usage


def uncounted(quota: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield a warning for each name in a quota under which no object is counted.

    Qualified names can be any text, but only requests of extended resources are counted. Source:
    kubernetes/kubernetes:pkg/quota/v1/evaluator/core/pods.go@v1.36.3
    (isExtendedResourceNameForQuota).
    """
    spec = quota.data.get("spec") or {}
    hard = spec.get("hard") or {}
    place = child(child(quota.place, quota.data, "spec"), spec, "hard")
    for name in hard:
        counted = _counted_name(name)
        if counted != name:
            message = (
                f"{quota}: {name} has no effect, because quotas for extended resources need the "
                'prefix "requests."'
            )
            yield Diagnostic(
                "warning",
                "quota-limits-nothing",
                message,
                child(place, hard, name),
                f"use {counted} instead",
            )


def _counted_name(name: str) -> str:
    """Return the name under which a resource is counted, or the same name."""
    domain, slash, rest = name.partition("/")
    if not slash or name.startswith(_COUNTED_PREFIXES) or domain.endswith(_COUNTED_DOMAINS):
        return name
    if rest == "devices":
        return domain.partition(".deviceclass.")[0] + CLASS_SUFFIX
    return f"requests.{name.removeprefix('limits.')}"


def template_usage() -> Usage:
    return {"count/resourceclaimtemplates.resource.k8s.io": Quantity.from_int(1)}


def pod_usage(spec: Data, features: Features) -> Usage:
    """Return one pod's usage. Extended resources count with the prefix `requests.`.

    In 1.35 and later, implicit extended resources of classes count too.
    """
    usage = {"pods": Quantity.from_int(1), "count/pods": Quantity.from_int(1)}
    all_are_charged, implicit = (
        features.charges_implicit_extended_resources,
        IMPLICIT.removeprefix("requests."),
    )
    for field in ("requests", "limits"):
        for name, amount in whole_amounts(spec, field).items():
            if name in _COMPUTE:
                usage[f"{field}.{name}"] = amount
                if field == "requests":
                    usage[name] = amount
            elif field == "requests" and (all_are_charged or not name.startswith(implicit)):
                usage[f"requests.{name}"] = amount
    return usage


def _devices(item: Data) -> int:
    return ALL_DEVICES if item.get("allocationMode") == "All" else int(item.get("count") or 1)


def pod_amounts(spec: Data, field: str) -> Usage:
    """Return the effective amounts of a pod: the sum of its containers, or the largest init
    container.
    """
    total: Usage = {}
    for container in spec.get("containers") or ():
        for name, amount in _amounts(container or {}, field).items():
            total[name] = total[name] + amount if name in total else amount
    for container in spec.get("initContainers") or ():
        for name, amount in _amounts(container or {}, field).items():
            if (container or {}).get("restartPolicy") == "Always":
                total[name] = total[name] + amount if name in total else amount
            else:
                total[name] = max(total[name], amount) if name in total else amount
    return total


def whole_amounts(spec: Data, field: str) -> Usage:
    """Return the effective amounts of a pod with its overhead.

    Pod-level amounts replace those of its containers. Source:
    kubernetes/kubernetes:staging/src/k8s.io/component-helpers/resource/helpers.go@v1.36.3
    (PodRequests, PodLimits: overhead counts only for resources with a limit).
    """
    total = pod_amounts(spec, field)
    own = pod_level_requests(spec) if field == "requests" else _listed(spec, field)
    total |= {name: amount for name, amount in amounts_of(own).items() if _may_be_of_pods(name)}
    for name, amount in amounts_of(spec.get("overhead")).items():
        if name in total:
            total[name] = total[name] + amount
        elif field == "requests":
            total[name] = amount
    return total


def pod_level_requests(spec: Data) -> Data:
    """Return pod-level requests.

    If the pod has limits, a missing request is the sum of the containers' requests, or the limit if
    the containers don't request the resource. Source:
    kubernetes/kubernetes:pkg/apis/core/v1/defaults.go@v1.36.3 (defaultPodRequests).
    """
    requests, limits = _listed(spec, "requests"), _listed(spec, "limits")
    if not limits:
        return requests
    together = {
        name: str(amount)
        for name, amount in pod_amounts(spec, "requests").items()
        if name in _REQUIRED
    }
    supported = {name: amount for name, amount in limits.items() if _may_be_of_pods(name)}
    return {**supported, **together, **requests}


def _listed(container: Data, field: str) -> Data:
    return (container.get("resources") or {}).get(field) or {}


def _may_be_of_pods(name: str) -> bool:
    return name in _REQUIRED or name.startswith("hugepages-")


def _amounts(container: Data, field: str) -> Usage:
    listed = _listed(container, field)
    if field == "requests":
        listed = {**_listed(container, "limits"), **listed}
    return amounts_of(listed)


def amounts_of(data: Data | None) -> Usage:
    return {name: parse_pod_amount(value or 0) for name, value in (data or {}).items()}


def quota_faults(quota: Data, usage: Usage, pod: Data | None) -> Iterator[str]:
    """Yield the reasons why a quota rejects an object with this usage.

    `pod` is the spec if the object is a pod.
    """
    name = (quota.get("metadata") or {}).get("name")
    spec, status = quota.get("spec") or {}, quota.get("status") or {}
    hard = {key: parse_pod_amount(value) for key, value in (spec.get("hard") or {}).items()}
    if not covers(quota, pod):
        return
    if pod is not None:
        missing = unspecified(hard, pod)
        if missing:
            lacking = (f"{key} for: {','.join(names)}" for key, names in missing.items())
            yield f"failed quota: {name}: must specify {'; '.join(lacking)}"
            return
    used = {key: parse_pod_amount(value) for key, value in (status.get("used") or {}).items()}
    zero = Quantity.from_int(0)
    over = [
        key for key in sorted(hard) if key in usage and used.get(key, zero) + usage[key] > hard[key]
    ]
    if over:
        requested, taken, limited = (
            ",".join(f"{key}={amounts.get(key, zero)}" for key in over)
            for amounts in (usage, used, hard)
        )
        yield f"exceeded quota: {name}, requested: {requested}, used: {taken}, limited: {limited}"


def unspecified(hard: Mapping[str, Any], pod: Data) -> dict[str, list[str]]:
    """Return the resources that a quota with these limits requires, with the names of the pod's
    containers that don't set them.

    Only cpu and memory are required, unless the pod has pod-level amounts for them. Source:
    kubernetes/kubernetes:pkg/quota/v1/evaluator/core/pods.go@v1.36.3 (Constraints).
    """
    if _has_amounts_of_its_own(pod):
        return {}
    found = {}
    for key in sorted(hard):
        field, _, name = key.rpartition(".")
        if name not in _REQUIRED or field not in ("", "requests", "limits"):
            continue
        lacking = {
            str(container.get("name"))
            for container in (*(pod.get("containers") or ()), *(pod.get("initContainers") or ()))
            if name not in _amounts(container, field or "requests")
        }
        if lacking:
            found[key] = sorted(lacking)
    return found


def _has_amounts_of_its_own(pod: Data) -> bool:
    return any(
        _may_be_of_pods(name) for field in ("requests", "limits") for name in _amounts(pod, field)
    )


def covers(quota: Data, pod: Data | None) -> bool:
    """Return whether a quota's scopes include the object. Only pods have scopes."""
    spec = quota.get("spec") or {}
    expressions = [{"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()]
    expressions += (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    if not expressions:
        return True
    return pod is not None and all(_in_scope(expression or {}, pod) for expression in expressions)


def _in_scope(expression: Data, pod: Data) -> bool:
    scope, operator = expression.get("scopeName"), expression.get("operator")
    if scope == "PriorityClass":
        name, values = pod.get("priorityClassName") or "", expression.get("values") or ()
        matches = {
            "In": name in values,
            "NotIn": name not in values,
            "Exists": bool(name),
            "DoesNotExist": not name,
        }
        return matches.get(str(operator), False)
    best_effort = not whole_amounts(pod, "requests") and not whole_amounts(pod, "limits")
    terminating = pod.get("activeDeadlineSeconds") is not None
    return {
        "BestEffort": best_effort,
        "NotBestEffort": not best_effort,
        "Terminating": terminating,
        "NotTerminating": not terminating,
    }.get(str(scope), True)


def is_critical(pod: Data) -> bool:
    return (pod.get("priorityClassName") or "") in SYSTEM_PRIORITIES
