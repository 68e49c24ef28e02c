"""Plan a running cluster, and report the differences from a real control plane, with their
reasons.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import PodQuotas, Verdict, WorkloadRef
from dra_planner.plan import Plan, PlanRequest, make_plan, read_cluster
from dra_planner.plan.cluster.snapshot_plan import ReadCluster
from dra_planner.plan.judgement.observed_nodes import judge_outcome, size_workload
from dra_planner.plan.model import PlannedWorkload
from dra_planner.simulation import (
    ArrivalOrder,
    OrderName,
    SimulationOutcome,
    Simulator,
    observed_nodes,
)
from dra_planner.sizing import WorkloadSize
from dra_planner.sources import Source

Json = dict[str, Any]
SEEDS: Final = 60
NO_PODS: Final[Mapping[str, Any]] = {"placed": 0, "pending": 0, "nodes": {}}

REASONS: Final[Mapping[str, str]] = {
    "chance": "Nodes that score alike, pods that are about equally old, or moments at which pods "
    "get their claims, become ready, and end: one of the seeds comes to the same.",
    "cannot-tell": "The plan says that it cannot be told.",
    "daemon-set-under-a-quota": "A DaemonSet whose quota doesn't admit a pod on each node, also "
    "because its rollout has deleted one first: it doesn't fit, and the plan doesn't simulate which "
    "node has none.",
    "who-comes-first": "Several workloads were kept out by a ResourceQuota: which of them is let "
    "in next is decided by "
    "whose controller tries again first. One of the seeds comes to the same.",
    "how-often": "Pods that gave way were made again, and gave way again: as often as they came "
    "first, also while another workload was rolled out.",
    "who-takes-what-is-freed": "Several pods waited for the same devices: these are free a moment "
    "after the pod that "
    "held them, and who is tried in that moment comes later than others. One of the orders comes "
    "to the same.",
    "old-pods-again": "Pods of a rollout's earlier template were preempted, and their ReplicaSet "
    "created them again. The plan counts only pods of the current template.",
    "paused-in-a-rollout": "A Deployment was paused during its rollout. Its ReplicaSets keep the "
    "rollout's additional pods, which the plan doesn't count, because they stay pending.",
    "rollout-under-a-quota": "A ResourceQuota rejects pods of a Deployment with several active "
    "ReplicaSets. The retries of its ReplicaSets determine which of them create the pending pods.",
    "kept-out-by-a-quota": "Another workload of the cluster doesn't have any pods, because a "
    "ResourceQuota rejects them. The plan counts them as pending.",
    "scaled-in-a-rollout": "A Deployment was scaled down during its rollout. Its controller deletes "
    "pending pods of both templates, but the plan keeps those of the current template.",
    "paused": "A new Deployment that is paused has no pods yet; the plan counts them as they will "
    "run, and says so.",
    "unexplained": "Plan and control plane disagree.",
}
"""Why a plan differs from what became of its cluster."""


class PodPositions(Struct, frozen=True):
    """The positions of pods: a row for each applied workload and for each other workload, and the
    preempted pods by workload.
    """

    rows: Mapping[str, Json]
    beside: Mapping[str, Json] = {}
    preempted: Mapping[str, int] = {}


class Difference(Struct, frozen=True):
    """One thing that became otherwise, and the reason, of `REASONS`."""

    what: str
    reason: str


def source(name: str, documents: list[Json]) -> Source:
    return Source(name, "\n---\n".join(map(json.dumps, documents)))


def request(case: Json) -> PlanRequest:
    return PlanRequest(
        sources=(source("applied", case["applied"]),),
        observed=(source("cluster", case["cluster"]),),
    )


def applied(case: Json) -> Plan:
    return make_plan(request(case))


def placed(plan: Plan) -> dict[str, Json]:
    return {
        f"{each.workload.namespace}/{each.workload.name}": {
            "placed": each.placed,
            "pending": each.pending,
            "nodes": dict(each.placements),
        }
        for each in plan.workloads
    }


def differences(case: Json) -> list[Difference]:
    """Return the differences from the plan, with their reasons; an empty list if there are none."""
    paused = [each for each in case["applied"] if _is_new_and_paused(each, case)]
    if paused:
        names = [_full_name(each) for each in paused]
        what = f"{', '.join(names)} as they will run, no pods in fact"
        return [Difference(what, "paused"), *differences(_without_pods_of(paused, names, case))]
    plan, became = applied(case), _became(case)
    found = list(_verdict(plan, case))
    if _rows(plan) != became.rows:
        found += [Difference(_worded(_rows(plan), became.rows), _reason(case, plan, became))]
    elif plan.judgement.outcome is not None and _aside(
        read_cluster(request(case)), plan.judgement.outcome
    ) != (
        became.beside,
        became.preempted,
    ):
        theirs = PodPositions(
            _rows(plan), *_aside(read_cluster(request(case)), plan.judgement.outcome)
        )
        what = (
            f"{_worded(theirs.beside, became.beside)}; preempted {theirs.preempted}, "
            f"{became.preempted} in fact"
        )
        found += [Difference(what, _reason_aside(case, theirs, became))]
    return found


def _reason_aside(case: Json, theirs: PodPositions, became: PodPositions) -> str:
    if theirs.beside != became.beside and _are_old_pods_again(case, theirs, became):
        return "old-pods-again"
    if theirs.preempted == became.preempted and (known := _reason_of_counts(case, theirs, became)):
        return known
    if theirs.beside == became.beside and _is_preempted_in_between(case, theirs, became):
        return "how-often"
    if _comes_by_chance(case, became):
        return "chance"
    return _reason_of_others(case, became)


def _are_old_pods_again(case: Json, theirs: PodPositions, became: PodPositions) -> bool:
    """Return whether the only difference is that Deployments in a rollout have at most as many more
    pending pods as they have preempted pods.
    """
    rolled = _rolled_out(case)
    names = [name for name in became.beside if theirs.beside.get(name) != became.beside[name]]
    if (theirs.rows, theirs.preempted) != (became.rows, became.preempted) or not rolled >= {*names}:
        return False
    return theirs.beside.keys() == became.beside.keys() and all(
        theirs.beside[name]["nodes"] == became.beside[name]["nodes"]
        and 0
        < became.beside[name]["pending"] - theirs.beside[name]["pending"]
        <= became.preempted.get(name.partition("/")[2], 0)
        for name in names
    )


def _reason_of_counts(case: Json, theirs: PodPositions, became: PodPositions) -> str:
    """Return why only the numbers of other workloads' pending pods differ, or ""."""
    names = {
        name
        for name in {**theirs.beside, **became.beside}
        if theirs.beside.get(name) != became.beside.get(name)
    }
    pending = {
        name: [each.beside.get(name, NO_PODS) for each in (theirs, became)] for name in names
    }
    if any(planned["nodes"] != real["nodes"] for planned, real in pending.values()):
        return ""
    if names <= _paused(case["cluster"]) & _rolled_out(case) and all(
        planned["pending"] < real["pending"] for planned, real in pending.values()
    ):
        return "paused-in-a-rollout"
    limited = {
        each["metadata"].get("namespace", "default")
        for each in case["cluster"]
        if each["kind"] == "ResourceQuota"
    }
    if all(
        name not in became.beside and name.partition("/")[0] in limited and not planned["placed"]
        for name, (planned, _) in pending.items()
    ):
        return "kept-out-by-a-quota"
    return ""


