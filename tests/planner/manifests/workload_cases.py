"""One case per workload kind: the number of pods in each role, computed manually.

The numbers are (floor, steady, ceiling, peak), and None means unlimited. POD represents a pod spec
with a claim.
"""

# a manifest reads best in one piece
from __future__ import annotations

from collections.abc import Mapping

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
    (
        "ReplicationController",
        manifest("v1", "ReplicationController", f"replicas: 3, {TEMPLATE}"),
        {"": fixed(3)},
    ),
    # 25 % of 10 is 2.5, rounded up: 3 more during a rollout
    (
        "Deployment",
        manifest("apps/v1", "Deployment", f"replicas: 10, {LABELS}, {TEMPLATE}"),
        {"": (10, 10, 10, 13)},
    ),
    (
        "ReplicaSet",
        manifest("apps/v1", "ReplicaSet", f"replicas: 4, {LABELS}, {TEMPLATE}"),
        {"": fixed(4)},
    ),
    (
        "StatefulSet",
        manifest("apps/v1", "StatefulSet", f"replicas: 4, {LABELS}, {TEMPLATE}"),
        {"": fixed(4)},
    ),
    ("DaemonSet", manifest("apps/v1", "DaemonSet", f"{LABELS}, {TEMPLATE}"), {"": fixed(1)}),
    # min(parallelism 8, completions 5)
    (
        "Job",
        manifest("batch/v1", "Job", f"parallelism: 8, completions: 5, {JOB_TEMPLATE}"),
        {"": fixed(5)},
    ),
    (
        "suspended Job",
        manifest("batch/v1", "Job", f"parallelism: 3, suspend: true, {JOB_TEMPLATE}"),
        {"": (0, 0, 3, 3)},
    ),
    (
        "Job suspended for Kueue",
        manifest(
            "batch/v1",
            "Job",
            f"parallelism: 3, suspend: true, {JOB_TEMPLATE}",
            ", labels: {kueue.x-k8s.io/queue-name: team}",
        ),
        {"": fixed(3)},
    ),
    (
        "CronJob, Allow",
        manifest(
            "batch/v1",
            "CronJob",
            f"schedule: '* * * * *', jobTemplate: {{spec: {{parallelism: 2, {JOB_TEMPLATE}}}}}",
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
                "kubeflow.org/v1",
                kind,
                f"{field}: {{Chief: {{{TEMPLATE}}}, Worker: {{replicas: 3, {TEMPLATE}}}}}",
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
    # the runtime sets 2, and the TrainJob sets 6
    (
        "TrainJob",
        manifest(
            "trainer.kubeflow.org/v1alpha1",
            "TrainJob",
            "runtimeRef: {name: torch}, trainer: {numNodes: 6}",
        )
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
            "keda.sh/v1alpha1",
            "ScaledJob",
            f"maxReplicaCount: 5, jobTargetRef: {{parallelism: 2, {JOB_TEMPLATE}}}",
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
    # an upgrade runs a second cluster in addition to the first
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
    # 2 replicas of the set; the scaling group contains 1 to 3 copies of a clique of 4
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
            "components: [{template: "
            + manifest("batch/v1", "Job", f"parallelism: 3, {JOB_TEMPLATE}")
            + "}]",
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
        manifest(
            "serving.kserve.io/v1beta1",
            "InferenceService",
            "predictor: {maxReplicas: 3, model: {}}",
        ),
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
        {"": (1, 2, 8, 8)},
    ),
    # three stages in each of two replicas
    (
        "NIMService, multi-node",
        manifest(
            "apps.nvidia.com/v1alpha1",
            "NIMService",
            "replicas: 2, multiNode: {parallelism: {pipeline: 3, tensor: 8}}, "
            "draResources: [{resourceClaimTemplateName: one}]",
        ),
        {"": fixed(6)},
    ),
    (
        "NIMPipeline",
        manifest(
            "apps.nvidia.com/v1alpha1",
            "NIMPipeline",
            "services: [{name: llm, enabled: true, spec: {replicas: 2}}, {name: off, enabled: false, spec: {replicas: 9}}]",
        ),
        {"llm": fixed(2)},
    ),
    (
        "ClusterServiceVersion",
        manifest(
            "operators.coreos.com/v1alpha1",
            "ClusterServiceVersion",
            "install: {strategy: deployment, spec: {deployments: "
            f"[{{name: manager, spec: {{replicas: 2, {LABELS}, {TEMPLATE}}}}}]}}}}",
        ),
        {"manager": fixed(2)},
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
        manifest(
            "argoproj.io/v1alpha1",
            "Rollout",
            f"replicas: 3, strategy: {{blueGreen: {{}}}}, {TEMPLATE}",
        ),
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
    (
        "TaskRun",
        manifest("tekton.dev/v1", "TaskRun", "taskSpec: {steps: [{name: s, image: i}]}"),
        {"": fixed(1)},
    ),
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
        manifest(
            "kubevirt.io/v1",
            "VirtualMachine",
            "runStrategy: Halted, template: {spec: {domain: {}}}",
        ),
        {"": (0, 0, 1, 1)},
    ),
    (
        "VirtualMachineInstanceReplicaSet",
        manifest(
            "kubevirt.io/v1",
            "VirtualMachineInstanceReplicaSet",
            "replicas: 3, template: {spec: {domain: {}}}",
        ),
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
    (
        "NodeSet",
        manifest("slinky.slurm.net/v1beta1", "NodeSet", f"replicas: 5, {TEMPLATE}"),
        {"": fixed(5)},
    ),
    (
        "CloneSet",
        manifest(
            "apps.kruise.io/v1alpha1",
            "CloneSet",
            f"replicas: 4, updateStrategy: {{maxSurge: 50%}}, {TEMPLATE}",
        ),
        {"": (4, 4, 4, 6)},
    ),
    (
        "kruise StatefulSet",
        manifest("apps.kruise.io/v1beta1", "StatefulSet", f"replicas: 4, {TEMPLATE}"),
        {"": fixed(4)},
    ),
    (
        "kruise DaemonSet",
        manifest("apps.kruise.io/v1alpha1", "DaemonSet", TEMPLATE),
        {"": fixed(1)},
    ),
]
