"""MutatingAdmissionPolicies that apply guards to pods when they are created, so that no manifest
changes.

There is one policy for each rule. It adds the pool's label to the node selector and, if pods of the
rule spread evenly, a label and a spread constraint. If the guards pack, it adds a preference for
the node with the most pods. The API is stable and enabled in Kubernetes 1.36 and later.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dra_planner.clouds import POOL
from dra_planner.model import Guards, PodSetKey, SteerRule

PREFIX: Final = "pulumi-dra-steer-"
_API: Final = "admissionregistration.k8s.io/v1"
_HASH: Final = "pod-template-hash"
_JOB_SET: Final = "jobset.sigs.k8s.io/jobset-name"
_JOB_SET_PODS: Final = "jobset.sigs.k8s.io/replicatedjob-name"
_LEADER_WORKERS: Final = "leaderworkerset.sigs.k8s.io/name"
_NAMESPACE: Final = "kubernetes.io/metadata.name"
_AFFINITY: Final = "/spec/affinity"
_POD_AFFINITY: Final = f"{_AFFINITY}/podAffinity"
_SPREADS: Final = "object.spec.topologySpreadConstraints"
_PREFERRED: Final = f"{_POD_AFFINITY}/preferredDuringSchedulingIgnoredDuringExecution"


def placement_policies(guards: Guards) -> tuple[dict[str, Any], ...]:
    """Return a MutatingAdmissionPolicy and its binding for each rule, in the Kubernetes
    API's form.
    """
    return tuple(
        document for rule in guards.rules for document in _policy(rule, packs=guards.packs)
    )


def policy_name(rule: SteerRule) -> str:
    """Return the name of a rule's policy and binding."""
    return f"{PREFIX}{rule.pool}.{rule.spread}" if rule.spread else f"{PREFIX}{rule.pool}"


def _policy(rule: SteerRule, *, packs: bool) -> Iterator[dict[str, Any]]:
    name = policy_name(rule)
    namespaces = sorted(
        {key.namespace for key in rule.templates} | {ref.namespace for ref, _ in rule.workloads}
    )
    selector = {"matchExpressions": [{"key": _NAMESPACE, "operator": "In", "values": namespaces}]}
    mutations = [steering(rule.pool)]
    if rule.spread:
        mutations += [labelling(rule.labels), spreading(rule.labels)]
    elif packs:
        mutations += [packing(), unspreading()]
    yield {
        "apiVersion": _API,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {
                "namespaceSelector": selector,
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["pods"],
                    }
                ],
            },
            "matchConditions": [{"name": "pods-of-the-plan", "expression": condition(rule)}],
            "mutations": [
                {"patchType": "JSONPatch", "jsonPatch": {"expression": each}} for each in mutations
            ],
        },
    }
    yield {
        "apiVersion": _API,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name},
    }


# -- which pods


def condition(rule: SteerRule) -> str:
    """Return the CEL expression that is true for the pods of a rule."""
    terms = [*_template_terms(rule), *_workload_terms(rule.workloads)]
    return " || ".join(f"({term})" for term in terms) or "false"


def _template_terms(rule: SteerRule) -> Iterator[str]:
    if rule.templates:
        keys = _texts(f"{key.namespace}/{key.name}" for key in rule.templates)
        yield (
            "has(object.spec.resourceClaims) && object.spec.resourceClaims.exists(claim, "
            "has(claim.resourceClaimTemplateName) && "
            f'(request.namespace + "/" + claim.resourceClaimTemplateName) in {keys})'
        )


def _workload_terms(workloads: Iterable[PodSetKey]) -> Iterator[str]:
    """Yield a term for each way in which pods refer to their workload."""
    by_kind: dict[str, list[PodSetKey]] = {}
    for key in workloads:
        by_kind.setdefault(key[0].kind, []).append(key)
    owners = {"Deployment", "CronJob", "JobSet", "LeaderWorkerSet", "Pod"}
    direct = [ref for kind, keys in by_kind.items() if kind not in owners for ref, _ in keys]
    if direct:
        names = _texts(f"{ref.kind}/{ref.namespace}/{ref.name}" for ref in direct)
        yield _owned(f'(owner.kind + "/" + request.namespace + "/" + owner.name) in {names}')
    for kind, keys in sorted(by_kind.items()):
        names = _texts(f"{ref.namespace}/{ref.name}" for ref, _ in keys)
        match kind:
            # the ReplicaSet is named after the Deployment and the hash of its template
            case "Deployment":
                suffix = f"size(object.metadata.labels['{_HASH}']) - 1"
                cut = f"owner.name.substring(0, size(owner.name) - {suffix})"
                ends = f"owner.name.endsWith('-' + object.metadata.labels['{_HASH}'])"
                own = (
                    f'owner.kind == "ReplicaSet" && {ends} && (request.namespace + "/" + {cut}) '
                    f"in {names}"
                )
                yield f"{_has_label(_HASH)} && {_owned(own)}"
            case "CronJob":  # the Job is named after the CronJob and the minute of its start
                cut = "owner.name.substring(0, owner.name.lastIndexOf('-'))"
                own = 'owner.kind == "Job" && owner.name.matches("^.+-[0-9]+$")'
                yield _owned(f'{own} && (request.namespace + "/" + {cut}) in {names}')
            case "JobSet":
                both = _texts(f"{ref.namespace}/{ref.name}/{pod_set}" for ref, pod_set in keys)
                label = (
                    f"object.metadata.labels['{_JOB_SET}'] + \"/\" + "
                    f"object.metadata.labels['{_JOB_SET_PODS}']"
                )
                has = f"{_has_label(_JOB_SET)} && '{_JOB_SET_PODS}' in object.metadata.labels"
                yield f'{has} && (request.namespace + "/" + {label}) in {both}'
            case "LeaderWorkerSet":
                label = f"object.metadata.labels['{_LEADER_WORKERS}']"
                yield (
                    f'{_has_label(_LEADER_WORKERS)} && (request.namespace + "/" + {label}) in '
                    f"{names}"
                )
            case "Pod":
                yield (
                    'has(object.metadata.name) && (request.namespace + "/" + '
                    f"object.metadata.name) in {names}"
                )
            case _:
                pass


