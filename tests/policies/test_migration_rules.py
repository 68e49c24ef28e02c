"""Rules for clusters in which some pods use the device plugin, and others claims."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dra_planner.errors import Diagnostic
from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_policies.rules import check_all, view_of

CLAIM = {"resources": {"claims": [{"name": "gpu"}]}}
PLUGIN = {"resources": {"limits": {"nvidia.com/gpu": 1}}}
TEMPLATE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "gpu", "namespace": "ml"},
    "spec": {
        "spec": {
            "devices": {
                "requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]
            }
        }
    },
}


def deployment(*containers: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = {
        "containers": [
            {"name": name, "image": "example/a:1", **each}
            for name, each in zip("ab", containers, strict=False)
        ],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
    }
    if CLAIM in containers:
        pod["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    labels = {"app": "a"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat", "namespace": "ml"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def of_kind(kind: str, spec: dict[str, Any], api: str = "v1") -> dict[str, Any]:
    metadata = {"name": "one", "namespace": "ml"}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}


def findings(minor: int, *objects: dict[str, Any]) -> list[Diagnostic]:
    features = features_of(minor)
    text = yaml.safe_dump_all([TEMPLATE, *objects])
    manifests = read_checked((Source("a.yaml", text),), features)
    return list(check_all(view_of(manifests, features)))


def codes(minor: int, *objects: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each.severity, each.code) for each in findings(minor, *objects)]


TWICE = ("warning", "device-requested-twice")


def test_a_pod_that_uses_both_allocators_is_an_error() -> None:
    (found,) = findings(34, deployment(CLAIM, PLUGIN))

    assert (found.severity, found.code) == TWICE
    assert 'container "b" requests nvidia.com/gpu' in found.message
    assert found.fix == 'use the claim in container "b" too, and remove nvidia.com/gpu'
    assert not codes(34, deployment(CLAIM, CLAIM))


def test_a_class_with_an_extended_resource_name_allows_both_requests() -> None:
    served = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu.nvidia.com"},
        "spec": {"extendedResourceName": "nvidia.com/gpu"},
    }

    assert TWICE not in codes(36, deployment(CLAIM, PLUGIN), served)


def limit_range(amounts: dict[str, Any], section: str = "default") -> dict[str, Any]:
    return of_kind("LimitRange", {"limits": [{"type": "Container", section: amounts}]})


@pytest.mark.parametrize("section", ["default", "max"])
def test_a_limit_range_that_adds_a_gpu_to_a_claiming_pod_is_reported(section: str) -> None:
    (found,) = findings(36, deployment(CLAIM), limit_range({"nvidia.com/gpu": 1}, section))

    assert (found.severity, found.code) == TWICE
    assert "LimitRange ml/one adds nvidia.com/gpu to container" in found.message
    assert found.fix == "remove nvidia.com/gpu from the limits of LimitRange ml/one"
    assert not codes(36, deployment(CLAIM), limit_range({"memory": "1Gi"}, section))


def quota(**more: str) -> dict[str, Any]:
    return of_kind("ResourceQuota", {"hard": {"requests.nvidia.com/gpu": "4", **more}})


def test_a_quota_that_ignores_claims_is_reported_at_its_line() -> None:
    (found,) = findings(34, deployment(CLAIM), quota())

    assert (found.severity, found.code) == ("warning", "quota-counts-no-claims")
    assert found.place.line == yaml.safe_dump_all([TEMPLATE, deployment(CLAIM)]).count("\n") + 2
    by_class = {"gpu.nvidia.com.deviceclass.resource.k8s.io/devices": "4"}
    assert not codes(34, deployment(CLAIM), quota(**by_class))
    assert not codes(34, deployment(PLUGIN), quota())


@pytest.mark.parametrize(("name", "is_counted"), [("nvidia.com/gpu", True), (None, False)])
def test_a_quota_counts_claims_of_a_class_with_its_resource_name(
    name: str | None, is_counted: bool
) -> None:
    spec = {"extendedResourceName": name} if name else {"selectors": []}
    metadata = {"name": "gpu.nvidia.com"}
    given = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": metadata}

    found = codes(36, deployment(CLAIM), quota(), {**given, "spec": spec})

    assert ("warning", "quota-counts-no-claims") not in found if is_counted else found


HPA = of_kind(
    "HorizontalPodAutoscaler",
    {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"},
        "maxReplicas": 3,
        "metrics": [
            {
                "type": "Pods",
                "pods": {
                    "metric": {"name": "gpu_util"},
                    "target": {"type": "AverageValue", "averageValue": "80"},
                },
            }
        ],
    },
    "autoscaling/v2",
)
KEDA = of_kind(
    "ScaledObject",
    {
        "scaleTargetRef": {"name": "chat"},
        "triggers": [
            {"type": "prometheus", "metadata": {"query": 'DCGM_FI_DEV_GPU_UTIL{pod=~"chat.*"}'}}
        ],
    },
    "keda.sh/v1alpha1",
)
RULES_OF_ADAPTER = """\
rules:
  - seriesQuery: 'DCGM_FI_DEV_GPU_UTIL{pod!=""}'
    name: {as: "gpu_util"}
    metricsQuery: avg(<<.Series>>) by (<<.GroupBy>>)
