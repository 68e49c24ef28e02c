"""Pods that can't request a claim as they are: served by a class, kept on the device plugin, or not
migrated at all.
"""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import yaml

from dra_planner.fleet import read_fleet
from dra_planner.migration import (
    ClaimSupport,
    DeviceSharing,
    Migration,
    PluginFacts,
    Result,
    Target,
    migrate,
)
from dra_planner.migration.target_cluster import target_of_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.sources import Source

SERVED = Target(minor=36, served={"nvidia.com/gpu": "gpu.nvidia.com"})
PLAIN = Target(minor=36)

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: one, namespace: ml}}
spec:
  {extra}
  containers:
    - name: main
      image: example/main:1
      resources: {{limits: {{{resource}: {count}}}}}
"""
KNATIVE = """\
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: chat, namespace: ml}
spec:
  template:
    spec:
      containers:
        - image: example/chat:1
          resources: {limits: {nvidia.com/gpu: "1"}}
"""


def pod(
    extra: str = "restartPolicy: Always", resource: str = "nvidia.com/gpu", count: int = 1
) -> str:
    return POD.format(extra=extra, resource=resource, count=count)


def migrated(text: str, target: Target = PLAIN, answers: PluginFacts | None = None) -> Migration:
    return migrate([Source("pods.yaml", textwrap.dedent(text))], target, answers)


def test_knative_workload_served_by_a_class_is_unchanged() -> None:
    found = migrated(KNATIVE, SERVED)

    assert [each.result for each in found.templates] == [Result.SERVED]
    assert "gpu.nvidia.com serves nvidia.com/gpu" in found.templates[0].reason
    assert not found.files[0].is_changed


def test_class_is_the_first_alternative_for_knative() -> None:
    (outcome,) = migrated(KNATIVE).templates

    assert outcome.result is Result.CANNOT
    assert "webhook rejects resourceClaims" in outcome.reason
    assert "extendedResourceName" in outcome.alternatives[0]


CANNOT = {
    "a pod with a node name": (pod("nodeName: gpu-1"), "sets nodeName"),
    "shares of MPS": (pod('nodeSelector: {nvidia.com/mps.capable: "true"}'), "with MPS"),
    "a renamed share without shares in the target": (
        pod(resource="nvidia.com/gpu.shared"),
        "time-sliced",
    ),
    "a product label of shared GPUs": (
        pod("nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4-SHARED}"),
        "time-sliced",
    ),
    "a fraction of HAMi": (pod(resource="nvidia.com/gpumem", count=4096), "HAMi"),
    "an unknown GPU": (pod("nodeSelector: {nvidia.com/gpu.product: Voodoo-2}"), "Voodoo-2"),
    "a label without a counterpart": (
        pod("nodeSelector: {nvidia.com/gpu.machine: p5.48xlarge}"),
        "nvidia.com/gpu.machine",
    ),
    "a share of Volcano's": (pod(resource="volcano.sh/vgpu-memory", count=3000), "Volcano's"),
    "memory of a scheduler extender": (pod(resource="aliyun.com/gpu-mem"), "scheduler extender"),
    "TPU chips": (pod(resource="google.com/tpu", count=4), "all TPU chips"),
}


@pytest.mark.parametrize(("text", "reason"), CANNOT.values(), ids=CANNOT)
def test_pod_that_cannot_use_a_claim_is_unchanged_with_a_reason(text: str, reason: str) -> None:
    found = migrated(text)

    assert [each.result for each in found.templates] == [Result.CANNOT]
    assert reason in found.templates[0].reason
    assert not found.files[0].is_changed


def test_affinity_to_a_gpu_or_a_zone_cannot_be_migrated() -> None:
    found = migrated("""\
        apiVersion: v1
        kind: Pod
        metadata: {name: either}
        spec:
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                  - matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4]}]
                  - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}]
          containers:
            - {name: main, image: example/main:1, resources: {limits: {nvidia.com/gpu: 1}}}
        """)

    assert "allows either nodes with a GPU label or other nodes" in found.templates[0].reason


def test_affinity_to_gpus_and_a_zone_is_split() -> None:
    found = migrated("""\
        apiVersion: v1
        kind: Pod
        metadata: {name: both}
        spec:
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                  - matchExpressions:
                      - {key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4, NVIDIA-L40S]}
                      - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}
          containers:
            - {name: main, image: example/main:1, resources: {limits: {nvidia.com/gpu: 1}}}
        """)

    text = found.files[0].text
    assert 'productName in ["NVIDIA L4", "NVIDIA L40S"]' in text
    assert "topology.kubernetes.io/zone" in text
    assert "nvidia.com/gpu.product" not in text


def test_shares_of_the_plugin_can_be_given() -> None:
    answers = PluginFacts(
        shared={"nvidia.com/gpu": DeviceSharing("time-slicing", 4)}, is_known=True
    )

    unshared, shared = (
        migrated(pod(), Target(minor=36, support=ClaimSupport(shares=shares)), answers)
        for shares in ("", "4")
    )

    assert unshared.templates[0].result is Result.CANNOT
    assert 'shares: "1"' in shared.files[0].text
    assert not shared.assumptions


def test_whole_gpu_of_a_driver_with_shares_requests_all_shares() -> None:
    found = migrated(pod(count=2), Target(minor=36, support=ClaimSupport(shares="4")))

    assert 'shares: "4"' in found.files[0].text
    assert "count: 2" in found.files[0].text


def test_assumption_of_whole_gpus_is_reported() -> None:
    assert "whole device" in migrated(pod()).assumptions[0]


def test_mig_devices_are_recognized_by_the_nodes() -> None:
    node = """\
