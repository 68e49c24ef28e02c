"""A cluster of Nimbus, as an object of its management cluster."""

import json
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s

from dra_planner.clouds.nimbus import API
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.kubernetes_version import check_version
from pulumi_dra.inputs.reader import InputReader


class NimbusClusterArgs(TypedDict):
    """Inputs of NimbusCluster."""

    kubernetes_version: str
    """Kubernetes version."""
    region: str
    """Region."""
    system_machine: str
    """Machine type of the nodes without GPUs."""
    system_count: int
    """Number of nodes without GPUs."""
    deletion_protection: NotRequired[bool]
    """Whether Nimbus refuses to delete the cluster."""
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags of the cluster."""


class NimbusCluster(pulumi.ComponentResource):
    """A cluster of Nimbus."""

    name: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    kubeconfig: pulumi.Output[dict[str, Any]]
    kubeconfig_json: pulumi.Output[str]

    def __init__(
        self, name: str, args: NimbusClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("NimbusCluster", name, args, NimbusClusterArgs)
        spec = {
            "version": read.text("kubernetes_version", check=check_version),
            "region": read.text("region"),
            "systemNodes": {
                "machine": read.text("system_machine"),
                "count": read.whole("system_count", least=1),
            },
            "tags": read.labels("tags"),
            "protected": read.flag("deletion_protection", False),
        }
        read.finish()
        super().__init__("pulumi-dra:index:NimbusCluster", name, {}, opts)
        cluster = k8s.apiextensions.CustomResource(
            f"{name}-cluster",
            api_version=API,
            kind="Cluster",
            metadata={"name": name},
            spec=spec,
            opts=Children(self, opts).options(),
        )
        self.cluster_resource, self.usable = cluster, [cluster]
        self.name = cluster.metadata["name"]
        self.endpoint = self.name.apply(lambda given: f"https://{given}.clusters.nimbus.example")
        self.kubeconfig_json = pulumi.Output.secret(
            pulumi.Output.all(self.name, self.endpoint).apply(_kubeconfig)
        )
        self.kubeconfig = self.kubeconfig_json.apply(json.loads)
        self.register_outputs({"name": self.name, "endpoint": self.endpoint})


def _kubeconfig(of: list[str]) -> str:
    name, server = of
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": server}}],
            "users": [{"name": name, "user": {"exec": {"command": "nimbus"}}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
    )
