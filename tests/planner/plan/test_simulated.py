"""The third number of a plan, and the verdict that it decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from plan_builders import fleet

from dra_planner.fleet import read_fleet
from dra_planner.model import DemandLevel
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

REHEARSALS = Path(__file__).parents[1] / "simulation" / "rehearsals"
CASES = sorted(path.stem for path in REHEARSALS.glob("*.yaml"))
Json = dict[str, Any]
THREE_PODS = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      containers: [{name: main, image: registry.example/web:1, resources: {claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
"""


def load(name: str) -> Json:
    case: Json = yaml.load((REHEARSALS / f"{name}.yaml").read_text(), yaml.CSafeLoader)
    return case


def plan(case: Json, *, fleet: Json | None = None, **more: Any) -> Plan:
    sources = (Source("workloads", yaml.safe_dump_all(case["workloads"])),)
    return make_plan(
        PlanRequest(sources=sources, fleet=read_fleet({**case["fleet"], **(fleet or {})}), **more)
    )


def quota(limit: int) -> Json:
    return {"quotas": [{"name": "GPUs", "unit": "gpus", "limit": limit}]}


def numbers(made: Plan) -> dict[str, tuple[int, int | None, int]]:
    return {pool.name: (pool.packing, pool.simulated, pool.nodes.desired) for pool in made.pools}


def test_simulated_counts_are_built():
    """A small pod uses the only machine that fits the other pod, unless there is one more
    machine.
    """
    made = plan(load("m2-any-takes-h100"))
    assert made.verdict == "fits"
    assert numbers(made) == {"l4": (1, 0, 0), "h100": (1, 2, 2)}
    assert made.cost is not None
    assert made.cost.hourly_usd > made.cost.bound_usd


def test_equal_demand_levels_have_equal_counts():
    judgement = plan(load("m2-any-takes-h100")).judgement
    levels: tuple[DemandLevel, ...] = ("floor", "steady", "ceiling", "peak")
    assert [judgement.simulated_nodes("h100", level) for level in levels] == [2, 2, 2, 2]


def test_added_nodes_respect_shared_limits():
    enough, tight = (plan(load("m2-any-takes-h100"), fleet=quota(limit)) for limit in (3, 2))
    assert (enough.verdict, numbers(enough)["h100"]) == ("fits", (1, 2, 2))
    assert (tight.verdict, numbers(tight)["h100"]) == ("cannot-tell", (1, None, 1))


def test_daemon_pods_without_requests_affect_node_scores():
    """Their default requests use a larger share of a small machine, so the pod that could run there
    uses the large machine.
    """
    made = plan(load("m8-ranked"))
    assert numbers(made) == {"l4": (1, 0, 0), "h100": (1, 2, 2)}


def test_fleet_can_select_the_packing():
    made = plan(load("m2-any-takes-h100"), fleet={"sizing": "packing"})
    assert numbers(made)["h100"] == (1, 2, 1)


def test_packing_is_built_without_a_simulation():
    made = plan(load("m2-any-takes-h100"), steps=0)
    assert made.judgement.simulated is None
    assert numbers(made)["h100"] == (1, None, 1)


def test_verdict_is_cannot_tell_if_no_counts_within_the_maximum_work():
    made = plan(load("m1-small-then-whole-node"))
    assert made.verdict == "cannot-tell"
    assert numbers(made) == {"l4": (2, None, 2)}
    (big,) = [each for each in made.workloads if each.workload.name == "big"]
    assert (big.verdicts["steady"], [reason.code for reason in big.reasons]) == (
        "cannot-tell",
        ["simulation-leaves-pods"],
    )


