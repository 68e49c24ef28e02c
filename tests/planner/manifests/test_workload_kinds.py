"""One case per kind of workload: how many pods of which role, worked out by hand.

Figures read (floor, steady, ceiling, peak); None is unbounded. POD stands for a pod spec that asks for a claim.
"""

# ruff: noqa: E501  # a manifest reads best in one piece
from __future__ import annotations

from collections.abc import Mapping

import pytest

from dra_planner.manifests import Manifests, read_manifests
from dra_planner.model import Figures
from dra_planner.releases import features_of
from dra_planner.sources import Source

POD = (
    "{containers: [{name: main, image: i, resources: {claims: [{name: gpu}]}}], "
    "resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]}"
)
JOB_POD = POD.replace("{containers", "{restartPolicy: Never, containers", 1)
LABELS = "selector: {matchLabels: {app: w}}"
TEMPLATE = f"template: {{metadata: {{labels: {{app: w}}}}, spec: {POD}}}"
JOB_TEMPLATE = f"template: {{spec: {JOB_POD}}}"

Expected = Mapping[str, tuple[int, int, int | None, int | None]]


def fixed(pods: int) -> tuple[int, int, int, int]:
    return pods, pods, pods, pods


def manifest(api_version: str, kind: str, spec: str, meta: str = "") -> str:
    return f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: w{meta}}}, spec: {{{spec}}}}}"


