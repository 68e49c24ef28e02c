"""Clusters as other tools describe them: plans of Terraform, and objects of eksctl, Karpenter, and
Cluster API.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EKS = [
    ("module.eks.aws_eks_cluster.this[0]", "aws_eks_cluster", {"name": "ml", "version": "1.35"}),
    (
        'module.eks.module.eks_managed_node_group["system"].aws_eks_node_group.this[0]',
        "aws_eks_node_group",
        {
            "node_group_name": "system",
            "instance_types": ["m7i.large"],
            "scaling_config": [{"min_size": 2, "max_size": 3}],
        },
    ),
    (
        'module.eks.module.eks_managed_node_group["h100"].aws_eks_node_group.this[0]',
        "aws_eks_node_group",
        {
            "node_group_name_prefix": "h100-",
            "instance_types": ["p5.48xlarge"],
            "capacity_type": "CAPACITY_BLOCK",
            "scaling_config": [{"min_size": 2, "max_size": 2, "desired_size": 2}],
            "labels": {"team": "train", "nvidia.com/gpu.present": "true"},
            "taint": [
                {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"},
                {"key": "example.com/team", "value": "train", "effect": "NO_SCHEDULE"},
            ],
        },
    ),
    (
        'module.eks.module.eks_managed_node_group["h100"].aws_launch_template.this[0]',
        "aws_launch_template",
        {
            "name": "h100",
            "capacity_reservation_specification": [
                {
                    "capacity_reservation_target": [
                        {"capacity_reservation_id": "cr-0123456789abcdef0"}
                    ]
                }
            ],
        },
    ),
]
GKE = [
    (
        "google_container_cluster.main",
        "google_container_cluster",
        {
            "name": "ml",
            "location": "us-central1",
            "min_master_version": "1.35.2-gke.1485000",
            "node_locations": ["us-central1-a", "us-central1-c"],
            "remove_default_node_pool": True,
        },
    ),
    (
        "google_container_node_pool.l4",
        "google_container_node_pool",
        {
            "name": "l4",
            "cluster": "ml",
            "autoscaling": [{"min_node_count": 0, "max_node_count": 3}],
            "node_config": [{"machine_type": "g2-standard-8", "spot": True}],
        },
    ),
    (
        "google_container_node_pool.t4",
        "google_container_node_pool",
        {
            "name": "t4",
            "cluster": "ml",
            "node_count": 1,
            "node_config": [
                {
                    "machine_type": "n1-standard-8",
                    "guest_accelerator": [{"type": "nvidia-tesla-t4", "count": 2}],
                }
            ],
        },
    ),
]
AKS = [
    (
        "azurerm_kubernetes_cluster.main",
        "azurerm_kubernetes_cluster",
        {"name": "ml", "location": "East US", "kubernetes_version": "1.35",
         "default_node_pool": [{"name": "system", "vm_size": "Standard_D4s_v5", "node_count": 3}]},
    ),
    (
        "azurerm_kubernetes_cluster_node_pool.a100",
        "azurerm_kubernetes_cluster_node_pool",
        {
            "name": "a100",
            "vm_size": "Standard_NC24ads_A100_v4",
            "auto_scaling_enabled": True,
            "min_count": 0,
            "max_count": 4,
            "node_taints": ["sku=gpu:NoSchedule"],
        },
    ),
]  # fmt: skip


EKSCTL = """\
    apiVersion: eksctl.io/v1alpha5
    kind: ClusterConfig
    metadata: {name: ml, region: us-west-2, version: "1.35"}
    managedNodeGroups:
      - {name: system, instanceType: m7i.xlarge, desiredCapacity: 2}
      - name: l4
        instanceTypes: [g6.2xlarge]
        minSize: 0
        maxSize: 8
        spot: true
        labels: {team: serve}
        taints: [{key: example.com/team, value: serve, effect: NoSchedule}]
"""
KARPENTER = """\
    apiVersion: karpenter.sh/v1
    kind: NodePool
    metadata: {name: gpus}
    spec:
      limits: {nvidia.com/gpu: 16}
      template:
        metadata: {labels: {team: serve}}
        spec:
          nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpus}
          requirements:
            - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
            - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
            - {key: node.kubernetes.io/instance-type, operator: In, values: [g6.12xlarge]}
          taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
"""
CLUSTER_API = """\
    apiVersion: cluster.x-k8s.io/v1beta2
    kind: MachineDeployment
    metadata:
      name: l4
      annotations:
        cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: "0"
        cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: "5"
    spec:
      clusterName: ml
      template:
        spec:
          version: v1.35.2
          infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachineTemplate, name: l4}
    ---
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: AWSMachineTemplate
    metadata: {name: l4}
    spec: {template: {spec: {instanceType: g6.4xlarge, spotMarketOptions: {}}}}
    ---
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: AWSCluster
    metadata: {name: ml}
    spec: {region: us-east-2}
"""


def plan(
    resources: list[tuple[str, str, Mapping[str, Any]]],
    provider: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """The JSON of a plan. Resources of modules are in child modules, as in Terraform's output."""
    root: dict[str, Any] = {"resources": [], "child_modules": []}
    for address, kind, values in resources:
        entry = {"address": address, "mode": "managed", "type": kind, "values": values}
        if address.startswith("module."):
            root["child_modules"].append(
                {"address": address.rpartition(f".{kind}.")[0], "resources": [entry]}
            )
        else:
            root["resources"].append(entry)
    configured = {
        name: {
            "name": name,
            "expressions": {key: {"constant_value": value} for key, value in settings.items()},
        }
        for name, settings in (provider or {}).items()
    }
    return {
        "format_version": "1.2",
        "planned_values": {"root_module": root},
        "configuration": {"provider_config": configured},
    }


TWO_POOLS = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: ml, region: us-east-1, version: "1.35"}
managedNodeGroups:
  - {name: system, instanceType: m7i.large, desiredCapacity: 2}
  - {name: l4, instanceType: g6.2xlarge, minSize: 0, maxSize: 4}
  - {name: h100, instanceType: p5.48xlarge, minSize: 0, maxSize: 4}
"""
