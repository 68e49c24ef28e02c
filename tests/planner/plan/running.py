"""Plans a running cluster, and tells what of it became otherwise on a real control plane, and why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dra_planner.model import Verdict, WorkloadRef
from dra_planner.plan import Plan, PlanRequest, make_plan, read_cluster
from dra_planner.plan.observed import ReadCluster
from dra_planner.plan.observed_nodes import judge_outcome, size_workload
from dra_planner.simulation import Order, Outcome, Simulator, observed_nodes
from dra_planner.sizing import WorkloadSize
from dra_planner.sources import Source

Json = dict[str, Any]
SEEDS: Final = 12

REASONS: Final[Mapping[str, str]] = {
    "chance": "Nodes that score alike, or pods that are about equally old: one of the seeds comes to the same.",
    "cannot-tell": "The plan says that it cannot be told.",
    "daemon-set-under-a-quota": "A DaemonSet whose quota has not room on each node: it does not fit, and which node "
    "goes without is not simulated.",
    "paused": "A new Deployment that is paused has no pods yet; the plan counts them as they will run, and says so.",
    "unexplained": "Plan and control plane disagree.",
}
"""Why a plan differs from what became of its cluster."""


@dataclass(frozen=True)
class Said:
    """What is where: a row for each workload that was applied, and for each other; preempted pods by workload."""

    rows: Mapping[str, Json]
    beside: Mapping[str, Json] = field(default_factory=dict)
    preempted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    """One thing that became otherwise, and the reason, of `REASONS`."""

    what: str
    reason: str


def source(name: str, documents: list[Json]) -> Source:
    return Source(name, "\n---\n".join(map(json.dumps, documents)))


def request(case: Json) -> PlanRequest:
    return PlanRequest(sources=(source("applied", case["applied"]),), observed=(source("cluster", case["cluster"]),))


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
    """Return what became otherwise than the plan says, with the reason; an empty list where nothing did."""
    plan, became = applied(case), _became(case)
    found = list(_verdict(plan, case))
    if _rows(plan) != became.rows:
        found += [Difference(_worded(_rows(plan), became.rows), _reason(case, plan, became))]
    elif plan.judgement.outcome is not None and _aside(read_cluster(request(case)), plan.judgement.outcome) != (
        became.beside,
        became.preempted,
    ):
        theirs = Said(_rows(plan), *_aside(read_cluster(request(case)), plan.judgement.outcome))
        what = f"{_worded(theirs.beside, became.beside)}; preempted {theirs.preempted}, {became.preempted} in fact"
        found += [Difference(what, "chance" if _comes_by_chance(case, became) else "unexplained")]
    return found


def _became(case: Json) -> Said:
    found = case["became"]
    return Said(found["outcome"], found["beside"], found["preempted"])


def _verdict(plan: Plan, case: Json) -> Iterator[Difference]:
    short = case["became"]["incomplete"]
    said: Verdict = plan.verdict
    if said == "fits" and short:
        reason = "paused" if _is_paused(plan) else "unexplained"
        yield Difference(f"fits, but {', '.join(short)} did not come to an end", reason)
    if said == "does-not-fit" and not short:
        why = {each.message for each in plan.diagnostics if each.severity == "error"}
        why |= {reason.message for each in plan.workloads for reason in each.reasons}
        yield Difference(f"does not fit, but everything was placed: {'; '.join(sorted(why))}", "unexplained")


def _is_paused(plan: Plan) -> bool:
    return any("is paused: its pods are made" in each for each in plan.assumptions)


def _rows(plan: Plan) -> dict[str, Json]:
    return placed(plan)


def _reason(case: Json, plan: Plan, became: Said) -> str:
    if any(each.code == "quota-exceeded" for each in plan.diagnostics):
        return "daemon-set-under-a-quota"
    if _is_paused(plan):
        return "paused"
    if _comes_by_chance(case, became):
        return "chance"
    return "cannot-tell" if plan.verdict == "cannot-tell" else "unexplained"


def _comes_by_chance(case: Json, became: Said) -> bool:
    cluster = read_cluster(request(case))
    nodes = observed_nodes(cluster.offers)
    simulator = Simulator.of(cluster.demand, nodes, cluster.manifests.classes, cluster.features)
    return any(_said(cluster, simulator.run(Order("settled", seed))) == became for seed in range(1, SEEDS + 1))


def _said(cluster: ReadCluster, outcome: Outcome) -> Said:
    classes, features = cluster.manifests.classes, cluster.features
    judgement = judge_outcome(cluster.demand, cluster.offers, classes, features, outcome)
    rows = {_name(each.workload): _row(each) for each in judgement.sizings["steady"].workloads}
    return Said(rows, *_aside(cluster, outcome))


def _aside(cluster: ReadCluster, outcome: Outcome) -> tuple[dict[str, Json], dict[str, int]]:
    """Return the rows of workloads that were not given, those with pods, and the preempted pods by workload."""
    members = [member for shape in cluster.demand.shapes for member in shape.members]
    members += [blocked.member for blocked in cluster.demand.blocked]
    refs = {member.workload for member in members if member.ahead}
    sizes = [size_workload(ref, cluster.demand, outcome) for ref in sorted(refs)]
    rows = {_name(size.workload): _row(size) for size in sizes if size.placed or size.pending}
    owners = {pod.meta.key: pod.owner or WorkloadRef("Pod", *pod.meta.key) for pod in cluster.snapshot.bound_pods}
    alone: dict[str, Counter[str]] = {}
    for key, owner in owners.items():  # pods that nobody looks after
        if owner not in {member.workload for member in members} and key in outcome.cluster.pods:
            node = outcome.nodes[outcome.cluster.pods[key].node].name
            alone.setdefault(_name(owner), Counter())[node] += 1
    rows |= {
        name: {"placed": on.total(), "pending": 0, "nodes": dict(sorted(on.items()))} for name, on in alone.items()
    }
    victims = Counter(name.name.partition("-")[0] for name in outcome.preempted)
    return rows, dict(sorted(victims.items()))


def _row(size: WorkloadSize) -> Json:
    return {"placed": size.placed, "pending": size.pending, "nodes": dict(size.placements)}


def _name(ref: WorkloadRef) -> str:
    return f"{ref.namespace}/{ref.name}"


def _worded(ours: Mapping[str, Json], theirs: Mapping[str, Json]) -> str:
    names = [name for name in {**theirs, **ours} if ours.get(name) != theirs.get(name)]
    return "; ".join(f"{name} {_short(ours.get(name))}, {_short(theirs.get(name))} in fact" for name in names)


def _short(row: Json | None) -> str:
    if row is None:
        return "nothing"
    where = ", ".join(f"{name} {pods}" for name, pods in row["nodes"].items())
    return f"{row['placed']} ({where}) and {row['pending']} pending"
