"""A GKE cluster with a pool and its workloads."""

import json

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

cluster = gcp.container.Cluster(
    "main",
    location="us-central1",
    initial_node_count=1,
    remove_default_node_pool=True,
    deletion_protection=False,
    min_master_version="1.34",
)
pool = gcp.container.NodePool(
    "gpu",
    cluster=cluster.name,
    location="us-central1",
    node_count=2,
    initial_node_count=None,
    node_config={
        "machine_type": "g2-standard-8",
        "guest_accelerators": [
            {
                "type": "nvidia-l4",
                "count": 1,
                "gpu_driver_installation_config": {"gpu_driver_version": "INSTALLATION_DISABLED"},
            }
        ],
        "labels": {"nvidia.com/gpu.dra": "true"},
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    },
)
kubeconfig = pulumi.Output.all(cluster.name, cluster.endpoint, cluster.master_auth).apply(
    lambda parts: json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": parts[0],
            "contexts": [{"name": parts[0], "context": {"cluster": parts[0], "user": parts[0]}}],
            "clusters": [
                {
                    "name": parts[0],
                    "cluster": {
                        "server": f"https://{parts[1]}",
                        "certificate-authority-data": parts[2]["cluster_ca_certificate"],
                    },
                }
            ],
            "users": [{"name": parts[0], "user": {"exec": {"command": "gke-gcloud-auth-plugin"}}}],
        }
    )
)
provider = k8s.Provider("main", kubeconfig=kubeconfig)
inside = pulumi.ResourceOptions(provider=provider, depends_on=[pool])
namespace = k8s.core.v1.Namespace("driver", metadata={"name": "dra-driver"}, opts=inside)
release = k8s.helm.v3.Release(
    "driver",
    chart="nvidia-dra-driver-gpu",
    version="25.8.1",
    namespace=namespace.metadata.name,
    repository_opts={"repo": "https://helm.ngc.nvidia.com/nvidia"},
    values={"nvidiaDriverRoot": "/home/kubernetes/bin/nvidia", "gpuResourcesEnabledOverride": True},
    opts=inside,
)
device_class = k8s.resource.v1.DeviceClass(
    "l4",
    spec={"selectors": [{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}]},
    opts=inside,
)
quota = k8s.core.v1.ResourceQuota(
    "critical",
    metadata={"namespace": "dra-driver"},
    spec={
        "hard": {"pods": "10"},
        "scope_selector": {
            "match_expressions": [
                {
                    "operator": "In",
                    "scope_name": "PriorityClass",
                    "values": ["system-node-critical"],
                }
            ]
        },
    },
    opts=inside,
)
extra = k8s.yaml.v2.ConfigGroup(
    "extra",
    yaml="""
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: dra-driver}
data: {mode: "one"}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: dra-driver}
""",
    opts=pulumi.ResourceOptions(providers=[provider], depends_on=[pool]),
)
domain = k8s.apiextensions.CustomResource(
    "domain",
    api_version="resource.nvidia.com/v1beta1",
    kind="ComputeDomain",
    metadata={"name": "domain", "namespace": "default"},
    spec={"numNodes": 0},
    opts=inside,
)
pulumi.export("status", release.status.status)
pulumi.export("class", device_class.metadata.name)
pulumi.export("pool", pool.id)
pulumi.export("kubeconfig", pulumi.Output.secret(kubeconfig))
