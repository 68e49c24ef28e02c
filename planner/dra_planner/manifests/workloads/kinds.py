"""The kinds of workloads that are known, one row each; the rows with `read` are told by a function.

Where the fields stand: the kinds' own API documentation; how Kueue and KAI count them: kubernetes-sigs/kueue:
pkg/controller/jobs@ff69552e, kai-scheduler/KAI-Scheduler:pkg/podgrouper@d5bc503a.
"""

from __future__ import annotations

from typing import Final

from dra_planner.manifests.workloads import groups, machines, pipelines, ray, serving
from dra_planner.manifests.workloads.batch import (
    read_cron_job,
    read_elastic_pytorch,
    read_job,
    read_scaled_job,
    read_spark,
    read_train_job,
    read_volcano_job,
)
from dra_planner.manifests.workloads.description import (
    Kind,
    Role,
    job_pods,
    node_by_node,
    one_by_one,
    rolling_pods,
    rolling_update,
)

_REPLICATED: Final = [Role(template="spec.template", replicas="spec.replicas")]


def _roles(path: str) -> list[Role]:
    """A mapping or list of roles, each with a pod template and replicas (1)."""
    return [Role(each=path, template="template", replicas="replicas")]


_KUBEFLOW: Final = {"TFJob": "tf", "XGBoostJob": "xgb", "JAXJob": "jax", "PaddleJob": "paddle"}

