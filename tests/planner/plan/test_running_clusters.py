"""Running clusters, the applied changes, and the results on a real control plane.

A file in `running_clusters/` contains a cluster in the form of `kubectl get -A -o yaml`, the
applied manifests, and the result with kube-apiserver, kube-scheduler, and kube-controller-manager
1.36.3. Bound pods were marked as Running. `conformance/scheduler/running_clusters.py` records more.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster_comparison import applied, differences, placed, source

from dra_planner.plan import PlanRequest, make_plan

CASES = Path(__file__).parent / "running_clusters"
Json = dict[str, Any]


def load(name: str) -> Json:
    case: Json = yaml.load((CASES / f"{name}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    return case


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.yaml")))
def test_applied_manifests_have_the_recorded_outcome(name):
    """If a case contains only the outcome, compare it without random choices. Otherwise, also
    compare the verdict, the other pods, and the preempted pods.
    """
    case = load(name)
    if "became" in case:
        assert [each for each in differences(case) if each.reason == "unexplained"] == []
    else:
        assert placed(applied(case)) == case["outcome"]


def test_every_cluster_is_compared():
    assert len(list(CASES.glob("*.yaml"))) >= 41


def scale(case: Json, replicas: int) -> Json:
    (deployment,) = [each for each in case["applied"] if each["kind"] == "Deployment"]
    deployment["spec"]["replicas"] = replicas
    return case


def test_running_workload_is_not_counted_twice():
    """Four of its pods run on a node of eight GPUs."""
    assert placed(applied(scale(load("same-name-scale"), 4)))["default/w"] == {
        "placed": 4,
        "pending": 0,
        "nodes": {"n1": 4},
    }
    assert placed(applied(scale(load("same-name-scale"), 9)))["default/w"]["pending"] == 1
    assert placed(applied(scale(load("same-name-scale"), 1)))["default/w"]["placed"] == 1


@pytest.mark.parametrize(("pods", "placed_then"), [("3", 2), ("4", 3), ("1", 0)])
def test_applied_quota_replaces_the_existing_one(pods: str, placed_then: int):
    """One pod runs already, which the cluster counts; it lets three in before."""
    case = load("quota-pods")
    (quota,) = [each for each in case["cluster"] if each["kind"] == "ResourceQuota"]
    given = {key: quota[key] for key in ("apiVersion", "kind")}
    given |= {"metadata": {"name": "q", "namespace": "team"}, "spec": {"hard": {"pods": pods}}}
    case["applied"].append(given)
    assert placed(applied(case))["team/w"]["placed"] == placed_then


def test_new_template_is_rolled_out():
    """Pods of the old template hold the devices until the new pods run. If eight devices are
    requested, none is free.
    """
    case = scale(load("same-name-scale"), 4)
    (deployment,) = [each for each in case["applied"] if each["kind"] == "Deployment"]
    deployment["spec"]["template"]["metadata"].setdefault("annotations", {})["restarted"] = "now"
    assert placed(applied(case))["default/w"]["placed"] == 4
    deployment["spec"]["strategy"] = {"rollingUpdate": {"maxSurge": 5, "maxUnavailable": 0}}
    surging = placed(applied(case))["default/w"]
    assert (surging["placed"], surging["pending"]) == (4, 0)


def again(case: Json, **changed: Any) -> Json:
    """Return the running Deployment of a recorded rollout, with a change to its container."""
    (deployment,) = [each for each in case["applied"] if each["kind"] == "Deployment"]
    template = deployment["spec"]["template"]
    template["metadata"].pop("annotations")
    template["spec"]["containers"][0] |= changed
    return case


@pytest.mark.parametrize(
    ("changed", "pending"),
    [
        pytest.param({}, 0, id="nothing"),
        pytest.param({"image": "registry.example/a:2"}, 1, id="another image"),
        pytest.param({"env": [{"name": "A", "value": "b"}]}, 1, id="another variable"),
        pytest.param(
            {"resources": {"requests": {"cpu": "1000m"}, "claims": [{"name": "gpu"}]}},
            0,
            id="as much cpu",
        ),
        pytest.param({"imagePullPolicy": None, "ports": []}, 0, id="no change, in other words"),
    ],
)
def test_changes_of_the_pod_template_are_rolled_out(changed: Json, pending: int):
    """Its four pods hold all devices. The rollout can add one pod at a time, but can't remove any
    pod first.
    """
    found = placed(applied(again(load("rollout-surge-stuck"), **changed)))["default/w"]
    assert (found["placed"], found["pending"]) == (4, pending)


def test_restart_annotation_in_the_cluster_is_not_a_change():
    case = again(load("rollout-surge-stuck"))
    for running in [
        each for each in case["cluster"] if each["kind"] in ("Deployment", "ReplicaSet")
    ]:
        running["spec"]["template"]["metadata"]["annotations"] = {
            "kubectl.kubernetes.io/restartedAt": "now"
        }
    assert placed(applied(case))["default/w"]["pending"] == 0


def test_stalled_rollout_reports_the_remaining_old_pods():
    (found,) = applied(load("rollout-surge-stuck")).workloads
    assert found.verdicts["steady"] == "does-not-fit"
    assert "rollout-waits" in [reason.code for reason in found.reasons]


@pytest.mark.parametrize(("pods", "pending"), [(4, 0), (5, 1)])
def test_devices_of_terminating_pods_become_free(pods: int, pending: int):
    """All four devices are held, one of them by a pod that is going: another is made for it, and
    waits for it.
    """
    case = scale(again(load("rollout-surge-stuck")), pods)
    [*_, going] = [each for each in case["cluster"] if each["kind"] == "Pod"]
    going["metadata"]["deletionTimestamp"] = "2026-11-22T06:00:00Z"
    plan = applied(case)
    assert (placed(plan)["default/w"]["placed"], placed(plan)["default/w"]["pending"]) == (
        4,
        pending,
    )
    assert any("terminating" in each for each in plan.assumptions)


@pytest.mark.parametrize(
    ("last_applied", "pods"),
    [
        pytest.param('{"spec":{"template":{}}}', 4, id="nor did it before"),
        pytest.param('{"spec":{"replicas":4,"template":{}}}', 1, id="but did before"),
    ],
)
def test_manifest_without_replicas_keeps_the_running_count(last_applied: str, pods: int):
    """A scaler's count is kept, unless `kubectl apply` removes a count that it set earlier."""
    case = again(load("rollout-surge-stuck"))
    (running,) = [each for each in case["cluster"] if each["kind"] == "Deployment"]
    running["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": last_applied
    }
    (deployment,) = [each for each in case["applied"] if each["kind"] == "Deployment"]
    del deployment["spec"]["replicas"]
    assert placed(applied(case))["default/w"]["placed"] == pods
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h"},
    }
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"}
    scaler["spec"] = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 2}
    case["applied"].append(scaler)
    assert placed(applied(case))["default/w"]["placed"] == min(pods, 2)


