"""The supported kinds of workloads, with one row each. Rows with `read` use a function.

Sources: the kinds' API documentation for the fields. How Kueue and KAI count pods:
kubernetes-sigs/kueue: pkg/controller/jobs@ff69552e,
kai-scheduler/KAI-Scheduler:pkg/podgrouper@d5bc503a.
"""

from __future__ import annotations

from typing import Final

from dra_planner.manifests.workloads import groups, nim, pipelines, ray, serving, virtual_machines
from dra_planner.manifests.workloads.batch import (
    read_cron_job,
    read_elastic_pytorch,
    read_job,
    read_scaled_job,
    read_spark,
    read_train_job,
    read_volcano_job,
)
from dra_planner.manifests.workloads.kind_description import (
    Role,
    WorkloadKind,
    job_pods,
    node_by_node,
    one_by_one,
    rolling_pods,
    rolling_update,
)

_REPLICATED: Final = [Role(template="spec.template", replicas="spec.replicas")]


def _roles(path: str) -> list[Role]:
    """Return the description of a mapping or list of roles, each with a pod template and replicas
    (1 by default).
    """
    return [Role(each=path, template="template", replicas="replicas")]


_KUBEFLOW: Final = {"TFJob": "tf", "XGBoostJob": "xgb", "JAXJob": "jax", "PaddleJob": "paddle"}

