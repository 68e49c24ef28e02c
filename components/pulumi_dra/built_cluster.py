"""Facts about a cluster that the objects inside the cluster need, on every cloud."""

from collections.abc import Callable
from typing import Any, Protocol

import pulumi
from msgspec import Struct


class ClusterComponent(Protocol):
    """The common outputs of the cluster components."""

    name: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    kubeconfig: pulumi.Output[dict[str, Any]]
    kubeconfig_json: pulumi.Output[str]

    @property
    def cluster_resource(self) -> pulumi.Resource: ...

    @property
    def usable(self) -> list[pulumi.Resource]: ...


class BuiltCluster(Struct, frozen=True, kw_only=True):
    """A cluster that has been declared, with its pools."""

    name: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    kubeconfig: pulumi.Output[dict[str, Any]]
    kubeconfig_json: pulumi.Output[str]
    # A different value means a different cluster. If None, a different API server address means a
    # different cluster.
    identity: pulumi.Output[str] | None
    resource: pulumi.Resource  # deleting this resource also deletes the objects in the cluster
    usable: list[pulumi.Resource]  # resources that must exist before anything runs in the cluster
    pools: list[pulumi.Resource]  # objects that run on these nodes are deleted before the nodes
    # declares the objects that the cloud needs in the cluster, with these options
    declare_inside: Callable[[pulumi.ResourceOptions], object]

    @classmethod
    def of(
        cls,
        cluster: ClusterComponent,
        pools: list[pulumi.Resource],
        declare_inside: Callable[[pulumi.ResourceOptions], object] = lambda options: None,
        identity: pulumi.Output[str] | None = None,
    ) -> "BuiltCluster":
        """Return the facts of a cluster that was declared with these pools."""
        return cls(
            name=cluster.name,
            endpoint=cluster.endpoint,
            kubeconfig=cluster.kubeconfig,
            kubeconfig_json=cluster.kubeconfig_json,
            identity=identity,
            resource=cluster.cluster_resource,
            usable=cluster.usable,
            pools=pools,
            declare_inside=declare_inside,
        )
