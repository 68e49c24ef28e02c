"""Batch kinds that a table row can't describe: CronJobs, elastic training, Spark, and
scaled jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.documents.plain_values import number
from dra_planner.manifests.workloads.kind_description import ObjectPart, Reading, job_pods
from dra_planner.manifests.workloads.pod_counts import Bounds, count_job_pods
from dra_planner.manifests.workloads.scalers import KEDA_MAXIMUM
from dra_planner.model import Figures, PodSet

_STEP: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
_MIN_PARALLELISM: Final = "kueue.x-k8s.io/job-min-parallelism"
# conditions in a Job's status
_ENDED: Final = ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")
_TRAINER_NAMES: Final = ("node", "trainer", "trainer-node")


def read_job(reading: Reading) -> list[PodSet]:
    """Read a Job: the pods that run at the same time.

    Kueue can admit it with fewer if the Job allows that. A Job in a cluster only creates its
    missing pods.
    """
    root = reading.root
    spec = root.at("spec")
    pods = count_job_pods(spec.data) if isinstance(spec.data, Mapping) else 1
    least = number(root.get("metadata.annotations", {}).get(_MIN_PARALLELISM))
    bounds = Bounds(min(least, pods), pods) if least else None
    sets = reading.pod_set("", spec.at("template"), reading.figures(pods, bounds=bounds))
    left = _pods_left(root)
    return sets if left is None else [replace(each, left=left) for each in sets]


def _pods_left(job: ObjectPart) -> int | None:
    """Return the number of pods of a Job that can still run at the same time, from its status, or
    None. Source: kubernetes/kubernetes:pkg/controller/job/job_controller.go@v1.36.3 (manageJob).
    """
    conditions = [each for _, each in job.at("status.conditions").members()]
    if any(each.get("type") in _ENDED and each.get("status") == "True" for each in conditions):
        return 0
    succeeded, completions = job.number("status.succeeded", 0), job.get("spec.completions")
    if not succeeded:
        return None
    return (
        job.number("status.active", 0)
        if completions is None
        else max(0, int(completions) - succeeded)
    )


def read_volcano_job(reading: Reading) -> list[PodSet]:
    """Read a Volcano job: tasks with replicas. The job can run with only minAvailable pods."""
    sets = []
    tasks = list(reading.root.at("spec.tasks").members())
    for name, task in tasks:
        replicas = task.number("replicas", 1)
        least = reading.root.number("spec.minAvailable", replicas) if len(tasks) == 1 else replicas
        least = min(task.number("minAvailable", least), replicas)
        figures = reading.figures(replicas, bounds=Bounds(least, replicas))
        sets += reading.pod_set(name, task.at("template"), figures)
    return sets


def read_cron_job(reading: Reading) -> list[PodSet]:
    """Read a CronJob: one run at a time with Forbid and Replace. Runs that can overlap have no
    limit.
    """
    root = reading.root
    template = root.at("spec.jobTemplate.spec")
    pods = count_job_pods(template.data) if isinstance(template.data, Mapping) else 1
    policy = root.get("spec.concurrencyPolicy", "Allow")
    steady = 0 if reading.suspended else pods
    figures = Figures(0, steady, pods, 2 * pods if policy == "Replace" else pods)
    if policy == "Allow":
        figures = Figures(0, steady, None, None)
        reading.assume(
            "concurrencyPolicy is Allow, so runs can overlap, and the maximum number of pods "
            "is unlimited"
        )
    elif policy == "Replace":
        reading.assume(
            "concurrencyPolicy is Replace, so pods from the old run can overlap with pods from the "
            "new run"
        )
    return reading.pod_set("", template.at("template"), figures)


def read_elastic_pytorch(reading: Reading) -> list[PodSet]:
    """Read an elastic PyTorch job: roles with replicas. An elastic policy limits the workers."""
    policy = reading.root.at("spec.elasticPolicy")
    sets = []
    for name, role in reading.root.at("spec.pytorchReplicaSpecs").members():
        replicas = role.number("replicas", 1)
        bounds = None
        if name == "Worker" and isinstance(policy.data, Mapping):
            bounds = Bounds(
                policy.number("minReplicas", replicas), policy.number("maxReplicas", replicas)
            )
        sets += reading.pod_set(name, role.at("template"), reading.figures(replicas, bounds=bounds))
    return sets


def read_train_job(reading: Reading) -> list[PodSet]:
    """Read a TrainJob: the jobs of its runtime, with the requested number of nodes."""
    root = reading.root
    name = str(root.get("spec.runtimeRef.name", ""))
    kind = str(root.get("spec.runtimeRef.kind", "ClusterTrainingRuntime"))
    runtime = reading.lookup(kind, name)
    if runtime is None:
        pods = root.number("spec.trainer.numNodes", 1)
        reading.unresolved(
            f"its runtime, {kind} {name}, isn't in the manifests", reading.figures(pods)
        )
        return []
    sets = []
    policy = ObjectPart(runtime.data, runtime.place).at("spec")
    nodes = root.get("spec.trainer.numNodes", policy.get("mlPolicy.numNodes"))
    for role, job in policy.at("template.spec.replicatedJobs").members():
        spec = job.at("template.spec")
        step = job.at("template.metadata").get("labels", {}).get(_STEP)
        pods = job_pods("")(spec) * job.number("replicas", 1)
        if nodes is not None and (step == "trainer" or (step is None and role in _TRAINER_NAMES)):
            pods = root.number("spec.trainer.numNodes", policy.number("mlPolicy.numNodes", 1))
        sets += reading.pod_set(role, spec.at("template"), reading.figures(pods))
    return sets


def read_scaled_job(reading: Reading) -> list[PodSet]:
    """Read a ScaledJob: as many jobs as events request, from none up to the maximum."""
    root = reading.root
    pods = job_pods("spec.jobTargetRef")(root)
    least = root.number("spec.minReplicaCount", 0) * pods
    most = root.number("spec.maxReplicaCount", KEDA_MAXIMUM) * pods
    return reading.pod_set(
        "", root.at("spec.jobTargetRef.template"), Figures(least, least, most, most)
    )


def read_spark(reading: Reading) -> list[PodSet]:
    """Read a Spark application: a driver and executors, whose pods the operator creates."""
    root = reading.root
    base = (
        root.at("spec.template")
        if reading.object.kind == "ScheduledSparkApplication"
        else root.at("spec")
    )
    dynamic = base.at("dynamicAllocation")
    given = base.get("executor.instances")
    instances = base.number("executor.instances", 1)
    bounds = None
    if dynamic.get("enabled") is True:
        most = dynamic.get("maxExecutors")
        least = dynamic.number("minExecutors", 0)
        bounds = Bounds(least, None if most is None else dynamic.number("maxExecutors", instances))
        # Source: apache/spark:core/src/main/scala/org/apache/spark/util/Utils.scala@v4.0 (the
        # largest of the three values).
        instances = max(
            dynamic.number("initialExecutors", least), 0 if given is None else instances
        )
        if most is None:
            reading.assume(
                "dynamicAllocation doesn't set maxExecutors, so the maximum number of pods is "
                "unlimited"
            )
    sets = []
    for name, figures in (
        ("driver", reading.figures(1)),
        ("executor", reading.figures(instances, bounds=bounds)),
    ):
        part = base.at(name)
        template = ObjectPart({"spec": _spark_pod(part)}, part.place)
        sets += reading.pod_set(name, template, figures)
    return sets


def _spark_pod(part: ObjectPart) -> dict[str, Any]:
    """Return the pod of a driver or executor: its template, combined with the separate fields."""
    spec: dict[str, Any] = dict(part.get("template.spec", {}))
    containers = [dict(item) for item in spec.get("containers") or [{"name": "spark"}]]
    given = containers[0].get("resources") or {}
    resources = {field: dict(given.get(field) or {}) for field in ("requests", "limits")}
    cores, memory = part.get("coreRequest", part.get("cores")), part.get("memory")
    if cores is not None:
        resources["requests"].setdefault("cpu", cores)
    if memory is not None:
        resources["requests"].setdefault("memory", _java_memory(str(memory)))
    if part.get("gpu.name") is not None:
        resources["limits"][str(part.get("gpu.name"))] = part.number("gpu.quantity", 1)
    claims = given.get("claims")
    containers[0]["resources"] = {**resources, **({"claims": claims} if claims else {})}
    for field in ("nodeSelector", "affinity", "tolerations", "schedulerName", "priorityClassName"):
        if part.get(field) is not None:
            spec.setdefault(field, part.get(field))
    return {**spec, "containers": containers}


def _java_memory(text: str) -> str:
    """Return an amount as Kubernetes writes it: Spark's `512m` and `4g` are binary units."""
    units = {"k": "Ki", "m": "Mi", "g": "Gi", "t": "Ti", "p": "Pi"}
    lower = text.lower().removesuffix("b")
    return f"{lower[:-1]}{units[lower[-1]]}" if lower and lower[-1] in units else lower
