"""Rollouts of controllers other than those of Kubernetes that never finish.

The numbers of first pods were computed manually.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from plan_builders import fleet

from dra_planner.manifests.workloads.updates import DELETE_FIRST
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

TEMPLATE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "one"},
    "spec": {
        "spec": {
            "devices": {
                "requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]
            }
        }
    },
}
UPGRADE = "upgrade the LeaderWorkerSet controller to version 0.9.0 or later"
UPGRADE_OR_DELETE = f"{UPGRADE}, or {DELETE_FIRST}"
CLAIMS = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
POD = {
    "containers": [{"name": "c", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}],
    "resourceClaims": CLAIMS,
    "tolerations": [{"operator": "Exists"}],
}
POD_TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": POD}


def rollout(**strategy: Any) -> dict[str, Any]:
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "strategy": strategy,
        "template": POD_TEMPLATE,
    }
    return of("argoproj.io/v1alpha1", "Rollout", spec)


def groups(**strategy: Any) -> dict[str, Any]:
    spec = {
        "replicas": 2,
        "leaderWorkerTemplate": {"size": 2, "workerTemplate": POD_TEMPLATE},
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": strategy,
        },
    }
    return of("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec)


def clone_set(replicas: int = 2, **strategy: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": replicas, "selector": selector, "template": POD_TEMPLATE}
    return of("apps.kruise.io/v1alpha1", "CloneSet", {**spec, "updateStrategy": strategy})


def ray_service(workers: int = 1, **upgrade: Any) -> dict[str, Any]:
    group = {
        "groupName": "gpus",
        "replicas": workers,
        "rayStartParams": {"num-gpus": "1"},
        "template": POD_TEMPLATE,
    }
    cluster = {"headGroupSpec": {"template": POD_TEMPLATE}, "workerGroupSpecs": [group]}
    return of("ray.io/v1", "RayService", {"upgradeStrategy": upgrade, "rayClusterConfig": cluster})


def inference_service(mode: str, **predictor: Any) -> dict[str, Any]:
    model = {"modelFormat": {"name": "x"}, "resources": {"claims": [{"name": "gpu"}]}}
    pod = {key: value for key, value in POD.items() if key != "containers"}
    spec = {"predictor": {**pod, "model": model, "minReplicas": 2, "maxReplicas": 2, **predictor}}
    made = of("serving.kserve.io/v1beta1", "InferenceService", spec)
    made["metadata"]["annotations"] = {"serving.kserve.io/deploymentMode": mode}
    return made


def llm_service(**more: Any) -> dict[str, Any]:
    spec = {"model": {"uri": "hf://x"}, "replicas": 2, "template": POD, **more}
    return of("serving.kserve.io/v1alpha1", "LLMInferenceService", spec)


def clique_set() -> dict[str, Any]:
    cliques = [{"name": "worker", "spec": {"replicas": 2, "podSpec": POD}}]
    return of(
        "grove.io/v1alpha1", "PodCliqueSet", {"replicas": 1, "template": {"cliques": cliques}}
    )


def dynamo_graph() -> dict[str, Any]:
    services = {"worker": {"replicas": 2, "extraPodSpec": {**POD, "mainContainer": {"image": "x"}}}}
    return of("nvidia.com/v1alpha1", "DynamoGraphDeployment", {"services": services})


def nim_service() -> dict[str, Any]:
    claims = [{"resourceClaimTemplateName": "one"}]
    spec = {"replicas": 2, "draResources": claims, "tolerations": [{"operator": "Exists"}]}
    return of("apps.nvidia.com/v1alpha1", "NIMService", spec)


def knative() -> dict[str, Any]:
    scale = {"autoscaling.knative.dev/min-scale": "2", "autoscaling.knative.dev/max-scale": "2"}
    template = {"metadata": {"annotations": scale}, "spec": POD}
    return of("serving.knative.dev/v1", "Service", {"template": template})


def of(version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "web"}, "spec": spec}


def plan(document: dict[str, Any], nodes: int, *others: dict[str, Any]) -> Plan:
    text = yaml.safe_dump_all([TEMPLATE, document, *others])
    request = PlanRequest(sources=(Source("app.yaml", text),), fleet=fleet(("g6.2xlarge", nodes)))
    return make_plan(request)


ROLLING = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
FINISHES = [
    # the object, its pods, and the pods that its update starts before it stops any
    pytest.param(rollout(blueGreen={"activeService": "web"}), 2, 2, id="Argo blue-green"),
    pytest.param(
        rollout(blueGreen={"activeService": "web", "previewReplicaCount": 1}),
        2,
        2,
        id="Argo blue-green with a smaller preview, which grows before the switch",
    ),
    pytest.param(rollout(canary={}), 2, 1, id="Argo canary"),
    pytest.param(
        rollout(canary={"maxSurge": 1, "maxUnavailable": 0}), 2, 1, id="Argo canary, all available"
    ),
    pytest.param(groups(maxSurge=1, maxUnavailable=0), 4, 2, id="LeaderWorkerSet"),
    pytest.param(ray_service(), 2, 2, id="RayService"),
    pytest.param(clone_set(maxSurge=1), 2, 1, id="CloneSet, 20 % of 2 pods is 0 pods"),
    pytest.param(clone_set(maxSurge="50%", maxUnavailable=0), 2, 1, id="CloneSet, all available"),
    pytest.param(llm_service(), 2, 1, id="KServe LLMInferenceService"),
    pytest.param(inference_service("RawDeployment"), 2, 1, id="KServe RawDeployment"),
    pytest.param(inference_service("Serverless"), 2, 2, id="KServe Serverless"),
    pytest.param(knative(), 2, 2, id="Knative Service"),
]


@pytest.mark.parametrize(("document", "pods", "first"), FINISHES)
def test_update_needs_room_for_its_first_pods(
    document: dict[str, Any], pods: int, first: int
) -> None:
    full, short, enough = (plan(document, pods + more) for more in (0, first - 1, first))

    for made in (full, short):
        assert made.running == "fits"
        assert made.stalled == (f"{document['kind']} default/web",)
        errors = [each for each in made.beside if each.severity == "error"]
        assert [each.code for each in errors] == ["rollout-cannot-finish"]
        assert f"to {pods + first}" in errors[0].fix
    assert (enough.verdict, enough.stalled) == ("fits", ())


def test_upgrade_of_ray_service_needs_a_head_and_one_worker() -> None:
    """Ray Serve determines how many of the other workers must run. The fix has room for all."""
    full, enough = (plan(ray_service(workers=3), nodes) for nodes in (5, 6))

    assert full.stalled == ("RayService default/web",)
    assert "to 8" in full.beside[0].fix
    assert enough.stalled == ()
    assert [each.code for each in enough.beside] == ["peak-does-not-fit"]


def test_each_number_of_first_pods_has_its_own_fix() -> None:
    """Four pods fill the pool. One more node is enough for the smaller workload, but not for the
    larger one, whose fix has room for both rollouts at the same time.
    """
    small, large = (rollout(blueGreen={"activeService": "web"}) for _ in range(2))
    small["spec"]["replicas"], large["spec"]["replicas"] = 1, 3
    small["metadata"]["name"] = "a"

    found = plan(small, 4, large).beside

    assert [(each.subject, each.fix.partition(" (")[0]) for each in found] == [
        ("Rollout default/a", 'set the count of pool "g6-2xlarge" to 5'),
        ("Rollout default/web", 'set the count of pool "g6-2xlarge" to 8'),
    ]


@pytest.mark.parametrize(
    ("document", "pods"),
    [
        pytest.param(rollout(canary={"maxSurge": 0, "maxUnavailable": 1}), 2, id="Argo canary"),
        pytest.param(groups(), 4, id="LeaderWorkerSet stops a group first by default"),
        pytest.param(groups(maxSurge=1), 4, id="LeaderWorkerSet with an unavailable group"),
        pytest.param(
            groups(maxSurge=1, maxUnavailable=0, partition=2), 4, id="LeaderWorkerSet, kept"
        ),
        pytest.param(clone_set(), 2, id="CloneSet without surge"),
        pytest.param(clone_set(5, maxSurge=1), 5, id="CloneSet, 20 % of 5 pods is 1 pod"),
        pytest.param(clone_set(maxSurge=1, partition="100%"), 2, id="CloneSet, kept"),
        pytest.param(clone_set(maxSurge=1, paused=True), 2, id="CloneSet, paused"),
        pytest.param(clique_set(), 2, id="PodCliqueSet deletes a pod first"),
        pytest.param(nim_service(), 2, id="NIMService, whose operator sets maxSurge to 0"),
        pytest.param(ray_service(type="None"), 2, id="RayService without upgrades"),
        pytest.param(
            inference_service("RawDeployment", deploymentStrategy=ROLLING), 2, id="KServe"
        ),
    ],
)
def test_update_that_can_stop_pods_first_finishes(document: dict[str, Any], pods: int) -> None:
    made = plan(document, pods)

    assert (made.verdict, made.stalled) == ("fits", ())


@pytest.mark.parametrize(
    ("document", "pods", "why"),
    [
        pytest.param(
            rollout(canary={"trafficRouting": {"nginx": {"stableIngress": "web"}}}),
            2,
            "with trafficRouting, the steps determine the number of canary pods",
            id="Argo canary with traffic routing",
        ),
        pytest.param(
            ray_service(type="NewClusterWithIncrementalUpgrade"),
            2,
            "an incremental upgrade removes pods of the old cluster",
            id="RayService with an incremental upgrade",
        ),
        pytest.param(
            ray_service(workers=3),
            4,
            "Ray Serve determines how many workers of the second cluster must run",
            id="RayService with several workers",
        ),
        pytest.param(
            dynamo_graph(),
            2,
            "it depends on the installed operators whether they create Deployments, "
            "LeaderWorkerSets, or a PodCliqueSet",
            id="Dynamo",
        ),
        pytest.param(
            llm_service(parallelism={"pipeline": 2}, worker=POD),
            4,
            "a replica has pods on several nodes",
            id="LLMInferenceService on several nodes",
        ),
        pytest.param(
            inference_service("RawDeployment", workerSpec={"pipelineParallelSize": 2, **POD}),
            4,
            "a replica has pods on several nodes",
            id="KServe on several nodes",
        ),
    ],
)
def test_update_whose_additional_pods_are_unknown_is_an_assumption(
    document: dict[str, Any], pods: int, why: str
) -> None:
    made = plan(document, pods)

    text = f"{document['kind']} default/web: the plan can't tell whether its rollouts finish"
    assert made.running == "fits"
    assert made.stalled == () or document["kind"] == "RayService"
    assert f"{text}, because {why}" in made.assumptions


@pytest.mark.parametrize(
    ("nodes", "code", "severity", "fix"),
    [
        pytest.param(2, "rollout-cannot-finish", "error", DELETE_FIRST, id="no room"),
        pytest.param(4, "rollout-needs-upgrade", "warning", UPGRADE_OR_DELETE, id="room"),
    ],
)
def test_one_group_with_a_surge_depends_on_the_controller(
    nodes: int, code: str, severity: str, fix: str
) -> None:
    """Controllers before 0.9.0 create no second group, so more nodes alone don't help them."""
    document = groups(maxSurge=1, maxUnavailable=0)
    document["spec"]["replicas"] = 1

    (found,) = plan(document, nodes).beside

    assert (found.code, found.severity, found.fix) == (code, severity, fix)
    assert found.subject == "LeaderWorkerSet default/web"


@pytest.mark.parametrize(
    ("replicas", "strategy"),
    [
        pytest.param(2, {"maxSurge": 1, "maxUnavailable": 0}, id="two groups"),
        pytest.param(1, {"maxSurge": 1}, id="the group can stop first"),
        pytest.param(1, {"maxUnavailable": 0}, id="no surge"),
    ],
)
def test_other_groups_do_not_depend_on_the_controller(
    replicas: int, strategy: dict[str, int]
) -> None:
    document = groups(**strategy)
    document["spec"]["replicas"] = replicas
    assert plan(document, 9).beside == ()
