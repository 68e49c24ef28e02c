"""Objects and pods that a ValidatingAdmissionPolicy denies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.plain_values import texts
from dra_planner.manifests import Manifests
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.plan.blockers.policies.evaluation import PolicyAnswer, PolicyEvaluation
from dra_planner.plan.blockers.policies.matching import NAME_LABEL, matches
from dra_planner.plan.blockers.policies.requests import AdmissionRequest, requests_of

CODE: Final = "admission-policy-denies"


def find_denials(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield the objects, pods, and claims that bound policies with the Deny action reject, or might
    reject.
    """
    manifests = situation.manifests
    if not manifests.admission.policies:
        return
    requests = tuple(requests_of(manifests))
    for policy in manifests.admission.policies:
        spec = policy.data.get("spec")
        bindings = list(_bindings(policy, manifests))
        if not isinstance(spec, Mapping) or not bindings:
            continue
        for request in requests:
            answer = _answer(spec, bindings, request, situation)
            if answer.result != "allowed" and (request.workloads or answer.result == "denied"):
                yield _blocker(policy, request, answer)


def _bindings(policy: KubernetesObject, manifests: Manifests) -> Iterator[Mapping[str, Any]]:
    """Yield the specs of a policy's bindings that deny."""
    for each in manifests.admission.bindings:
        spec = each.data.get("spec")
        if (
            isinstance(spec, Mapping)
            and spec.get("policyName") == policy.name
            and "Deny" in texts(spec.get("validationActions"))
        ):
            yield spec


def _answer(
    spec: Mapping[str, Any],
    bindings: list[Mapping[str, Any]],
    request: AdmissionRequest,
    situation: ClusterSituation,
) -> PolicyAnswer:
    found = situation.manifests.namespaces.get(request.namespace)
    labels = None if found is None else found.labels
    applies = [matches(spec.get("matchConstraints"), request, labels)]
    bound = [matches(each.get("matchResources"), request, labels) for each in bindings]
    applies.append(True if True in bound else None if None in bound else False)
    if False in applies:
        return PolicyAnswer("allowed")
    metadata = None
    if found is not None:
        name = request.namespace
        metadata = {"name": name, "labels": {**found.labels, NAME_LABEL: name}}
    answer = PolicyEvaluation(spec, request, metadata, situation.features).answer()
    if answer.result == "denied" and None in applies:
        return PolicyAnswer(
            "unknown",
            (
                f'it depends on the labels of namespace "{request.namespace}", which isn\'t in the '
                "manifests"
            ),
        )
    return answer


def _blocker(policy: KubernetesObject, request: AdmissionRequest, answer: PolicyAnswer) -> Blocker:
    title = f'ValidatingAdmissionPolicy "{policy.name}"'
    if answer.result == "denied":
        text = f"{title} denies {request.title}: {answer.message}"
        fix = "change the object to satisfy the policy, or change the policy"
    else:
        text = (
            f"the plan can't tell whether {title} denies {request.title}, because {answer.message}"
        )
        fix = "check the object against the policy in the cluster (kubectl apply --dry-run=server)"
    return Blocker(
        code=CODE,
        message=text,
        fix=fix,
        place=request.place,
        workloads=request.workloads,
        verdict="does-not-fit" if answer.result == "denied" else "cannot-tell",
    )
