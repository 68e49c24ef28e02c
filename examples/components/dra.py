"""What a cluster with nodes needs for claims: drivers, classes, rights, and what reads and
queues.
"""

from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s

from pulumi_dra import PlacementPolicies, PlanGate
from pulumi_dra.dra import (
    AdminAccessPolicy,
    DeviceClasses,
    DevicePlugin,
    DraDriver,
    Dranet,
    DriverInstaller,
    GpuMetrics,
    KubeRay,
    Kueue,
    TenantAccess,
)

inside = pulumi.ResourceOptions(providers=[k8s.Provider("gpu", context="gpu")])

DriverInstaller(
    "driver", {"driver": "latest"}, inside
)  # node images on EKS and AKS contain a driver
DraDriver("dra", {"version": "25.8.1", "platform": "gpu-operator", "max_nodes": 8}, inside)
DeviceClasses(
    "classes",
    {
        "kubernetes_version": "1.35",
        "classes": [{"name": "large-gpu", "device": "gpu", "memory_gib_at_least": 40}],
    },
    inside,
)
DevicePlugin("plugin", {"version": "0.17.4"}, inside)  # for pools without claims
Dranet("network", {}, inside)
TenantAccess(
    "tenants",
    {
        "tenants": [
            {
                "namespace": "vision",
                "groups": ["vision-engineers"],
                "device_quota": {"gpu.nvidia.com": 4},
            }
        ]
    },
    inside,
)
AdminAccessPolicy("admin", {"namespaces": ["monitoring"]}, inside)
PlacementPolicies(
    "placement",
    {"plan": Path("stacks/eks-dev.plan.json").read_text()},  # requires Kubernetes 1.36
    inside,
)
PlanGate("gate", {"plan": Path("stacks/eks-dev.plan.json").read_text()}, inside)
GpuMetrics(
    "metrics",
    {"collector": "prometheus-operator", "monitor_labels": {"release": "kube-prometheus-stack"}},
    inside,
)
Kueue("queue", {}, inside)
KubeRay("ray", {}, inside)
