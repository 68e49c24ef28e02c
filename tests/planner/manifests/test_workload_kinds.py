"""How many pods a workload asks for, of every kind and in unusual forms; what scalers and
controllers make of it.
"""

# a manifest reads best in one piece
from __future__ import annotations

import pytest
import yaml
from workload_cases import CASES, JOB_TEMPLATE, LABELS, POD, TEMPLATE, Expected, fixed, manifest

from dra_planner.manifests import Manifests
from dra_planner.model import Figures
from dra_planner.plan import read_checked
from dra_planner.plan.judgement.kustomize import spec_path
from dra_planner.releases import features_of
from dra_planner.sources import Source


def read(text: str, minor: int = 36) -> Manifests:
    return read_checked([Source("w.yaml", f"---\n{text}")], features_of(minor))


@pytest.mark.parametrize(("name", "text", "expected"), CASES, ids=[case[0] for case in CASES])
def test_kind_has_the_expected_pods(name: str, text: str, expected: Expected) -> None:
    manifests = read(text)
    assert [item for item in manifests.diagnostics if item.severity != "note"] == []
    assert manifests.unresolved == ()
    (workload,) = manifests.workloads
    assert {pods.name: tuple(pods.figures) for pods in workload.pod_sets} == expected


GROUPS = (
    "{groupName: a, replicas: 1, minReplicas: 2, maxReplicas: 5, " + TEMPLATE + "}, "
    "{groupName: b, replicas: 9, minReplicas: 2, maxReplicas: 5, " + TEMPLATE + "}"
)
RUNTIME = manifest(
    "trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime",
    f"mlPolicy: {{numNodes: 2}}, template: {{spec: {{replicatedJobs: [{{name: node, template: {{spec: {{{JOB_TEMPLATE}}}}}}}]}}}}",
)  # fmt: skip
LEAF = "{name: run, container: {image: i}}"
STEPS = "{name: main, steps: [[{name: a, template: run}, {name: b, template: run}], [{name: c, template: run}]]}"
RANGE = "{name: main, steps: [[{name: a, template: run, withSequence: {start: 2, end: 6}}]]}"
AGAIN = "{name: main, steps: [[{name: a, template: run}], [{name: b, template: main}, {name: c, template: main}]]}"
UNUSUAL: list[tuple[str, str, Expected]] = [
    ("Kueue may admit fewer pods", manifest("batch/v1", "Job", f"parallelism: 8, {JOB_TEMPLATE}", ', annotations: {kueue.x-k8s.io/job-min-parallelism: "2"}'), {"": (2, 8, 8, 8)}),
    ("Volcano task with a minimum", manifest("batch.volcano.sh/v1alpha1", "Job", f"minAvailable: 3, tasks: [{{name: ps, {JOB_TEMPLATE}}}, {{name: w, replicas: 4, minAvailable: 2, {JOB_TEMPLATE}}}]"), {"ps": fixed(1), "w": (2, 4, 4, 4)}),
    ("Volcano job of one task", manifest("batch.volcano.sh/v1alpha1", "Job", f"minAvailable: 3, tasks: [{{name: w, replicas: 4, {JOB_TEMPLATE}}}]"), {"w": (3, 4, 4, 4)}),
    ("Ray keeps to its bounds without scaling", manifest("ray.io/v1", "RayCluster", f"headGroupSpec: {{{TEMPLATE}}}, workerGroupSpecs: [{GROUPS}]"), {"head": fixed(1), "a": fixed(2), "b": fixed(5)}),
    ("Spark begins with the largest of three", manifest("sparkoperator.k8s.io/v1beta2", "SparkApplication", "driver: {}, executor: {instances: 5}, dynamicAllocation: {enabled: true, initialExecutors: 1, minExecutors: 3, maxExecutors: 6}"), {"driver": fixed(1), "executor": (3, 5, 6, 6)}),
    ("Spark begins with its minimum", manifest("sparkoperator.k8s.io/v1beta2", "SparkApplication", "driver: {}, executor: {}, dynamicAllocation: {enabled: true, maxExecutors: 6}"), {"driver": fixed(1), "executor": (0, 0, 6, 6)}),
    ("nodes of the runtime", manifest("trainer.kubeflow.org/v1alpha1", "TrainJob", "runtimeRef: {name: w}") + "\n---\n" + RUNTIME, {"node": fixed(2)}),
    ("steps one after the other", manifest("argoproj.io/v1alpha1", "Workflow", f"entrypoint: main, templates: [{STEPS}, {LEAF}]"), {"run": (0, 2, 2, 2)}),
    ("a sequence of numbers", manifest("argoproj.io/v1alpha1", "Workflow", f"entrypoint: main, templates: [{RANGE}, {LEAF}]"), {"run": (0, 5, 5, 5)}),
    ("a recursive template", manifest("argoproj.io/v1alpha1", "Workflow", f"entrypoint: main, templates: [{AGAIN}, {LEAF}]"), {"run": (0, 1, 1, 1)}),
    ("tasks at the end", manifest("tekton.dev/v1", "PipelineRun", "pipelineSpec: {tasks: [{name: a, taskSpec: {steps: [{name: s}]}}], finally: [{name: f, taskSpec: {steps: [{name: s}]}}]}"), {"a": fixed(1), "f": fixed(1)}),
    ("KServe's HPA keeps one", manifest("serving.kserve.io/v1beta1", "InferenceService", "predictor: {minReplicas: 0, maxReplicas: 3, containers: [{name: m}]}", ", annotations: {serving.kserve.io/deploymentMode: RawDeployment}"), {"predictor": (1, 1, 3, 4)}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), UNUSUAL, ids=[case[0] for case in UNUSUAL])
