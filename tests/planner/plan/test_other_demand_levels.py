"""Ceiling and peak demand: reported with the verdict and with reasons if their verdicts are worse
than for steady demand.
"""

from __future__ import annotations

from typing import Any

import pytest
from plan_builders import fleet

from dra_planner.fleet import read_fleet
from dra_planner.model import DemandLevel
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""
POD = """
      containers: [{name: c, image: x, resources: {claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      tolerations: [{operator: Exists}]
"""
WEB = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: default}}
spec:
  replicas: 4
  selector: {{matchLabels: {{app: web}}}}
  strategy: {{rollingUpdate: {{maxSurge: 1}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:{POD}
"""
SCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: by-load, namespace: default}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 12}
"""


ROOM = {"min": 0, "max": 9}


def job(more: str, labels: str = "") -> str:
    return f"""
apiVersion: batch/v1
kind: Job
metadata: {{name: train, namespace: default{labels}}}
spec:
  parallelism: 2
  {more}
  template:
    spec:
      restartPolicy: Never{POD}
"""


def plan(*documents: str, nodes: Any = 1, **more: Any) -> Plan:
    sources = (Source("app", "---".join((CLAIM, *documents))),)
    return make_plan(PlanRequest(sources=sources, fleet=fleet(("g6.12xlarge", nodes)), **more))


def codes(made: Plan) -> list[str]:
    return [each.code for each in made.beside]


class TestNodesThatNothingAdds:
    """Given a pool whose maximum is large enough for all pods, when nothing adds nodes, then the
    pods of a rollout or an autoscaler that don't fit on the built nodes are a finding.
    """

    FULL = WEB.replace("{maxSurge: 1}", "{maxSurge: 1, maxUnavailable: 0}")

    def test_rollout_that_must_add_a_pod_first_is_a_warning(self) -> None:
        made = plan(self.FULL, nodes=ROOM)
        (found,) = made.beside
        assert (made.verdict, found.code, found.severity) == (
            "fits",
            "peak-exceeds-nodes",
            "warning",
        )
        assert found.message.startswith(
            "if Deployment default/web adds pods during a rollout, 1 pod stays pending and the "
            "rollout never completes"
        )

    def test_rollout_that_can_start_one_pod_is_a_note(self) -> None:
        more = self.FULL.replace("maxSurge: 1", "maxSurge: 2").replace("replicas: 4", "replicas: 3")
        (found,) = plan(more, nodes=ROOM).beside
        assert (found.code, found.severity) == ("peak-exceeds-nodes", "note")
        assert "1 pod stays pending, because" in found.message

    def test_rollouts_that_may_remove_a_pod_first_are_not_counted(self) -> None:
        """Given nodes without free devices, and another rollout that removes a pod first."""
        (found,) = plan(self.FULL, WEB.replace("web", "api"), nodes=ROOM).beside
        assert "1 pod stays pending" in found.message

    def test_rollout_that_may_remove_a_pod_first_is_not_reported(self) -> None:
        assert codes(plan(WEB, nodes=ROOM)) == []

    def test_two_rollouts_at_the_same_time_are_a_note(self) -> None:
        more = self.FULL.replace("web", "api").replace("replicas: 4", "replicas: 3")
        (found,) = plan(self.FULL, more, nodes=ROOM).beside
        assert (
            found.severity,
            "and 1 other workload add pods at the same time" in found.message,
        ) == (
            "note",
            True,
        )

    def test_scaling_beyond_the_nodes_is_a_warning(self) -> None:
        (found,) = plan(WEB, SCALER, nodes=ROOM).beside
        assert (found.code, found.severity) == ("ceiling-exceeds-nodes", "warning")

    @pytest.mark.parametrize(
        ("autoscaler", "reason"),
        [
            ("none", "because the fleet doesn't set an autoscaler"),
            ("karpenter", "because karpenter doesn't add nodes"),
        ],
    )
    def test_fix_names_an_autoscaler_that_changes_counts(
        self, autoscaler: str, reason: str
    ) -> None:
        """Given an autoscaler that keeps the counts, or none, when pods are added, then the fix is
        one that changes the counts.
        """
        given = fleet(("g6.12xlarge", ROOM)).document()
        pools = [{**pool, "zones": ["us-east-1a"]} for pool in given["pools"]]
        scaled = read_fleet({**given, "pools": pools, "autoscaler": autoscaler})
        sources = (Source("app", "---".join((CLAIM, WEB, SCALER))),)
        (found,) = (
            each
            for each in make_plan(PlanRequest(sources=sources, fleet=scaled)).beside
            if each.code == "ceiling-exceeds-nodes"
        )
        assert reason in found.message
        assert found.fix.endswith("or set autoscaler to cluster-autoscaler in the fleet")

    def test_plan_for_peak_demand_has_no_finding(self) -> None:
        assert codes(plan(self.FULL, nodes=ROOM, level="peak")) == []

    def test_node_autoscaler_removes_the_finding(self) -> None:
        scaled = fleet(("g6.12xlarge", ROOM), autoscaler="cluster-autoscaler")
        sources = (Source("app", "---".join((CLAIM, self.FULL))),)
        assert codes(make_plan(PlanRequest(sources=sources, fleet=scaled))) == []


def test_ceiling_that_does_not_fit_is_a_finding_but_no_verdict():
    made = plan(WEB, SCALER)
    assert made.verdict == "fits"
    (found,) = made.beside
    assert (found.severity, found.code, found.place.file) == (
        "warning",
        "ceiling-does-not-fit",
        "app",
    )
    assert found.message.startswith(
        "Deployment default/web does not fit at its maximum (12 pods): pool"
    )
    assert found.fix == (
        'set the count of pool "g6-12xlarge" to 4 (at maximum replicas, 2 more nodes, USD 9.20 more per '
        "hour; during a rollout, 3 more nodes, USD 13.80 more per hour)"
    )
    assert "ceiling-does-not-fit" not in codes(plan(WEB, SCALER, nodes=3))


def test_counts_are_also_simulated_at_ceiling_and_peak():
    judgement = plan(WEB, SCALER, nodes=4).judgement
    (pool,) = judgement.offers
    levels: tuple[DemandLevel, ...] = ("floor", "steady", "ceiling", "peak")
    assert [judgement.simulated_nodes(pool.name, level) for level in levels] == [None, 4, 4, 4]
    short = plan(WEB, SCALER, nodes=3).judgement
    assert [short.simulated_nodes(pool.name, level) for level in levels] == [None, 3, 3, None]


def test_rollout_that_does_not_fit_is_reported_if_the_ceiling_fits():
    (found,) = plan(WEB).beside
    assert found.code == "peak-does-not-fit"
    assert found.message.startswith(
        "Deployment default/web does not fit during a rollout (5 pods): pool"
    )
    assert codes(plan(WEB, nodes=2)) == []


def test_misfit_at_steady_demand_is_not_reported_again():
    made = plan(WEB.replace("replicas: 4", "replicas: 9"))
    assert made.verdict == "does-not-fit"
    assert codes(made) == []


def test_unlimited_ceiling_is_reported():
    cron = job("").replace("batch/v1\nkind: Job", "batch/v1\nkind: CronJob")
    cron = cron.replace(
        "spec:\n  parallelism", "spec:\n  schedule: '* * * * *'\n  jobTemplate: {spec: SPEC}\n#"
    )
    cron = cron.split("  jobTemplate")[0] + (
        "  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never"
        + POD.replace("\n      ", "\n          ")
    )
    (found,) = plan(cron).beside
    assert (found.severity, found.code) == ("note", "ceiling-cannot-tell")


def test_ceiling_is_also_simulated():
    """In the packing, four small pods leave a whole node for the big pod. The scheduler spreads
    them over both nodes.
    """
    one_pod = WEB.replace("replicas: 4", "replicas: 1").replace("Surge: 1", "Surge: 0")
    big = one_pod.replace("name: web", "name: whole").replace("app: web", "app: whole")
    big = big.replace("resourceClaimTemplateName: one", "resourceClaimTemplateName: four")
    four = CLAIM.replace("name: one", "name: four").replace("nvidia.com}", "nvidia.com, count: 4}")
    scaler = SCALER.replace("minReplicas: 2", "minReplicas: 1").replace(
        "maxReplicas: 12", "maxReplicas: 4"
    )
    documents = (one_pod, scaler, four, big)
    made = plan(*documents, nodes=2)
    assert made.verdict == "fits"
    assert codes(made) == ["ceiling-cannot-tell"]
    assert "(simulated with every pool at its maximum)" in made.beside[0].message
    assert codes(plan(*documents, nodes=2, steps=0)) == []


def test_scaler_that_sets_a_figure_is_named():
    assumptions = plan(WEB, SCALER).assumptions
    assert any(
        "HorizontalPodAutoscaler by-load scales it between 2 and 12 replicas" in text
        for text in assumptions
    )
    assert not any("ignored" in text for text in assumptions)


def test_unrelated_scaler_is_ignored_with_a_note():
    assumptions = plan(WEB, SCALER.replace("name: web", "name: other")).assumptions
    assert "1 object of kind autoscaling/v2 HorizontalPodAutoscaler is ignored" in assumptions


def test_job_held_by_kueue_counts_as_admitted():
    made = plan(job("suspend: true", ", labels: {kueue.x-k8s.io/queue-name: team}"))
    assert made.workload("Job", "default", "train").placed == 2
    assert any('until Kueue admits it from the queue "team"' in text for text in made.assumptions)


def test_default_queue_of_the_namespace_holds_unlabeled_jobs():
    queue = (
        "\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {{name: default, "
        "namespace: {}}}\n"
    )
    held = plan(job("suspend: true"), queue.format("default"))
    assert held.workload("Job", "default", "train").placed == 2
    elsewhere = plan(job("suspend: true"), queue.format("other"))
    assert elsewhere.workload("Job", "default", "train").placed == 0


def test_suspended_job_counts_at_its_ceiling_with_a_note():
    made = plan(job("suspend: true"))
    assert made.workload("Job", "default", "train").figures == (0, 0, 2, 2)
    assert any(
        "is suspended, so its pods count only at ceiling and peak demand" in text
        for text in made.assumptions
    )


def fixed(name: str) -> str:
    """A Deployment of two pods whose rollout adds none."""
    return (
        WEB.replace("web", name)
        .replace("replicas: 4", "replicas: 2")
        .replace("strategy: {rollingUpdate: {maxSurge: 1}}", "strategy: {type: Recreate}")
    )


@pytest.mark.parametrize("name", ["a-fixed", "z-fixed"])
@pytest.mark.parametrize("more", ["", SCALER])
def test_misfit_is_reported_for_the_workload_that_adds_pods(name: str, more: str) -> None:
    web = WEB.replace("replicas: 4", "replicas: 2")
    made = plan(*filter(None, (web, fixed(name), more)))
    assert made.running == "fits"
    assert codes(made) == ["rollout-cannot-finish", *(["ceiling-does-not-fit"] if more else [])]
    assert all(each.message.startswith("Deployment default/web ") for each in made.beside)


def test_misfit_caused_by_others_is_reported_for_the_fixed_workload() -> None:
    """The scaler's pods also fit the large node, so the fewest pending pods are the one of the
    Job.
    """
    eight = CLAIM.replace("name: one", "name: eight").replace(
        "deviceClassName: gpu.nvidia.com", "deviceClassName: gpu.nvidia.com, count: 8"
    )
    large = job("completions: 1").replace("Name: one", "Name: eight")
    web = WEB.replace("replicas: 4", "replicas: 2").replace("maxSurge: 1", "maxSurge: 0")
    scaler = SCALER.replace("maxReplicas: 12", "maxReplicas: 4")
    sources = (Source("app", "---".join((CLAIM, eight, large, web, scaler))),)
    where = fleet(("g6.2xlarge", 2), ("g6.48xlarge", 1))
    made = make_plan(PlanRequest(sources=sources, fleet=where, steps=0))
    assert "Job default/train does not fit while other workloads are at their maximum" in [
        each.message.partition(":")[0] for each in made.beside
    ]


AGENT = f"""
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent, namespace: default}}
spec:
  selector: {{matchLabels: {{app: agent}}}}
  updateStrategy: {{type: RollingUpdate, rollingUpdate: STRATEGY}}
  template:
    metadata: {{labels: {{app: agent}}}}
    spec:
      nodeSelector: {{nvidia.com/gpu.dra: "true"}}{POD}
"""


@pytest.mark.parametrize(
    ("strategy", "machine", "stalls"),
    [
        pytest.param("{maxSurge: 1, maxUnavailable: 0}", "g6.2xlarge", True, id="one GPU"),
        pytest.param('{maxSurge: "10%", maxUnavailable: 0}', "g6.2xlarge", True, id="a share"),
        pytest.param("{maxSurge: 0, maxUnavailable: 1}", "g6.2xlarge", False, id="its fix"),
        pytest.param("{maxSurge: 1, maxUnavailable: 0}", "g6.12xlarge", False, id="four GPUs"),
    ],
)
def test_surging_daemon_set_stalls_if_a_node_fits_only_one_pod(
    strategy: str, machine: str, *, stalls: bool
) -> None:
    """Given maxSurge, when a node holds only one pod of a DaemonSet, then its rollout stalls."""
    pools = fleet((machine, {"min": 1, "max": 2}))
    given = f"{CLAIM}---{AGENT.replace('STRATEGY', strategy)}"

    made = make_plan(PlanRequest(sources=(Source("w.yaml", given),), fleet=pools))

    assert made.running == "fits"
    found = [each for each in made.beside if each.code == "daemon-rollout-stalls"]
    assert [each.severity for each in found] == ["error"] * stalls
    assert all("DaemonSet default/agent never completes" in each.message for each in found)