CASES: list[tuple[str, str, Expected]] = [
    ("Pod", f"{{apiVersion: v1, kind: Pod, metadata: {{name: w}}, spec: {POD}}}", {"": fixed(1)}),
    ("ReplicationController", manifest("v1", "ReplicationController", f"replicas: 3, {TEMPLATE}"), {"": fixed(3)}),
    # 25 % of 10 is 2.5, rounded up: 3 more during a rollout
    ("Deployment", manifest("apps/v1", "Deployment", f"replicas: 10, {LABELS}, {TEMPLATE}"), {"": (10, 10, 10, 13)}),
    ("ReplicaSet", manifest("apps/v1", "ReplicaSet", f"replicas: 4, {LABELS}, {TEMPLATE}"), {"": fixed(4)}),
    ("StatefulSet", manifest("apps/v1", "StatefulSet", f"replicas: 4, {LABELS}, {TEMPLATE}"), {"": fixed(4)}),
    ("DaemonSet", manifest("apps/v1", "DaemonSet", f"{LABELS}, {TEMPLATE}"), {"": fixed(1)}),
    # min(parallelism 8, completions 5)
    ("Job", manifest("batch/v1", "Job", f"parallelism: 8, completions: 5, {JOB_TEMPLATE}"), {"": fixed(5)}),
    (
        "suspended Job",
        manifest("batch/v1", "Job", f"parallelism: 3, suspend: true, {JOB_TEMPLATE}"),
        {"": (0, 0, 3, 3)},
    ),
    (
        "CronJob, Allow",
        manifest(
            "batch/v1", "CronJob", f"schedule: '* * * * *', jobTemplate: {{spec: {{parallelism: 2, {JOB_TEMPLATE}}}}}"
        ),
        {"": (0, 2, None, None)},
    ),
    (
        "CronJob, Forbid",
        manifest(
            "batch/v1",
            "CronJob",
            f"schedule: '* * * * *', concurrencyPolicy: Forbid, jobTemplate: {{spec: {{parallelism: 2, {JOB_TEMPLATE}}}}}",
        ),
        {"": (0, 2, 2, 2)},
    ),
    (
        "CronJob, Replace",
        manifest(
            "batch/v1",
            "CronJob",
            f"schedule: '* * * * *', concurrencyPolicy: Replace, jobTemplate: {{spec: {{{JOB_TEMPLATE}}}}}",
        ),
        {"": (0, 1, 1, 2)},
    ),
    # driver: 1 × 1; workers: 2 × min(4, 4)
    (
        "JobSet",
        manifest(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            f"replicatedJobs: [{{name: driver, template: {{spec: {{{JOB_TEMPLATE}}}}}}}, "
            f"{{name: workers, replicas: 2, template: {{spec: {{parallelism: 4, completions: 4, {JOB_TEMPLATE}}}}}}}]",
        ),
        {"driver": fixed(1), "workers": fixed(8)},
    ),
    (
        "PyTorchJob",
        manifest(
            "kubeflow.org/v1",
            "PyTorchJob",
            "elasticPolicy: {minReplicas: 2, maxReplicas: 6}, pytorchReplicaSpecs: "
            f"{{Master: {{replicas: 1, {TEMPLATE}}}, Worker: {{replicas: 4, {TEMPLATE}}}}}",
        ),
        {"Master": fixed(1), "Worker": (2, 4, 6, 6)},
    ),
    *(
        (
            kind,
            manifest(
                "kubeflow.org/v1", kind, f"{field}: {{Chief: {{{TEMPLATE}}}, Worker: {{replicas: 3, {TEMPLATE}}}}}"
            ),
            {"Chief": fixed(1), "Worker": fixed(3)},
        )
        for kind, field in [
            ("TFJob", "tfReplicaSpecs"),
            ("XGBoostJob", "xgbReplicaSpecs"),
            ("JAXJob", "jaxReplicaSpecs"),
            ("PaddleJob", "paddleReplicaSpecs"),
        ]
    ),
    (
        "suspended MPIJob",
        manifest(
            "kubeflow.org/v2beta1",
            "MPIJob",
            f"runPolicy: {{suspend: true}}, mpiReplicaSpecs: {{Launcher: {{{TEMPLATE}}}, Worker: {{replicas: 4, {TEMPLATE}}}}}",
        ),
        {"Launcher": (0, 0, 1, 1), "Worker": (0, 0, 4, 4)},
    ),
    ("Notebook", manifest("kubeflow.org/v1", "Notebook", TEMPLATE), {"": fixed(1)}),
    (
        "Volcano Job",
        manifest(
            "batch.volcano.sh/v1alpha1",
            "Job",
            f"tasks: [{{name: ps, {TEMPLATE}}}, {{name: worker, replicas: 5, {TEMPLATE}}}]",
        ),
        {"ps": fixed(1), "worker": fixed(5)},
    ),
    # the runtime says 2, the TrainJob 6
    (
        "TrainJob",
        manifest("trainer.kubeflow.org/v1alpha1", "TrainJob", "runtimeRef: {name: torch}, trainer: {numNodes: 6}")
        + "\n---\n"
        + "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: ClusterTrainingRuntime, metadata: {name: torch}, spec: {template: "
        f"{{spec: {{replicatedJobs: [{{name: node, template: {{spec: {{parallelism: 2, {JOB_TEMPLATE}}}}}}}]}}}}}}}}",
        {"node": fixed(6)},
    ),
    (
        "SparkApplication",
        manifest(
            "sparkoperator.k8s.io/v1beta2",
            "SparkApplication",
            "driver: {cores: 1}, executor: {instances: 4, gpu: {name: nvidia.com/gpu, quantity: 1}}, "
            "dynamicAllocation: {enabled: true, minExecutors: 2, maxExecutors: 9}",
        ),
        {"driver": fixed(1), "executor": (2, 4, 9, 9)},
    ),
    (
        "ScheduledSparkApplication",
        manifest(
            "sparkoperator.k8s.io/v1beta2",
            "ScheduledSparkApplication",
            "schedule: '@daily', template: {driver: {cores: 1}, executor: {instances: 3, gpu: {name: nvidia.com/gpu, quantity: 1}}}",
        ),
        {"driver": fixed(1), "executor": fixed(3)},
    ),
    # at most 5 jobs of 2 pods
    (
        "ScaledJob",
        manifest(
            "keda.sh/v1alpha1", "ScaledJob", f"maxReplicaCount: 5, jobTargetRef: {{parallelism: 2, {JOB_TEMPLATE}}}"
        ),
        {"": (0, 0, 10, 10)},
    ),
    # workers of 2 hosts: 3 replicas now, 1 to 4 by the autoscaler
    (
        "RayCluster",
        manifest(
            "ray.io/v1",
            "RayCluster",
            f"enableInTreeAutoscaling: true, headGroupSpec: {{{TEMPLATE}}}, workerGroupSpecs: "
            f"[{{groupName: gpu, replicas: 3, minReplicas: 1, maxReplicas: 4, numOfHosts: 2, {TEMPLATE}}}]",
        ),
        {"head": fixed(1), "gpu": (2, 6, 8, 8)},
    ),
    (
        "RayJob",
        manifest(
            "ray.io/v1",
            "RayJob",
            f"rayClusterSpec: {{headGroupSpec: {{{TEMPLATE}}}, workerGroupSpecs: [{{groupName: gpu, replicas: 2, {TEMPLATE}}}]}}",
        ),
        {"head": fixed(1), "gpu": fixed(2)},
    ),
    # an upgrade runs a second cluster beside the first
    (
        "RayService",
        manifest(
            "ray.io/v1",
            "RayService",
            f"rayClusterConfig: {{headGroupSpec: {{{TEMPLATE}}}, workerGroupSpecs: [{{groupName: gpu, replicas: 2, {TEMPLATE}}}]}}",
        ),
        {"head": (1, 1, 1, 2), "gpu": (2, 2, 2, 4)},
    ),
    # 3 groups of 4: one leader and three workers each; a rollout adds a group
    (
        "LeaderWorkerSet",
        manifest(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            "replicas: 3, rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: 1}}, leaderWorkerTemplate: "
            f"{{size: 4, leaderTemplate: {{spec: {POD}}}, workerTemplate: {{spec: {POD}}}}}",
        ),
        {"leader": (3, 3, 3, 4), "worker": (9, 9, 9, 12)},
    ),
    (
        "LeaderWorkerSet without a leader template",
        manifest(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            f"replicas: 2, leaderWorkerTemplate: {{size: 2, workerTemplate: {{spec: {POD}}}}}",
        ),
        {"worker": fixed(4)},
    ),
    # 2 replicas of the set; the scaling group holds 1 to 3 times a clique of 4
    (
        "PodCliqueSet",
        manifest(
            "grove.io/v1alpha1",
            "PodCliqueSet",
            f"replicas: 2, template: {{cliques: [{{name: router, spec: {{replicas: 1, podSpec: {POD}}}}}, "
            f"{{name: decode, spec: {{replicas: 4, podSpec: {POD}}}}}], podCliqueScalingGroups: [{{name: g, replicas: 1, "
            "cliqueNames: [decode], scaleConfig: {minReplicas: 1, maxReplicas: 3}}]}",
        ),
        {"router": fixed(2), "decode": (8, 8, 24, 24)},
    ),
    (
        "DynamoGraphDeployment",
        manifest(
            "nvidia.com/v1alpha1",
            "DynamoGraphDeployment",
            "services: {Frontend: {replicas: 1}, Decode: {replicas: 2, multinode: {nodeCount: 3}, resources: {limits: {gpu: 8}}}}",
        ),
        {"Frontend": fixed(1), "Decode": fixed(6)},
    ),
    # 2 replicas × (1 leader + 3 workers)
    (
        "ModelDeployment",
        manifest(
            "modelplane.ai/v1alpha1",
            "ModelDeployment",
            f"replicas: 2, template: {{spec: {{engines: [{{name: e, members: [{{name: m, worker: {{nodes: 3}}, {TEMPLATE}}}]}}]}}}}",
        ),
        {"e-m": fixed(8)},
    ),
    (
        "AppWrapper",
        manifest(
            "workload.codeflare.dev/v1beta2",
            "AppWrapper",
            "components: [{template: " + manifest("batch/v1", "Job", f"parallelism: 3, {JOB_TEMPLATE}") + "}]",
        ),
        {"w": fixed(3)},
    ),
    (
        "InferenceService, raw",
        manifest(
            "serving.kserve.io/v1beta1",
            "InferenceService",
            "predictor: {minReplicas: 2, maxReplicas: 4, model: {resources: {claims: [{name: gpu}]}}, "
            "resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]}",
            ", annotations: {serving.kserve.io/deploymentMode: RawDeployment}",
        ),
        {"predictor": (2, 2, 4, 5)},  # 25 % of 4 is 1
    ),
    (
        "InferenceService, serverless",
        manifest("serving.kserve.io/v1beta1", "InferenceService", "predictor: {maxReplicas: 3, model: {}}"),
        {"predictor": (1, 1, 3, 6)},
    ),
    # pipeline of 4: one head and three workers in each of 2 replicas
    (
        "LLMInferenceService",
        manifest(
            "serving.kserve.io/v1alpha1",
            "LLMInferenceService",
            f"replicas: 2, parallelism: {{pipeline: 4}}, template: {POD}, worker: {POD}, prefill: {{replicas: 3, template: {POD}}}",
        ),
        {"": fixed(2), "worker": fixed(6), "prefill": (3, 3, 3, 4)},
    ),
    (
        "NIMService",
        manifest(
            "apps.nvidia.com/v1alpha1",
            "NIMService",
            "replicas: 2, scale: {enabled: true, hpa: {minReplicas: 1, maxReplicas: 8}}, "
            "draResources: [{resourceClaimTemplateName: one}]",
        ),
        {"": (1, 2, 8, 10)},
    ),
    (
        "NIMPipeline",
        manifest(
            "apps.nvidia.com/v1alpha1",
            "NIMPipeline",
            "services: [{name: llm, enabled: true, spec: {replicas: 2}}, {name: off, enabled: false, spec: {replicas: 9}}]",
        ),
        {"llm": (2, 2, 2, 3)},
    ),
    (
        "Knative Service",
        manifest(
            "serving.knative.dev/v1",
            "Service",
            "template: {metadata: {annotations: {autoscaling.knative.dev/min-scale: '1', autoscaling.knative.dev/max-scale: '3'}}, "
            f"spec: {POD}}}",
        ),
        {"": (1, 1, 3, 6)},
    ),
    (
        "Knative Service without bounds",
        manifest("serving.knative.dev/v1", "Service", TEMPLATE),
        {"": (0, 0, None, None)},
    ),
    (
        "Rollout, blue and green",
        manifest("argoproj.io/v1alpha1", "Rollout", f"replicas: 3, strategy: {{blueGreen: {{}}}}, {TEMPLATE}"),
        {"": (3, 3, 3, 6)},
    ),
    # the step runs for 6 items, at most 4 at a time
    (
        "Workflow",
        manifest(
            "argoproj.io/v1alpha1",
            "Workflow",
            "entrypoint: main, parallelism: 4, templates: [{name: main, dag: {tasks: [{name: a, template: train, withItems: "
            "[1, 2, 3, 4, 5, 6]}]}}, {name: train, container: {image: i, resources: {limits: {nvidia.com/gpu: 1}}}}]",
        ),
        {"train": (0, 4, 4, 4)},
    ),
    (
        "CronWorkflow",
        manifest(
            "argoproj.io/v1alpha1",
            "CronWorkflow",
            "schedule: '@daily', workflowSpec: {entrypoint: main, templates: [{name: main, steps: [[{name: a, template: t}, "
            "{name: b, template: t}]]}, {name: t, container: {image: i}}]}",
        ),
        {"t": (0, 2, 2, 2)},
    ),
    ("TaskRun", manifest("tekton.dev/v1", "TaskRun", "taskSpec: {steps: [{name: s, image: i}]}"), {"": fixed(1)}),
    # a matrix of 2 × 3
    (
        "PipelineRun",
        manifest(
            "tekton.dev/v1",
            "PipelineRun",
            "pipelineSpec: {tasks: [{name: t, matrix: {params: [{name: a, value: [x, y]}, {name: b, value: [1, 2, 3]}]}, "
            "taskSpec: {steps: [{name: s, image: i}]}}]}",
        ),
        {"t": fixed(6)},
    ),
    (
        "VirtualMachineInstance",
        manifest(
            "kubevirt.io/v1",
            "VirtualMachineInstance",
            "resourceClaims: [{name: gpu, resourceClaimTemplateName: one}], domain: {memory: {guest: 4Gi}}",
        ),
        {"": fixed(1)},
    ),
    (
        "stopped VirtualMachine",
        manifest("kubevirt.io/v1", "VirtualMachine", "runStrategy: Halted, template: {spec: {domain: {}}}"),
        {"": (0, 0, 1, 1)},
    ),
    (
        "VirtualMachineInstanceReplicaSet",
        manifest("kubevirt.io/v1", "VirtualMachineInstanceReplicaSet", "replicas: 3, template: {spec: {domain: {}}}"),
        {"": fixed(3)},
    ),
    (
        "VirtualMachinePool",
        manifest(
            "pool.kubevirt.io/v1alpha1",
            "VirtualMachinePool",
            "replicas: 2, virtualMachineTemplate: {spec: {template: {spec: {domain: {}}}}}",
        ),
        {"": fixed(2)},
    ),
    ("NodeSet", manifest("slinky.slurm.net/v1beta1", "NodeSet", f"replicas: 5, {TEMPLATE}"), {"": fixed(5)}),
    (
        "CloneSet",
        manifest("apps.kruise.io/v1alpha1", "CloneSet", f"replicas: 4, updateStrategy: {{maxSurge: 50%}}, {TEMPLATE}"),
        {"": (4, 4, 4, 6)},
    ),
    (
        "kruise StatefulSet",
        manifest("apps.kruise.io/v1beta1", "StatefulSet", f"replicas: 4, {TEMPLATE}"),
        {"": fixed(4)},
    ),
    ("kruise DaemonSet", manifest("apps.kruise.io/v1alpha1", "DaemonSet", TEMPLATE), {"": fixed(1)}),
]