def test_unusual_form_has_the_expected_pods(name: str, text: str, expected: Expected) -> None:
    (workload,) = read(text).workloads
    assert {pods.name: tuple(pods.figures) for pods in workload.pod_sets} == expected


def test_at_least_forty_kinds_are_covered() -> None:
    assert (
        len(
            {
                read(text).workloads[0].api_version + read(text).workloads[0].kind
                for _, text, _ in CASES
            }
        )
        >= 40
    )


@pytest.mark.parametrize(
    ("replicas", "strategy", "peak"),
    [
        (1, "{}", 2),  # 25 % of 1, rounded up
        (4, "{}", 5),
        (5, "{}", 7),  # 1.25 → 2
        (10, "{rollingUpdate: {maxSurge: 10%}}", 11),
        (10, "{rollingUpdate: {maxSurge: 11%}}", 12),  # 1.1 → 2
        (10, "{rollingUpdate: {maxSurge: 0}}", 10),
        (10, "{rollingUpdate: {maxSurge: 3}}", 13),
        (10, "{rollingUpdate: {maxSurge: 100%}}", 20),
        (3, "{rollingUpdate: {maxSurge: 33%}}", 4),  # 0.99 → 1
        (10, "{type: Recreate}", 10),
        (0, "{}", 0),
    ],
)
def test_rollout_surge_adds_to_the_peak(replicas: int, strategy: str, peak: int) -> None:
    text = manifest(
        "apps/v1", "Deployment", f"replicas: {replicas}, strategy: {strategy}, {LABELS}, {TEMPLATE}"
    )
    assert read(text).workloads[0].pod_sets[0].figures == Figures(
        replicas, replicas, replicas, peak
    )


HPA = "apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}"
REF = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: w}"