def _owned(term: str) -> str:
    """Return the condition that the pod's controller matches a term about `owner`."""
    return (
        "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(owner, "
        f"has(owner.controller) && owner.controller && {term})"
    )


def _has_label(key: str) -> str:
    return f"has(object.metadata.labels) && '{key}' in object.metadata.labels"


def _texts(values: Iterable[str]) -> str:
    return json.dumps(sorted(set(values)))


# -- what changes


def steering(pool: str) -> str:
    """Return the JSON patch in CEL that restricts a pod to the nodes of a pool."""
    return _adding("/spec/nodeSelector", "has(object.spec.nodeSelector)", {POOL: pool})


def labelling(labels: Mapping[str, str]) -> str:
    """Return the JSON patch in CEL that adds labels to a pod."""
    return _adding("/metadata/labels", "has(object.metadata.labels)", labels)


def _adding(path: str, is_there: str, values: Mapping[str, str]) -> str:
    """Return the JSON patch in CEL that adds entries to a mapping, or the mapping."""
    each = ", ".join(
        f'JSONPatch{{op: "add", path: "{path}/{_pointer(key)}", value: {json.dumps(value)}}}'
        for key, value in values.items()
    )
    return f'{is_there} ? [{each}] : [JSONPatch{{op: "add", path: "{path}", value: {json.dumps(values)}}}]'


def _pointer(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def spreading(labels: Mapping[str, str]) -> str:
    """Return the JSON patch in CEL with which pods with these labels spread evenly over their
    pool's nodes. Nodes that don't accept new pods are ignored.
    """
    selected = ", ".join(f"{json.dumps(key)}: dyn({json.dumps(labels[key])})" for key in labels)
    constraint = (
        '{"maxSkew": dyn(1), "topologyKey": dyn("kubernetes.io/hostname"), "whenUnsatisfiable": '
        'dyn("DoNotSchedule"), "nodeTaintsPolicy": dyn("Honor"), '
        f'"labelSelector": dyn({{"matchLabels": dyn({{{selected}}})}})}}'
    )
    return (
        f'has({_SPREADS}) ? [JSONPatch{{op: "add", path: "/spec/topologySpreadConstraints/-", '
        f"value: {constraint}}}] : "
        f'[JSONPatch{{op: "add", path: "/spec/topologySpreadConstraints", value: [{constraint}]}}]'
    )


def packing() -> str:
    """Return the JSON patch in CEL with which a pod prefers the node with the most pods.

    Values are plain maps, because the API server of 1.36.3 aborts a request in which a list
    contains values of type `Object`.
    """
    term = (
        '{"weight": dyn(100), "podAffinityTerm": dyn({"topologyKey": '
        'dyn("kubernetes.io/hostname"), '
        '"labelSelector": dyn({}), "namespaceSelector": dyn({})})}'
    )
    has_affinity = "has(object.spec.affinity)"
    has_pods = f"{has_affinity} && has(object.spec.affinity.podAffinity)"
    has_list = (
        f"{has_pods} && "
        "has(object.spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution)"
    )
    return (
        f'({has_affinity} ? [] : [JSONPatch{{op: "add", path: "{_AFFINITY}", value: {{}}}}]) + '
        f'({has_pods} ? [] : [JSONPatch{{op: "add", path: "{_POD_AFFINITY}", value: {{}}}}]) + '
        f'({has_list} ? [JSONPatch{{op: "add", path: "{_PREFERRED}/-", value: {term}}}] : '
        f'[JSONPatch{{op: "add", path: "{_PREFERRED}", value: [{term}]}}])'
    )


def unspreading() -> str:
    """Return the JSON patch in CEL that replaces the default spread with a constraint for which all
    nodes of the pool are equal.
    """
    constraint = (
        f'{{"maxSkew": dyn(1), "topologyKey": dyn("{POOL}"), "whenUnsatisfiable": '
        'dyn("ScheduleAnyway")}'
    )
    return (
        f"has({_SPREADS}) && size({_SPREADS}) > 0 ? [] : "
        f'[JSONPatch{{op: "add", path: "/spec/topologySpreadConstraints", value: [{constraint}]}}]'
    )
