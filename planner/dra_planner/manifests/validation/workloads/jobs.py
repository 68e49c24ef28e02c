"""Rules of Jobs and CronJobs."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from dra_planner.manifests.validation.checks import choice, not_negative, pointed_choice
from dra_planner.manifests.validation.fields.formats import (
    dns_label,
    dns_subdomain,
    label_value,
    length_of,
    qualified_name,
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
    duplicate,
    each_invalid,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from dra_planner.manifests.validation.workloads.schedules import schedule_fault
from dra_planner.manifests.validation.workloads.time_zones import time_zone_fault
from dra_planner.releases import Features

_MOST_INDEXES: Final = 100_000
_MOST_PARALLEL_OF_MANY: Final = 10_000
_MOST_FAILED_OF_MANY: Final = 10_000
_MOST_RULES: Final = 20
_MOST_CODES: Final = 255
_MOST_MANAGER: Final = 63
_MOST_INDEX_BYTES: Final = 64 * 1024
_MOST_CRON_NAME: Final = 52
_PATH: Final = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+", re.ASCII)
_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
# labels that the server sets, each with whether its value is the Job's name or its UID
_OWN_LABELS: Final = {
    "job-name": True, "batch.kubernetes.io/job-name": True,
    "controller-uid": False, "batch.kubernetes.io/controller-uid": False,
}  # fmt: skip
_TEMPLATE_META: Final = "spec.template.metadata"


def check_job(data: Data, features: Features) -> Violations:
    metadata, spec = data.get("metadata") or {}, data.get("spec") or {}
    name = metadata.get("name") or ""
    yield from _check_own_selector(spec, name, Scope(features=features))
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec = {**spec, "completions": 1, "parallelism": 1}
    yield from _check_job_spec(spec, "spec", features)
    count = spec.get("completions") or 0
    if (
        spec.get("completionMode") == "Indexed"
        and count > 0
        and (name or not metadata.get("generateName"))
    ):
        pod = f"{name}-{int(count) - 1}"
        for _ in dns_label(pod):
            yield invalid(
                "metadata.name", name, f"will not able to create pod with invalid DNS label: {pod}"
            )


def _check_own_selector(spec: Data, name: str, scope: Scope) -> Violations:
    """Check the selector, which the server generates together with labels, unless `manualSelector`
    is set.
    """
    selector = spec.get("selector")
    own = {
        key: value or ""
        for key, value in (
            ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
        ).items()
    }
    if spec.get("manualSelector"):
        if selector is None:
            yield required("spec.selector")
            yield invalid(
                f"{_TEMPLATE_META}.labels",
                own or None,
                "`selector` does not match template `labels`",
            )
            return
        yield from check_struct(selector, "meta.LabelSelector", "spec.selector", scope, TABLE)
        if can_select(selector) and not matches(selector, own):
            yield invalid(
                f"{_TEMPLATE_META}.labels",
                own or None,
                "`selector` does not match template `labels`",
            )
        return
    for key, is_name in _OWN_LABELS.items():
        if key in own and not (is_name and own[key] == name):
            yield invalid(
                f"{_TEMPLATE_META}.labels",
                own,
                f"must have the value that the server sets for {key}",
            )
        elif is_name and key not in own:
            yield from each_invalid("spec.template.labels", name, label_value(name))
    if selector is None:
        return
    # The server adds its own labels to a given selector before it validates the result, so a
    # selector is accepted if it agrees with labels that are unknown before creation (the UID).
    yield from check_struct(selector, "meta.LabelSelector", "spec.selector", scope, TABLE)
    made = {**selector, "matchLabels": dict(selector.get("matchLabels") or {})}
    given = {key for key in made["matchLabels"] if not _OWN_LABELS.get(key, True)}
    expected = {key: name if is_name else _UID for key, is_name in _OWN_LABELS.items()}
    if not given:
        made["matchLabels"]["batch.kubernetes.io/controller-uid"] = _UID
    if can_select(selector):
        if not matches(made, expected):
            yield invalid("spec.selector", selector, "`selector` not auto-generated")
        if not matches(made, {**expected, **own}):
            yield invalid(
                f"{_TEMPLATE_META}.labels",
                own or None,
                "`selector` does not match template `labels`",
            )


_UID: Final = "<uid>"


def labels_of_job(data: Data) -> Any:
    """Return the labels of a Job.

    A Job without its own labels gets the labels of its template, with the server's additions.
    """
    metadata, template = data.get("metadata") or {}, (data.get("spec") or {}).get("template") or {}
    own, inner = metadata.get("labels"), (template.get("metadata") or {}).get("labels")
    if own or inner is None or (data.get("spec") or {}).get("manualSelector"):
        return own or inner
    added = {key: metadata.get("name") or "" for key, is_name in _OWN_LABELS.items() if is_name}
    return {**added, **inner}


def check_cron_job(data: Data, features: Features) -> Violations:
    metadata, spec = data.get("metadata") or {}, data.get("spec") or {}
    name = metadata.get("name") or ""
    if length_of(name) > _MOST_CRON_NAME:
        yield invalid("metadata.name", name, f"must be no more than {_MOST_CRON_NAME} characters")
    scope = Scope(features=features)
    yield from check_struct(spec, "batch.CronJobSpec", "spec", scope, _TABLE)
    template, path = (spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec"
    yield from _check_job_spec(template, path, features)
    if template.get("selector") is not None:
        yield invalid(f"{path}.selector", template["selector"], "`selector` will be auto-generated")
    if template.get("manualSelector"):
        yield not_supported(f"{path}.manualSelector", "true", ("nil", "false"))


def _check_job_spec(spec: Data, path: str, features: Features) -> Violations:
    yield from check_struct(spec, "batch.JobSpec", path, Scope(features=features), _TABLE)
    template = spec.get("template") or {}
    yield from check_pod_template(template, f"{path}.template", features)
    policy, where = (
        (template.get("spec") or {}).get("restartPolicy") or "Always",
        f"{path}.template.spec.restartPolicy",
    )
    if policy == "Always":
        yield required(where, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield not_supported(where, policy, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        yield invalid(where, policy, 'only "Never" is supported when podFailurePolicy is specified')


def _check_indexes(data: Data, path: str, scope: Scope) -> Violations:
    count, failed = data.get("completions"), data.get("maxFailedIndexes")
    per_index, parallel = data.get("backoffLimitPerIndex"), data.get("parallelism")
    if failed is not None and per_index is None:
        yield required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if (data.get("completionMode") or "NonIndexed") == "NonIndexed" and data.get(
        "completionMode"
    ) != "":
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if data.get(name) is not None:
                yield invalid(f"{path}.{name}", int(data[name]), "requires indexed completion mode")
    if data.get("completionMode") != "Indexed":
        return
    if count is None:
        yield required(f"{path}.completions", "when completion mode is Indexed")
    if parallel is not None and parallel > _MOST_INDEXES:
        yield invalid(
            f"{path}.parallelism", int(parallel), f"must be less than or equal to {_MOST_INDEXES}"
        )
    if failed is not None and ((count is not None and failed > count) or failed > _MOST_INDEXES):
        yield invalid(
            f"{path}.maxFailedIndexes", int(failed), "must be less than or equal to completions"
        )
    # The Job's status lists failed indexes, so their number is limited for very large Jobs.
    if count is not None and count > _MOST_INDEXES and per_index is not None:
        if failed is None:
            yield required(
                f"{path}.maxFailedIndexes",
                f"must be specified when completions is above {_MOST_INDEXES}",
            )
        elif failed > _MOST_FAILED_OF_MANY:
            yield invalid(
                f"{path}.maxFailedIndexes", int(failed), f"must be at most {_MOST_FAILED_OF_MANY}"
            )
        if parallel is not None and parallel > _MOST_PARALLEL_OF_MANY:
            yield invalid(
                f"{path}.parallelism", int(parallel), f"must be at most {_MOST_PARALLEL_OF_MANY}"
            )


def _check_manager(value: Any, path: str, scope: Scope) -> Violations:
    if value is None:
        return
    domain, slash, rest = value.partition("/")
    if not value:
        yield required(path)
    elif not (domain and slash and rest):
        yield invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from each_invalid(path, domain, dns_subdomain(domain))
        if not _PATH.fullmatch(rest):
            yield invalid(path, rest, "Invalid path")
    if length_of(value) > _MOST_MANAGER:
        yield too_long(path, _MOST_MANAGER)


def _check_failure_policy(data: Data, path: str, scope: Scope) -> Violations:
    policy, path = data.get("podFailurePolicy"), f"{path}.podFailurePolicy"
    if policy is None:
        return
    rules, spec = policy.get("rules") or (), (data.get("template") or {}).get("spec") or {}
    names = {
        item.get("name") or ""
        for field in ("containers", "initContainers")
        for item, _ in each(spec.get(field), "")
    }
    if len(rules) > _MOST_RULES:
        yield too_many(f"{path}.rules", len(rules), _MOST_RULES)
    for rule, where in each(rules, f"{path}.rules"):
        yield from _check_action(rule, where, data)
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
        if codes is not None:
            yield from _check_codes(codes, f"{where}.onExitCodes", names)
        if len(conditions) > _MOST_RULES:
            yield too_many(f"{where}.onPodConditions", len(conditions), _MOST_RULES)
        for item, there in each(conditions, f"{where}.onPodConditions"):
            yield from each_invalid(
                f"{there}.type", item.get("type") or "", qualified_name(item.get("type") or "")
            )
            yield from _STATUS(item.get("status"), f"{there}.status", scope)
        if (codes is None) == (not conditions):
            yield invalid(
                where, None, "specifying one of OnExitCodes and OnPodConditions is required"
            )


_STATUS: Final = choice("False", "True", "Unknown")


def _check_action(rule: Data, path: str, spec: Data) -> Violations:
    action, path = rule.get("action") or "", f"{path}.action"
    if not action:
        yield required(path)
    elif action not in _ACTIONS:
        yield not_supported(path, action, _ACTIONS)
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        yield invalid(path, action, "requires the backoffLimitPerIndex to be set")


def _check_codes(data: Data, path: str, names: set[str]) -> Violations:
    operator, values, name = (
        data.get("operator") or "",
        data.get("values") or (),
        data.get("containerName"),
    )
    if not operator:
        yield required(f"{path}.operator")
    elif operator not in ("In", "NotIn"):
        yield not_supported(f"{path}.operator", operator, ("In", "NotIn"))
    if name is not None and name not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        yield invalid(f"{path}.containerName", name, detail)
    if not values:
        yield invalid(f"{path}.values", [], "at least one value is required")
    elif len(values) > _MOST_CODES:
        yield too_many(f"{path}.values", len(values), _MOST_CODES)
    for index, code in enumerate(values):
        if operator == "In" and code == 0:
            yield invalid(f"{path}.values[{index}]", 0, "must not be 0 for the In operator")
        if code in values[:index]:
            yield duplicate(f"{path}.values[{index}]", int(code))
    if list(values) != sorted(values):
        yield invalid(f"{path}.values", list(values), "must be ordered")


def _check_success_policy(data: Data, path: str, scope: Scope) -> Violations:
    policy, path = data.get("successPolicy"), f"{path}.successPolicy"
    if policy is None:
        return
    if data.get("completionMode") != "Indexed":
        yield invalid(path, None, "requires indexed completion mode")
        return
    rules = policy.get("rules") or ()
    if not rules:
        yield required(
            f"{path}.rules",
            "at least one rules must be specified when the successPolicy is specified",
        )
    if len(rules) > _MOST_RULES:
        yield too_many(f"{path}.rules", len(rules), _MOST_RULES)
    for rule, where in each(rules, f"{path}.rules"):
        yield from _check_success_rule(rule, where, data.get("completions"))


def _check_success_rule(rule: Data, path: str, completions: int | None) -> Violations:
    count, text = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and text is None:
        yield required(path, "at least one of succeededCount or succeededIndexes must be specified")
    if completions is None:  # the server crashes in this case
        return
    total = 0
    if text is not None:
        if length_of(text) > _MOST_INDEX_BYTES:
            yield too_long(f"{path}.succeededIndexes", _MOST_INDEX_BYTES)
        found = _count_indexes(text, int(completions))
        if found is None:
            yield invalid(f"{path}.succeededIndexes", text, "error parsing succeededIndexes")
        total = found or 0
    if count is None:
        return
    where = f"{path}.succeededCount"
    if count < 0:
        yield invalid(where, int(count), "must be greater than or equal to 0")
    if count > completions or (text is not None and count > total):
        yield invalid(where, int(count), "must be less than or equal to the number of indexes")


def _count_indexes(text: str, completions: int) -> int | None:
    """Return the number of indexes in a text such as `1,3-5`, or None if it's invalid."""
    total, last = 0, None
    for part in text.split(",") if text else ():
        ends = part.split("-")
        if len(ends) > 2 or not all(_INTEGER.fullmatch(end) for end in ends):
            return None
        first, final = int(ends[0]), int(ends[-1])
        if (
            max(first, final) >= completions
            or (len(ends) == 2 and first >= final)
            or (last is not None and last >= first)
        ):
            return None
        total, last = total + final - first + 1, final
    return total


