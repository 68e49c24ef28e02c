"""Resources outside the fleet cause no findings, or only a note, because users disable checks that
report too much.
"""

from __future__ import annotations

import pytest

from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_policies.rules import ON, RULES, check_all, view_of

EXTENDED = {
    "name": "any-gpu",
    "extendedResourceName": "nvidia.com/gpu",
    "selectors": ['device.driver == "gpu.nvidia.com"'],
}
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  {more}
  containers: [{{name: main, image: i, resources: {{requests: {{cpu: "{cpu}"}}, limits: {limits}}}}}]
"""
CLAIMING = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: t}}
spec: {{spec: {{devices: {{requests: [{requests}]}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec:
  tolerations: [{{operator: Exists}}]
  resourceClaims: [{{name: c, resourceClaimTemplateName: t}}]
  containers: [{{name: main, image: i, resources: {{claims: [{{name: c}}]}}}}]
"""
REQUEST = "{{name: {name}, exactly: {{deviceClassName: {device_class}}}}}"
EXAMPLE_CLASS = """
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
"""
RUN = """
apiVersion: tekton.dev/v1
kind: PipelineRun
metadata: {name: build}
spec: {pipelineRef: {name: elsewhere}}
"""
DAEMON = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: logs}
spec:
  selector: {matchLabels: {app: logs}}
  template:
    metadata: {labels: {app: logs}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: main, image: i, resources: {requests: {cpu: 100m}}}]