KINDS: Final[tuple[WorkloadKind, ...]] = (
    # Kubernetes itself
    WorkloadKind(group="", kind="Pod", roles=[Role(template="")]),
    WorkloadKind(group="", kind="ReplicationController", roles=_REPLICATED, spreads=True),
    WorkloadKind(
        group="apps",
        kind="Deployment",
        roles=_REPLICATED,
        surge=rolling_update("spec.strategy"),
        rollout=rolling_pods("spec.strategy"),
        spreads=True,
    ),
    WorkloadKind(group="apps", kind="ReplicaSet", roles=_REPLICATED, spreads=True),
    WorkloadKind(
        group="apps",
        kind="StatefulSet",
        read=groups.read_stateful_set,
        rollout=one_by_one,
        spreads=True,
    ),
    WorkloadKind(
        group="apps",
        kind="DaemonSet",
        roles=[Role(template="spec.template")],
        rollout=node_by_node,
        per_node=True,
    ),
    WorkloadKind(group="batch", kind="Job", read=read_job, suspend="spec.suspend"),
    WorkloadKind(group="batch", kind="CronJob", read=read_cron_job, suspend="spec.suspend"),
    # Batch and training
    WorkloadKind(
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
    WorkloadKind(
        group="trainer.kubeflow.org", kind="TrainJob", read=read_train_job, suspend="spec.suspend"
    ),
    WorkloadKind(
        group="kubeflow.org",
        kind="PyTorchJob",
        read=read_elastic_pytorch,
        suspend="spec.runPolicy.suspend",
    ),
    *(
        WorkloadKind(
            group="kubeflow.org",
            kind=kind,
            roles=_roles(f"spec.{prefix}ReplicaSpecs"),
            suspend="spec.runPolicy.suspend",
        )
        for kind, prefix in _KUBEFLOW.items()
    ),
    WorkloadKind(
        group="kubeflow.org",
        kind="MPIJob",
        roles=_roles("spec.mpiReplicaSpecs"),
        suspend="spec.runPolicy.suspend",
    ),
    WorkloadKind(group="kubeflow.org", kind="Notebook", roles=[Role(template="spec.template")]),
    WorkloadKind(group="batch.volcano.sh", kind="Job", read=read_volcano_job),
    WorkloadKind(group="sparkoperator.k8s.io", kind="SparkApplication", read=read_spark),
    WorkloadKind(group="sparkoperator.k8s.io", kind="ScheduledSparkApplication", read=read_spark),
    WorkloadKind(group="keda.sh", kind="ScaledJob", read=read_scaled_job),
    # Ray
    WorkloadKind(
        group="ray.io", kind="RayCluster", read=ray.read_ray_cluster, suspend="spec.suspend"
    ),
    WorkloadKind(group="ray.io", kind="RayJob", read=ray.read_ray_job, suspend="spec.suspend"),
    WorkloadKind(group="ray.io", kind="RayService", read=ray.read_ray_service),
    # Groups of pods
    WorkloadKind(
        group="leaderworkerset.x-k8s.io", kind="LeaderWorkerSet", read=groups.read_leader_worker_set
    ),
    WorkloadKind(group="grove.io", kind="PodCliqueSet", read=groups.read_pod_clique_set),
    WorkloadKind(group="nvidia.com", kind="DynamoGraphDeployment", read=groups.read_dynamo_graph),
    WorkloadKind(group="modelplane.ai", kind="ModelDeployment", read=groups.read_model_deployment),
    WorkloadKind(
        group="workload.codeflare.dev",
        kind="AppWrapper",
        read=groups.read_app_wrapper,
        suspend="spec.suspend",
    ),
    # Serving
    WorkloadKind(
        group="serving.kserve.io",
        kind="InferenceService",
        read=serving.read_inference_service,
        container_name="kserve-container",
    ),
    WorkloadKind(
        group="serving.kserve.io",
        kind="LLMInferenceService",
        read=serving.read_llm_inference_service,
        container_name="main",
    ),
    WorkloadKind(group="apps.nvidia.com", kind="NIMService", read=nim.read_nim_service),
    WorkloadKind(group="apps.nvidia.com", kind="NIMPipeline", read=nim.read_nim_pipeline),
    WorkloadKind(
        group="serving.knative.dev",
        kind="Service",
        read=serving.read_knative_service,
        container_name="user-container",
    ),
    WorkloadKind(
        group="argoproj.io",
        kind="Rollout",
        read=serving.read_rollout,
        spreads=True,
    ),
    # Pipelines
    WorkloadKind(
        group="argoproj.io", kind="Workflow", read=pipelines.read_workflow, suspend="spec.suspend"
    ),
    WorkloadKind(
        group="argoproj.io",
        kind="CronWorkflow",
        read=pipelines.read_workflow,
        suspend="spec.suspend",
    ),
    WorkloadKind(group="tekton.dev", kind="TaskRun", read=pipelines.read_task_run),
    WorkloadKind(group="tekton.dev", kind="PipelineRun", read=pipelines.read_pipeline_run),
    # Virtual machines
    WorkloadKind(
        group="kubevirt.io", kind="VirtualMachineInstance", read=virtual_machines.read_machine
    ),
    WorkloadKind(group="kubevirt.io", kind="VirtualMachine", read=virtual_machines.read_machine),
    WorkloadKind(
        group="kubevirt.io",
        kind="VirtualMachineInstanceReplicaSet",
        read=virtual_machines.read_machine,
    ),
    WorkloadKind(
        group="pool.kubevirt.io", kind="VirtualMachinePool", read=virtual_machines.read_machine
    ),
    # Other kinds that replicate a template
    WorkloadKind(group="slinky.slurm.net", kind="NodeSet", roles=_REPLICATED),
    WorkloadKind(
        group="apps.kruise.io",
        kind="CloneSet",
        read=groups.read_clone_set,
    ),
    WorkloadKind(group="apps.kruise.io", kind="StatefulSet", read=groups.read_stateful_set),
    WorkloadKind(
        group="apps.kruise.io",
        kind="DaemonSet",
        roles=[Role(template="spec.template")],
        per_node=True,
    ),
    # Operators
    WorkloadKind(  # operator-framework/api:pkg/operators/v1alpha1@v0.35 (StrategyDeploymentSpec)
        group="operators.coreos.com",
        kind="ClusterServiceVersion",
        roles=[
            Role(
                each="spec.install.spec.deployments",
                template="spec.template",
                replicas="spec.replicas",
            )
        ],
        may_be_empty=True,
    ),
)

CONFIGURATIONS: Final = frozenset(
    {
        ("trainer.kubeflow.org", "TrainingRuntime"),
        ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
        ("serving.kserve.io", "ServingRuntime"),
        ("serving.kserve.io", "ClusterServingRuntime"),
        ("serving.kserve.io", "LLMInferenceServiceConfig"),
    }
)
"""Kinds with pod templates to which other objects refer by name."""
# Kinds that contain pod templates for other objects, or copies of objects that other kinds create.
# They don't create pods themselves.
WITHOUT_PODS: Final = CONFIGURATIONS | frozenset(
    {
        ("", "PodTemplate"),
        ("apps", "ControllerRevision"),
        ("serving.knative.dev", "Configuration"),
        ("serving.knative.dev", "Revision"),
        ("argoproj.io", "WorkflowTemplate"),
        ("argoproj.io", "ClusterWorkflowTemplate"),
        ("tekton.dev", "Task"),
        ("tekton.dev", "Pipeline"),
        ("tekton.dev", "ClusterTask"),
        ("kueue.x-k8s.io", "Workload"),
        ("scheduling.k8s.io", "Workload"),
        ("scheduling.k8s.io", "PodGroup"),
        ("scheduling.run.ai", "PodGroup"),
        ("scheduling.volcano.sh", "PodGroup"),
        ("scheduling.x-k8s.io", "PodGroup"),
    }
)
