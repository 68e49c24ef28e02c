"""Rules of the workloads of Kubernetes itself: counts, selectors, and the pod template inside.

Source: kubernetes/kubernetes:pkg/apis/{apps,batch,core}/validation/validation.go@v1.36.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_planner.manifests.validation.pods import check_pod_template
from dra_planner.manifests.validation.schedules import schedule_fault
from dra_planner.manifests.validation.violations import Violations, invalid, not_supported, required

Data = Mapping[str, Any]
_TEMPLATE_LABELS: Final = "spec.template.metadata.labels"
_NO_MATCH: Final = "`selector` does not match template `labels`"
_FOR_EVER: Final = ("Always",)
_TO_AN_END: Final = ("OnFailure", "Never")


def check_replicated(data: Data) -> Violations:
    """Deployment, ReplicaSet, StatefulSet, DaemonSet: a selector that matches the template's labels."""
    spec = data.get("spec") or {}
    yield from _check_count(spec, "spec.replicas")
    yield from _check_selector(data, spec)
    yield from check_pod_template(spec.get("template") or {}, "spec.template")
    yield from _check_policy(spec, _FOR_EVER)


def check_replication_controller(data: Data) -> Violations:
    spec = data.get("spec") or {}
    yield from _check_count(spec, "spec.replicas")
    selector = spec.get("selector")
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if not (selector or labels):
        yield required("spec.selector")
    elif selector and any(labels.get(key) != value for key, value in selector.items()):
        yield invalid(_TEMPLATE_LABELS, dict(labels) or None, _NO_MATCH)
    yield from check_pod_template(spec.get("template") or {}, "spec.template")
    yield from _check_policy(spec, _FOR_EVER)


def check_bare_template(data: Data) -> Violations:
    yield from check_pod_template(data.get("template") or {}, "template")


def check_job(data: Data) -> Violations:
    yield from _check_job_spec(data.get("spec") or {}, "spec")


def check_cron_job(data: Data) -> Violations:
    spec = data.get("spec") or {}
    schedule = spec.get("schedule")
    fault = schedule_fault(schedule) if schedule else ""
    if not schedule:
        yield required("spec.schedule")
    elif fault:
        yield invalid("spec.schedule", schedule, fault)
    template = (spec.get("jobTemplate") or {}).get("spec") or {}
    yield from _check_job_spec(template, "spec.jobTemplate.spec")


def _check_job_spec(spec: Data, path: str) -> Violations:
    for field in ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit"):
        yield from _check_count(spec, f"{path}.{field}")
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is None:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    template = spec.get("template") or {}
    yield from check_pod_template(template, f"{path}.template")
    policy = (template.get("spec") or {}).get("restartPolicy")
    where = f"{path}.template.spec.restartPolicy"
    if not policy:
        yield required(where, 'valid values: "OnFailure", "Never"')
    elif policy == "Always":
        yield not_supported(where, policy, _TO_AN_END)


def _check_count(spec: Data, path: str) -> Violations:
    value = spec.get(path.rpartition(".")[2])
    if value is not None and value < 0:
        yield invalid(path, int(value), "must be greater than or equal to 0")


def _check_selector(data: Data, spec: Data) -> Violations:
    selector = spec.get("selector")
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if selector is None:  # it matches nothing; an empty one matches everything
        if data.get("kind") != "DaemonSet":
            yield required("spec.selector")
        yield invalid(_TEMPLATE_LABELS, dict(labels) or None, _NO_MATCH)
        return
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield invalid("spec.selector", selector, "empty selector is invalid for deployment")
        return
    wanted = selector.get("matchLabels") or {}
    matches = all(labels.get(key) == value for key, value in wanted.items())
    if not matches or not all(_matches(item or {}, labels) for item in selector.get("matchExpressions") or ()):
        yield invalid(_TEMPLATE_LABELS, dict(labels) or None, _NO_MATCH)


def _matches(requirement: Data, labels: Data) -> bool:
    key, operator = requirement.get("key") or "", requirement.get("operator")
    values = requirement.get("values") or ()
    if operator == "In":
        return key in labels and labels[key] in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    return (key in labels) == (operator == "Exists")


def _check_policy(spec: Data, allowed: tuple[str, ...]) -> Violations:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy")
    if policy and policy not in allowed:
        yield not_supported("spec.template.spec.restartPolicy", policy, allowed)
