"""Manifests that define every object of the cluster, so other objects certainly don't exist."""

from __future__ import annotations

from typing import Any

from truth_cases import Case
from truth_objects import (
    Object,
    api,
    cluster_queue,
    deployment,
    flavor,
    fleet,
    job,
    kueue_config,
    local_queue,
    runtime_class,
    template,
)

WHOLE = fleet(manifests="complete")
QUEUED = {"kueue.x-k8s.io/queue-name": "team"}
NAMESPACE = api("v1", "Namespace", "ml", namespace="")
CONFIG = kueue_config("gpu.nvidia.com")


def missing(name: str, *given: Object, texts: tuple[str, ...], **more: Any) -> Case:
    """A case in a complete cluster whose pods never run."""
    objects = [NAMESPACE, template(), *given]
    return Case(name=name, given=objects, verdict="does-not-fit", texts=texts, on=WHOLE, **more)


def defined(name: str, *given: Object, **more: Any) -> Case:
    """A case in a complete cluster whose pods run."""
    return Case(name=name, given=[NAMESPACE, template(), *given], verdict="fits", on=WHOLE, **more)


def volume(**source: Any) -> list[Object]:
    return [{"name": "data", **source}]


def ephemeral(**spec: Any) -> list[Object]:
    """A volume that is created for each pod."""
    size = {"resources": {"requests": {"storage": "1Gi"}}}
    made = {"accessModes": ["ReadWriteOnce"], **size, **spec}
    return volume(ephemeral={"volumeClaimTemplate": {"spec": made}})


