"""The API server's answer to one object, and the stored object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.tree import Map, clone
from dra_planner.manifests.objects import CLUSTER_SCOPED, KubernetesObject
from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.manifests.schema import struct_of
from dra_planner.manifests.schema.decoding import FieldValidation, decode, unknown_fields
from dra_planner.manifests.validation.context import Context
from dra_planner.manifests.validation.defaults import fill_defaults
from dra_planner.manifests.validation.fields.formats import path_segment
from dra_planner.manifests.validation.fields.metadata import check_metadata
from dra_planner.manifests.validation.gates import Dropped, drop_disabled
from dra_planner.manifests.validation.kinds.claims import (
    check_admin_access,
    check_claim,
    check_class,
    check_template,
)
from dra_planner.manifests.validation.kinds.cluster_objects import (
    CLUSTER_RULES,
    check_pod_security_labels,
    check_runtime_class,
)
from dra_planner.manifests.validation.kinds.slices import check_slice, slice_warnings
from dra_planner.manifests.validation.kinds.taint_rules import check_taint_rule
from dra_planner.manifests.validation.older_versions import as_v1
from dra_planner.manifests.validation.pod_security import POD_SECURITY, pod_security_faults
from dra_planner.manifests.validation.pods.specs import check_pod
from dra_planner.manifests.validation.quotas import (
    Usage,
    claim_usage,
    covers,
    is_critical,
    pod_usage,
    quota_faults,
    template_usage,
)
from dra_planner.manifests.validation.served_versions import RESOURCE, not_served_reason
from dra_planner.manifests.validation.updates import check_update
from dra_planner.manifests.validation.violations import Violation, Violations
from dra_planner.manifests.validation.workloads.autoscalers import check_autoscaler
from dra_planner.manifests.validation.workloads.disruption_budgets import check_disruption_budget
from dra_planner.manifests.validation.workloads.jobs import check_cron_job, check_job, labels_of_job
from dra_planner.manifests.validation.workloads.replicated import (
    check_bare_template,
    check_daemon_set,
    check_deployment,
    check_replication_controller,
    check_stateful_set,
)
from dra_planner.manifests.validation.workloads.webhooks import webhook_faults
from dra_planner.releases import Features

# the server checks this if there are no other errors
_METADATA_LAST: Final = frozenset({"PodDisruptionBudget"})
_STORED: Final = frozenset(
    {"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"}
)


class ServerAnswer(Struct, frozen=True, kw_only=True):
    """The answer to one object.

    `reason` is `Status.reason`: Invalid, BadRequest, Forbidden, NotFound, NoMatch. `data` is the
    object that the server processes further. For DRA kinds and pods, it has only the fields that
    this version keeps, with defaults. For all other kinds, it's the original object.
    """

    data: Mapping[str, Any]
    reason: str = ""
    violations: tuple[Violation, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    warnings: tuple[str, ...] = ()
    fix: str = ""

    @property
    def accepted(self) -> bool:
        return not self.reason


def judge(
    item: KubernetesObject,
    context: Context,
    *,
    mode: FieldValidation = "strict",
    existing: Mapping[str, Any] | None = None,
) -> ServerAnswer:
    """Return the API server's answer to the creation of an object, or to a change of the `existing`
    object, which is in stored form. Objects of unknown kinds are accepted unchanged, unless the
    webhook of their kind rejects them.
    """
    missing = not_served_reason(item.api_version, item.kind, context.features)
    if missing is not None:
        violation = Violation("", "NoMatch", missing[0])
        return ServerAnswer(
            data=item.data, reason="NoMatch", violations=(violation,), fix=missing[1]
        )
    item = as_v1(item)
    struct = struct_of(item.api_version, item.kind)
    if struct is None:
        denied = tuple(webhook_faults(item)) if existing is None else ()
        reason = "Forbidden" if denied else ""
        return ServerAnswer(data=item.data, reason=reason, violations=denied)
    decoded = decode(item.data, struct, item.kind, context.minor, mode)
    if decoded.violations:
        reason = "HTTP 500" if mode == "apply" else "BadRequest"
        return ServerAnswer(data=item.data, reason=reason, violations=decoded.violations)
    warnings = []
    if mode == "lenient":
        warnings = [
            f'unknown field "{path}"' for path in unknown_fields(item.data, struct, context.minor)
        ]
    return _Judging(item.with_data(decoded.data), context, existing, warnings).verdict()


def take(item: KubernetesObject, context: Context) -> ServerAnswer:
    """Accept an object that already exists. Only the types of its fields are checked."""
    struct = struct_of(item.api_version, item.kind)
    if struct is None:
        return ServerAnswer(data=item.data)
    decoded = decode(item.data, struct, item.kind, context.minor, "lenient")
    reason = "BadRequest" if decoded.violations else ""
    return ServerAnswer(data=decoded.data, reason=reason, violations=decoded.violations)


class _Judging(Struct):
    """The steps of one object through the server: admission, defaults, dropped fields, validation,
    and quota.
    """

    item: KubernetesObject
    context: Context
    existing: Mapping[str, Any] | None
    warnings: list[str] = []

    def verdict(self) -> ServerAnswer:
        item, context = self.item, self.context
        early = next(self._admission(), None)
        if early is not None:
            return ServerAnswer(data=item.data, reason=early.reason, violations=(early,))
        data: Mapping[str, Any] = item.data
        dropped: list[Dropped] = []
        if item.kind in _STORED and item.group == RESOURCE:
            copy: Map = clone(item.data)
            fill_defaults(item.kind, copy, {})
            dropped = drop_disabled(item.kind, copy, context.features)
            data = copy
        violations = tuple(self._violations(data))
        if violations:
            return ServerAnswer(
                data=data, reason="Invalid", violations=violations, dropped=tuple(dropped)
            )
        late = next(self._late_admission(data), None) if self.existing is None else None
        if item.kind == "ResourceSlice":
            self.warnings += slice_warnings(data, context.features)
        return ServerAnswer(
            data=data,
            reason=""
            if late is None
            else "Invalid"
            if late.reason.startswith("FieldValue")
            else late.reason,
            violations=(late,) if late is not None else (),
            dropped=tuple(dropped),
            warnings=tuple(self.warnings),
        )

    def _admission(self) -> Violations:
        """Yield the errors of mutating admission, which comes before validation."""
        item, cluster = self.item, self.context.cluster
        if (
            item.kind not in CLUSTER_SCOPED
            and cluster.complete
            and item.namespace not in cluster.namespaces
        ):
            yield Violation("", "NotFound", f'namespaces "{item.namespace}" not found')
        if item.kind == "PriorityClass" and item.data.get("globalDefault") is True:
            default = cluster.default_priority
            if default not in ("", item.name):
                yield self._refusal(
                    f"PriorityClass {default} is already marked as default. Only one default can "
                    "exist"
                )
        if item.kind != "Pod" or self.existing is not None:
            return
        spec = item.data.get("spec") or {}
        yield from self._priority(spec)
        runtime = spec.get("runtimeClassName")
        if runtime is not None and cluster.complete and runtime not in cluster.runtime_classes:
            if runtime == "":
                yield Violation("", "HTTP 500", "resource name may not be empty")
            if path_segment(runtime):
                yield Violation("", "HTTP 500", f'invalid resource name "{runtime}"')
            yield self._refusal(f'pod rejected: RuntimeClass "{runtime}" not found')

    def _priority(self, spec: Mapping[str, Any]) -> Violations:
        cluster = self.context.cluster
        name, given = spec.get("priorityClassName") or "", spec.get("priority")
        computed = SYSTEM_PRIORITIES.get(name, cluster.priority_classes.get(name))
        if name and computed is None:
            if cluster.complete:
                yield self._refusal(f"no PriorityClass with name {name} was found")
            return
        if given is not None and given != (computed or 0):
            detail = (
                f"the integer value of priority ({given}) must not be provided in pod spec; "
                "priority admission "
            )
            yield self._refusal(
                f"{detail}controller computed {computed or 0} from the given PriorityClass name"
            )
        policy, own = (
            spec.get("preemptionPolicy"),
            "Never" if name in cluster.non_preempting else "PreemptLowerPriority",
        )
        if policy is not None and policy != own:
            detail = (
                f"the string value of PreemptionPolicy ({policy}) must not be provided in pod "
                "spec; priority "
            )
            yield self._refusal(
                f"{detail}admission controller computed {own} from the given PriorityClass name"
            )

    def _violations(self, data: Mapping[str, Any]) -> Violations:
        kind = self.item.kind
        if self.existing is not None:
            yield from check_update(kind, data, self.existing)
            if kind in ("ResourceClaim", "ResourceClaimTemplate", "Pod"):
                return
        metadata = data.get("metadata") or {}
        if kind == "Job":
            metadata = {**metadata, "labels": labels_of_job(data)}
        elif kind == "ReplicationController" and not metadata.get("labels"):
            template = _template_of(data) or {}
            metadata = {**metadata, "labels": (template.get("metadata") or {}).get("labels")}
        rule = _RULES.get(kind)
        found = () if rule is None else tuple(rule(data, self.context))
        yield from found
        if kind == "LimitRange" and not (metadata.get("name") or metadata.get("generateName")):
            metadata = {**metadata, "name": "generated"}
        if kind not in _METADATA_LAST or not found:
            yield from check_metadata(metadata, kind, self.context.features)
        if kind in ("ResourceClaim", "ResourceClaimTemplate"):
            labels = self.context.cluster.namespaces.get(self.item.namespace)
            if labels is not None or self.context.cluster.complete:
                yield from check_admin_access(data, self.context, labels or {})

    def _late_admission(self, data: Mapping[str, Any]) -> Violations:
        """Yield the errors of validating admission (overhead, pod security, and quota), which comes
        after validation.
        """
        if self.item.kind == "Namespace":
            yield from check_pod_security_labels(data)
        item, cluster = self.item, self.context.cluster
        labels = cluster.namespaces.get(item.namespace) or {}
        pod = data.get("spec") or {} if item.kind == "Pod" else None
        template = _template_of(data) if pod is None else None
        level = labels.get(f"{POD_SECURITY}enforce", "")
        if pod is not None:
            if pod.get("runtimeClassName") is None and pod.get("overhead") is not None:
                yield self._refusal(
                    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined "
                    "Overhead",
                    fix="remove spec.overhead",
                )
            faults = pod_security_faults(pod, level)
            if faults:
                yield self._refusal(f'violates PodSecurity "{level}:latest": {", ".join(faults)}')
        elif template is not None:
            level = labels.get(f"{POD_SECURITY}warn") or level
            faults = pod_security_faults(template.get("spec") or {}, level)
            if faults:
                self.warnings.append(
                    f'would violate PodSecurity "{level}:latest": {", ".join(faults)}'
                )
        quotas = [quota for quota in cluster.quotas if _namespace_of(quota) == item.namespace]
        usage = self._usage(data)
        for quota in quotas if usage else ():
            for text in quota_faults(quota, usage, pod):
                yield self._refusal(text)
        if pod is not None and cluster.limited_priorities and is_critical(pod):
            scoped = [quota for quota in quotas if (quota.get("spec") or {}).get("scopeSelector")]
            if not any(covers(quota, pod) for quota in scoped):
                scope = "PriorityClass In [system-node-critical system-cluster-critical]"
                yield Violation(
                    "", "HTTP 500", f"insufficient quota to match these scopes: [{{{scope}}}]"
                )

    def _usage(self, data: Mapping[str, Any]) -> Usage:
        kind, spec = self.item.kind, data.get("spec") or {}
        if kind == "ResourceClaim":
            return claim_usage(spec, self.context.features, self.context.cluster.classes)
        if kind == "ResourceClaimTemplate":
            return template_usage()
        return pod_usage(spec, self.context.features) if kind == "Pod" else {}

    def _refusal(self, text: str, *, fix: str = "") -> Violation:
        kind, group = self.item.kind, self.item.group
        plural = {"Pod": "pods", "PriorityClass": f"priorityclasses.{group}"}.get(
            kind, f"{kind.lower()}s.{group}"
        )
        forbidden_text = f'{plural} "{self.item.name}" is forbidden: {text}'
        return Violation("", "Forbidden", forbidden_text, fix=fix)


def _namespace_of(quota: Mapping[str, Any]) -> str:
    return str((quota.get("metadata") or {}).get("namespace") or "default")


def _template_of(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    spec = data.get("spec") or {}
    job = (spec.get("jobTemplate") or {}).get("spec") or {} if isinstance(spec, Mapping) else {}
    found = (spec.get("template") if isinstance(spec, Mapping) else None) or job.get("template")
    return found if isinstance(found, Mapping) else None


def _with_features(check: Callable[[Mapping[str, Any], Features], Iterator[Violation]]) -> Any:
    return lambda data, context: check(data, context.features)


def _check_cluster_object(kind: str) -> Any:
    def check(data: Mapping[str, Any], context: Context) -> Violations:
        return CLUSTER_RULES[kind](data)

    return check


_RULES: Final[dict[str, Callable[[Mapping[str, Any], Context], Iterator[Violation]]]] = {
    "ResourceClaim": check_claim,
    "ResourceClaimTemplate": check_template,
    "DeviceClass": check_class,
    "ResourceSlice": check_slice,
    "DeviceTaintRule": check_taint_rule,
    "Pod": _with_features(check_pod),
    "PodTemplate": _with_features(check_bare_template),
    "ReplicationController": _with_features(check_replication_controller),
    "Deployment": _with_features(check_deployment),
    "ReplicaSet": _with_features(check_deployment),
    "StatefulSet": _with_features(check_stateful_set),
    "DaemonSet": _with_features(check_daemon_set),
    "Job": _with_features(check_job),
    "CronJob": _with_features(check_cron_job),
    "HorizontalPodAutoscaler": _with_features(check_autoscaler),
    "PodDisruptionBudget": _with_features(check_disruption_budget),
    "RuntimeClass": _with_features(check_runtime_class),
    **{kind: _check_cluster_object(kind) for kind in CLUSTER_RULES},
}
