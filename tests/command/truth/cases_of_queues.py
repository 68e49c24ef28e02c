"""Kueue: queues, flavors, and quotas that keep a Job from being admitted, or rewrite its pods.

Findings: queue-admits-no-pod, queue-decides, reference-not-found.
"""

from __future__ import annotations

from truth_cases import Case
from truth_objects import (
    Object,
    api,
    cluster_queue,
    flavor,
    job,
    kueue_config,
    local_queue,
    pod_spec,
    template,
)

QUEUED = {"kueue.x-k8s.io/queue-name": "team"}
MAPPED = kueue_config("gpu.nvidia.com")
SETUP = [MAPPED, local_queue(), cluster_queue()]
LABEL = "pulumi-dra/pool"


def annotated(item: Object, key: str, value: str) -> Object:
    """The object with one annotation."""
    return {**item, "metadata": {**item["metadata"], "annotations": {key: value}}}


def mpi_job(*, launcher: Object | None = None) -> Object:
    """A queued MPIJob: a launcher with these resources, and two workers with one GPU each."""
    leader = {"containers": [{"name": "run", "image": "app:1", "resources": launcher or {}}]}
    replicas = {
        "Launcher": {"replicas": 1, "template": {"spec": leader}},
        "Worker": {"replicas": 2, "template": {"spec": pod_spec()}},
    }
    made = api("kubeflow.org/v2beta1", "MPIJob", "train", {"mpiReplicaSpecs": replicas})
    made["metadata"]["labels"] = QUEUED
    return made


def covering_pods(queue: Object) -> Object:
    """The ClusterQueue with a quota of pods."""
    group = queue["spec"]["resourceGroups"][0]
    group["coveredResources"].append("pods")
    group["flavors"][0]["resources"].append({"name": "pods", "nominalQuota": 10})
    return queue


ON_GPUS = flavor(nodeLabels={LABEL: "l4"})
NAMED = api(
    "resource.k8s.io/v1",
    "ResourceClaim",
    "c",
    {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}},
)