apiVersion: v1
kind: Node
metadata:
  name: gpu-1
  labels: {nvidia.com/mig.strategy: single, nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB-MIG-1g.5gb}
---
"""
    found = migrated(node + pod())

    assert "mig.nvidia.com" in found.files[0].text
    assert not found.assumptions


def test_pods_that_see_every_gpu_without_a_request_are_reported() -> None:
    found = migrated("""\
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: monitor, namespace: ml}
        spec:
          selector: {matchLabels: {app: monitor}}
          template:
            metadata: {labels: {app: monitor}}
            spec:
              containers:
                - name: main
                  image: example/monitor:1
                  env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
        """)

    assert found.templates[0].result is Result.CANNOT
    assert "adminAccess" in found.templates[0].alternatives[0]


def test_excluded_workload_stays_on_the_device_plugin() -> None:
    found = migrated(pod(), Target(minor=36, keep=frozenset({"ml/one"})))

    assert [each.result for each in found.templates] == [Result.KEPT]
    assert not found.files[0].is_changed


def test_comments_order_and_quotes_are_preserved() -> None:
    text = """\
# The chat model
apiVersion: v1
kind: Pod
metadata:
  name: "chat"   # public name
spec:
  containers:
  - name: main
    image: 'example/chat:1'  # pinned
    resources:
      limits:
        cpu: "2"
        nvidia.com/gpu: 1  # one GPU