def _paused(documents: list[Json]) -> set[str]:
    """Return the paused Deployments."""
    return {
        _full_name(each)
        for each in documents
        if each["kind"] == "Deployment" and each["spec"].get("paused")
    }


def _has_fewer_pending(plan: Plan, became: PodPositions, names: set[str]) -> bool:
    """Return whether these workloads have fewer pending pods than planned, on the same nodes."""
    rows = _rows(plan)
    return names <= rows.keys() & became.rows.keys() and all(
        rows[name]["nodes"] == became.rows[name]["nodes"]
        and became.rows[name]["pending"] < rows[name]["pending"]
        for name in names
    )


def _is_rollout_under_a_quota(case: Json, plan: Plan, became: PodPositions) -> bool:
    """Return whether only the numbers of pending pods differ, and only for Deployments with several
    active ReplicaSets whose pods exceed a quota.
    """
    different = _otherwise(plan, became)
    active = Counter(
        _owner_name(each)
        for each in case["cluster"]
        if each["kind"] == "ReplicaSet" and each["spec"]["replicas"]
    )
    rows = _rows(plan)
    return all(
        each is not None
        and active[_name(each.workload)] > 1
        and any(reason.code == "quota-exceeded" for reason in each.reasons)
        and rows[_name(each.workload)]["nodes"] == became.rows[_name(each.workload)]["nodes"]
        for each in different
    )