QUEUES = (
    Case(
        name="a Job in a queue whose quota it fits",
        given=[*SETUP, flavor(), template(), job(labels=QUEUED)],
        verdict="fits",
    ),
    Case(
        name="a Job in an undeclared queue next to declared queues",
        given=[*SETUP, flavor(), template(), job(labels={"kueue.x-k8s.io/queue-name": "teams"})],
        verdict="cannot-tell",
        texts=('LocalQueue "ml/teams"', "team"),
    ),
    Case(
        name="a Job in a queue without any declared queue",
        given=[template(), job(labels=QUEUED)],
        verdict="fits",
        texts=("Kueue",),
    ),
    Case(
        name="a LocalQueue whose ClusterQueue isn't declared",
        given=[
            MAPPED,
            local_queue(cluster_queue="missing"),
            cluster_queue(),
            flavor(),
            template(),
            job(labels=QUEUED),
        ],
        verdict="cannot-tell",
        texts=('ClusterQueue "missing"',),
    ),
    Case(
        name="a ClusterQueue whose flavor isn't declared",
        given=[*SETUP, flavor("a100"), template(), job(labels=QUEUED)],
        verdict="cannot-tell",
        texts=('ResourceFlavor "l4"',),
    ),
    Case(
        name="a quota smaller than the Job",
        given=[
            MAPPED,
            local_queue(),
            cluster_queue(gpus=1),
            flavor(),
            template(),
            job(labels=QUEUED),
        ],
        verdict="does-not-fit",
        texts=('ClusterQueue "gpus"', "example.com/gpu"),
    ),
    Case(
        name="a CPU quota smaller than the Job",
        given=[
            MAPPED,
            local_queue(),
            cluster_queue(cpu=1),
            flavor(),
            template(),
            job(labels=QUEUED),
        ],
        verdict="does-not-fit",
        texts=('requests 2 "cpu"', "quota of 1"),
    ),
    Case(
        name="a CPU quota for at least one pod of a Job that Kueue may admit partly",
        given=[
            MAPPED,
            local_queue(),
            cluster_queue(cpu=1),
            flavor(),
            template(),
            annotated(job(labels=QUEUED), "kueue.x-k8s.io/job-min-parallelism", "1"),
        ],
        verdict="fits",
        silent=("quota of 1",),
    ),
    Case(
        name="a ClusterQueue that doesn't cover the resource of the class",
        given=[
            MAPPED,
            local_queue(),
            cluster_queue(resource="nvidia.com/gpu"),
            flavor(),
            template(),
            job(labels=QUEUED),
        ],
        verdict="does-not-fit",
        texts=('ClusterQueue "gpus"', "example.com/gpu"),
    ),
    Case(
        name="a configuration without a mapping for the class",
        given=[
            kueue_config("mig.nvidia.com"),
            local_queue(),
            cluster_queue(),
            flavor(),
            template(),
            job(labels=QUEUED),
        ],
        verdict="does-not-fit",
        texts=("gpu.nvidia.com",),
    ),
    Case(
        name="a ConfigMap without a mapping for the class",
        given=[
            kueue_config("mig.nvidia.com", in_config_map=True),
            local_queue(),
            cluster_queue(),
            flavor(),
            template(),
            job(labels=QUEUED),
        ],
        verdict="does-not-fit",
        texts=("gpu.nvidia.com",),
    ),
    Case(
        name="a ConfigMap that maps the class",
        given=[
            kueue_config("gpu.nvidia.com", in_config_map=True),
            local_queue(),
            cluster_queue(),
            flavor(),
            template(),
            job(labels=QUEUED),
        ],
        verdict="fits",
    ),
    Case(
        name="a flavor for nodes that no pool has",
        given=[*SETUP, flavor(nodeLabels={LABEL: "a100"}), template(), job(labels=QUEUED)],
        verdict="does-not-fit",
        texts=('ResourceFlavor "l4"',),
    ),
    Case(
        name="a flavor for the nodes of a pool",
        given=[*SETUP, flavor(nodeLabels={LABEL: "l4"}), template(), job(labels=QUEUED)],
        verdict="fits",
    ),
    Case(
        name="a flavor that adds the toleration of GPU nodes",
        given=[
            *SETUP,
            flavor(tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}]),
            template(),
            job(labels=QUEUED, tolerations=[]),
        ],
        verdict="fits",
    ),
    # Kueue assigns a flavor for each requested resource
    Case(
        name="a launcher without requests next to workers whose flavor has labels",
        given=[*SETUP, ON_GPUS, template(), mpi_job()],
        verdict="fits",
    ),
    Case(
        name="a launcher without requests next to a flavor with a taint that it doesn't tolerate",
        given=[
            *SETUP,
            flavor(nodeTaints=[{"key": "nvidia.com/gpu", "value": "a", "effect": "NoSchedule"}]),
            template(),
            mpi_job(),
        ],
        verdict="fits",
    ),
    Case(
        name="a launcher with requests next to workers whose flavor has labels",
        given=[*SETUP, ON_GPUS, template(), mpi_job(launcher={"requests": {"cpu": "1"}})],
        verdict="does-not-fit",
        texts=("Launcher",),
    ),
    Case(
        name="a launcher without requests in a queue that counts pods",
        given=[
            MAPPED,
            local_queue(),
            covering_pods(cluster_queue()),
            ON_GPUS,
            template(),
            mpi_job(),
        ],
        verdict="does-not-fit",
        texts=("Launcher",),
    ),
    Case(
        name="a named claim, which Kueue rejects",
        given=[
            *SETUP,
            flavor(),
            template(),
            job(labels=QUEUED, resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}]),
        ],
        verdict="does-not-fit",
        texts=("Kueue rejects the shared claim",),
    ),
)
