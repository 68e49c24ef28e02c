"""Results that the plan adds to sizing: demand levels, node ranges, cost, assumptions, and
findings.
"""

from __future__ import annotations

from decimal import Decimal

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.clouds import cloud
from dra_planner.errors import PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.plan import NodeRange, Plan, PlanRequest, make_plan
from dra_planner.plan.pools.built_counts import node_range
from dra_planner.sources import Source

L4, H100 = "g6.2xlarge", "p5.48xlarge"
SCALER = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: default}
spec:
  minReplicas: 1
  maxReplicas: 6
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
"""


@pytest.mark.parametrize(
    ("case", "of", "autoscaler", "expected"),
    [
        ("nobody scales", "eks", "none", NodeRange(minimum=3, desired=3, maximum=8)),
        (
            "cannot wake an empty pool",
            "eks",
            "cluster-autoscaler",
            NodeRange(minimum=3, desired=3, maximum=8),
        ),
        ("nobody scales on AKS", "aks", "none", NodeRange(minimum=3, desired=3, maximum=8)),
        (
            "wakes no pool on AKS",
            "aks",
            "cluster-autoscaler",
            NodeRange(minimum=3, desired=3, maximum=8),
        ),
        ("wakes pools with its label", "gke", "gke", NodeRange(minimum=1, desired=3, maximum=8)),
    ],
)
def test_node_range_depends_on_the_autoscaler(
    case: str, of: str, autoscaler: str, expected: NodeRange
) -> None:
    assert node_range(1, 3, 8, cloud(of).autoscalers[autoscaler]) == expected, case


WATCH = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: watch, namespace: default}
spec:
  selector: {matchLabels: {app: watch}}
  template:
    metadata: {labels: {app: watch}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: c, image: i, resources: {requests: {cpu: 100m, memory: 100Mi}}}]
"""


@pytest.mark.parametrize(
    ("hard", "verdict"), [(None, "fits"), ("6", "fits"), ("5", "does-not-fit")]
)
def test_daemon_set_pods_per_node_count_toward_a_quota(hard: str | None, verdict: str) -> None:
    """Three nodes of one GPU: three pods of the Deployment, and one of the DaemonSet on each
    node.
    """
    meta = "metadata: {name: q, namespace: default}"
    quota = (
        f"\n---\napiVersion: v1\nkind: ResourceQuota\n{meta}\nspec: {{hard: {{pods: {hard}}}}}"
        if hard
        else ""
    )
    plan = plan_of(
        fleet((L4, {"max": 8})), deployment(replicas=3), Source("watch.yaml", WATCH + quota)
    )
    watch = plan.workload("DaemonSet", "default", "watch")
    assert (watch.figures.steady, watch.placed) == (3, 3)
    assert plan.verdict == verdict
    assert [each.message for each in plan.diagnostics] == (
        []
        if verdict == "fits"
        else [
            "DaemonSet default/watch needs a pod on each of 3 nodes, but ResourceQuota "
            "default/q allows only 2 pods (its `pods` limit)"
        ]
    )


@pytest.mark.parametrize(("hard", "expected"), [("9", []), ("8", ["DaemonSet default/watch"])])
def test_daemon_sets_share_the_remaining_quota(hard: str, expected: list[str]) -> None:
    """Each workload would fit next to one pod of the other workload. Three workloads with three
    pods each have nine pods.
    """
    meta = "metadata: {name: q, namespace: default}"
    quota = f"apiVersion: v1\nkind: ResourceQuota\n{meta}\nspec: {{hard: {{pods: {hard}}}}}"
    text = "\n---\n".join((WATCH, WATCH.replace("watch", "log"), quota))
    plan = plan_of(fleet((L4, {"max": 8})), deployment(replicas=3), Source("agents.yaml", text))
    assert [each.message.partition(" needs")[0] for each in plan.diagnostics] == expected


HOURS = {
    "hours": {"start": "08:00", "end": "18:00", "days": ["Mon", "Fri"], "timeZone": "Europe/Berlin"}
}