def _owner_name(document: Json) -> str:
    """Return the namespace and the name of an object's owner."""
    meta = document["metadata"]
    owners = [each["name"] for each in meta.get("ownerReferences", ())]
    return f"{meta.get('namespace', 'default')}/{next(iter(owners), '')}"


def _is_scaled_in_a_rollout(case: Json, plan: Plan, became: PodPositions) -> bool:
    """Return whether only Deployments that are scaled down in a rollout have fewer pending pods."""
    names = {_name(each.workload) for each in _otherwise(plan, became) if each is not None}
    before = _replicas(case["cluster"])
    scaled = {
        name for name, pods in _replicas(case["applied"]).items() if pods < before.get(name, 0)
    }
    return names <= scaled & _rolled_out(case) and _has_fewer_pending(plan, became, names)


def _replicas(documents: list[Json]) -> dict[str, int]:
    """Return the replicas of Deployments."""
    return {
        _full_name(each): each["spec"].get("replicas", 1)
        for each in documents
        if each["kind"] == "Deployment"
    }


def _full_name(document: Json) -> str:
    """Return the namespace and the name of an object."""
    meta = document["metadata"]
    return f"{meta.get('namespace', 'default')}/{meta['name']}"


def _rolled_out(case: Json) -> set[str]:
    """Return the Deployments of the cluster that are in a rollout."""
    return {
        _full_name(each)
        for each in case["cluster"]
        if each["kind"] == "Deployment"
        and each["status"].get("updatedReplicas", 0) < each["status"].get("replicas", 0)
    }


def _is_paused_in_a_rollout(case: Json, plan: Plan, became: PodPositions) -> bool:
    """Return whether the only difference is that paused Deployments have more pending pods."""
    rows, paused = _rows(plan), _paused(case["applied"])
    names = {name for name in {**rows, **became.rows} if rows.get(name) != became.rows.get(name)}
    return names <= paused & _rolled_out(case) & rows.keys() & became.rows.keys() and all(
        rows[name]["nodes"] == became.rows[name]["nodes"]
        and rows[name]["pending"] < became.rows[name]["pending"]
        for name in names
    )


def _is_preempted_in_between(case: Json, theirs: PodPositions, became: PodPositions) -> bool:
    """Return whether the same workloads are preempted, either in the plan or if pending pods are
    retried before their workload's document arrives.
    """
    wanted = became.rows, became.beside, became.preempted.keys()
    if (theirs.rows, theirs.beside, theirs.preempted.keys()) == wanted:
        return True
    cluster = read_cluster(request(case))
    outcomes = (_positions(cluster, outcome) for outcome in _runs(cluster, ("at-once",), None))
    return any((each.rows, each.beside, each.preempted.keys()) == wanted for each in outcomes)


def _reason_of_others(case: Json, became: PodPositions) -> str:
    """Return why other pods of several that wait were placed, or made."""
    if _is_let_in_otherwise(case, became):
        return "who-comes-first"
    cluster = read_cluster(request(case))
    runs = _runs(cluster, ("at-once", "random"), None)
    is_taken = any(_positions(cluster, outcome) == became for outcome in runs)
    return "who-takes-what-is-freed" if is_taken else "unexplained"


