"""Pods that get no device, or two devices, because of how they request them."""

from __future__ import annotations

from truth_cases import Case
from truth_objects import api, deployment, fleet, job, template

PARTITIONED = fleet(
    drivers={"nvidia": {"version": "25.12.0", "featureGates": {"DynamicMIG": True}}},
    pools=[{"name": "h100", "machine": "p5.4xlarge", "count": {"min": 0, "max": 2}}],
)
"""A fleet whose nodes publish one GPU and its partitions."""
MANY_PARTITIONS = {
    **PARTITIONED,
    "pools": [{"name": "h100", "machine": "p5.48xlarge", "count": {"min": 0, "max": 2}}],
}
CRASH = "Before Kubernetes 1.36.2, such a claim crashes kube-scheduler"


def with_extended_resource(name: str = "serve", resource: str = "nvidia.com/gpu") -> dict:
    made = deployment(name, 1)
    resources = made["spec"]["template"]["spec"]["containers"][0]["resources"]
    resources["limits"] = {resource: 1}
    return made


def of_another_driver(pods: int, resource: str = "aws.amazon.com/neuron") -> dict:
    """A Deployment whose pods request only devices of another vendor."""
    made = deployment("infer", pods, resourceClaims=[])
    resources = {"limits": {resource: 1}}
    made["spec"]["template"]["spec"]["containers"][0]["resources"] = resources
    return made


def device_plugin(name: str = "nvidia-device-plugin", *terms: dict) -> dict:
    """NVIDIA's device plugin as a DaemonSet, with the terms of its required node affinity."""
    labels = {"app": "plugin"}
    pod = {
        "containers": [{"name": "plugin", "image": "app:1"}],
        "tolerations": [{"operator": "Exists"}],
    }
    if terms:
        required = {"nodeSelectorTerms": [{"matchExpressions": [each]} for each in terms]}
        field = "requiredDuringSchedulingIgnoredDuringExecution"
        pod["affinity"] = {"nodeAffinity": {field: required}}
    spec = {"selector": {"matchLabels": labels}}
    spec["template"] = {"metadata": {"labels": labels}, "spec": pod}
    return api("apps/v1", "DaemonSet", name, spec, namespace="kube-system")


def suspended(item: dict) -> dict:
    """The Job, which doesn't start pods yet."""
    return {**item, "spec": {**item["spec"], "suspend": True}}


def with_launcher(worker: dict) -> dict:
    """An MPIJob with one worker, and a launcher that runs on the system pool."""
    resources = {"requests": {"cpu": "1"}}
    launcher = {"containers": [{"name": "run", "image": "app:1", "resources": resources}]}
    replicas = {
        "Launcher": {"replicas": 1, "template": {"spec": launcher}},
        "Worker": {"replicas": 1, "template": worker["spec"]["template"]},
    }
    return api("kubeflow.org/v2beta1", "MPIJob", "train", {"mpiReplicaSpecs": replicas})