def test_scheduled_pool_has_its_minimum_outside_its_hours() -> None:
    document = fleet((L4, {"min": 1, "max": 8})).document()
    (pool,) = document["pools"]
    scheduled = read_fleet({**document, "pools": [{**pool, "schedule": HOURS}]})
    plan = plan_of(scheduled, deployment(replicas=3))
    assert plan.pools[0].nodes == NodeRange(minimum=1, desired=3, maximum=8)
    (assumption,) = [each for each in plan.assumptions if "has its nodes" in each]
    when = "Mon, Fri from 08:00 to 18:00 (Europe/Berlin)"
    assert assumption.endswith(
        f"has its nodes {when}. At other times, it has 1 node, so pods that don't fit stay pending"
    )


@pytest.mark.parametrize(
    ("autoscaler", "expected"),
    [
        ("none", None),
        (
            "cluster-autoscaler",
            "the fleet's autoscaler (cluster-autoscaler) can't scale up an empty pool for a claim, "
            "so every pool keeps the nodes that its pods need",
        ),
        (
            "karpenter",
            "karpenter keeps every pool at the node count of this plan, and doesn't start nodes for claims",
        ),
    ],
)
def test_plan_notes_whether_its_autoscaler_scales_from_zero(
    autoscaler: str, expected: str | None
) -> None:
    document = {**fleet((L4, {"min": 0, "max": 8})).document(), "autoscaler": autoscaler}
    document["pools"][0]["zones"] = ["us-east-1a"]
    assumptions = plan_of(read_fleet(document), deployment()).assumptions
    found = [
        each for each in assumptions if each.startswith(("the fleet's autoscaler", "karpenter"))
    ]
    assert found == ([expected] if expected else [])


def test_peak_includes_the_surge_and_has_its_own_verdict() -> None:
    plan = plan_of(fleet((L4, {"min": 0, "max": 2})), deployment(replicas=2))
    (web,) = plan.workloads
    assert web.figures == (2, 2, 2, 3)
    assert web.verdicts == {
        "floor": "fits",
        "steady": "fits",
        "ceiling": "fits",
        "peak": "does-not-fit",
    }
    assert plan.running == "fits"


def test_demand_level_can_be_selected() -> None:
    plan = plan_of(fleet((L4, {"min": 0, "max": 4})), deployment(replicas=2), level="peak")
    assert (plan.verdict, plan.pools[0].packing) == ("fits", 3)


def test_cost_contains_the_date_of_its_prices() -> None:
    plan = plan_of(fleet((L4, {"min": 0, "max": 4})), deployment(replicas=2))
    assert plan.cost is not None
    price = plan.pools[0].hourly_usd
    assert price is not None
    assert plan.cost.hourly_usd == plan.cost.bound_usd == 2 * price > Decimal(0)
    assert plan.cost.priced_on.startswith("20")


def test_kubernetes_version_can_be_selected() -> None:
    plan = plan_of(fleet((L4, 1)), deployment(), kubernetes="1.36")
    assert plan.kubernetes == "1.36"
    assert any("1.36" in line for line in plan.assumptions)


def test_findings_of_the_reader_are_included() -> None:
    doubtful = deployment().text.replace("replicas: 1", "replicas: 3\n  replicas: 1")
    (finding,) = plan_of(fleet((L4, 1)), Source("web.yaml", doubtful)).diagnostics
    assert (finding.severity, finding.place.file, finding.place.line) == ("warning", "web.yaml", 14)


def test_pods_of_a_pod_group_are_noted_as_counted_individually() -> None:
    spec, grouped = (
        "    spec:\n      tol",
        "    spec:\n      schedulingGroup: {podGroupName: gang}\n      tol",
    )
    together = deployment().text.replace(spec, grouped)
    plan = plan_of(fleet((L4, 1), kubernetes="1.36"), Source("web.yaml", together))
    (assumption,) = [each for each in plan.assumptions if each.startswith("PodGroup")]
    assert assumption.startswith("PodGroup default/gang: the plan counts its pods individually")
    alone = plan_of(fleet((L4, 1), kubernetes="1.36"), deployment())
    assert not any("PodGroup" in each for each in alone.assumptions)


