"""Labels and taints that nodes will carry: Kubernetes', the cloud's, and this project's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dra_planner.catalog import Machine, network_interfaces
from dra_planner.model import Taint

if TYPE_CHECKING:  # reading a snapshot needs no fleet, and its schema takes long to import
    from dra_planner.fleet import Fleet, Pool

GPU_TAINT = Taint("nvidia.com/gpu", "present", "NoSchedule")
ARM_TAINT = Taint("kubernetes.io/arch", "arm64", "NoSchedule")
POOL_LABEL = "pulumi-dra/pool"
_UNKNOWN = {
    "eks": ("eks.amazonaws.com/", "k8s.io/cloud-provider-aws", "topology.k8s.aws/", "topology.ebs.csi.aws.com/"),
    "gke": ("cloud.google.com/", "addon.gke.io/", "iam.gke.io/", "topology.gke.io/", "node.gke.io/"),
}
_OF_FEATURE_DISCOVERY = ("feature.node.kubernetes.io/", "nvidia.com/")  # NFD and GFD, where the platform runs them
_ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_CAPACITY_TYPES = {"on-demand": "ON_DEMAND", "spot": "SPOT"}


def predict_labels(fleet: Fleet, pool: Pool, machine: Machine, node_name: str) -> dict[str, str]:
    """Return the labels of a pool's nodes; the zone only where there is just one it can be."""
    labels = base_labels(fleet, pool.name, machine, node_name, pool_zones(fleet, pool))
    if machine.gpu_count:
        labels["nvidia.com/gpu.present"] = "true"
        labels["nvidia.com/gpu.dra"] = "true"
    if fleet.cloud == "gke" and fleet.drivers.dranet and network_interfaces(machine):
        labels["cloud.google.com/gke-networking-dra-driver"] = "true"
    return labels | (_eks(pool) if fleet.cloud == "eks" else _gke(pool, machine)) | pool.labels


def base_labels(fleet: Fleet, pool_name: str, machine: Machine, node_name: str, zones: Sequence[str]) -> dict[str, str]:
    """Return the labels of every node, whatever its pool is for."""
    labels = {
        "kubernetes.io/arch": machine.arch,
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": node_name,
        "node.kubernetes.io/instance-type": machine.instance_type,
        "topology.kubernetes.io/region": fleet.region,
        POOL_LABEL: pool_name,
        "beta.kubernetes.io/arch": machine.arch,
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/instance-type": machine.instance_type,
        "failure-domain.beta.kubernetes.io/region": fleet.region,
    }
    if len(zones) == 1:
        labels |= dict.fromkeys(_ZONES, zones[0])
    if fleet.cloud == "gke":
        labels |= {
            "cloud.google.com/machine-family": machine.family,
            "cloud.google.com/gke-os-distribution": "cos",
            "cloud.google.com/gke-container-runtime": "containerd",
        }
    return labels


def unknown_labels(fleet: Fleet, zones: Sequence[str]) -> tuple[str, ...]:
    """Return labels that nodes carry, or may carry, with values that only the cluster knows.

    An entry that ends in "/" stands for every label below it that is not among the predicted ones.
    """
    of_zones = () if len(zones) == 1 else _ZONES
    return (*_UNKNOWN[fleet.cloud], *_OF_FEATURE_DISCOVERY, *of_zones, "kubernetes.io/hostname")


def predict_taints(pool: Pool, machine: Machine) -> tuple[Taint, ...]:
    """Return the taints of a pool's nodes: GPU nodes keep other pods away, so do Arm nodes of GKE; then its own."""
    taints = [GPU_TAINT] if machine.gpu_count else []
    if machine.cloud == "gke" and machine.arch == "arm64":
        taints.append(ARM_TAINT)
    own = (Taint(taint.key, taint.value, taint.effect) for taint in pool.taints)
    return tuple(dict.fromkeys((*taints, *own)))


def pool_zones(fleet: Fleet, pool: Pool) -> tuple[str, ...]:
    """Return the zones that a pool's nodes may be in; none where the network chooses them."""
    return tuple(pool.zones) or network_zones(fleet)


def network_zones(fleet: Fleet) -> tuple[str, ...]:
    """Return the zones that the fleet's network names; none where it leaves the choice to the cloud."""
    return tuple(fleet.network.zones) if isinstance(fleet.network.zones, list) else ()


def _eks(pool: Pool) -> dict[str, str]:
    if isinstance(pool.capacity, str):
        return {"eks.amazonaws.com/capacityType": _CAPACITY_TYPES[pool.capacity]}
    bought = "CAPACITY_BLOCK" if hasattr(pool.capacity, "capacity_block") else "ON_DEMAND"
    return {"eks.amazonaws.com/capacityType": bought}


def _gke(pool: Pool, machine: Machine) -> dict[str, str]:
    labels = dict[str, str]()  # gke-nodepool is a name that Pulumi completes
    if pool.capacity == "spot":
        labels["cloud.google.com/gke-spot"] = "true"
    if machine.gpu_count and machine.accelerator is not None and machine.accelerator.gke_type is not None:
        labels["cloud.google.com/gke-accelerator"] = machine.accelerator.gke_type
        labels["cloud.google.com/gke-gpu"] = "true"
        labels["gke-no-default-nvidia-gpu-device-plugin"] = "true"
        labels["cloud.google.com/gke-nvidia-gpu-dra-driver"] = "true"
    return labels
