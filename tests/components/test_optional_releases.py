"""GPU metrics, Kueue, and KubeRay: disabled by default, pinned, and consistent with the fleet."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from dra_planner.clouds import cloud, names
from dra_planner.fleet import read_fleet
from dra_planner.manifests import read_manifests
from dra_planner.plan import PlanRequest, check_selector, make_plan, plan_file
from dra_planner.plan.blockers import ClusterSituation
from dra_planner.plan.blockers.queueing.admission import find_queue_faults
from dra_planner.planfile import canonical_text
from dra_planner.releases import features_of
from dra_planner.sources import Source
from pulumi_dra.dra import GpuMetrics, KubeRay, Kueue
from pulumi_dra.dra.metrics.alerts import METRICS, rule_groups
from pulumi_dra.dra.metrics.dashboard import dashboard_json
from pulumi_dra.inputs.reader import WrongInputs
from pulumi_dra.platform.platform import DraPlatform

STACKS = Path(__file__).parents[2] / "stacks"
COUNTED = {"dcgm-exporter": {"cpu": "100m", "memory": "128Mi"}}
LARGE = {"name": "large", "selectors": ['device.driver == "gpu.nvidia.com"']}
ALL = {"gpu_metrics": {}, "kueue": {}, "kube_ray": {}}


@pytest.fixture
def platform(declare: Callable[..., Any]) -> Callable[..., Any]:
    """Declare the platform of an example fleet with its plan and these additional inputs."""

    def make(stack: str, fleet: dict[str, Any], **inputs: Any) -> Any:
        config = yaml.safe_load((STACKS / f"Pulumi.{stack}.yaml").read_text("utf-8"))["config"]
        changed = read_fleet({**config["pulumi-dra:fleet"], **fleet})
        plan = canonical_text(plan_file(make_plan(PlanRequest(sources=(), fleet=changed))))
        if changed.cloud == "gke":
            inputs["cluster"] = {"security_group": "none"}
        return declare(lambda: DraPlatform("dra", {"plan": plan, **inputs}))

    return make


@pytest.mark.parametrize("stack", ["eks-dev", "gke-dev"])
def test_platform_installs_requested_releases_after_the_driver(platform: Any, stack: str) -> None:
    found = platform(stack, {"daemonPods": COUNTED, "deviceClasses": [LARGE]}, **ALL)
    names = {each.inputs["name"]: each for each in found.all("Release")}
    assert {"dcgm-exporter", "kueue", "kuberay-operator"} <= set(names)
    exporter = names["dcgm-exporter"].inputs["values"]
    assert exporter["nodeSelector"] == {"nvidia.com/gpu.dra": "true"}
    assert {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in exporter[
        "tolerations"
    ]
    assert exporter["kubernetesDRA"] == {"enabled": True}
    assert exporter.get("securityContext", {}).get("privileged", False) == (stack == "gke-dev"), (
        "COS has no runtime"
    )
    driver = {each for each in names["kueue"].depends_on if "driver" in each}
    assert driver, "its webhook refuses what is created while it starts"
    text = names["kueue"].inputs["values"]["managerConfig"]["controllerManagerConfigYaml"]
    mapped = {row["name"] for row in yaml.safe_load(text)["resources"]["deviceClassMappings"]}
    assert mapped == {"gpu.nvidia.com", "mig.nvidia.com", "large"}
    kinds = {each.type.rpartition(":")[2] for each in found.resources if "monitoring." in each.type}
    assert kinds == ({"Rules", "PodMonitoring"} if stack == "gke-dev" else set()), (
        "GKE collects what is asked for"
    )


def test_releases_are_not_installed_by_default(platform: Any) -> None:
    names = {each.inputs["name"] for each in platform("eks-dev", {}).all("Release")}
    assert not names & {"dcgm-exporter", "kueue", "kuberay-operator"}


SMALL = {"dcgm-exporter": {"cpu": "100m", "memory": "64Mi"}}


@pytest.mark.parametrize(
    "requests", [{}, {"dcgm-exporter": False}, SMALL], ids=["not", "refused", "too little"]
)
def test_platform_rejects_an_exporter_missing_from_the_plan(platform: Any, requests: Any) -> None:
    message = re.escape(
        "gpu_metrics: runs pods on every GPU node, and the plan must count them; add daemonPods: "
        "{dcgm-exporter:"
    )
    with pytest.raises(WrongInputs, match=message):
        platform("eks-dev", {"daemonPods": requests}, gpu_metrics={})


PINNED = {
    "GpuMetrics": (GpuMetrics, "dcgm-exporter", "4.8.3", "privileged"),
    "KubeRay": (KubeRay, "kuberay-operator", "1.7.0", "restricted"),
    "Kueue": (Kueue, "oci://registry.k8s.io/kueue/charts/kueue", "0.19.2", "restricted"),
}


@pytest.mark.parametrize(("component", "chart", "version", "security"), PINNED.values(), ids=PINNED)
def test_chart_is_pinned_and_can_be_mirrored(
    declare: Any, component: Any, chart: str, version: str, security: str
) -> None:
    made = declare(lambda: component("it", {}))
    release = made.one("Release").inputs
    assert (release["chart"], release["version"]) == (chart, version)
    assert (
        made.one("Namespace").inputs["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
        == security
    )
    own = {
        "chart": "oci://m.example/c",
        "image_repository": "m.example/i",
        "image_pull_secrets": ["pull"],
    }
    mirrored = declare(lambda: component("it", own)).one("Release").inputs
    assert mirrored["chart"] == "oci://m.example/c"
    assert not {"version", "repositoryOpts"} & set(mirrored)
    values = json.dumps(mirrored["values"])
    assert "m.example/i" in values
    assert '[{"name": "pull"}]' in values


JOB = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: a}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: CLASS}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: a, labels: {kueue.x-k8s.io/queue-name: team}}
spec:
  template:
    spec:
      restartPolicy: Never
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]
"""


