"""Policies and webhooks that change or reject pods, and that aren't evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.plain_values import blocks
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.model import WorkloadRef
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.plan.blockers.policies.evaluation import PolicyEvaluation
from dra_planner.plan.blockers.policies.matching import matches
from dra_planner.plan.blockers.policies.requests import AdmissionRequest, requests_of
from dra_planner.wording import counted

_OWN: Final = "pulumi-dra-"
"""Prefix of policies that are guards of plans. Plans evaluate them."""
_ENGINES: Final = ("kyverno.io", "policies.kyverno.io", "constraints.gatekeeper.sh")
_WEBHOOKS: Final = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_FEW: Final = 3


def find_unevaluated_policies(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield MutatingAdmissionPolicies that apply to pods, and as facts webhooks and policies of
    other engines.
    """
    admission = situation.manifests.admission
    if not admission.others:
        return
    pods = [
        each
        for each in requests_of(situation.manifests)
        if each.resource == "pods" and each.workloads
    ]
    bindings = [
        spec
        for each in admission.others
        if each.kind == "MutatingAdmissionPolicyBinding"
        and isinstance(spec := each.data.get("spec"), Mapping)
    ]
    for each in admission.others:
        if each.kind == "MutatingAdmissionPolicy":
            bound = [spec for spec in bindings if spec.get("policyName") == each.name]
            if bound and not each.name.startswith(_OWN):
                yield from _of_policy(each, bound, pods, situation)
        elif each.kind in _WEBHOOKS:
            yield from _of_webhooks(each, pods, situation)
        elif each.group in _ENGINES and pods:
            text = (
                f"{each.kind} {each.name} may change or reject pods, but the plan doesn't evaluate "
                "it"
            )
            yield fact(text, place=each.place)


def _of_policy(
    policy: KubernetesObject,
    bindings: list[Mapping[str, Any]],
    pods: list[AdmissionRequest],
    situation: ClusterSituation,
) -> Iterator[Blocker]:
    spec = policy.data.get("spec")
    if not isinstance(spec, Mapping):
        return
    refs: dict[WorkloadRef, None] = {}
    for each in pods:
        labels = _labels(each, situation)
        bound = [matches(binding.get("matchResources"), each, labels) for binding in bindings]
        is_bound = any(applies is not False for applies in bound)
        if is_bound and matches(spec.get("matchConstraints"), each, labels) is not False:
            evaluation = PolicyEvaluation(spec, each, None, situation.features)
            if evaluation.applies() is not False:
                refs |= dict.fromkeys(each.workloads)
    if refs:
        yield Blocker(
            code="object-not-read",
            message=f"MutatingAdmissionPolicy {policy.name} changes the pods of {_named(refs)} "
            "when they're created, but the plan doesn't evaluate it",
            fix="copy the policy's changes to the pod templates",
            place=policy.place,
            workloads=tuple(refs),
            verdict="cannot-tell",
        )


def _of_webhooks(
    item: KubernetesObject, pods: list[AdmissionRequest], situation: ClusterSituation
) -> Iterator[Blocker]:
    refs: dict[WorkloadRef, None] = {}
    for webhook in blocks(item.data, "webhooks"):
        constraints = {**webhook, "resourceRules": webhook.get("rules")}
        for each in pods:
            if matches(constraints, each, _labels(each, situation)) is not False:
                refs |= dict.fromkeys(each.workloads)
    if refs:
        verb = "change" if item.kind.startswith("Mutating") else "reject"
        text = (
            f"{item.kind} {item.name} may {verb} the pods of {_named(refs)}, but the plan "
            "doesn't evaluate it"
        )
        yield fact(text, "", *refs, place=item.place)


def _labels(request: AdmissionRequest, situation: ClusterSituation) -> Mapping[str, str] | None:
    found = situation.manifests.namespaces.get(request.namespace)
    return None if found is None else found.labels


def _named(refs: Mapping[WorkloadRef, None]) -> str:
    shown = ", ".join(map(str, list(refs)[:_FEW]))
    more = len(refs) - _FEW
    return f"{shown}, and {counted(more, 'other workload')}" if more > 0 else shown
