"""Gangs under maximums that are too small: whole groups start, the most that can; an exhaustive
search referees.
"""

from __future__ import annotations

import random
from itertools import product

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.plan import Plan
from dra_planner.sources import Source

L4, T4 = "g6.2xlarge", "g4dn.2xlarge"
CLAIM = deployment(replicas=0).text.split("---")[0].replace("name: web", "name: gpu")
POD = """{{restartPolicy: Never, tolerations: [{{key: nvidia.com/gpu, operator: Exists}}], {more}
    resourceClaims: [{{name: gpu, resourceClaimTemplateName: gpu}}],
    containers:
    - {{name: a, image: registry.example/a:1, resources: {{requests: {{cpu: 500m}}, claims: [{{name: gpu}}]}}}}
    ]}}""".replace("\n    - ", " [").replace("\n    ]", "]")
TIES = {
    "coscheduling": (
        "scheduling.x-k8s.io/v1alpha1",
        "labels",
        "scheduling.x-k8s.io/pod-group",
        "minMember: {}",
    ),
    "KAI": ("scheduling.run.ai/v2alpha2", "annotations", "pod-group-name", "minMember: {}"),
    "Volcano": (
        "scheduling.volcano.sh/v1beta1",
        "annotations",
        "scheduling.k8s.io/group-name",
        "minMember: {}",
    ),
}


def job(
    name: str,
    pods: int,
    *,
    least: int = 0,
    by: str = "coscheduling",
    more: str = "",
    queue: str = "",
) -> str:
    """A Job with its PodGroup, or in a queue of Kueue; each pod claims one GPU."""
    version, where, key, minimum = TIES[by]
    tie = f"{where}: {{{key}: {name}}}" if not queue else "labels: {}"
    meta = (
        f"{{name: {name}, namespace: "
        f"default{', labels: {kueue.x-k8s.io/queue-name: team}' if queue else ''}}}"
    )
    text = (
        f"---\napiVersion: batch/v1\nkind: Job\nmetadata: {meta}\nspec: {{parallelism: {pods}, "
        f"completions: {pods}, "
        f"template: {{metadata: {{{tie}}}, spec: {POD.format(more=more)}}}}}\n"
    )
    if queue:
        return text
    spec = minimum.format(least or pods)
    group = (
        f"apiVersion: {version}\nkind: PodGroup\nmetadata: {{name: {name}, namespace: "
        f"default}}\nspec: {{{spec}}}\n"
    )
    return f"{text}---\n{group}"


def planned(most: int, *objects: str) -> Plan:
    return plan_of(
        fleet((L4, {"max": most})), Source("all.yaml", CLAIM + "".join(objects)), steps=0
    )


def placed(plan: Plan) -> dict[str, tuple[int, int]]:
    return {each.workload.name: (each.placed, each.pending) for each in plan.workloads}


def reasons_of(plan: Plan, name: str) -> str:
    (found,) = [each for each in plan.workloads if each.workload.name == name]
    return "\n".join(reason.message for reason in found.reasons)


@pytest.mark.parametrize("by", TIES)
def test_gang_that_does_not_fit_completely_starts_no_pods(by: str) -> None:
    plan = planned(5, job("a", 3, by=by), job("b", 3, by=by))
    assert plan.verdict == "does-not-fit"
    assert placed(plan) == {"a": (3, 0), "b": (0, 3)}
    assert plan.pools[0].nodes.desired == 3  # no nodes for pods that don't start
    assert plan.pools[0].bound == 6  # for all of them
    assert "doesn't start its 3 pods until all of them fit; 1 of 2 groups" in reasons_of(plan, "b")
    assert "no plan within these limits fits more pods" in reasons_of(plan, "b")
    assert "1 of 3 pods doesn't fit" in reasons_of(plan, "b")
    (fix,) = [reason.fix for each in plan.workloads for reason in each.reasons if reason.fix]
    assert 'maximum of pool "g6-2xlarge" to 6' in fix
    assert planned(6, job("a", 3, by=by), job("b", 3, by=by)).verdict == "fits"


def test_small_gangs_start_before_a_large_one() -> None:
    plan = planned(5, job("a", 5), job("b", 2), job("c", 3))
    assert placed(plan) == {"a": (0, 5), "b": (2, 0), "c": (3, 0)}
    assert "2 of 3 groups" in reasons_of(plan, "a")