def _is_let_in_otherwise(case: Json, became: PodPositions) -> bool:
    """Return whether quotas that admit pods in creation order have the same result, regardless of
    which pod is first.
    """
    cluster = read_cluster(request(case))
    if cluster.demand.quotas is None:
        return False
    runs = _runs(cluster, ("settled", "at-once"), cluster.demand.quotas)
    simulated = _without_refused(cluster, cluster.demand.quotas)
    return any(_positions(simulated, outcome) == became for outcome in runs)


def _without_refused(cluster: ReadCluster, quotas: PodQuotas) -> ReadCluster:
    """Return a cluster without the pods that quotas keep out, because the simulation counts them
    itself.
    """
    blocked = tuple(
        each
        for each in cluster.demand.blocked
        if (each.member.workload, each.member.pod_set) not in quotas.refused
    )
    return replace(cluster, demand=replace(cluster.demand, blocked=blocked))


def _became(case: Json) -> PodPositions:
    found = case["became"]
    return PodPositions(found["outcome"], found["beside"], found["preempted"])


def _verdict(plan: Plan, case: Json) -> Iterator[Difference]:
    short = case["became"]["incomplete"]
    verdict: Verdict = plan.running
    if verdict == "fits" and short:
        yield Difference(f"fits, but {', '.join(short)} did not come to an end", "unexplained")
    if verdict == "does-not-fit" and not short:
        reasons = {each.message for each in plan.diagnostics if each.severity == "error"}
        reasons |= {reason.message for each in plan.workloads for reason in each.reasons}
        yield Difference(
            f"does not fit, but everything was placed: {'; '.join(sorted(reasons))}", "unexplained"
        )


def _is_new_and_paused(each: Json, case: Json) -> bool:
    there = [known["metadata"] for known in case["cluster"] if known["kind"] == "Deployment"]
    names = {(meta["namespace"], meta["name"]) for meta in there}
    return (
        each["kind"] == "Deployment"
        and bool(each["spec"].get("paused"))
        and each["spec"].get("replicas", 1) > 0
        and (each["metadata"]["namespace"], each["metadata"]["name"]) not in names
    )


def _without_pods_of(paused: list[Json], names: list[str], case: Json) -> Json:
    """Return a case in which these Deployments want no pods, which is what their pause comes to."""
    kept = [each for each in case["applied"] if each not in paused]
    none = [{**each, "spec": {**each["spec"], "replicas": 0}} for each in paused]
    short = [name for name in case["became"]["incomplete"] if name not in names]
    return {**case, "applied": [*kept, *none], "became": {**case["became"], "incomplete": short}}


def _rows(plan: Plan) -> dict[str, Json]:
    return placed(plan)


def _reason(case: Json, plan: Plan, became: PodPositions) -> str:
    is_full = any(each.code == "quota-exceeded" for each in plan.diagnostics)
    if all(_is_daemon_set_under_a_quota(each, is_full) for each in _otherwise(plan, became)):
        return "daemon-set-under-a-quota"
    if _is_paused_in_a_rollout(case, plan, became):
        return "paused-in-a-rollout"
    if _is_rollout_under_a_quota(case, plan, became):
        return "rollout-under-a-quota"
    if _is_scaled_in_a_rollout(case, plan, became):
        return "scaled-in-a-rollout"
    if _comes_by_chance(case, became):
        return "chance"
    reason = _reason_of_others(case, became)
    return "cannot-tell" if reason == "unexplained" and plan.running == "cannot-tell" else reason


def _otherwise(plan: Plan, became: PodPositions) -> list[PlannedWorkload | None]:
    """Return the workloads that became otherwise, None for those that the plan doesn't have."""
    rows, planned = _rows(plan), {_name(each.workload): each for each in plan.workloads}
    names = [name for name in {**rows, **became.rows} if rows.get(name) != became.rows.get(name)]
    return [planned.get(name) for name in names]