IMPLICIT = "deviceclass.resource.kubernetes.io/"
NOT_DRA = {"key": "nvidia.com/gpu.dra", "operator": "NotIn", "values": ["true"]}
PRESENT = {"key": "nvidia.com/gpu.present", "operator": "Exists"}
DEVICES = (
    Case(
        name="the device plugin on nodes with the DRA driver",
        given=[template(), deployment(), device_plugin()],
        verdict="does-not-fit",
        texts=(
            'on the nodes in pool "l4"',
            "it doesn't have a node affinity that excludes nodes labeled nvidia.com/gpu.dra=true",
        ),
    ),
    Case(
        name="the device plugin on nodes that one of its terms matches",
        given=[template(), deployment(), device_plugin("nvidia-device-plugin", NOT_DRA, PRESENT)],
        verdict="does-not-fit",
        texts=("2 terms, and 1 of them doesn't exclude this label",),
    ),
    Case(
        name="the device plugin only on other nodes",
        given=[template(), deployment(), device_plugin("nvidia-device-plugin", NOT_DRA)],
        verdict="fits",
    ),
    Case(
        name="another DaemonSet on nodes with the DRA driver",
        given=[template(), deployment(), device_plugin("monitor")],
        verdict="fits",
    ),
    Case(
        name="devices of another driver for pods of a Deployment",
        given=[of_another_driver(1)],
        verdict="cannot-tell",
        texts=("aws.amazon.com/neuron",),
    ),
    Case(
        name="devices of another driver for the workers of a launcher",
        given=[with_launcher(of_another_driver(1))],
        verdict="cannot-tell",
        texts=("aws.amazon.com/neuron",),
        silent=("doesn't fit on the system pool",),
    ),
    Case(
        name="a suspended Job whose pods select a label that no node has",
        given=[suspended(job(nodeSelector={"tier": "gold"})), template()],
        verdict="fits",
        texts=("remove tier from the pod's nodeSelector",),
        silent=("lower the autoscaler's maximum",),
    ),
    *(
        Case(
            name=f"the implicit resource of {name}, a class that isn't given",
            given=[of_another_driver(1, f"{IMPLICIT}{name}")],
            verdict="cannot-tell",
            texts=(f"DeviceClass {name}",),
            silent=("nvidia.com/gpu=present",),
        )
        for name in ("gaudi.intel.com", "team-gpus")
    ),
    Case(
        name="the implicit resource of the driver's class",
        given=[of_another_driver(1, f"{IMPLICIT}gpu.nvidia.com")],
        verdict="fits",
    ),
    Case(
        name="the implicit resource of a class that the fleet's driver doesn't create",
        given=[of_another_driver(1, f"{IMPLICIT}gpus.nvidia.com")],
        verdict="does-not-fit",
        texts=("gpus.nvidia.com",),
    ),
    Case(
        name="devices of another driver for a Deployment that has no pods",
        given=[of_another_driver(0)],
        verdict="fits",
    ),
    Case(
        name="all partitions of one GPU",
        given=[template(device_class="mig.nvidia.com", allocationMode="All"), job(pods=1)],
        verdict="does-not-fit",
        texts=("25 of the node's 26 devices match", "can't all be allocated", CRASH),
        silent=("larger nodes",),
        on=PARTITIONED,
    ),
    Case(
        name="all partitions of eight GPUs",
        given=[template(device_class="mig.nvidia.com", allocationMode="All"), job(pods=1)],
        verdict="does-not-fit",
        texts=("a claim can have at most 32", "instead of all", CRASH),
        silent=("split the claim",),
        on=MANY_PARTITIONS,
    ),
    Case(
        name="one partition of several",
        given=[template(device_class="mig.nvidia.com"), job(pods=1)],
        verdict="fits",
        silent=(CRASH,),
        on=PARTITIONED,
    ),
    Case(
        name="all partitions on a version without the bug",
        given=[template(device_class="mig.nvidia.com", allocationMode="All"), job(pods=1)],
        verdict="does-not-fit",
        silent=("crashes kube-scheduler",),
        on={**PARTITIONED, "kubernetes": "1.37"},
    ),
    Case(
        name="a GPU through a claim and through an extended resource",
        given=[template(), with_extended_resource()],
        verdict="does-not-fit",
        texts=(
            "remove nvidia.com/gpu from the containers' limits and requests, because claim "
            '"gpu" already requests these devices',
        ),
    ),
    Case(
        name="a claim and an extended resource that no class serves",
        given=[template(), with_extended_resource()],
        verdict="does-not-fit",
        texts=(
            "remove nvidia.com/gpu from the containers' limits and requests, because claim "
            '"gpu" already requests these devices',
        ),
        silent=("request the devices with a ResourceClaim", "no machine type with NVIDIA GPUs"),
        on=fleet(kubernetes="1.35"),
    ),
    Case(
        name="an extended resource and a claim that isn't in the manifests",
        given=[template("other"), with_extended_resource()],
        verdict="cannot-tell",
        texts=(
            'container "main" requests nvidia.com/gpu and also uses claim "gpu"',
            "isn't in the manifests",
        ),
    ),
    Case(
        name="an extended resource without devices and a missing claim",
        given=[template("other"), with_extended_resource(resource="example.com/licenses")],
        verdict="cannot-tell",
        silent=("also uses claim",),
    ),
)