def test_pods_beyond_the_minimum_run_if_they_fit() -> None:
    assert placed(planned(5, job("a", 8, least=3))) == {"a": (5, 3)}
    assert placed(planned(2, job("a", 8, least=3))) == {"a": (0, 8)}


def test_kueue_admits_a_job_only_completely() -> None:
    plan = planned(2, job("a", 3, queue="team"))
    assert placed(plan) == {"a": (0, 3)}
    assert "Kueue doesn't start its 3 pods until all of them fit" in reasons_of(plan, "a")


def test_gang_starts_only_if_it_fits_with_other_workloads() -> None:
    plan = planned(4, job("a", 5), job("b", 2), deployment(replicas=2).text)
    assert placed(plan) == {"a": (0, 5), "b": (2, 0), "web": (2, 0)}


def test_whole_groups_of_a_leader_worker_set_are_counted() -> None:
    template = POD.format(more="").replace("restartPolicy: Never, ", "")
    text = (
        "---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: "
        "lws, namespace: default}"
        "\nspec: {replicas: 3, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: "
        f"{template}}}}}}}\n"
    )
    plan = planned(5, text)
    assert placed(plan) == {"lws": (5, 1)}  # nothing prevents the fifth pod from starting
    assert (
        "2 of its 3 groups of 2 pods fit; pods in the other groups start one by one"
        in reasons_of(plan, "lws")
    )


def test_fitting_gang_is_only_an_assumption() -> None:
    plan = planned(3, job("a", 3))
    assert (plan.verdict, placed(plan)) == ("fits", {"a": (3, 0)})
    assert (
        "PodGroup default/a: the coscheduling plugin doesn't start any of its pods until 3 pods "
        "can start"
    ) in plan.assumptions


def test_one_missing_node_keeps_only_one_gang_pending() -> None:
    sizes = range(2, 24)
    plan = planned(sum(sizes) - 1, *(job(f"j{pods}", pods, by="Volcano") for pods in sizes))
    out = [pods for pods in sizes if plan.workload("Job", "default", f"j{pods}").pending]
    assert len(out) == 1
    assert placed(plan)[f"j{out[0]}"] == (0, out[0])


def most_groups(sizes: list[tuple[int, str]], rooms: dict[str, int]) -> int:
    """Try every set of groups. Pods of `l4` and `t4` fit in one pool, and pods of `any` fit in
    both. A node fits one pod.
    """
    best = 0
    for chosen in product((False, True), repeat=len(sizes)):
        need = {"l4": 0, "t4": 0, "any": 0}
        for is_in, (pods, where) in zip(chosen, sizes, strict=True):
            need[where] += pods * is_in
        free = [rooms[pool] - need[pool] for pool in ("l4", "t4")]
        if min(free) >= 0 and sum(free) >= need["any"]:
            best = max(best, sum(chosen))
    return best


@pytest.mark.parametrize("seed", range(8))
def test_number_of_started_gangs_matches_an_exhaustive_search(seed: int) -> None:
    chance = random.Random(seed)
    sizes = [
        (chance.randint(2, 5), chance.choice(("l4", "t4", "any")))
        for _ in range(chance.randint(2, 5))
    ]
    rooms = {"l4": chance.randint(1, 6), "t4": chance.randint(1, 6)}
    label = {
        "l4": "nodeSelector: {pulumi-dra/pool: g6-2xlarge},",
        "t4": "nodeSelector: {pulumi-dra/pool: g4dn-2xlarge},",
    }
    jobs = [
        job(f"j{at}", pods, more=label.get(where, "")) for at, (pods, where) in enumerate(sizes)
    ]
    where = fleet((L4, {"max": rooms["l4"]}), (T4, {"max": rooms["t4"]}))
    plan = plan_of(where, Source("all.yaml", CLAIM + "".join(jobs)), steps=0)
    whole = [plan.workload("Job", "default", f"j{at}") for at in range(len(sizes))]
    assert all(each.placed in (0, pods) for each, (pods, _) in zip(whole, sizes, strict=True))
    started = sum(each.placed > 0 for each in whole)
    assert started == most_groups(sizes, rooms), (sizes, rooms)
    assert (plan.verdict == "fits") == (started == len(sizes))
