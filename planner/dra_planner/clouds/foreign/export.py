"""Export a cluster to another tool: objects of Karpenter and Cluster API, an eksctl file, or
Terraform variables.

The readers in this folder can read this output, so exporting a fleet and reading it again preserves
the fleet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from dra_planner.clouds.foreign.description import ForeignCluster, ForeignPool
from dra_planner.clouds.foreign.terraform_variables import write_terraform_variables
from dra_planner.errors import FleetError
from dra_planner.model import Taint
from dra_planner.wording import listed

Documents = tuple[dict[str, Any], ...]
_INFRASTRUCTURE: Final = "infrastructure.cluster.x-k8s.io"
_DASHED: Final = {
    "NoSchedule": "no-schedule",
    "PreferNoSchedule": "prefer-no-schedule",
    "NoExecute": "no-execute",
}
_KARPENTER_CAPACITY: Final = {
    "spot": "spot",
    "reservation": "reserved",
    "capacity-block": "reserved",
}


def export_cluster(cluster: ForeignCluster, tool: str) -> Documents:
    """Return the documents of a tool in `EXPORTS`.

    Raises FleetError if the tool doesn't support the cluster's cloud.
    """
    clouds, write = EXPORTS[tool]
    if cluster.cloud not in clouds:
        fitting = ", ".join(
            name for name, (supported, _) in EXPORTS.items() if cluster.cloud in supported
        )
        raise FleetError(
            f"{tool} doesn't support node pools on {cluster.cloud.upper()}",
            fix=f"use --to {fitting}",
        )
    return write(cluster)


def _karpenter(cluster: ForeignCluster) -> Documents:
    """Return a NodePool and an EC2NodeClass for each pool with accelerators.

    A NodePool with `replicas` is static, because Karpenter ignores claims when it decides how many
    nodes to start. Source: aws/karpenter-provider-aws:pkg/apis/v1/ec2nodeclass.go and
    kubernetes-sigs/karpenter:pkg/apis/v1/nodepool.go, 1.14.1.
    """
    return tuple(each for pool in cluster.pools[1:] for each in _node_pool(pool, cluster))


def _node_pool(pool: ForeignPool, cluster: ForeignCluster) -> Iterator[dict[str, Any]]:
    requirements = {
        "node.kubernetes.io/instance-type": list(pool.machines),
        "karpenter.sh/capacity-type": [_KARPENTER_CAPACITY.get(pool.capacity, "on-demand")],
        **({"topology.kubernetes.io/zone": list(pool.zones)} if pool.zones else {}),
    }
    yield {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": pool.name},
        "spec": {
            "replicas": pool.minimum,
            "limits": {"nodes": pool.maximum},
            "template": {
                "metadata": {"labels": dict(pool.labels)},
                "spec": {
                    "nodeClassRef": {
                        "group": "karpenter.k8s.aws",
                        "kind": "EC2NodeClass",
                        "name": pool.name,
                    },
                    "requirements": [
                        {"key": key, "operator": "In", "values": v}
                        for key, v in requirements.items()
                    ],
                    "taints": [_taint(each) for each in pool.taints],
                    "expireAfter": "Never",
                },
            },
            "disruption": {"consolidateAfter": "Never"},
        },
    }
    reserved = (
        {"capacityReservationSelectorTerms": [{"id": pool.reservation}]} if pool.reservation else {}
    )
    yield {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": pool.name},
        "spec": {
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "role": f"KarpenterNodeRole-{cluster.name}",
            "subnetSelectorTerms": _discovered(cluster),
            "securityGroupSelectorTerms": _discovered(cluster),
            **reserved,
        },
    }


def _discovered(cluster: ForeignCluster) -> list[dict[str, Any]]:
    return [{"tags": {"karpenter.sh/discovery": cluster.name}}]


def _taint(taint: Taint) -> dict[str, str]:
    return {
        "key": taint.key,
        **({"value": taint.value} if taint.value else {}),
        "effect": taint.effect,
    }


def _eksctl(cluster: ForeignCluster) -> Documents:
    """Return a ClusterConfig with managed node groups. Source: eksctl's schema of
    eksctl.io/v1alpha5, 0.215.
    """
    metadata = {"name": cluster.name, "region": cluster.region, "version": cluster.kubernetes}
    return (
        {
            "apiVersion": "eksctl.io/v1alpha5",
            "kind": "ClusterConfig",
            "metadata": metadata,
            "managedNodeGroups": [_node_group(each) for each in cluster.pools],
        },
    )


def _node_group(pool: ForeignPool) -> dict[str, Any]:
    group: dict[str, Any] = {
        "name": pool.name,
        "instanceTypes": list(pool.machines),
        "minSize": pool.minimum,
        "maxSize": pool.maximum,
        "desiredCapacity": pool.minimum,
        "labels": dict(pool.labels),
        "taints": [_taint(each) for each in pool.taints],
    }
    if pool.zones:
        group["availabilityZones"] = list(pool.zones)
    if pool.capacity == "spot":
        group["spot"] = True
    if pool.reservation:
        target = {"capacityReservationID": pool.reservation}
        group["capacityReservation"] = {"capacityReservationTarget": target}
    if pool.capacity == "capacity-block":
        group["instanceMarketOptions"] = {"marketType": "capacity-block"}
    return {key: value for key, value in group.items() if value not in ({}, [])}


def _cluster_api(cluster: ForeignCluster) -> Documents:
    """Return a MachinePool and the provider's managed pool for each pool, and the control plane's
    region and version.

    Source: kubernetes-sigs/cluster-api-provider-{aws,gcp,azure}: AWSManagedMachinePool (v1beta2),
    GCPManagedMachinePool and AzureManagedMachinePool (v1beta1).
    """
    prefix, api, managed, place = _PROVIDERS[cluster.cloud]
    group = "controlplane.cluster.x-k8s.io" if cluster.cloud == "eks" else _INFRASTRUCTURE
    plane = {
        "apiVersion": f"{group}/{api}",
        "kind": f"{prefix}ManagedControlPlane",
        "metadata": {"name": cluster.name},
        "spec": {place: cluster.region, "version": f"v{cluster.kubernetes}"},
    }
    found: list[dict[str, Any]] = [plane]
    for pool in cluster.pools:
        reference = {
            "apiGroup": _INFRASTRUCTURE,
            "kind": f"{prefix}ManagedMachinePool",
            "name": pool.name,
        }
        template = {
            "clusterName": cluster.name,
            "bootstrap": {"dataSecretName": ""},
            "infrastructureRef": reference,
        }
        found.append(
            {
                "apiVersion": "cluster.x-k8s.io/v1beta2",
                "kind": "MachinePool",
                "metadata": {"name": pool.name},
                "spec": {
                    "clusterName": cluster.name,
                    "replicas": pool.minimum,
                    "template": {"spec": template},
                },
            }
        )
        spec = {key: value for key, value in managed(pool).items() if value not in ({}, [], None)}
        metadata = {"name": pool.name}
        found.append(
            {
                "apiVersion": f"{_INFRASTRUCTURE}/{api}",
                "kind": reference["kind"],
                "metadata": metadata,
                "spec": spec,
            }
        )
    return tuple(found)


def _aws(pool: ForeignPool) -> dict[str, Any]:
    return {
        "instanceType": pool.machines[0],
        "scaling": {"minSize": pool.minimum, "maxSize": pool.maximum},
        "capacityType": "spot" if pool.capacity == "spot" else "onDemand",
        "availabilityZones": list(pool.zones),
        "labels": dict(pool.labels),
        "taints": [{**_taint(each), "effect": _DASHED[each.effect]} for each in pool.taints],
    }


def _gcp(pool: ForeignPool) -> dict[str, Any]:
    return {
        "machineType": pool.machines[0].partition("+")[0],
        "scaling": {"minCount": pool.minimum, "maxCount": pool.maximum},
        "nodeLocations": list(pool.zones),
        "kubernetesLabels": dict(pool.labels),
        "kubernetesTaints": [_taint(each) for each in pool.taints],
    }


def _azure(pool: ForeignPool) -> dict[str, Any]:
    return {
        "mode": "User",
        "sku": pool.machines[0],
        "scaling": {"minSize": pool.minimum, "maxSize": pool.maximum},
        "scaleSetPriority": "Spot" if pool.capacity == "spot" else "Regular",
        "availabilityZones": [zone.rpartition("-")[2] for zone in pool.zones],
        "nodeLabels": dict(pool.labels),
        "taints": [_taint(each) for each in pool.taints],
    }


def export_losses(cluster: ForeignCluster, tool: str) -> Iterator[str]:
    """Yield sentences about settings of pools that the tool's documents can't contain."""
    for pool in cluster.pools:
        if pool.mig:
            yield (
                f"pool {pool.name}: its MIG configuration {pool.mig} isn't exported, because node "
                "pools don't have a field for it"
            )
        if tool == "cluster-api":
            kind = f"{_PROVIDERS[cluster.cloud][0]}ManagedMachinePool"
            lost = {"reservation": bool(pool.reservation)}
            if cluster.cloud == "gke":
                lost |= {"Spot": pool.capacity == "spot", "accelerator": "+" in pool.machines[0]}
            names = [name for name, is_lost in lost.items() if is_lost]
            if names:
                yield f"pool {pool.name}: {kind} doesn't have a field for its {listed(names)}"
        if tool == "terraform" and cluster.cloud == "eks" and pool.zones:
            zones = ", ".join(pool.zones)
            yield (
                f"pool {pool.name}: its zones ({zones}) aren't exported, because node groups set "
                "subnets instead"
            )


_PROVIDERS: Final[Mapping[str, tuple[str, str, Callable[[ForeignPool], dict[str, Any]], str]]] = {
    "eks": ("AWS", "v1beta2", _aws, "region"),
    "gke": ("GCP", "v1beta1", _gcp, "location"),
    "aks": ("Azure", "v1beta1", _azure, "location"),
}

EXPORTS: Final[Mapping[str, tuple[tuple[str, ...], Callable[[ForeignCluster], Documents]]]] = {
    "karpenter": (("eks",), _karpenter),
    "terraform": (("eks", "gke", "aks"), lambda cluster: (write_terraform_variables(cluster),)),
    "cluster-api": (("eks", "gke", "aks"), _cluster_api),
    "eksctl": (("eks",), _eksctl),
}
"""The tools for export: the clouds that each tool supports, and the function that writes its
documents.
"""