def test_assumptions_shared_by_pools_are_listed_once() -> None:
    plan = plan_of(fleet((L4, 1), ("g6.4xlarge", 1)), deployment())
    assert len(plan.assumptions) == len(set(plan.assumptions))
    assert any(line.startswith("pools g6-2xlarge, g6-4xlarge: ") for line in plan.assumptions)


def test_plan_needs_a_fleet_or_a_snapshot() -> None:
    with pytest.raises(PlannerError, match="a plan needs a fleet or a snapshot"):
        make_plan(PlanRequest(sources=(deployment(),)))


def test_empty_demand_fits() -> None:
    nothing = Source("empty.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n")
    plan = plan_of(fleet((L4, {"min": 1, "max": 2})), nothing)
    assert (plan.verdict, plan.pools[0].packing, plan.workloads) == ("fits", 1, ())


@pytest.mark.parametrize(
    ("autoscaler", "maximum", "replicas", "built", "verdict", "codes"),
    [
        ("none", 8, 3, 4, "fits", ["count-rounded-up"]),
        ("none", 8, 4, 4, "fits", []),
        ("none", 3, 3, 3, "does-not-fit", ["count-does-not-divide"]),
        ("gke", 8, 3, 3, "fits", []),
    ],
    ids=["rounded up", "divides", "no capacity to round up", "GKE's autoscaler counts in all"],
)
def test_counts_match_what_gke_builds(
    autoscaler: str, maximum: int, replicas: int, built: int, verdict: str, codes: list[str]
) -> None:
    pools = fleet(("g2-standard-8", {"min": 0, "max": maximum}), cloud="gke", autoscaler=autoscaler)
    plan = plan_of(pools, deployment(replicas=replicas))
    assert (plan.pools[0].packing, plan.pools[0].nodes.desired, plan.verdict) == (
        replicas,
        built,
        verdict,
    )
    assert [each.code for each in plan.diagnostics] == codes
    assert plan.cost is not None
    assert plan.cost.hourly_usd == built * plan.offers[0].hourly_usd  # type: ignore[operator]  # its price is known
    if codes == ["count-does-not-divide"]:
        assert "set the pool's maximum to 4" in plan.diagnostics[0].fix
        wider = fleet(("g2-standard-8", {"min": 0, "max": 4}), cloud="gke", autoscaler=autoscaler)
        assert plan_of(wider, deployment(replicas=replicas)).verdict == "fits"


def test_raised_maximum_is_a_count_that_gke_builds() -> None:
    """Nine nodes are enough for seven pods and their rollout, but two zones have an even number of
    nodes.
    """

    def planned(maximum: int) -> Plan:
        pools = fleet(("g2-standard-8", {"min": 0, "max": maximum}), cloud="gke", autoscaler="none")
        return plan_of(pools, deployment(replicas=7))

    short = planned(3)
    (reason,) = short.workloads[0].reasons
    assert reason.fix.startswith('raise the maximum of pool "g2-standard-8" to 10 (')
    assert [each.code for each in short.diagnostics] == []
    enough = planned(10)
    assert (enough.verdict, enough.beside) == ("fits", ())
    assert [each.code for each in enough.diagnostics] == ["count-rounded-up"]


@pytest.mark.parametrize(
    ("machine", "nodes"), [("Standard_NC24ads_A100_v4", 3), ("Standard_NC48ads_A100_v4", 2)]
)
def test_whole_gpus_and_dynamic_partitions_fit_despite_a_zero_counter(
    machine: str, nodes: int
) -> None:
    """An A100 doesn't have encoders, so it publishes the counter 0, of which a whole GPU uses 0."""
    document = {
        "cloud": "aks",
        "region": "eastus",
        "kubernetes": "1.36",
        "systemPool": {"machine": "Standard_D4s_v5"},
        "drivers": {"nvidia": {"version": "25.12.0", "featureGates": {"DynamicMIG": True}}},
        "pools": [{"name": "a100", "machine": machine, "count": {"max": 3}}],
    }
    plan = make_plan(PlanRequest(sources=(deployment(replicas=3),), fleet=read_fleet(document)))
    assert plan.running == "fits"
    assert plan.pools[0].bound == plan.pools[0].packing == nodes