@pytest.mark.parametrize(
    ("device_class", "is_reported"), [("gpu.nvidia.com", False), ("elsewhere", True)]
)
def test_kueue_configuration_maps_the_device_classes(
    declare: Any, device_class: str, is_reported: bool
) -> None:
    values = declare(lambda: Kueue("it", {})).one("Release").inputs["values"]
    text = f"{values['managerConfig']['controllerManagerConfigYaml']}---{JOB.replace('CLASS', device_class)}"
    features = features_of(36)
    manifests = read_manifests([Source("all.yaml", text)], features, check_selector=check_selector)
    situation = ClusterSituation(
        manifests=manifests, features=features, classes={}, offers=(), nvidia=None
    )
    messages = [
        each.message
        for each in find_queue_faults(situation)
        if "doesn't map DeviceClass" in each.message
    ]
    assert bool(messages) == is_reported


def expressions() -> list[str]:
    rules = [rule["expr"] for group in rule_groups() for rule in group["rules"]]
    return [
        *rules,
        *(
            target["expr"]
            for panel in json.loads(dashboard_json())["panels"]
            for target in panel["targets"]
        ),
    ]


def test_every_expression_is_promql_on_published_metrics() -> None:
    recorded = {
        rule["record"] for group in rule_groups() for rule in group["rules"] if "record" in rule
    }
    read = set[str]()
    for each in expressions():
        promql_parser.parse(each)  # raises the errors
        read |= set(
            re.findall(r"\b(?:DCGM_|kube_|scheduler_|resourceclaim_|dra_claim:)[A-Za-z_:]*", each)
        )
    assert read == {*METRICS, *recorded}


def test_alerts_cover_pending_pods_broken_gpus_and_idle_gpus() -> None:
    alerts = {
        rule["alert"]: rule for group in rule_groups() for rule in group["rules"] if "alert" in rule
    }
    assert {"ClaimingPodsPending", "GpuUnhealthy", "ClaimedGpusIdle"} <= set(alerts)
    broken = alerts["GpuUnhealthy"]["expr"]
    assert "!= 13" in broken, "an error of a program is none of the GPU"
    assert "!= 79" not in broken, "a GPU that has fallen off the bus is one"