@pytest.mark.parametrize(
    ("names", "verdict"), [("ab", "cannot-tell"), ("ba", "cannot-tell"), ("a", "fits")]
)
def test_outcome_that_depends_on_chance_cannot_be_determined(names: str, verdict: str):
    """A pod that needs a whole node comes after one that is as welcome on it as on the smaller
    one.
    """
    case = load("pod-with-node-name")
    (node,) = [each for each in case["cluster"] if each["kind"] == "Node"]
    (published,) = [each for each in case["cluster"] if each["kind"] == "ResourceSlice"]
    kept = [each for each in case["cluster"] if each["kind"] not in ("Node", "ResourceSlice")]
    for name, devices in zip(names, (2, 1), strict=False):
        here, own = copy.deepcopy([node, published])
        here["metadata"] |= {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": name}}
        own["metadata"] |= {"name": name, "uid": f"{name}-devices"}
        own["spec"] |= {"nodeName": name, "devices": published["spec"]["devices"][:devices]}
        own["spec"]["pool"] = {**published["spec"]["pool"], "name": name}
        kept += [here, own]
    wanted = copy.deepcopy([each for each in case["applied"] if each["metadata"]["name"] == "p2"])
    first = wanted[0]
    big = copy.deepcopy(first)
    big["metadata"]["name"], big["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] = (
        "p3",
        "two",
    )
    template = copy.deepcopy(next(each for each in kept if each["kind"] == "ResourceClaimTemplate"))
    template["metadata"] |= {"name": "two", "uid": "two"}
    template["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] = 2
    pods = [first, big] if len(names) > 1 else [first]
    plan = applied({"cluster": [*kept, template], "applied": pods})
    assert plan.verdict == verdict
    codes = [reason.code for each in plan.workloads for reason in each.reasons]
    assert ("choice-decides" in codes) == (verdict == "cannot-tell")


def test_pods_of_an_unknown_priority_class_are_never_created():
    """The snapshot contains the system's priority classes, so it contains all of them."""
    case = again(load("rollout-surge-stuck"))
    (deployment,) = [each for each in case["applied"] if each["kind"] == "Deployment"]
    deployment["metadata"]["name"], deployment["spec"]["template"]["spec"]["priorityClassName"] = (
        "v",
        "none",
    )
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 2_000_000_000}
    for name in ("system-cluster-critical", "system-node-critical"):
        case["cluster"].append({**kind, "metadata": {"name": name, "uid": name}})
    plan = applied(case)
    assert placed(plan)["default/v"] == {"placed": 0, "pending": 0, "nodes": {}}
    assert [reason.code for each in plan.workloads for reason in each.reasons] == [
        "priority-class-not-found"
    ]


@pytest.mark.parametrize(
    ("known", "verdict", "fixes"),
    [
        (
            ["kata"],
            "does-not-fit",
            ['create RuntimeClass "nvidia", or correct runtimeClassName in the pods'],
        ),
        (["kata", "nvidia"], "fits", []),
        ([], "cannot-tell", ['add a manifest for RuntimeClass "nvidia"']),  # it may lack the kind
    ],
)
def test_pods_of_an_unknown_runtime_class_are_never_created(
    known: list[str], verdict: str, fixes: list[str]
):
    """A snapshot with a RuntimeClass has all RuntimeClasses of its cluster."""
    case = scale(load("same-name-scale"), 1)
    (deployment,) = [each for each in case["applied"] if each["kind"] == "Deployment"]
    deployment["metadata"]["name"] = "v"
    deployment["spec"]["template"]["spec"]["runtimeClassName"] = "nvidia"
    kind = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "h"}
    case["cluster"] += [{**kind, "metadata": {"name": name, "uid": name}} for name in known]
    plan = applied(case)
    assert plan.verdict == verdict
    assert [each.fix for row in plan.workloads for each in row.reasons] == fixes