@pytest.mark.parametrize(
    ("scaler", "replicas", "figures"),
    [
        (f"{{{HPA}, spec: {{{REF}, maxReplicas: 8}}}}", 2, (1, 2, 8, 10)),
        (f"{{{HPA}, spec: {{{REF}, minReplicas: 3, maxReplicas: 8}}}}", 2, (3, 3, 8, 10)),
        (f"{{{HPA}, spec: {{{REF}, minReplicas: 3, maxReplicas: 8}}}}", 12, (3, 8, 8, 10)),
        (
            f"{{{HPA}, spec: {{scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: other}}, maxReplicas: 8}}}}",
            2,
            (2, 2, 2, 3),
        ),
        ("{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: k}, spec: {scaleTargetRef: {name: w}}}", 1,
         (0, 1, 100, 125)),
        ("{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: k}, spec: {scaleTargetRef: {name: w}, "
         "minReplicaCount: 2, maxReplicaCount: 6}}", 1, (2, 2, 6, 8)),
        (f"{{{HPA}, spec: {{{REF}, minReplicas: 3, maxReplicas: 7}}}}", 0, (0, 0, 7, 9)),
        ("{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: k}, spec: {scaleTargetRef: {name: w}, "
         "minReplicaCount: 2, idleReplicaCount: 0, maxReplicaCount: 5}}", 4, (0, 4, 5, 7)),
        ('{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: k, annotations: '
         '{autoscaling.keda.sh/paused-replicas: "1"}}, spec: {scaleTargetRef: {name: w}, maxReplicaCount: 5}}',
         4, (1, 1, 5, 7)),
        ('{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: k, annotations: '
         '{autoscaling.keda.sh/paused: "true"}}, spec: {scaleTargetRef: {name: w}, maxReplicaCount: 5}}',
         4, (4, 4, 5, 7)),
    ],
    ids=["HPA from 1", "HPA raises the replicas", "HPA lowers the replicas", "HPA of another workload", "KEDA without bounds", "KEDA",
         "HPA without a target", "KEDA idle", "KEDA paused at one", "KEDA paused"],
)  # fmt: skip
def test_scalers_set_the_bounds(scaler: str, replicas: int, figures: tuple[int, ...]) -> None:
    text = manifest("apps/v1", "Deployment", f"replicas: {replicas}, {LABELS}, {TEMPLATE}")
    manifests = read(f"{scaler}\n---\n{text}")
    assert [each for each in manifests.diagnostics if each.severity != "note"] == []
    assert tuple(manifests.workloads[0].pod_sets[0].figures) == figures


def test_claims_created_by_a_controller_are_read() -> None:
    text = manifest(
        "serving.kserve.io/v1alpha1",
        "LLMInferenceService",
        "template: {containers: [{name: main}]}",
        ", annotations: {serving.kserve.io/dra-device-class: gpu.nvidia.com, serving.kserve.io/dra-gpu-count: '4'}",
    )
    manifests = read(text)
    (template,) = manifests.templates.values()
    exactly = template.spec.requests[0].exactly
    assert exactly is not None
    assert (template.meta.name, exactly.device_class_name, exactly.count) == (
        "w-dra",
        "gpu.nvidia.com",
        4,
    )
    entry = manifests.workloads[0].pod_sets[0].template.spec.resource_claims[0]
    assert entry.resource_claim_template_name == "w-dra"


def test_claims_of_a_nim_service_are_read() -> None:
    text = manifest(
        "apps.nvidia.com/v1alpha1",
        "NIMService",
        "draResources: [{claimCreationSpec: {devices: [{name: gpu, count: 2, deviceClassName: gpu.nvidia.com, "
        "celExpressions: ['true']}]}}]",
    )
    (template,) = read(text).templates.values()
    exactly = template.spec.requests[0].exactly
    assert exactly is not None
    assert (exactly.count, exactly.selectors[-1].expression) == (2, "true")


def test_claims_of_a_nim_service_have_the_defaults_of_the_operator() -> None:
    text = manifest(
        "apps.nvidia.com/v1alpha1",
        "NIMService",
        "draResources: [{claimCreationSpec: {devices: [{name: gpu}]}}]",
    )
    (template,) = read(text).templates.values()
    exactly = template.spec.requests[0].exactly
    assert exactly is not None
    assert (exactly.device_class_name, exactly.count) == ("gpu.nvidia.com", 1)
    assert [each.expression for each in exactly.selectors] == ['device.driver == "gpu.nvidia.com"']