"""
ADAPTER = {**of_kind("ConfigMap", {}), "data": {"config.yaml": RULES_OF_ADAPTER}}
ALERT = of_kind(
    "PrometheusRule",
    {"groups": [{"rules": [{"expr": 'sum(kube_x{resource="nvidia_com_gpu"})'}]}]},
    "monitoring.coreos.com/v1",
)


def exporter(value: str) -> dict[str, Any]:
    env = [{"name": "KUBERNETES_ENABLE_DRA", "value": value}]
    container = {"name": "e", "image": "example/dcgm-exporter:4.6.0-4.8.3", "env": env}
    labels = {"app": "e"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return of_kind("DaemonSet", spec, "apps/v1")


METRIC = "metric-ignores-claims"


@pytest.mark.parametrize(
    ("objects", "readers"),
    [((HPA, ADAPTER), 2), ((KEDA,), 1), ((HPA,), 0)],
    ids=["a series renamed by the adapter", "a query of KEDA", "a metric that isn't of GPUs"],
)
@pytest.mark.parametrize(
    ("given", "severity"),
    [((), "note"), ((exporter("false"),), "warning"), ((exporter("true"),), "")],
    ids=["unknown exporter", "exporter without claims", "exporter with claims, as the fix says"],
)
def test_a_scaler_on_a_metric_without_pods_is_reported(
    objects: tuple[Any, ...], readers: int, given: tuple[Any, ...], severity: str
) -> None:
    found = [each for each in findings(36, deployment(CLAIM), *objects, *given)
             if each.code == METRIC]  # fmt: skip

    assert [each.severity for each in found] == [severity] * readers * bool(severity)
    assert {each.fix for each in found} <= {
        "set kubernetesDRA.enabled to true in the values of dcgm-exporter (version 4.6.0-4.8.3 or later)"
    }


def test_an_alert_on_extended_resources_ignores_claims() -> None:
    (found,) = findings(36, deployment(CLAIM), ALERT)

    assert (found.severity, found.code) == ("warning", METRIC)
    assert found.fix == (
        "use kube_pod_resourceclaim_info instead (requires kube-state-metrics 2.20.0 or later)"
    )
    by_claim = "sum(kube_pod_resourceclaim_info)"
    fixed = of_kind("PrometheusRule", {"groups": [{"rules": [{"expr": by_claim}]}]}, "m/v1")
    assert not codes(36, deployment(CLAIM), fixed)
    assert not codes(36, deployment(PLUGIN), ALERT)


FLEET = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.36",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "0.5.0"}},
    "devicePlugin": {"version": "0.17.4"},
    "pools": [
        {"name": "old", "machine": "g6.xlarge", "count": {"max": 3}, "allocation": "device-plugin"},
        {"name": "new", "machine": "g6.xlarge", "count": {"max": 3}},
    ],
}


@pytest.mark.parametrize(("container", "is_reported"), [(PLUGIN, True), (CLAIM, False)])
def test_pods_that_may_run_on_both_kinds_of_pools_are_reported(
    container: dict[str, Any], is_reported: bool
) -> None:
    source = Source("a.yaml", yaml.safe_dump_all([TEMPLATE, deployment(container)]))
    plan = make_plan(PlanRequest(sources=(source,), fleet=read_fleet(FLEET)))
    assert plan.manifests is not None

    found = check_all(view_of(plan.manifests, features_of(36), plan))

    fixes = [each.fix for each in found if each.code == "extended-resource-served-twice"]
    fix = "remove extendedResourceName from DeviceClass gpu.nvidia.com, or use a claim instead of nvidia.com/gpu"
    assert fixes == [fix] * is_reported


def queue_objects(resource: str, quota: int) -> list[dict[str, Any]]:
    api = "kueue.x-k8s.io/v1beta2"
    row = {"name": resource, "nominalQuota": quota}
    group = {
        "coveredResources": [resource],
        "flavors": [{"name": "any", "resources": [row]}],
    }
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    return [
        {"apiVersion": api, "kind": "ResourceFlavor", "metadata": {"name": "any"}},
        of_kind("LocalQueue", {"clusterQueue": "one"}, api),
        {**of_kind("ClusterQueue", spec, api), "metadata": {"name": "one"}},
    ]


@pytest.mark.parametrize(
    ("resource", "quota", "is_admitted"),
    [("nvidia.com/gpu", 1, True), ("nvidia.com/gpu", 0, False), ("example.com/x", 1, False)],
    ids=["its quota", "a quota that is too small", "a quota of something else"],
)
def test_a_queue_also_counts_units_of_device_plugins(
    resource: str, quota: int, is_admitted: bool
) -> None:
    queued = deployment(PLUGIN)
    queued["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "one"}
    text = yaml.safe_dump_all([*queue_objects(resource, quota), queued])
    fleet = read_fleet(
        {**FLEET, "kubernetes": "1.34", "drivers": {"nvidia": {"version": "25.8.1"}}}
    )

    plan = make_plan(PlanRequest(sources=(Source("a.yaml", text),), fleet=fleet))

    codes_of_plan = [reason.code for each in plan.workloads for reason in each.reasons]
    assert ("queue-admits-no-pod" not in codes_of_plan) is is_admitted
    assert (plan.verdict == "fits") is is_admitted