def read(text: str, minor: int = 36) -> Manifests:
    return read_manifests([Source("w.yaml", f"---\n{text}")], features_of(minor))


@pytest.mark.parametrize(("name", "text", "expected"), CASES, ids=[case[0] for case in CASES])
def test_pods_of_a_kind(name: str, text: str, expected: Expected) -> None:
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
    ("a sequence from one number to another", manifest("argoproj.io/v1alpha1", "Workflow", f"entrypoint: main, templates: [{RANGE}, {LEAF}]"), {"run": (0, 5, 5, 5)}),
    ("a template that comes to itself again", manifest("argoproj.io/v1alpha1", "Workflow", f"entrypoint: main, templates: [{AGAIN}, {LEAF}]"), {"run": (0, 1, 1, 1)}),
    ("tasks at the end", manifest("tekton.dev/v1", "PipelineRun", "pipelineSpec: {tasks: [{name: a, taskSpec: {steps: [{name: s}]}}], finally: [{name: f, taskSpec: {steps: [{name: s}]}}]}"), {"a": fixed(1), "f": fixed(1)}),
    ("KServe's HPA keeps one", manifest("serving.kserve.io/v1beta1", "InferenceService", "predictor: {minReplicas: 0, maxReplicas: 3, containers: [{name: m}]}", ", annotations: {serving.kserve.io/deploymentMode: RawDeployment}"), {"predictor": (1, 1, 3, 4)}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), UNUSUAL, ids=[case[0] for case in UNUSUAL])