"""
CHANNEL = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: channel}
spec: {devices: {requests: [{name: channel, exactly: {deviceClassName: imex.nvidia.com}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ranks}
spec:
  replicas: 2
  selector: {matchLabels: {app: ranks}}
  template:
    metadata: {labels: {app: ranks}}
    spec:
      resourceClaims: [{name: channel, resourceClaimName: channel}]
      containers: [{name: main, image: i, resources: {claims: [{name: channel}]}}]
"""
TWO_KINDS = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: many}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        nodeSelector: {disk: ssd}
        containers: [{name: main, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]
    workerTemplate:
      spec:
        containers: [{name: main, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]
"""


def fleet(cloud: str = "eks", kubernetes: str = "1.36") -> Fleet:
    machine, system, region = {
        "aks": ("Standard_NC16as_T4_v3", "Standard_D4s_v5", "eastus"),
        "eks": ("g6.2xlarge", "m7i.large", "us-east-1"),
        "gke": ("g2-standard-8", "e2-standard-4", "us-central1"),
    }[cloud]
    classes = [EXTENDED] if kubernetes == "1.36" else []
    return read_fleet(
        {
            "cloud": cloud,
            "region": region,
            "kubernetes": kubernetes,
            "systemPool": {"machine": system, "count": 2},
            "drivers": {"nvidia": {"version": "25.8.1"}},
            "deviceClasses": classes,
            "network": {"zones": ["us-central1-a"] if cloud == "gke" else 2},
            "pools": [{"name": "l4", "machine": machine, "count": {"min": 0, "max": 2}}],
        }
    )


def pod(limits: str = "{}", cpu: str = "1", more: str = "") -> str:
    return POD.format(limits=limits, cpu=cpu, more=more)


def claiming(*classes: str) -> str:
    requests = (
        REQUEST.format(name=f"r{index}", device_class=name) for index, name in enumerate(classes)
    )
    return CLAIMING.format(requests=", ".join(requests))


def findings_of(manifest: str, of: Fleet) -> list[Diagnostic]:
    plan = make_plan(PlanRequest(fleet=of, sources=(Source("all.yaml", manifest),)))
    assert plan.manifests is not None
    view = view_of(plan.manifests, features_of(of.minor), plan, lambda: plan.judgement)
    return list(check_all(view, ON))


# Manifest → cloud, release, and (severity, rule) of all findings.
CASES: dict[str, tuple[str, str, str, list[tuple[str, str]]]] = {
    "an extended resource, tolerated by admission on EKS": (
        pod("{nvidia.com/gpu: 1}"),
        "eks",
        "1.36",
        [],
    ),
    "an extended resource, tolerated by admission on GKE": (
        pod("{nvidia.com/gpu: 1}"),
        "gke",
        "1.36",
        [],
    ),
    "an extended resource, tolerated by admission on AKS": (
        pod("{nvidia.com/gpu: 1}"),
        "aks",
        "1.36",
        [],
    ),
    "an extended resource that no node advertises": (
        pod("{nvidia.com/gpu: 1}"),
        "eks",
        "1.34",
        [("error", "claim-fits-no-pool")],
    ),
    "pods of two kinds, of which one fits nowhere": (
        TWO_KINDS,
        "eks",
        "1.36",
        [("error", "claim-fits-no-pool")],
    ),
    "a claim without automatic tolerations": (
        claiming("gpu.nvidia.com").replace("{operator: Exists}", ""),
        "eks",
        "1.36",
        [("error", "claim-fits-no-pool")],
    ),
    "a pod without devices that the system pool cannot hold": (
        pod(cpu="32"),
        "eks",
        "1.36",
        [("error", "pod-fits-no-system-pool")],
    ),
    "a pod without devices for nodes that the fleet does not have": (
        pod(more="nodeSelector: {team: web}"),
        "eks",
        "1.36",
        [("error", "pod-fits-no-system-pool")],
    ),
    "a pod without devices that tolerates everything": (
        pod(cpu="32", more="tolerations: [{operator: Exists}]"),
        "eks",
        "1.36",
        [("error", "claim-fits-no-pool")],
    ),
    "a DaemonSet on every node": (DAEMON, "eks", "1.36", []),
    "a missing pipeline": (RUN, "eks", "1.36", [("note", "claim-cannot-be-judged")]),
    "a TPU": (pod("{google.com/tpu: 4}"), "eks", "1.36", [("note", "device-of-another-driver")]),
    "a GPU of AMD": (
        pod("{amd.com/gpu: 1}"),
        "gke",
        "1.36",
        [("note", "device-of-another-driver")],
    ),
    "an NVIDIA GPU and an AMD GPU": (
        pod("{amd.com/gpu: 1, nvidia.com/gpu: 1}"),
        "eks",
        "1.36",
        [("error", "claim-fits-no-pool")],
    ),
    "a class of Intel's driver": (
        claiming("gpu.intel.com"),
        "eks",
        "1.36",
        [("note", "device-of-another-driver")],
    ),
    "Intel's class and NVIDIA's class": (
        claiming("gpu.nvidia.com", "gpu.intel.com"),
        "eks",
        "1.36",
        [("note", "claim-cannot-be-judged")],
    ),
    "a misspelled NVIDIA class": (
        claiming("gpu.nvdia.com"),
        "eks",
        "1.36",
        [("warning", "class-misspelt")],
    ),
    "an unknown class": (
        claiming("large"),
        "eks",
        "1.36",
        [("note", "claim-cannot-be-judged")],
    ),
    "a Fabric Manager attribute in a constraint": (
        claiming("gpu.nvidia.com").replace(
            "]}}", "], constraints: [{matchAttribute: gpu.nvidia.com/partition2}]}}", 1
        ),
        "eks",
        "1.36",
        [("error", "claim-fits-no-pool")],  # the gate is off in this fleet
    ),
    "a channel of many nodes, claimed by replicas": (
        CHANNEL,
        "eks",
        "1.36",
        [("note", "claim-cannot-be-judged"), ("note", "claim-shared-by-replicas")],
    ),
    "an existing class of another driver": (
        claiming("gpu.example.com") + EXAMPLE_CLASS,
        "eks",
        "1.36",
        [("note", "device-of-another-driver"), ("note", "worth-knowing")],
    ),
}


@pytest.mark.parametrize("cloud", ["aks", "eks", "gke"])
def test_pools_of_a_fleet_cause_no_findings(cloud: str) -> None:
    assert findings_of(pod(), fleet(cloud)) == []


@pytest.mark.parametrize("name", CASES)
def test_only_the_expected_findings_are_reported(name: str) -> None:
    manifest, cloud, kubernetes, expected = CASES[name]
    assert [
        (each.severity, each.code) for each in findings_of(manifest, fleet(cloud, kubernetes))
    ] == expected


def test_devices_of_other_drivers_are_reported() -> None:
    (finding,) = findings_of(pod("{google.com/tpu: 4}"), fleet())
    assert (
        finding.message
        == "Pod default/p requests google.com/tpu, but no driver in the fleet provides such devices"
    )


def test_the_system_pool_is_evaluated() -> None:
    (finding,) = findings_of(pod(cpu="32"), fleet())
    assert (finding.severity, finding.code) == ("error", "pod-fits-no-system-pool")
    assert finding.message.startswith(
        "Pod default/p doesn't fit on the system pool: the pod requests 32 CPUs"
    )
    assert findings_of(pod(), fleet()) == []


def test_a_stack_checks_only_pods_that_request_devices() -> None:
    """Its record describes the pods that request devices; for other pods, there is only a note."""
    plan = make_plan(
        PlanRequest(fleet=fleet(), sources=(Source("all.yaml", RUN),), devices_only=True)
    )
    assert plan.manifests is not None
    found = list(check_all(view_of(plan.manifests, features_of(fleet().minor), plan), ON))
    assert [(each.severity, each.code) for each in found] == [("note", "pod-not-described")]


def test_every_rule_is_on() -> None:
    assert all(rule.is_on for rule in RULES)


# Forms that occur in public manifests and are accepted by their controllers.
ACCEPTED = {
    "a container that Knative names": """
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec: {template: {spec: {containers: [{image: i, env: [{name: TARGET, value: x}]}]}}}
""",
    "two containers, one of them without a name": """
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec: {template: {spec: {containers: [{image: i, ports: [{containerPort: 80}]}, {name: side, image: s}]}}}
""",
    "a predictor whose container KServe names": """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: custom}
spec: {predictor: {containers: [{image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}}
""",
    "a pod template without containers": """
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web}
spec: {template: {spec: {nodeSelector: {kubernetes.io/arch: amd64}}}}
""",
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_fields_that_controllers_set_are_accepted(name: str) -> None:
    assert [each for each in findings_of(ACCEPTED[name], fleet()) if each.severity != "note"] == []