@pytest.mark.parametrize(
    ("field", "selector", "expression"),
    [
        (
            "attributeSelectors",
            "key: productName, value: {stringValue: NVIDIA L4}",
            'device.attributes["gpu.nvidia.com"].productName == "NVIDIA L4"',
        ),
        (
            "attributeSelectors",
            "key: example.com/numa, op: LessThan, value: {intValue: 4}",
            'device.attributes["example.com"].numa < 4',
        ),
        (
            "attributeSelectors",
            "key: ready, op: NotEqual, value: {boolValue: false}",
            'device.attributes["gpu.nvidia.com"].ready != false',
        ),
        (
            "attributeSelectors",
            "key: driverVersion, op: GreaterThanOrEqual, value: {versionValue: 580.0.0}",
            '(device.attributes["gpu.nvidia.com"].driverVersion).compareTo(semver("580.0.0")) >= 0',
        ),
        (
            "capacitySelectors",
            "key: memory, op: GreaterThan, value: 40Gi",
            '(device.capacity["gpu.nvidia.com"].memory).compareTo(quantity("40Gi")) > 0',
        ),
    ],
)
def test_selectors_of_a_nim_service_become_expressions(
    field: str, selector: str, expression: str
) -> None:
    text = manifest(
        "apps.nvidia.com/v1alpha1",
        "NIMService",
        f"draResources: [{{claimCreationSpec: {{devices: [{{name: gpu, {field}: [{{{selector}}}]}}]}}}}]",
    )
    (template,) = read(text).templates.values()
    exactly = template.spec.requests[0].exactly
    assert exactly is not None
    assert exactly.selectors[-1].expression == expression


def test_missing_runtime_leaves_pods_unresolved() -> None:
    manifests = read(
        manifest(
            "trainer.kubeflow.org/v1alpha1",
            "TrainJob",
            "runtimeRef: {name: torch}, trainer: {numNodes: 2}",
        )
    )
    (pods,) = manifests.unresolved
    assert pods.figures == Figures.fixed(2)
    assert "ClusterTrainingRuntime torch" in pods.reason


def test_pods_of_an_unknown_kind_are_found_by_their_fields() -> None:
    manifests = read(manifest("example.com/v1", "Flock", f"birds: {{instances: 3, body: {POD}}}"))
    assert tuple(manifests.workloads[0].pod_sets[0].figures) == fixed(3)
    (note,) = manifests.diagnostics
    assert (note.severity, note.code) == ("note", "unknown-kind")
    assert "counts 3 pods, based on " in note.message
    assert "medium confidence" in note.message


def test_pods_of_an_unknown_kind_without_a_count_are_not_all_in_the_plan() -> None:
    manifests = read(manifest("example.com/v1", "Flock", f"birds: {{workers: 3, body: {POD}}}"))
    assert tuple(manifests.workloads[0].pod_sets[0].figures) == fixed(1)
    (unread,) = manifests.unread
    assert unread.title == "Flock default/w"
    assert "number of its pods (spec.birds.body)" in unread.reason
    assert (unread.missing, manifests.diagnostics) == ("some of its pods", ())


@pytest.mark.parametrize(
    ("spec", "unknown"),
    [
        (f"replicas: 2, roles: [{{name: a, replicas: 3, body: {POD}}}]", "also depends on replicas"),
        (f"roles: [{{name: a, replicas: 3, podGroupSize: 2, body: {POD}}}]", "also depends on podGroupSize"),
        (f"replicas: 2, workers: {{size: 4, body: {POD}}}", "also depends on replicas"),
        (f"replicas: 3, parallelism: {{pipeline: 2}}, body: {POD}", "also depends on parallelism.pipeline"),
        (f"numNodes: 3, replicas: 2, body: {POD}", "also depends on numNodes"),
        (f"replicas: 0, roles: [{{size: 3, body: {POD}}}]", "also depends on replicas"),
    ],
)  # fmt: skip
def test_further_numbers_of_an_unknown_kind_may_multiply_its_pods(spec: str, unknown: str) -> None:
    (unread,) = read(manifest("example.com/v1", "Flock", spec)).unread
    assert unknown in unread.reason


@pytest.mark.parametrize(
    "spec",
    [
        f"replicas: 1, roles: [{{name: a, replicas: 3, body: {POD}}}]",
        f"leader: {{replicas: 2, body: {{containers: [{{name: c, image: i}}]}}}}, worker: {{replicas: 3, body: {POD}}}",
        f"replicas: 3, minReplicas: 2, maxReplicas: 9, revisionHistoryLimit: 4, body: {POD}",
    ],
)  # fmt: skip
def test_other_numbers_of_an_unknown_kind_do_not_multiply_its_pods(spec: str) -> None:
    manifests = read(manifest("example.com/v1", "Flock", spec))
    assert manifests.unread == ()
    assert [tuple(each.figures) for each in manifests.workloads[0].pod_sets] == [fixed(3)]