def test_unusual_forms(name: str, text: str, expected: Expected) -> None:
    (workload,) = read(text).workloads
    assert {pods.name: tuple(pods.figures) for pods in workload.pod_sets} == expected


def test_there_are_at_least_thirty_kinds() -> None:
    assert len({read(text).workloads[0].api_version + read(text).workloads[0].kind for _, text, _ in CASES}) >= 40


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
def test_surge(replicas: int, strategy: str, peak: int) -> None:
    text = manifest("apps/v1", "Deployment", f"replicas: {replicas}, strategy: {strategy}, {LABELS}, {TEMPLATE}")
    assert read(text).workloads[0].pod_sets[0].figures == Figures(replicas, replicas, replicas, peak)


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
        (f"{{{HPA}, spec: {{{REF}, minReplicas: 0, maxReplicas: 7}}}}", 0, (0, 0, 7, 9)),
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
    ids=["HPA from 1", "HPA lifts", "HPA cuts", "HPA of another", "KEDA without bounds", "KEDA", "HPA from 0",
         "HPA of nothing", "KEDA idle", "KEDA paused at one", "KEDA paused"],
)  # fmt: skip
def test_scalers_move_the_bounds(scaler: str, replicas: int, figures: tuple[int, ...]) -> None:
    text = manifest("apps/v1", "Deployment", f"replicas: {replicas}, {LABELS}, {TEMPLATE}")
    manifests = read(f"{scaler}\n---\n{text}")
    assert manifests.diagnostics == ()
    assert tuple(manifests.workloads[0].pod_sets[0].figures) == figures