def test_preempted_pods_are_reported():
    """Pods of the cluster that aren't in the plan: a plan with the verdict *fits* can
    preempt them.
    """
    plan = applied(load("preempt-cpu-given"))
    (finding,) = [each for each in plan.diagnostics if each.code == "gives-way"]
    assert (plan.running, finding.severity) == ("fits", "warning")
    assert "pods with higher priority preempt" in finding.message


@pytest.mark.parametrize(
    ("hard", "verdict"),
    [
        ({"gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "1"}, "does-not-fit"),
        ({"gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "2"}, "fits"),
        ({"pods": "1"}, "does-not-fit"),
        ({"pods": "2", "requests.cpu": "1500m"}, "does-not-fit"),
        ({"pods": "2", "requests.cpu": "2", "count/resourceclaims.resource.k8s.io": "2"}, "fits"),
        (
            {"limits.memory": "0", "services": "0"},
            "does-not-fit",
        ),  # rejected: no limit set
        ({"services": "0"}, "fits"),
    ],
)
def test_quota_must_admit_a_daemon_set_pod_on_each_node(hard: dict[str, str], verdict: str):
    """With a quota of two devices, a 1.36.3 control plane admits two of three pods, so one node has
    no pod.
    """
    case = load("daemon-set-that-surges")
    cluster = [
        each
        for each in case["cluster"]
        if each["kind"] not in ("DaemonSet", "Pod", "ResourceClaim")
    ]
    meta = {"name": "q", "namespace": "default", "uid": "q"}
    cluster.append(
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}}
    )
    plan = applied({**case, "cluster": cluster})
    codes = [each.code for each in plan.diagnostics] + [
        r.code for each in plan.workloads for r in each.reasons
    ]
    assert (plan.running, "quota-exceeded" in codes) == (verdict, verdict != "fits")


def test_quota_admits_some_pods_of_a_daemon_set():
    """The node without a pod is arbitrary, but the quota determines the number of such nodes."""
    case = load("quota-lets-some-daemon-pods-in")
    found, became = placed(applied(case))["team/w2"], case["became"]["outcome"]["team/w2"]
    assert (found["placed"], found["pending"]) == (became["placed"], became["pending"])


@pytest.mark.parametrize(("policy", "victims"), [("PreemptLowerPriority", 1), ("Never", 0)])
def test_pods_of_a_class_that_never_preempts_stay_pending(policy: str, victims: int):
    """The policy of the PriorityClass applies to its pods."""
    case = load("preempt-cpu-given")
    for each in (*case["cluster"], *case["applied"]):
        if each["kind"] == "PriorityClass" and not each["metadata"]["name"].startswith("system"):
            each["preemptionPolicy"] = policy
        if each["kind"] == "Pod" and not each.get("spec", {}).get("nodeName"):
            each["spec"].pop("preemptionPolicy", None)
    outcome = applied(case).judgement.outcome
    assert outcome is not None
    assert bool(outcome.preempted) == bool(victims)


def test_plan_counts_the_pods_that_a_rollout_adds():
    """Four run, and the fifth waits."""
    plan = applied(load("rollout-surge-stuck"))
    assert (plan.pods, sum(each.pending for each in plan.workloads)) == (5, 1)


def test_snapshot_without_changes_keeps_its_pods():
    case = load("same-name-scale")
    plan = make_plan(PlanRequest(sources=(), observed=(source("cluster", case["cluster"]),)))
    assert placed(plan)["default/w"]["placed"] == 4
    assert plan.verdict == "fits"


def test_pods_that_a_limit_range_rejects_are_never_created():
    case = load("limitrange-default")
    (limits,) = [each for each in case["cluster"] if each["kind"] == "LimitRange"]
    limits["spec"]["limits"][0]["max"] = {"cpu": "1"}
    plan = applied(case)
    assert placed(plan)["team/w"] == {"placed": 0, "pending": 0, "nodes": {}}
    assert [reason.code for each in plan.workloads for reason in each.reasons] == ["limit-range"]