def test_an_unknown_kind_without_devices_is_only_counted() -> None:
    manifests = read(
        manifest("example.com/v1", "Flock", "body: {containers: [{name: main, image: i}]}")
    )
    assert (manifests.workloads, manifests.other_kinds) == ((), {"example.com/v1 Flock": 1})


def test_fault_in_the_pods_of_a_custom_kind_is_found() -> None:
    manifests = read(
        manifest(
            "ray.io/v1",
            "RayCluster",
            f"headGroupSpec: {{{TEMPLATE.replace('name: gpu}', 'name: GPU}')}}}",
        )
    )
    (first, *_) = manifests.diagnostics
    assert first.code == "pods-refused"
    assert ", but rejects its pods:" in first.message
    assert first.place.path.startswith(
        "spec.headGroupSpec.template.spec.containers[0].resources.claims[0]"
    )


def test_controlled_object_is_not_counted_twice() -> None:
    owner = "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: w, uid: u, controller: true}]"
    deployment = manifest("apps/v1", "Deployment", f"replicas: 2, {LABELS}, {TEMPLATE}")
    replica_set = manifest(
        "apps/v1", "ReplicaSet", f"replicas: 2, {LABELS}, {TEMPLATE}", f"-1, {owner}"
    )
    assert [item.kind for item in read(f"{deployment}\n---\n{replica_set}").workloads] == [
        "Deployment"
    ]
    assert [item.kind for item in read(replica_set).workloads] == ["ReplicaSet"]


def test_volumes_of_a_stateful_set_are_in_the_zones_of_its_pods() -> None:
    spec = "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}"
    volumes = f"volumeClaimTemplates: [{{metadata: {{name: data}}, {spec}}}}}]"
    text = manifest("apps/v1", "StatefulSet", f"replicas: 2, {LABELS}, {volumes}, {TEMPLATE}")
    assert read(text).workloads[0].pod_sets[0].template.spec.zonal_volumes == ()
    name = read(text).workloads[0].meta.name
    meta = f"metadata: {{name: data-{name}-0}}"
    claim = f"apiVersion: v1\nkind: PersistentVolumeClaim\n{meta}\n{spec}}}\n"
    again = read(f"{claim}---\n{text}").workloads[0]
    assert again.pod_sets[0].template.spec.zonal_volumes == ("data",)


@pytest.mark.parametrize(
    ("name", "text", "expected"), [*CASES, *UNUSUAL], ids=[each[0] for each in (*CASES, *UNUSUAL)]
)
def test_patch_path_points_to_the_pod_spec(name: str, text: str, expected: Expected) -> None:
    """Given a workload of any kind, expect a pointer to a pod spec in its own manifest, or none."""
    (workload,) = read(text).workloads
    documents = {
        (each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(text)
    }
    for pods in workload.pod_sets:
        path = spec_path(workload, pods)
        here = documents[workload.kind, workload.ref.name]
        for key in path.split("/")[1:] if path else ():
            here = here[int(key)] if isinstance(here, list) else here[key]
        assert path is None or here["containers"]


BARE = {  # fields or a pod spec instead of a template, or the template of a runtime
    "TrainJob",
    "SparkApplication",
    "ScheduledSparkApplication",
    "PodCliqueSet",
    "DynamoGraphDeployment",
    "InferenceService, raw",
    "InferenceService, serverless",
    "LLMInferenceService",
    "NIMService",
    "NIMService, multi-node",
    "NIMPipeline",
    "Workflow",
    "CronWorkflow",
    "TaskRun",
    "PipelineRun",
    "VirtualMachineInstance",
    "stopped VirtualMachine",
    "VirtualMachineInstanceReplicaSet",
    "VirtualMachinePool",
}


def test_only_pod_templates_can_be_patched() -> None:
    can = {
        name: all(spec_path(each, pods) for each in read(text).workloads for pods in each.pod_sets)
        for name, text, _ in CASES
    }
    assert {name for name, is_patched in can.items() if not is_patched} == BARE