def test_claims_that_a_controller_makes() -> None:
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
    assert (template.meta.name, exactly.device_class_name, exactly.count) == ("w-dra", "gpu.nvidia.com", 4)
    entry = manifests.workloads[0].pod_sets[0].template.spec.resource_claims[0]
    assert entry.resource_claim_template_name == "w-dra"


def test_claims_of_a_nim_service() -> None:
    text = manifest(
        "apps.nvidia.com/v1alpha1",
        "NIMService",
        "draResources: [{claimCreationSpec: {devices: [{name: gpu, count: 2, deviceClassName: gpu.nvidia.com, "
        "celExpressions: ['true']}]}}]",
    )
    (template,) = read(text).templates.values()
    exactly = template.spec.requests[0].exactly
    assert exactly is not None
    assert (exactly.count, exactly.selectors[0].expression) == (2, "true")


def test_a_runtime_that_is_not_given_leaves_pods_undescribed() -> None:
    manifests = read(
        manifest("trainer.kubeflow.org/v1alpha1", "TrainJob", "runtimeRef: {name: torch}, trainer: {numNodes: 2}")
    )
    (pods,) = manifests.unresolved
    assert pods.figures == Figures.fixed(2)
    assert "ClusterTrainingRuntime torch" in pods.reason


def test_an_unknown_kind_is_found_by_the_shape_of_its_pods() -> None:
    manifests = read(manifest("example.com/v1", "Flock", f"birds: {{instances: 3, body: {POD}}}"))
    assert tuple(manifests.workloads[0].pod_sets[0].figures) == fixed(3)
    (note,) = manifests.diagnostics
    assert (note.severity, note.code) == ("note", "unknown-kind")
    assert "3 pods by the field instances" in note.message
    assert "medium confidence" in note.message