def test_every_cloud_has_a_known_metrics_collector() -> None:
    assert {cloud(each).metrics_collector for each in names()} <= set(COLLECTORS)


COLLECTORS = {
    "prometheus-operator": ({"PrometheusRule"}, True),
    "google": ({"Rules", "PodMonitoring"}, False),
    "annotations": (set[str](), False),
}


@pytest.mark.parametrize(("collector", "expected"), COLLECTORS.items(), ids=COLLECTORS)
def test_rules_are_created_for_the_selected_collector(
    declare: Any, collector: str, expected: tuple[set[str], bool]
) -> None:
    found = declare(lambda: GpuMetrics("it", {"collector": collector}))
    kinds, monitored = expected
    assert {
        each.type.rpartition(":")[2] for each in found.resources if "monitoring." in each.type
    } == kinds
    values = found.one("Release").inputs["values"]
    assert values["serviceMonitor"] == {"enabled": monitored}
    assert ("podAnnotations" in values) == (collector == "annotations")


OLD = {
    "an exporter that ignores claims": (
        GpuMetrics,
        {"version": "4.5.2"},
        "version: use 4.8.3 or later, which supports claims",
    ),
    "a Kueue version that ignores claims": (
        Kueue,
        {"version": "0.17.9"},
        "version: use 0.18.0 or later, which counts claims",
    ),
    "a class that is too long": (
        Kueue,
        {"device_classes": ["a" * 64]},
        '" is too long, because Kueue allows at most 63 characters; list only classes with shorter '
        "names",
    ),
    "a class that is another quota": (
        Kueue,
        {"device_classes": ["cpu"]},
        r'Kueue already counts "cpu" under this name',
    ),
    "a class that the API server rejects": (
        Kueue,
        {"device_classes": ["a..b"]},
        "is not the name of a DeviceClass",
    ),
    "labels without an operator": (
        GpuMetrics,
        {"monitor_labels": {"a": "b"}},
        "applies only with collector: prometheus-operator",
    ),
    "labels of numbers": (
        GpuMetrics,
        {"collector": "prometheus-operator", "monitor_labels": {"release": 1}},
        "monitor_labels.release: must be a string, not 1",
    ),
    "invalid labels": (
        GpuMetrics,
        {"collector": "prometheus-operator", "monitor_labels": {"release": "a b"}},
        "monitor_labels.release",
    ),
}


@pytest.mark.parametrize(("component", "inputs", "message"), OLD.values(), ids=OLD)
def test_inputs_without_effect_are_rejected(
    declare: Any, component: Any, inputs: Any, message: str
) -> None:
    with pytest.raises(WrongInputs, match=message):
        declare(lambda: component("it", inputs))


def test_class_name_that_kueue_rejects_fails_first(
    platform: Any,
) -> None:
    """Kueue wouldn't start, and its webhook would reject every Deployment in the cluster."""
    named = {**LARGE, "name": "large-" * 11}
    with pytest.raises(WrongInputs, match=r"kueue\.device_classes\[2\]: .* at most 63 characters"):
        platform(
            "eks-dev", {"deviceClasses": [{**named, "name": named["name"].strip("-")}]}, kueue={}
        )


def test_prometheus_operator_finds_monitor_and_rules_by_labels(declare: Any) -> None:
    """kube-prometheus-stack's Prometheus reads only objects with the label of its release."""
    inputs = {
        "collector": "prometheus-operator",
        "monitor_labels": {"release": "kube-prometheus-stack"},
    }
    found = declare(lambda: GpuMetrics("it", inputs))
    monitor = found.one("Release").inputs["values"]["serviceMonitor"]
    assert monitor == {"enabled": True, "additionalLabels": {"release": "kube-prometheus-stack"}}
    rules = next(each for each in found.resources if each.type.endswith("PrometheusRule"))
    assert rules.inputs["metadata"]["labels"] == {"release": "kube-prometheus-stack"}
