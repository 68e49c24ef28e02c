"""Check the guards of a plan in a running cluster: their policies, and the pods that must follow
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.clouds import POOL
from dra_planner.documents.snapshot import GUARD_OWNERS, GUARD_POLICIES
from dra_planner.manifests import BoundPod, Manifests
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import read_objects
from dra_planner.model import SPREAD, Guards, WorkloadRef, templates_in
from dra_planner.offers import NodeDifference
from dra_planner.planfile import placement_policies, policy_name
from dra_planner.records import equality
from dra_planner.releases import has_mutating_policies
from dra_planner.sources import Source
from dra_planner.wording import counted

POLICY_KINDS: Final = ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")
Policies = Mapping[tuple[str, str], Mapping[str, Any]]
"""The `spec` of admission policies and bindings of a cluster, by kind and name."""


def guard_kinds(minor: int) -> tuple[str, ...]:
    """Return the kinds that a snapshot needs for checking guards, as kubectl names them."""
    return ("pods", *GUARD_OWNERS, *(GUARD_POLICIES if has_mutating_policies(minor) else ()))


def read_policies(sources: Iterable[Source]) -> Policies:
    """Return the admission policies and bindings of a snapshot."""
    documents, _ = read_documents(each for each in sources if POLICY_KINDS[0] in each.text)
    return {
        (each.kind, each.name): each.data.get("spec") or {}
        for each in read_objects(documents)
        if each.kind in POLICY_KINDS
    }


@equality(unhashed=("unplanned",))
class GuardChecks(Struct, frozen=True, kw_only=True):
    """Differences between the guards of a plan and a cluster.

    `unplanned` contains workloads with claims that the plan doesn't contain, and their pods.
    Without a rule, these pods can use any pool. `unknown` states the facts that the snapshot
    doesn't contain, or is "".
    """

    differences: tuple[NodeDifference, ...] = ()
    unplanned: Mapping[str, int] = {}
    unknown: str = ""


def verify_guards(
    guards: Guards,
    snapshot: Manifests,
    planned: Iterable[WorkloadRef],
    policies: Policies | None,
) -> GuardChecks:
    """Return where a cluster differs from the guards of its plan.

    `policies` is None if the cluster is too old for admission policies. In that case, the pods
    themselves must have the guards.
    """
    pods = [
        pod
        for pod in (*snapshot.bound_pods, *snapshot.waiting_pods)
        if pod.spec.resource_claims and not pod.going
    ]
    nodes = {node.name: node.meta.labels.get(POOL, "") for node in snapshot.nodes}
    differences = list(_pod_differences(guards, pods, nodes, patches=policies is None))
    unknown = ""
    if policies is not None and guards.rules:
        if policies:
            differences += _policy_differences(guards, policies)
        else:
            unknown = (
                "the snapshot doesn't contain admission policies, so it's unknown whether the "
                "cluster has the guards. Take the snapshot with --context, or add "
                "mutatingadmissionpolicies,mutatingadmissionpolicybindings to `kubectl get`"
            )
    return GuardChecks(
        differences=tuple(sorted(differences)),
        unplanned=_unplanned(guards, pods, frozenset(planned)),
        unknown=unknown,
    )


def _policy_differences(guards: Guards, policies: Policies) -> Iterator[NodeDifference]:
    """Yield the policies and bindings that are missing or differ from the plan."""
    for wanted in placement_policies(guards):
        kind, name = wanted["kind"], wanted["metadata"]["name"]
        found = policies.get((kind, name))
        if found is None:
            yield _difference(guards, f"{kind} {name}", "", "present", "")
            continue
        for key in _changed(wanted["spec"], found):
            yield _difference(guards, f"{kind} {name}", f"spec.{key}", "as planned", "changed")


def _changed(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Return the fields of a policy that differ, ignoring fields that the API server adds."""
    return [key for key in sorted(wanted) if not _holds(found.get(key), wanted[key])]


def _holds(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and _holds(found[key], value) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(map(_holds, found, wanted))
        )
    return bool(found == wanted)


def _pod_differences(
    guards: Guards, pods: Iterable[BoundPod], nodes: Mapping[str, str], *, patches: bool
) -> Iterator[NodeDifference]:
    """Yield workloads with pods on other pools, and with pods that lack their guard.

    If policies add guards, a running pod on its pool is correct, because policies only change new
    pods.
    """
    steered: dict[tuple[str, str, str], list[BoundPod]] = defaultdict(list)
    for pod in pods:
        places = _places(guards, pod)
        # if there are several rules, the pod doesn't show to which part of the workload it belongs
        if len(places) == 1:
            steered[(*places[0], _maker(pod))].append(pod)
    for (pool, spread, maker), members in sorted(steered.items()):
        elsewhere: dict[str, int] = defaultdict(int)
        for pod in members:
            there = nodes.get(pod.node_name, pool) if pod.node_name else pool
            if there != pool:
                elsewhere[there or "no pool"] += 1
        of_all = f"of {counted(len(members), 'pod')}"
        for there, count in sorted(elsewhere.items()):
            yield NodeDifference(
                pool, "", "guard", maker, "pool", pool, f"{there}: {count} {of_all}"
            )
        new = members if patches else [pod for pod in members if not pod.node_name]
        bare = sum(pod.spec.node_selector.get(POOL) != pool for pod in new)
        apart = sum(pod.meta.labels.get(SPREAD, "") != spread for pod in new)
        for at, label, lacking in (
            ("nodeSelector", f"{POOL}={pool}", bare),
            ("labels", f"{SPREAD}={spread}", apart if spread else 0),
        ):
            if lacking:
                yield NodeDifference(
                    pool, "", "guard", maker, at, label, f"missing: {lacking} {of_all}"
                )


def _unplanned(
    guards: Guards, pods: Iterable[BoundPod], planned: frozenset[WorkloadRef]
) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for pod in pods:
        if pod.owner not in planned and not _places(guards, pod) and not _is_planned(pod, planned):
            found[_maker(pod)] += 1
    return dict(sorted(found.items()))


def _is_planned(pod: BoundPod, planned: frozenset[WorkloadRef]) -> bool:
    return WorkloadRef("Pod", pod.meta.namespace, pod.meta.name) in planned


def _places(guards: Guards, pod: BoundPod) -> list[tuple[str, str]]:
    """Return the pools to which rules send a pod.

    Pools over which it spreads evenly have a common name.
    """
    templates = templates_in(pod.meta.namespace, pod.spec)
    owner = pod.owner or WorkloadRef("Pod", pod.meta.namespace, pod.meta.name)
    return sorted(
        {
            (rule.pool, rule.spread)
            for rule in guards.rules
            if any(key in rule.templates for key in templates)
            or any(ref == owner for ref, _ in rule.workloads)
        }
    )


def _maker(pod: BoundPod) -> str:
    return str(pod.owner or WorkloadRef("Pod", pod.meta.namespace, pod.meta.name))


def _difference(
    guards: Guards, subject: str, at: str, predicted: str, observed: str
) -> NodeDifference:
    pool = next((each.pool for each in guards.rules if subject.endswith(policy_name(each))), "")
    return NodeDifference(pool, "", "guard", subject, at, predicted, observed)
