"""Rules of workloads with a number of pods: Deployment, ReplicaSet, StatefulSet, DaemonSet, and
ReplicationController.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from dra_planner.manifests.validation.checks import (
    amount_of,
    at_most_all,
    choice,
    count_or_percentage,
    label,
    not_negative,
)
from dra_planner.manifests.validation.fields.selectors import can_select, matches
from dra_planner.manifests.validation.pods.specs import TABLE, check_pod_template
from dra_planner.manifests.validation.rules import (
    Data,
    Scope,
    StructRules,
    Table,
    check_struct,
    each,
)
from dra_planner.manifests.validation.violations import (
    Violations,
    forbidden,
    invalid,
    not_supported,
    required,
)
from dra_planner.releases import Features

_NO_MATCH: Final = "`selector` does not match template `labels`"
# earlier versions drop a StatefulSet's maxUnavailable, because its gate is off
_AT_ONCE_SINCE: Final = 37
_LABELS: Final = "spec.template.metadata.labels"


def check_deployment(data: Data, features: Features) -> Violations:
    yield from _check_selected(data, features)


def check_stateful_set(data: Data, features: Features) -> Violations:
    yield from _check_selected(data, features)


def check_daemon_set(data: Data, features: Features) -> Violations:
    """Yield the faults of a DaemonSet. Without a selector, it matches nothing, so its template
    can't match either.
    """
    spec = data.get("spec") or {}
    selector = spec.get("selector")
    if (
        selector is not None
        and not selector.get("matchLabels")
        and not selector.get("matchExpressions")
    ):
        yield invalid("spec.selector", selector, "empty selector is invalid for daemonset")
    if selector is None or (can_select(selector) and not matches(selector, _labels_of(spec))):
        yield invalid(_LABELS, _labels_of(spec) or None, _NO_MATCH)
    yield from check_struct(spec, "apps.DaemonSetSpec", "spec", Scope(features=features), _TABLE)
    yield from check_pod_template(spec.get("template") or {}, "spec.template", features)
    yield from _check_lifetime(spec)


def _check_selected(data: Data, features: Features) -> Violations:
    kind, spec = data.get("kind"), data.get("spec") or {}
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
    elif not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid("spec.selector", selector, "empty selector is invalid for deployment")
    yield from check_struct(spec, f"apps.{kind}Spec", "spec", Scope(features=features), _TABLE)
    if selector is not None and not can_select(selector):
        yield invalid("spec.selector", selector, "invalid label selector")
        if kind == "StatefulSet":
            yield from _check_lifetime(spec)
        return
    # a missing selector matches nothing
    if selector is None or not matches(selector, _labels_of(spec)):
        yield invalid(_LABELS, _labels_of(spec) or None, _NO_MATCH)
    around = spec if kind == "StatefulSet" else None
    yield from check_pod_template(
        spec.get("template") or {}, "spec.template", features, of_stateful_set=around
    )
    yield from _check_lifetime(spec)


def check_replication_controller(data: Data, features: Features) -> Violations:
    spec = data.get("spec") or {}
    yield from not_negative(spec.get("replicas"), "spec.replicas", Scope(features=features))
    yield from not_negative(
        spec.get("minReadySeconds"), "spec.minReadySeconds", Scope(features=features)
    )
    selector, own = spec.get("selector") or {}, _labels_of(spec)
    if not (selector or own):
        yield required("spec.selector")
    if spec.get("template") is None:
        yield required("spec.template")
        return
    if selector and any(own.get(key) != (value or "") for key, value in selector.items()):
        yield invalid(_LABELS, dict(own) or None, _NO_MATCH)
    yield from check_pod_template(spec["template"], "spec.template", features)
    yield from _check_lifetime(spec)


def check_bare_template(data: Data, features: Features) -> Violations:
    yield from check_pod_template(data.get("template") or {}, "template", features)


def _labels_of(spec: Data) -> dict[str, Any]:
    found = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    return {key: value or "" for key, value in found.items()}


def _check_lifetime(spec: Data) -> Violations:
    """Check that the pods don't have a deadline, because they run indefinitely."""
    pod, path = (spec.get("template") or {}).get("spec") or {}, "spec.template.spec"
    policy = pod.get("restartPolicy") or "Always"
    if policy != "Always":
        yield not_supported(f"{path}.restartPolicy", policy, ("Always",))
    if pod.get("activeDeadlineSeconds") is not None:
        yield forbidden(
            f"{path}.activeDeadlineSeconds", "activeDeadlineSeconds is not supported here"
        )


def _check_deployment_strategy(value: Any, path: str, scope: Scope) -> Violations:
    kind, rolling = (value or {}).get("type") or "RollingUpdate", (value or {}).get("rollingUpdate")
    if kind not in ("Recreate", "RollingUpdate"):
        yield not_supported(path, kind, ("Recreate", "RollingUpdate"))
    elif kind == "Recreate" and rolling is not None:
        yield forbidden(
            f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"
        )
    elif kind == "RollingUpdate":
        yield from _check_deployment_limits(rolling or {}, f"{path}.rollingUpdate", scope)