def _is_daemon_set_under_a_quota(each: PlannedWorkload | None, is_full: bool) -> bool:
    return (
        each is not None
        and each.workload.kind == "DaemonSet"
        and (is_full or any(reason.code == "quota-exceeded" for reason in each.reasons))
    )


def _comes_by_chance(case: Json, became: PodPositions) -> bool:
    cluster = read_cluster(request(case))
    return any(
        _positions(cluster, outcome) == became for outcome in _runs(cluster, ("settled",), None)
    )


def _runs(
    cluster: ReadCluster, orders: tuple[OrderName, ...], quotas: PodQuotas | None
) -> Iterator[SimulationOutcome]:
    """Yield what becomes of a cluster with other choices among equal nodes, and other moments."""
    nodes = observed_nodes(cluster.offers)
    classes, features = cluster.manifests.classes, cluster.features
    simulator = Simulator.of(cluster.demand, nodes, classes, features, quotas=quotas)
    for name in orders:
        for lags in (False, True):
            for seed in range(1, SEEDS + 1):
                yield simulator.run(ArrivalOrder(name, seed), lags=lags)


def _positions(cluster: ReadCluster, outcome: SimulationOutcome) -> PodPositions:
    classes, features = cluster.manifests.classes, cluster.features
    judgement = judge_outcome(cluster.demand, cluster.offers, classes, features, outcome)
    rows = {_name(each.workload): _row(each) for each in judgement.sizings["steady"].workloads}
    return PodPositions(rows, *_aside(cluster, outcome))


def _aside(
    cluster: ReadCluster, outcome: SimulationOutcome
) -> tuple[dict[str, Json], dict[str, int]]:
    """Return the rows of the other workloads that have pods, and the preempted pods by workload."""
    members = [member for shape in cluster.demand.shapes for member in shape.members]
    members += [blocked.member for blocked in cluster.demand.blocked]
    refs = {member.workload for member in members if member.ahead}
    sizes = [size_workload(ref, cluster.demand, outcome) for ref in sorted(refs)]
    rows: dict[str, Json] = {}
    for size in sizes:
        if size.placed or size.pending:
            _add(rows, size.workload, Counter(dict(size.placements)), size.pending)
    owners = {
        pod.meta.key: pod.owner or WorkloadRef("Pod", *pod.meta.key)
        for pod in cluster.snapshot.bound_pods
    }
    for key, owner in owners.items():  # pods without a controller
        if owner not in {member.workload for member in members} and key in outcome.cluster.pods:
            node = outcome.nodes[outcome.cluster.pods[key].node].name
            _add(rows, owner, Counter([node]), 0)
    victims = Counter(name.name.partition("-")[0] for name in outcome.preempted)
    return rows, dict(sorted(victims.items()))


def _add(rows: dict[str, Json], ref: WorkloadRef, on: Counter[str], pending: int) -> None:
    """Add pods to the row of their workload. The pods' annotation contains the workload even if it
    has been deleted.
    """
    name = f"{ref.namespace}/{ref.name.partition('-')[0]}"
    nodes = on + Counter(rows.get(name, {}).get("nodes", {}))
    rows[name] = {
        "placed": nodes.total(),
        "pending": pending + rows.get(name, {}).get("pending", 0),
        "nodes": dict(sorted(nodes.items())),
    }


def _row(size: WorkloadSize) -> Json:
    return {"placed": size.placed, "pending": size.pending, "nodes": dict(size.placements)}


def _name(ref: WorkloadRef) -> str:
    return f"{ref.namespace}/{ref.name}"


def _worded(ours: Mapping[str, Json], theirs: Mapping[str, Json]) -> str:
    names = [name for name in {**theirs, **ours} if ours.get(name) != theirs.get(name)]
    return "; ".join(
        f"{name} {_short(ours.get(name))}, {_short(theirs.get(name))} in fact" for name in names
    )


def _short(row: Json | None) -> str:
    if row is None:
        return "nothing"
    where = ", ".join(f"{name} {pods}" for name, pods in row["nodes"].items())
    return f"{row['placed']} ({where}) and {row['pending']} pending"