def test_an_unknown_kind_without_devices_is_only_counted() -> None:
    manifests = read(manifest("example.com/v1", "Flock", "body: {containers: [{name: main, image: i}]}"))
    assert (manifests.workloads, manifests.other_kinds) == ((), {"example.com/v1 Flock": 1})


def test_a_mistake_in_the_pods_of_another_kind_shows_late() -> None:
    manifests = read(
        manifest("ray.io/v1", "RayCluster", f"headGroupSpec: {{{TEMPLATE.replace('name: gpu}', 'name: GPU}')}}}")
    )
    (first, *_) = manifests.diagnostics
    assert first.code == "pods-refused"
    assert "accepted as it is, but its pods will be refused" in first.message
    assert first.place.path.startswith("spec.headGroupSpec.template.spec.containers[0].resources.claims[0]")


def test_what_another_object_controls_is_not_counted_twice() -> None:
    owner = "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: w, uid: u, controller: true}]"
    deployment = manifest("apps/v1", "Deployment", f"replicas: 2, {LABELS}, {TEMPLATE}")
    replica_set = manifest("apps/v1", "ReplicaSet", f"replicas: 2, {LABELS}, {TEMPLATE}", f"-1, {owner}")
    assert [item.kind for item in read(f"{deployment}\n---\n{replica_set}").workloads] == ["Deployment"]
    assert [item.kind for item in read(replica_set).workloads] == ["ReplicaSet"]


def test_volumes_that_a_stateful_set_makes_have_a_zone_that_only_the_cluster_knows() -> None:
    volumes = "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]"
    text = manifest("apps/v1", "StatefulSet", f"replicas: 2, {LABELS}, {volumes}, {TEMPLATE}")
    assert read(text).workloads[0].pod_sets[0].template.spec.zonal_volumes == ("data",)