def _check_replacement(data: Data, path: str, scope: Scope) -> Violations:
    policy = data.get("podReplacementPolicy")
    known = (
        ("Failed",)
        if data.get("podFailurePolicy") is not None
        else ("Failed", "TerminatingOrFailed")
    )
    if policy is not None and policy not in known:
        yield not_supported(f"{path}.podReplacementPolicy", policy, known)


def _check_schedule(value: Any, path: str, scope: Scope) -> Violations:
    if not value:
        yield required(path)
        return
    fault = schedule_fault(value)
    if fault:
        yield invalid(path, value, fault)
    if "TZ" in value and not fault:
        yield invalid(
            path, value, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        )


def _check_zone(value: Any, path: str, scope: Scope) -> Violations:
    fault = time_zone_fault(value) if value is not None else ""
    if fault:
        yield invalid(path, value, fault)


def _nothing_inside(data: Data, scope: Scope) -> Collection[str]:
    """Skip template, selector, and policies, which are checked separately."""
    return ()


_TABLE: Final[Table] = {
    **TABLE,
    "batch.JobSpec": StructRules(
        fields={
            **dict.fromkeys(
                (
                    "parallelism",
                    "completions",
                    "activeDeadlineSeconds",
                    "backoffLimit",
                    "ttlSecondsAfterFinished",
                    "backoffLimitPerIndex",
                    "maxFailedIndexes",
                ),
                not_negative,
            ),
            "managedBy": _check_manager,
            "completionMode": pointed_choice("NonIndexed", "Indexed"),
        },
        whole=(_check_indexes, _check_failure_policy, _check_success_policy, _check_replacement),
        into=_nothing_inside,
    ),
    "batch.CronJobSpec": StructRules(
        fields={
            "schedule": _check_schedule,
            "startingDeadlineSeconds": not_negative,
            "timeZone": _check_zone,
            "concurrencyPolicy": choice("Allow", "Forbid", "Replace"),
            "successfulJobsHistoryLimit": not_negative,
            "failedJobsHistoryLimit": not_negative,
        },
        into=_nothing_inside,
    ),
}