def test_doubt_of_a_simulated_level_remains_at_a_higher_level_without_simulation():
    """The rollout of another workload exceeds its pool, so the peak isn't simulated. With these
    additional pods, the scheduler still leaves the same pods pending.
    """
    case = load("m1-small-then-whole-node")
    fleet = case["fleet"]
    own_pool = {"name": "own", "machine": "g6.2xlarge", "count": {"min": 0, "max": 1}}
    gpu, web = yaml.safe_load_all(THREE_PODS)
    web["spec"]["replicas"] = 1
    web["spec"]["template"]["spec"]["nodeSelector"] = {"pulumi-dra/pool": "own"}
    for each in case["workloads"]:
        template = each["spec"]["template"]["spec"] if each["kind"] == "Deployment" else None
        if template is not None:
            template["nodeSelector"] = {"pulumi-dra/pool": "l4"}
    case = {
        **case,
        "workloads": [*case["workloads"], gpu, web],
        "fleet": {**fleet, "pools": [*fleet["pools"], own_pool]},
    }

    made = plan(case)

    verdicts = {each.workload.name: each.verdicts for each in made.workloads}
    assert set(made.judgement.simulations) == {"floor", "steady", "ceiling"}
    assert verdicts["big"]["steady"] == verdicts["big"]["peak"] == "cannot-tell"
    assert (verdicts["web"]["steady"], verdicts["web"]["peak"]) == ("fits", "does-not-fit")
    at_peak = {each.workload.name: each for each in made.judgement.sizings["peak"].workloads}
    assert at_peak["big"].reasons[0].message.startswith("at ceiling demand, a packing exists, but")
    assert made.judgement.sizings["peak"].verdict == "does-not-fit"


def test_rules_between_pods_are_decided_by_the_simulation():
    """Sizing by shapes leaves open whether hosts are spread over evenly enough."""
    case = load("m1-small-then-whole-node")
    (deployment,) = [each for each in case["workloads"] if each["kind"] == "Deployment"]
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "small"}},
    }
    deployment["spec"]["template"]["spec"]["topologySpreadConstraints"] = [spread]
    case["workloads"] = [each for each in case["workloads"] if each["kind"] != "Pod"]
    assert plan(case).verdict == "fits"
    assert plan(case, steps=0).verdict == "cannot-tell"


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_counts_with_recorded_pending_pods_do_not_fit(name):
    case = load(name)
    made = plan(case)
    recorded: dict[str, int] = {}
    for kind in case["nodes"]:
        for node in kind["names"]:
            pool = node.rsplit("-", 1)[0]
            if pool != "system":
                recorded[pool] = recorded.get(pool, 0) + 1
    left = [
        run
        for run in case["outcomes"]
        if any(each["pending"] for each in run["workloads"].values())
    ]
    built = {pool.name: pool.nodes.desired for pool in made.pools if pool.nodes.desired}
    assert not (left and made.verdict == "fits" and built == recorded)


def test_zones_of_a_pool_do_not_share_its_devices():
    """Nodes of a pool in different zones have different labels. A pod on one node doesn't use
    devices of another node.
    """
    fleet = {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.34",
        "systemPool": {"machine": "m7i.large"},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "network": {"zones": ["us-east-1a", "us-east-1b"]},
        "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 3}}],
    }
    made = make_plan(
        PlanRequest(sources=(Source("three.yaml", THREE_PODS),), fleet=read_fleet(fleet))
    )
    assert made.running == "fits"
    assert numbers(made) == {"l4": (3, 3, 3)}


SPREAD = """
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
"""


@pytest.mark.parametrize("zones", [2, ["us-east-1a", "us-east-1b"]], ids=["counted", "named"])
@pytest.mark.parametrize(
    ("selector", "verdict"), [("", "cannot-tell"), ("l4", "fits")], ids=["anywhere", "pool"]
)
def test_system_nodes_in_another_zone_affect_topology_spread(
    zones: int | list[str], selector: str, verdict: str
) -> None:
    """If the pods select the pool, zones of other nodes don't count for topology spread."""
    chosen = f"      nodeSelector: {{pulumi-dra/pool: {selector}}}\n" if selector else ""
    fleet = read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": "1.35",
            "network": {"zones": zones},
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "25.8.1"}},
            "pools": [
                {
                    "name": "l4",
                    "machine": "g6.2xlarge",
                    "count": {"max": 4},
                    "zones": ["us-east-1a"],
                }
            ],
        }
    )
    text = THREE_PODS.rstrip() + SPREAD + chosen
    made = make_plan(PlanRequest(sources=(Source("pods.yaml", text),), fleet=fleet))
    assert made.verdict == verdict


TOO_LARGE = """\
apiVersion: v1
kind: Pod
metadata: {name: huge}
spec:
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  containers: [{name: main, image: registry.example/huge:1, resources: {requests: {cpu: 4k}, claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
"""


