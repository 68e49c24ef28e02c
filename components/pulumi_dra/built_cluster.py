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
    # Another value means another cluster; None: another address of the API server does.
    identity: pulumi.Output[str] | None
    resource: pulumi.Resource  # what is there goes with it
    usable: list[pulumi.Resource]  # before anything runs in it
    pools: list[pulumi.Resource]  # what runs on their nodes is deleted before them
    # what its cloud needs in it, with these options
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
