"""Pools of Cluster API: MachineDeployments and MachinePools with the machine templates of AWS, GCP,
and Azure.

Sources: kubernetes-sigs/cluster-api-provider-{aws,gcp,azure}: API types of AWSMachineTemplate
(v1beta2), AWSManagedMachinePool, GCPMachineTemplate, GCPManagedMachinePool, AzureMachineTemplate,
AzureManagedMachinePool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dra_planner.clouds.foreign.description import ForeignCluster, ForeignPool
from dra_planner.clouds.foreign.taints_and_disks import taints
from dra_planner.documents.plain_values import block, labels, listed, number, text, texts

_POOLS: Final = frozenset({"MachineDeployment", "MachinePool"})
_AUTOSCALER: Final = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
_CLOUDS: Final[Mapping[str, str]] = {"AWS": "eks", "GCP": "gke", "Azure": "aks"}
_REGIONAL: Final = (
    "AWSManagedControlPlane",
    "AWSCluster",
    "GCPManagedControlPlane",
    "GCPManagedCluster",
    "GCPCluster",
    "AzureManagedControlPlane",
    "AzureCluster",
)


def is_machine_set(item: Mapping[str, Any]) -> bool:
    """Return whether an object is a pool of Cluster API."""
    return text(item.get("kind")) in _POOLS and text(item.get("apiVersion")).startswith(
        "cluster.x-k8s.io/"
    )


def read_cluster_api(items: Sequence[Mapping[str, Any]]) -> ForeignCluster | None:
    """Return the cluster whose pools are in the objects.

    Returns None if the objects don't contain a machine template of a known cloud.
    """
    by_name = {
        (text(each.get("kind")), text(block(each, "metadata").get("name"))): each for each in items
    }
    notes: list[str] = []
    clouds: list[str] = []
    pools = []
    for item in filter(is_machine_set, items):
        template = block(block(block(item, "spec"), "template"), "spec")
        reference = block(template, "infrastructureRef")
        kind, name = text(reference.get("kind")), text(reference.get("name"))
        machine = by_name.get((kind, name))
        pool = text(block(item, "metadata").get("name"))
        cloud = next((found for prefix, found in _CLOUDS.items() if kind.startswith(prefix)), "")
        if machine is None or not cloud:
            notes.append(
                f"{item['kind']} {pool}: {kind} {name} isn't among the objects, or its cloud is "
                "unknown"
            )
            continue
        clouds.append(cloud)
        pools.append(_pool(pool, item, block(machine, "spec")))
    if not clouds:
        return None
    owners = [each for each in items if text(each.get("kind")) in _REGIONAL]
    return ForeignCluster(
        name="",
        cloud=clouds[0],
        region=next((found for each in owners if (found := _region(block(each, "spec")))), ""),
        kubernetes=next((found for each in items if (found := _version(each))), ""),
        pools=tuple(pools),
        notes=tuple(notes),
    )


def _region(spec: Mapping[str, Any]) -> str:
    return text(spec.get("region")) or text(spec.get("location"))


def _version(item: Mapping[str, Any]) -> str:
    if text(item.get("kind")) not in (*_POOLS, *_REGIONAL):
        return ""
    spec = block(item, "spec")
    version = text(block(block(spec, "template"), "spec").get("version")) or text(
        spec.get("version")
    )
    return ".".join(version.removeprefix("v").split(".")[:2])


def _pool(name: str, item: Mapping[str, Any], machine: Mapping[str, Any]) -> ForeignPool:
    spec = block(block(machine, "template"), "spec") or machine
    annotations = block(block(item, "metadata"), "annotations")
    replicas = number(block(item, "spec").get("replicas"))
    scaling = block(spec, "scaling")
    fewest = (
        number(annotations.get(f"{_AUTOSCALER}min-size"))
        if annotations
        else number(scaling.get("minSize"))
    )
    most = (
        number(annotations.get(f"{_AUTOSCALER}max-size"))
        if annotations
        else number(scaling.get("maxSize"))
    )
    keys = ("instanceType", "machineType", "vmSize", "sku", "instanceTypes")
    machines = tuple(
        each for key in keys for each in (texts(spec.get(key)) or (text(spec.get(key)),)) if each
    )
    spot = any(key in spec for key in ("spotMarketOptions", "spotVMOptions")) or spec.get(
        "preemptible"
    )
    capacity = text(spec.get("capacityType")) or text(spec.get("scaleSetPriority"))
    template = block(block(block(item, "spec"), "template"), "metadata")
    tainted = taints([*listed(spec.get("taints")), *listed(spec.get("kubernetesTaints"))])
    return ForeignPool(
        name=name,
        machines=machines,
        minimum=fewest if fewest is not None else number(scaling.get("minCount")) or replicas,
        maximum=most if most is not None else number(scaling.get("maxCount")) or replicas,
        zones=texts(spec.get("availabilityZones")) or texts(spec.get("nodeLocations")),
        capacity="spot" if spot or capacity.lower() == "spot" else "on-demand",
        labels={**labels(template.get("labels")), **_node_labels(spec)},
        taints=tainted.known,
        unread_taints=tainted.unread,
        desired=replicas,
        disk_gib=_disk_gib(spec),
        image=text(block(spec, "ami").get("id"))
        or text(spec.get("amiType"))
        or text(spec.get("imageType"))
        or text(spec.get("osSKU")),
        notes=()
        if machines
        else (f"{item['kind']} {name}: its template doesn't set a machine type",),
    )


def _disk_gib(spec: Mapping[str, Any]) -> int | None:
    """Return the size of the boot disk, which has a different field in each kind of template."""
    sizes = (
        spec.get("diskSize"),
        block(spec, "rootVolume").get("size"),
        block(block(spec, "awsLaunchTemplate"), "rootVolume").get("size"),
        spec.get("diskSizeGb"),
        spec.get("diskSizeGB"),
        spec.get("rootDeviceSize"),
        spec.get("osDiskSizeGB"),
        block(spec, "osDisk").get("diskSizeGB"),
    )
    return next((size for each in sizes if (size := number(each))), None)


def _node_labels(spec: Mapping[str, Any]) -> Mapping[str, str]:
    return {
        **labels(spec.get("labels")),
        **labels(spec.get("kubernetesLabels")),
        **labels(spec.get("nodeLabels")),
    }