def _check_deployment_limits(data: Data, path: str, scope: Scope) -> Violations:
    gone, more = (_or(data.get(name), "25%") for name in ("maxUnavailable", "maxSurge"))
    yield from count_or_percentage(gone, f"{path}.maxUnavailable", scope)
    yield from count_or_percentage(more, f"{path}.maxSurge", scope)
    yield from at_most_all(gone, f"{path}.maxUnavailable", scope)
    if not amount_of(gone) and not amount_of(more):
        yield invalid(f"{path}.maxUnavailable", gone, "may not be 0 when `maxSurge` is 0")


def _check_daemon_strategy(value: Any, path: str, scope: Scope) -> Violations:
    kind = (value or {}).get("type") or "RollingUpdate"
    if kind not in ("RollingUpdate", "OnDelete"):
        yield not_supported(path, kind, ("RollingUpdate", "OnDelete"))
    elif kind == "RollingUpdate":
        data, path = (value or {}).get("rollingUpdate") or {}, f"{path}.rollingUpdate"
        gone, more = _or(data.get("maxUnavailable"), 1), _or(data.get("maxSurge"), 0)
        for limit, name in ((gone, "maxUnavailable"), (more, "maxSurge")):
            yield from count_or_percentage(limit, f"{path}.{name}", scope)
            yield from at_most_all(limit, f"{path}.{name}", scope)
        if amount_of(gone) and amount_of(more):
            yield invalid(
                f"{path}.maxSurge", more, "may not be set when maxUnavailable is non-zero"
            )
        if not amount_of(gone) and not amount_of(more):
            yield required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


def _check_set_strategy(value: Any, path: str, scope: Scope) -> Violations:
    kind, rolling = (value or {}).get("type") or "RollingUpdate", (value or {}).get("rollingUpdate")
    if kind not in ("RollingUpdate", "OnDelete"):
        yield invalid(path, kind, "must be 'RollingUpdate' or 'OnDelete'")
    elif kind == "OnDelete" and rolling is not None:
        yield invalid(
            f"{path}.rollingUpdate", rolling, "only allowed for updateStrategy 'RollingUpdate'"
        )
    elif kind == "RollingUpdate" and rolling is not None:
        yield from not_negative(rolling.get("partition"), f"{path}.rollingUpdate.partition", scope)
        limit, path = rolling.get("maxUnavailable"), f"{path}.rollingUpdate.maxUnavailable"
        if limit is not None and scope.minor >= _AT_ONCE_SINCE:
            yield from count_or_percentage(limit, path, scope)
            yield from at_most_all(limit, path, scope)
            if not amount_of(limit):
                yield invalid(path, limit, "cannot be 0")


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _check_management(value: Any, path: str, scope: Scope) -> Violations:
    if value and value not in ("OrderedReady", "Parallel"):
        yield invalid(path, value, "must be 'OrderedReady' or 'Parallel'")


def _check_ordinals(data: Data, path: str, scope: Scope) -> Violations:
    yield from not_negative(
        (data.get("ordinals") or {}).get("start"), f"{path}.ordinals.start", scope
    )


def _check_claims(data: Data, path: str, scope: Scope) -> Violations:
    for item, where in each(data.get("volumeClaimTemplates"), f"{path}.volumeClaimTemplates"):
        yield from check_struct(
            item.get("spec") or {}, "core.PersistentVolumeClaimSpec", f"{where}.spec", scope, TABLE
        )


def _check_progress(data: Data, path: str, scope: Scope) -> Violations:
    seconds, ready = data.get("progressDeadlineSeconds"), data.get("minReadySeconds") or 0
    if (600 if seconds is None else seconds) <= ready:
        yield invalid(
            f"{path}.progressDeadlineSeconds", seconds, "must be greater than minReadySeconds"
        )


_KEPT: Final = choice("Retain", "Delete")
_COUNTS: Final = {"replicas": not_negative, "minReadySeconds": not_negative}


def _selector_alone(data: Data, scope: Scope) -> Collection[str]:
    """Skip templates and claims, which are checked separately."""
    return ("selector",)


_TABLE: Final[Table] = {
    **TABLE,
    "apps.DeploymentSpec": StructRules(
        fields={
            **_COUNTS,
            "strategy": _check_deployment_strategy,
            "revisionHistoryLimit": not_negative,
            "progressDeadlineSeconds": not_negative,
        },
        whole=(_check_progress,),
        into=_selector_alone,
    ),
    "apps.ReplicaSetSpec": StructRules(fields=_COUNTS, into=_selector_alone),
    "apps.StatefulSetSpec": StructRules(
        fields={
            **_COUNTS,
            "podManagementPolicy": _check_management,
            "updateStrategy": _check_set_strategy,
            "serviceName": label,
        },
        whole=(_check_ordinals, _check_claims),
        into=lambda data, scope: ("selector", "persistentVolumeClaimRetentionPolicy"),
    ),
    "apps.StatefulSetPersistentVolumeClaimRetentionPolicy": StructRules(
        fields={"whenDeleted": _KEPT, "whenScaled": _KEPT}
    ),
    "apps.DaemonSetSpec": StructRules(
        fields={
            "minReadySeconds": not_negative,
            "revisionHistoryLimit": not_negative,
            "updateStrategy": _check_daemon_strategy,
        },
        into=_selector_alone,
    ),
}