"""
    found = migrated(text).files[0].text

    kept = [line for line in text.splitlines()[1:] if "gpu" not in line]
    lines = found.rpartition("---\n")[2].splitlines()
    positions = [lines.index(line) for line in kept]
    assert positions == sorted(positions)
    assert found.startswith("# The chat model\n")


def test_yaml_anchors_are_never_rewritten() -> None:
    found = migrated("""\
        apiVersion: v1
        kind: Pod
        metadata: {name: anchored}
        spec:
          containers:
            - name: main
              image: example/main:1
              resources: {limits: &gpu {nvidia.com/gpu: 1, cpu: 2}, requests: *gpu}
        """)

    assert found.templates[0].result is Result.CANNOT
    assert "anchors" in found.templates[0].reason
    assert not found.files[0].is_changed


def test_alert_that_counts_plugin_gpus_is_reported() -> None:
    found = migrated("""\
        apiVersion: monitoring.coreos.com/v1
        kind: PrometheusRule
        metadata: {name: gpus}
        spec:
          groups:
            - name: gpus
              rules:
                - alert: NoGpu
                  expr: sum(kube_pod_container_resource_requests{resource="nvidia_com_gpu"}) > 8
        """)

    assert "kube_pod_resourceclaim_info" in found.changes[0].what
    assert not found.changes[0].is_changed


def test_source_nodes_replace_the_assumption_of_whole_gpus() -> None:
    node = (
        "apiVersion: v1\nkind: Node\nmetadata: {name: n, labels: {nvidia.com/gpu.product: "
        "NVIDIA-L4}}\n"
    )
    (assumed,) = migrate([Source("pod.yaml", pod())], PLAIN).assumptions

    advice = (
        "pass the source cluster's nodes (`kubectl get nodes -o yaml`) or the plugin's ConfigMap."
    )
    assert advice in assumed
    assert not migrate([Source("pod.yaml", pod()), Source("nodes.yaml", node)], PLAIN).assumptions


def test_note_on_a_gpu_count_label_works() -> None:
    (before,) = migrated(pod('nodeSelector: {nvidia.com/gpu.count: "8"}')).templates
    (after,) = migrated(pod("nodeSelector: {pulumi-dra/pool: eight}")).templates

    assert [each.partition("; ")[2] for each in before.notes] == ["select a pool instead"]
    assert (before.result, after.result, after.notes) == (Result.REWRITTEN, Result.REWRITTEN, ())


def test_submitter_pod_of_a_ray_job_has_no_note_about_ray() -> None:
    job = """\
        apiVersion: ray.io/v1
        kind: RayJob
        metadata: {name: train}
        spec:
          submitterPodTemplate:
            spec: {containers: [{name: main, image: example/ray:2, resources: {limits: {nvidia.com/gpu: 1}}}]}
    """
    (outcome,) = migrated(job).templates

    assert (outcome.result, outcome.notes) == (Result.REWRITTEN, ())


CONTROLLED = {
    "a TrainJob": (
        {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "spec": {"trainer": {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 4}}}},
        },
        "its runtime creates the pods, so the runtime's",
        "Request the claim in the pod template of its runtime, and list the claim in "
        "resourcesPerNode.claims",
    ),
    "a Tekton task": (
        {
            "apiVersion": "tekton.dev/v1",
            "kind": "Task",
            "spec": {"steps": [{"computeResources": {"limits": {"nvidia.com/gpu": 1}}}]},
        },
        "Tekton's pod template",
        "",
    ),
    "a Spark application": (
        {
            "apiVersion": "sparkoperator.k8s.io/v1beta2",
            "kind": "SparkApplication",
            "spec": {"executor": {"gpu": {"name": "nvidia.com/gpu", "quantity": 1}}},
        },
        "the Spark operator",
        "",
    ),
}


@pytest.mark.parametrize(("item", "reason", "instead"), CONTROLLED.values(), ids=CONTROLLED)
def test_request_outside_of_pod_templates_gets_an_alternative(
    item: dict[str, Any], reason: str, instead: str
) -> None:
    text = yaml.safe_dump({**item, "metadata": {"name": "a", "namespace": "ml"}})

    (stuck,) = migrated(text).templates
    (served,) = migrated(text, SERVED).templates

    assert stuck.result is Result.CANNOT
    assert served.result is Result.SERVED
    assert reason in stuck.reason
    assert not instead or instead in served.alternatives


def test_a_template_with_pods_is_not_counted_twice() -> None:
    assert len(migrated(KNATIVE).templates) == 1


def test_values_of_an_unknown_chart_are_unchanged_and_reported() -> None:
    text = "replicaCount: 2\nresources: {limits: {nvidia.com/gpu: 1}}\n"

    found = migrated(text)

    assert [each.result for each in found.templates] == [Result.CANNOT]
    assert "it's unknown whether the chart has a value for claims" in found.templates[0].reason
    assert migrated(text, SERVED).templates[0].result is Result.SERVED
    assert not found.files[0].is_changed


def test_values_without_devices_are_not_a_workload() -> None:
    assert not migrated("resources: {limits: {nvidia.com/gpu: 0}}\n").templates


def test_chart_with_its_own_claims_requests_no_plugin_devices() -> None:
    found = migrated(
        """\
        modelArtifacts: {name: a/b}
        accelerator: {type: nvidia}
        decode:
          containers:
            - name: vllm
              resources:
                limits: {cpu: "4", nvidia.com/gpu: "2"}
        """
    )

    text = found.files[0].text
    assert "dra: true" in text
    assert "nvidia.com/gpu" not in text
    assert 'limits: {cpu: "4"}' in text


@pytest.mark.parametrize("mode", ["Serverless", "Knative"])
def test_kserve_model_on_knative_cannot_have_claims(mode: str) -> None:
    text = f"""\
        apiVersion: serving.kserve.io/v1beta1
        kind: InferenceService
        metadata:
          name: a
          namespace: ml
          annotations: {{serving.kserve.io/deploymentMode: {mode}}}
        spec:
          predictor:
            model: {{modelFormat: {{name: a}}, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}
        """

    assert migrated(text).templates[0].result is Result.CANNOT
    standard = text.replace(mode, "Standard")
    assert migrated(standard).templates[0].result is Result.REWRITTEN


@pytest.mark.parametrize(
    ("label", "condition"),
    [
        ("nvidia.com/cuda.driver-version.major", "driverVersion.major() == 580"),
        ("nvidia.com/cuda.driver.major", "driverVersion.major() == 580"),
        ("nvidia.com/cuda.runtime-version.minor", "cudaDriverVersion.minor() == 580"),
    ],
)
def test_parts_of_a_driver_version_are_compared_in_the_claim(label: str, condition: str) -> None:
    found = migrated(pod(f'nodeSelector: {{{label}: "580"}}'))

    assert f'device.attributes["gpu.nvidia.com"].{condition}' in found.files[0].text


def test_intel_gpus_of_both_kernel_drivers_become_claims() -> None:
    for resource in ("gpu.intel.com/i915", "gpu.intel.com/xe"):
        assert "deviceClassName: gpu.intel.com" in migrated(pod(resource=resource)).files[0].text


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def test_preferred_affinity_to_a_gpu_label_is_noted() -> None:
    term = "{key: nvidia.com/gpu.product, operator: In, values: [NVIDIA-L4]}"
    terms = f"[{{weight: 1, preference: {{matchExpressions: [{term}]}}}}]"
    preferred = f"affinity: {{nodeAffinity: {{{PREFERRED}: {terms}}}}}"

    (outcome,) = migrated(pod(preferred)).templates

    assert outcome.result is Result.REWRITTEN
    assert "list the preferred devices in firstAvailable" in outcome.notes[0]


def test_served_pod_that_selects_a_gpu_label_gets_a_note() -> None:
    text = KNATIVE.replace(
        "      containers:",
        "      nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}\n      containers:",
    )

    (outcome,) = migrated(text, SERVED).templates

    fix = "run GPU feature discovery on them, or add the label to the pool"
    assert fix in outcome.notes[0]
    selecting = Source("pod.yaml", pod("nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}"))
    verdicts = []
    for labels in ({}, {"nvidia.com/gpu.product": "NVIDIA-L4"}):
        document = yaml.safe_load(SERVING_FLEET)
        document["pools"][0]["labels"] = labels
        fleet = read_fleet(document)
        verdicts.append(make_plan(PlanRequest(sources=(selecting,), fleet=fleet, steps=0)).verdict)
    assert verdicts[0] != "fits"
    assert verdicts[1] == "fits"


SERVING_FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 0.4.1}}
pools: [{name: l4, machine: g6.2xlarge, count: {max: 2}}]
"""


def test_comments_in_a_removed_block_are_preserved() -> None:
    text = pod().replace(
        "      resources: {limits: {nvidia.com/gpu: 1}}\n",
        "      resources:\n        limits:\n          # memory: 1Gi\n          nvidia.com/gpu: 1\n"
        "        requests:\n          # cpu: 1\n          nvidia.com/gpu: 1\n",
    )

    found = migrated(text).files[0].text

    assert "# memory: 1Gi\n" in found
    assert "# cpu: 1\n" in found
    assert "nvidia.com/gpu: 1" not in found
    assert migrated(found).files[0].text == found


def test_nim_service_uses_its_own_field_for_the_claim_template() -> None:
    found = migrated(
        """\
        apiVersion: apps.nvidia.com/v1alpha1
        kind: NIMService
        metadata: {name: llama, namespace: ml}
        spec:
          replicas: 1
          nodeSelector: {nvidia.com/gpu.product: NVIDIA-L4}
          resources:
            limits: {cpu: 8, nvidia.com/gpu: 2}
        """
    )

    template, service = yaml.safe_load_all(found.files[0].text)
    (request,) = template["spec"]["spec"]["devices"]["requests"]
    assert request["exactly"]["count"] == 2
    assert service["spec"] == {
        "replicas": 1,
        "resources": {"limits": {"cpu": 8}},
        "draResources": [{"resourceClaimTemplateName": template["metadata"]["name"]}],
        "tolerations": [
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        ],
    }
    assert not migrated(found.files[0].text).templates


@pytest.mark.parametrize(("second", "notes"), [("low", 2), ("high", 0)])
def test_priorities_that_no_longer_preempt_for_gpus_are_noted(second: str, notes: int) -> None:
    pods = [pod(f"priorityClassName: {name}") for name in ("high", second)]

    found = migrated("---\n".join(pods))

    texts = [note for each in found.templates for note in each.notes]
    assert len([each for each in texts if "no longer decides which pods get GPUs" in each]) == notes


def test_container_that_sees_every_gpu_despite_the_claim_is_noted() -> None:
    text = """\
    apiVersion: v1
    kind: Pod
    metadata: {name: one, namespace: ml}
    spec:
      runtimeClassName: nvidia
      containers:
        - {name: main, image: "a:1", env: ENV, resources: {limits: {nvidia.com/gpu: 1}}}
        - {name: side, image: "b:1", env: ENV}
    """
    shown = "[{name: NVIDIA_VISIBLE_DEVICES, value: all}]"

    (outcome,) = migrated(text.replace("ENV", shown)).templates

    assert any(
        "makes every GPU" in note and note.endswith("Remove the variable") for note in outcome.notes
    )
    assert any(
        note.endswith(
            "If the target cluster doesn't have this RuntimeClass, remove runtimeClassName. "
            "Otherwise, the API server rejects the pods"
        )
        for note in outcome.notes
    )
    (fixed,) = migrated(text.replace("ENV", "[]").replace("runtimeClassName: nvidia", "")).templates
    assert not fixed.notes


GKE = read_fleet(
    {
        "cloud": "gke",
        "region": "us-central1",
        "systemPool": {"machine": "e2-standard-4"},
        "kubernetes": "1.36",
        "drivers": {"nvidia": {"version": "0.4.1"}},
        "pools": [{"name": "h100", "machine": "a3-highgpu-8g", "count": {"min": 0, "max": 2}}],
    }
)
EKS = read_fleet(
    {
        **GKE.document(),
        "cloud": "eks",
        "region": "us-east-1",
        "systemPool": {"machine": "m7i.large"},
        "pools": [{"name": "h100", "machine": "p5.4xlarge", "count": {"min": 0, "max": 2}}],
    }
)


@pytest.mark.parametrize("resource", ["nvidia.com/mig-1g.10gb", "nvidia.com/gpu"])
def test_mig_devices_on_gke_cannot_migrate(resource: str) -> None:
    target, profile = target_of_fleet(GKE), PluginFacts(partition="1g.10gb")

    (found,) = migrated(pod(resource=resource), target, profile).templates

    assert found.result is Result.CANNOT
    assert found.reason.startswith("GKE doesn't support MIG with DRA")
    assert found.alternatives[-1] == "Keep the pods in a pool with `allocation: device-plugin`"


def test_mig_devices_on_eks_become_claims() -> None:
    found = migrated(pod(resource="nvidia.com/mig-1g.10gb"), target_of_fleet(EKS))

    assert found.templates[0].result is Result.REWRITTEN


@pytest.mark.parametrize("strategy", ["time-slicing", "mps"])
def test_alternatives_to_shares_are_supported_by_the_cloud(strategy: str) -> None:
    facts = PluginFacts(shared={"nvidia.com/gpu": DeviceSharing(strategy, 4)}, is_known=True)

    on_gke, on_eks = (
        migrated(pod(), target_of_fleet(fleet), facts).templates[0].alternatives
        for fleet in (GKE, EKS)
    )

    refused = ("ConsumableShares", "TimeSlicingSettings", "MPSSupport", "MIG ")
    assert not [each for each in on_gke if any(word in each for word in refused)]
    assert [each for each in on_eks if "Share one ResourceClaim" in each]
    assert set(on_gke) < set(on_eks)