REJECTED = "so the API server rejects the pods"
COMPLETENESS = (
    missing(
        "a PriorityClass that nothing defines",
        deployment(priorityClassName="gpu-high"),
        texts=(f'nothing in the manifests defines PriorityClass "gpu-high", {REJECTED}',),
        silent=("until it exists",),
    ),
    missing(
        "a misspelled RuntimeClass that nothing defines",
        runtime_class("kata"),
        deployment(runtimeClassName="katta"),
        texts=(
            f'nothing in the manifests defines RuntimeClass "katta", {REJECTED}',
            "or use kata",
        ),
    ),
    missing(
        "a ServiceAccount that nothing defines",
        deployment(serviceAccountName="robot"),
        texts=(f'nothing in the manifests defines ServiceAccount "robot", {REJECTED}',),
    ),
    missing(
        "a ConfigMap that nothing defines",
        deployment(volumes=volume(configMap={"name": "notes"})),
        texts=('defines ConfigMap "notes", so the containers don\'t start',),
    ),
    missing(
        "a PersistentVolumeClaim that nothing defines",
        deployment(volumes=volume(persistentVolumeClaim={"claimName": "models"})),
        texts=('defines PersistentVolumeClaim "models", so the pods stay pending',),
        silent=("tell which nodes can mount it",),
    ),
    missing(
        "a StorageClass that nothing defines",
        deployment(volumes=ephemeral(storageClassName="fast")),
        texts=('defines StorageClass "fast", so the pods stay pending',),
    ),
    missing(
        "a default StorageClass that nothing defines",
        deployment(volumes=ephemeral()),
        texts=("nothing in the manifests defines a default StorageClass",),
    ),
    missing(
        "a claim template that nothing defines",
        deployment(claim="other"),
        texts=("nothing in the manifests defines ResourceClaimTemplate ml/other",),
        silent=("are unknown",),
    ),
    Case(
        name="a namespace that nothing defines",
        given=[template(), deployment()],
        verdict="does-not-fit",
        texts=(f'nothing in the manifests defines Namespace "ml", {REJECTED}',),
        silent=("Until it exists",),
        on=WHOLE,
    ),
    missing(
        "a LocalQueue that nothing defines",
        job(labels=QUEUED),
        texts=('LocalQueue "ml/team", but nothing in the manifests defines it',),
    ),
    missing(
        "a ResourceFlavor that nothing defines",
        CONFIG,
        local_queue(),
        cluster_queue(),
        job(labels=QUEUED),
        texts=('ResourceFlavor "l4", but nothing in the manifests defines it',),
    ),
    missing(
        "a scheduler that nothing runs",
        deployment(schedulerName="gpu-scheduler"),
        texts=(
            'nothing in the manifests runs scheduler "gpu-scheduler", so the pods stay pending',
        ),
        silent=("doesn't simulate",),
    ),
    missing(
        "a missing PriorityClass of pods without devices",
        api(
            "v1",
            "Pod",
            "web",
            {
                "priorityClassName": "gpu-high",
                "containers": [{"name": "main", "image": "app:1"}],
            },
        ),
        texts=('nothing in the manifests defines PriorityClass "gpu-high"',),
    ),
    Case(
        name="a scheduler that a workload might run",
        given=[
            NAMESPACE,
            template(),
            api(
                "apps/v1",
                "Deployment",
                "gpu-scheduler",
                {
                    "selector": {"matchLabels": {"app": "s"}},
                    "template": {
                        "metadata": {"labels": {"app": "s"}},
                        "spec": {"containers": [{"name": "main", "image": "scheduler:1"}]},
                    },
                },
                namespace="kube-system",
            ),
            deployment(schedulerName="gpu-scheduler"),
        ],
        verdict="cannot-tell",
        texts=("gpu-scheduler", "doesn't simulate"),
        on=WHOLE,
    ),
    Case(
        name="a RuntimeClass that the cloud provides",
        given=[NAMESPACE, template(), deployment(runtimeClassName="kata-vm-isolation")],
        verdict="cannot-tell",
        texts=('RuntimeClass "kata-vm-isolation"',),
        on={
            **WHOLE,
            "cloud": "aks",
            "region": "eastus",
            "systemPool": {"machine": "Standard_D4s_v5"},
            "pools": [
                {
                    "name": "t4",
                    "machine": "Standard_NC8as_T4_v3",
                    "count": {"min": 0, "max": 4},
                }
            ],
        },
    ),
    Case(
        name="an unread object that might define others",
        given=[
            NAMESPACE,
            template(),
            api("example.com/v1", "Platform", "gpus", {"resourceClaims": [{"name": "gpu"}]}),
            deployment(priorityClassName="gpu-high"),
        ],
        verdict="cannot-tell",
        texts=('PriorityClass "gpu-high"', "Platform ml/gpus"),
        silent=("nothing in the manifests",),
        on=WHOLE,
    ),
    Case(
        name="a Helm release that isn't rendered and might define others",
        given=[
            NAMESPACE,
            template(),
            api(
                "helm.toolkit.fluxcd.io/v2",
                "HelmRelease",
                "classes",
                {"interval": "10m", "chart": {"spec": {"chart": "classes"}}},
            ),
            deployment(priorityClassName="gpu-high"),
        ],
        verdict="cannot-tell",
        texts=('PriorityClass "gpu-high"',),
        silent=("nothing in the manifests",),
        on=WHOLE,
    ),
    defined(
        "defined objects, and objects that Kubernetes provides",
        api("scheduling.k8s.io/v1", "PriorityClass", "gpu-high", namespace="", value=1000),
        api("v1", "ServiceAccount", "robot"),
        runtime_class(),
        deployment(
            priorityClassName="gpu-high",
            runtimeClassName="kata",
            serviceAccountName="robot",
            volumes=volume(configMap={"name": "kube-root-ca.crt"}),
        ),
        deployment("other", 1, priorityClassName="system-cluster-critical"),
    ),
    defined(
        "a Secret that nothing defines",
        deployment(volumes=volume(secret={"secretName": "token"})),
        texts=('refers to Secret "token", which isn\'t in the manifests',),
    ),
    defined(
        "defined queues",
        CONFIG,
        local_queue(),
        cluster_queue(),
        flavor(),
        job(labels=QUEUED),
    ),
)