def test_fitting_pods_are_simulated_despite_pods_that_fit_nowhere():
    """The verdict is still *does not fit*. The counts are the same as without the pods that don't
    fit.
    """
    case = load("m2-any-takes-h100")
    alone = plan(case)
    gpu = next(iter(yaml.safe_load_all(THREE_PODS)))
    made = plan({**case, "workloads": [*case["workloads"], gpu, yaml.safe_load(TOO_LARGE)]})
    assert (made.verdict, numbers(made)) == ("does-not-fit", numbers(alone))
    found = made.judgement.simulated
    assert found is not None
    assert [str(ref) for ref in found.left_out] == ["Pod default/huge"]
    verdicts = {
        each.workload.name: (each.verdicts["steady"], each.pending) for each in made.workloads
    }
    assert verdicts == {
        **{each.workload.name: ("fits", 0) for each in alone.workloads},
        "huge": ("does-not-fit", 1),
    }


def test_pods_beyond_a_maximum_prevent_simulated_counts():
    """They fit a pool, and the pod arrival order determines which pods stay pending, so the plan
    doesn't contain counts.
    """
    made = plan(load("m2-any-takes-h100"), fleet=quota(1))
    assert made.verdict == "does-not-fit"
    assert made.judgement.simulated is None


class TestPoolsOfWhichOneNamesItsZones:
    """Given a pool with a zone and one without, when the plan is simulated, then the nodes of both
    have zones, as in a cloud, so pods without constraints spread over all of them.
    """

    PODS = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: eight}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 8}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: small}
spec:
  replicas: 3
  selector: {matchLabels: {app: small}}
  template:
    metadata: {labels: {app: small}}
    spec:
      containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      tolerations: [{operator: Exists}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: large}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: eight}]
      tolerations: [{operator: Exists}]
"""

    @staticmethod
    def simulated(zones: tuple[list[str] | None, list[str] | None]) -> int:
        rows = [
            {"name": "l4", "machine": "g6.2xlarge", "count": {"max": 4}},
            {"name": "h100", "machine": "p5.48xlarge", "count": {"max": 8}},
        ]
        document = fleet(("g6.2xlarge", 1)).document()
        document["pools"] = [
            {**row, **({"zones": own} if own else {})} for row, own in zip(rows, zones, strict=True)
        ]
        text = TestPoolsOfWhichOneNamesItsZones.PODS
        made = make_plan(PlanRequest(sources=(Source("app", text),), fleet=read_fleet(document)))
        return sum(pool.nodes.desired for pool in made.pools)

    def test_explicit_and_default_zones_give_the_same_node_count(self) -> None:
        alike = self.simulated((["us-east-1a", "us-east-1b"], ["us-east-1a"]))
        assert self.simulated((None, ["us-east-1a"])) == alike


class TestPoolsWithoutZones:
    """Given pools without zones, when the plan is simulated, then their nodes have zones, as in a
    cloud. Spreading over zones reduces the weight of spreading over nodes, so the scheduler prefers
    large nodes. A real kube-scheduler 1.36 left two such pods pending on the nodes that a plan
    without zones needed.
    """

    TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""
    DEPLOYMENT = """\
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers:
      - name: c
        image: i
        resources: {{claims: [{{name: gpu}}], requests: {{cpu: "{cpu}", memory: {memory}}}}}
      resourceClaims: [{{name: gpu, resourceClaimTemplateName: one}}]
      tolerations: [{{operator: Exists}}]
"""

    def simulated(self, zones: list[str] | None) -> dict[str, int]:
        own = {"zones": zones} if zones else {}
        document = fleet(("g6.2xlarge", 1)).document()
        document["pools"] = [
            {"name": "small", "machine": "g5.2xlarge", "count": {"max": 9}, **own},
            {"name": "large", "machine": "p5en.48xlarge", "count": {"max": 9}, **own},
        ]
        text = self.TEMPLATE + "".join(
            self.DEPLOYMENT.format(name=name, replicas=replicas, cpu=cpu, memory=memory)
            for name, replicas, cpu, memory in (
                ("flexible", 9, 5, "3Gi"),
                ("restricted", 25, 11, "118Gi"),
            )
        )
        made = make_plan(PlanRequest(sources=(Source("app", text),), fleet=read_fleet(document)))
        return {pool.name: pool.nodes.desired for pool in made.pools}

    def test_unspecified_zones_need_the_nodes_of_specified_zones(self) -> None:
        assert self.simulated(None) == self.simulated(["us-east-1a", "us-east-1b"])