KINDS: Final[tuple[Kind, ...]] = (
    # Kubernetes itself
    Kind(group="", kind="Pod", roles=[Role(template="")]),
    Kind(group="", kind="ReplicationController", roles=_REPLICATED, spreads=True),
    Kind(
        group="apps",
        kind="Deployment",
        roles=_REPLICATED,
        surge=rolling_update("spec.strategy"),
        rollout=rolling_pods("spec.strategy"),
        spreads=True,
    ),
    Kind(group="apps", kind="ReplicaSet", roles=_REPLICATED, spreads=True),
    Kind(group="apps", kind="StatefulSet", read=groups.read_stateful_set, rollout=one_by_one, spreads=True),
    Kind(group="apps", kind="DaemonSet", roles=[Role(template="spec.template")], rollout=node_by_node, per_node=True),
    Kind(group="batch", kind="Job", read=read_job, suspend="spec.suspend"),
    Kind(group="batch", kind="CronJob", read=read_cron_job, suspend="spec.suspend"),
    # Batch and training
    Kind(
        group="jobset.x-k8s.io",
        kind="JobSet",
        roles=[
            Role(
                each="spec.replicatedJobs",
                template="template.spec.template",
                replicas="replicas",
                pods=job_pods("template.spec"),
            )
        ],
        suspend="spec.suspend",
    ),
    Kind(group="trainer.kubeflow.org", kind="TrainJob", read=read_train_job, suspend="spec.suspend"),
    Kind(group="kubeflow.org", kind="PyTorchJob", read=read_elastic_pytorch, suspend="spec.runPolicy.suspend"),
    *(
        Kind(
            group="kubeflow.org",
            kind=kind,
            roles=_roles(f"spec.{prefix}ReplicaSpecs"),
            suspend="spec.runPolicy.suspend",
        )
        for kind, prefix in _KUBEFLOW.items()
    ),
    Kind(group="kubeflow.org", kind="MPIJob", roles=_roles("spec.mpiReplicaSpecs"), suspend="spec.runPolicy.suspend"),
    Kind(group="kubeflow.org", kind="Notebook", roles=[Role(template="spec.template")]),
    Kind(group="batch.volcano.sh", kind="Job", read=read_volcano_job),
    Kind(group="sparkoperator.k8s.io", kind="SparkApplication", read=read_spark),
    Kind(group="sparkoperator.k8s.io", kind="ScheduledSparkApplication", read=read_spark),
    Kind(group="keda.sh", kind="ScaledJob", read=read_scaled_job),
    # Ray
    Kind(group="ray.io", kind="RayCluster", read=ray.read_ray_cluster, suspend="spec.suspend"),
    Kind(group="ray.io", kind="RayJob", read=ray.read_ray_job, suspend="spec.suspend"),
    Kind(group="ray.io", kind="RayService", read=ray.read_ray_service),
    # Groups of pods
    Kind(group="leaderworkerset.x-k8s.io", kind="LeaderWorkerSet", read=groups.read_leader_worker_set),
    Kind(group="grove.io", kind="PodCliqueSet", read=groups.read_pod_clique_set),
    Kind(group="nvidia.com", kind="DynamoGraphDeployment", read=groups.read_dynamo_graph),
    Kind(group="modelplane.ai", kind="ModelDeployment", read=groups.read_model_deployment),
    Kind(group="workload.codeflare.dev", kind="AppWrapper", read=groups.read_app_wrapper, suspend="spec.suspend"),
    # Serving
    Kind(
        group="serving.kserve.io",
        kind="InferenceService",
        read=serving.read_inference_service,
        container_name="kserve-container",
    ),
    Kind(
        group="serving.kserve.io",
        kind="LLMInferenceService",
        read=serving.read_llm_inference_service,
        container_name="main",
    ),
    Kind(group="apps.nvidia.com", kind="NIMService", read=serving.read_nim_service),
    Kind(group="apps.nvidia.com", kind="NIMPipeline", read=serving.read_nim_pipeline),
    Kind(
        group="serving.knative.dev", kind="Service", read=serving.read_knative_service, container_name="user-container"
    ),
    Kind(group="argoproj.io", kind="Rollout", roles=_REPLICATED, surge=serving.rollout_surge, spreads=True),
    # Pipelines
    Kind(group="argoproj.io", kind="Workflow", read=pipelines.read_workflow, suspend="spec.suspend"),
    Kind(group="argoproj.io", kind="CronWorkflow", read=pipelines.read_workflow, suspend="spec.suspend"),
    Kind(group="tekton.dev", kind="TaskRun", read=pipelines.read_task_run),
    Kind(group="tekton.dev", kind="PipelineRun", read=pipelines.read_pipeline_run),
    # Virtual machines
    Kind(group="kubevirt.io", kind="VirtualMachineInstance", read=machines.read_machine),
    Kind(group="kubevirt.io", kind="VirtualMachine", read=machines.read_machine),
    Kind(group="kubevirt.io", kind="VirtualMachineInstanceReplicaSet", read=machines.read_machine),
    Kind(group="pool.kubevirt.io", kind="VirtualMachinePool", read=machines.read_machine),
    # Others that replicate a template
    Kind(group="slinky.slurm.net", kind="NodeSet", roles=_REPLICATED),
    Kind(
        group="apps.kruise.io",
        kind="CloneSet",
        roles=_REPLICATED,
        surge=rolling_update("spec.updateStrategy", 0, field="maxSurge"),
    ),
    Kind(group="apps.kruise.io", kind="StatefulSet", read=groups.read_stateful_set),
    Kind(group="apps.kruise.io", kind="DaemonSet", roles=[Role(template="spec.template")], per_node=True),
)

# Kinds that hold pod templates which others use, or copies of what others make: they make no pods themselves.
WITHOUT_PODS: Final = frozenset({
    ("", "PodTemplate"), ("apps", "ControllerRevision"), ("trainer.kubeflow.org", "TrainingRuntime"),
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"), ("serving.kserve.io", "ServingRuntime"),
    ("serving.kserve.io", "ClusterServingRuntime"), ("serving.kserve.io", "LLMInferenceServiceConfig"),
    ("serving.kserve.io", "InferenceGraph"), ("serving.knative.dev", "Configuration"),
    ("serving.knative.dev", "Revision"), ("argoproj.io", "WorkflowTemplate"),
    ("argoproj.io", "ClusterWorkflowTemplate"),
    ("tekton.dev", "Task"), ("tekton.dev", "Pipeline"), ("tekton.dev", "ClusterTask"), ("kueue.x-k8s.io", "Workload"),
    ("scheduling.k8s.io", "Workload"), ("scheduling.k8s.io", "PodGroup"), ("scheduling.run.ai", "PodGroup"),
    ("scheduling.volcano.sh", "PodGroup"), ("scheduling.x-k8s.io", "PodGroup"),
})  # fmt: skip
