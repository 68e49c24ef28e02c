"""Racks of GPU machines of Nimbus, as an object of its management cluster."""

from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s
from msgspec import Struct

from dra_planner import catalog
from dra_planner.clouds import NodeOrigin
from dra_planner.clouds.nimbus import API, CLOUD
from dra_planner.model import Taint
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.pool_inputs import (
    Counts,
    NodeTaint,
    read_counts,
    read_labels,
    read_pool_name,
    read_taints,
)
from pulumi_dra.inputs.reader import InputReader


class NimbusGpuPoolArgs(TypedDict):
    """Inputs of NimbusGpuPool."""

    cluster: pulumi.Input[str]
    """Name of the cluster."""
    machine: str
    """Machine type."""
    halls: NotRequired[list[str]]
    """Halls for the racks. Default: all halls of the region."""
    max_nodes: int
    """Maximum number of nodes."""
    min_nodes: NotRequired[int]
    """Minimum number of nodes."""
    desired_nodes: NotRequired[int]
    """Number of nodes."""
    autoscaled: NotRequired[bool]
    """Must be false: Nimbus has no autoscaler."""
    pool_name: NotRequired[str]
    """Value of the label `pulumi-dra/pool`."""
    lease: NotRequired[str]
    """ID of a lease."""
    disk_gib: NotRequired[int]
    """Size of the disk."""
    max_pods: NotRequired[int]
    """Maximum number of pods per node."""
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Additional labels."""
    taints: NotRequired[list[NodeTaint]]
    """Additional taints."""


class NimbusGpuPoolInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs of NimbusGpuPool."""

    cluster: pulumi.Input[str]
    machine: str
    halls: list[str]
    counts: Counts
    lease: str
    labels: dict[str, pulumi.Input[str]]
    taints: list[Taint]


def read_gpu_pool_inputs(read: InputReader, name: str) -> NimbusGpuPoolInputs:
    """Return the checked inputs of the pool called `name`. Errors are recorded in `read`."""
    pool_name, machine = read_pool_name(read, name), read.text("machine")
    nodes = NodeOrigin(
        name=pool_name, machine=catalog.machine(CLOUD.name, machine) if machine else None
    )
    return NimbusGpuPoolInputs(
        cluster=read.required_identifier("cluster"),
        machine=machine,
        halls=read.texts("halls", pattern=CLOUD.zone_pattern, meaning="a hall"),
        counts=read_counts(read, CLOUD),
        lease=read.text("lease", "", check=CLOUD.reservation_fault),
        labels=read_labels(read, CLOUD, nodes),
        taints=read_taints(read, CLOUD, nodes),
    )


class NimbusGpuPool(pulumi.ComponentResource):
    """Racks of GPU machines."""

    def __init__(
        self, name: str, args: NimbusGpuPoolArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("NimbusGpuPool", name, args, NimbusGpuPoolArgs)
        inputs = read_gpu_pool_inputs(read, name)
        read.finish()
        super().__init__("pulumi-dra:index:NimbusGpuPool", name, {}, opts)
        spec: dict[str, Any] = {
            "cluster": inputs.cluster,
            "machine": inputs.machine,
            "halls": inputs.halls,
            "nodes": inputs.counts.desired,
            "limits": {"min": inputs.counts.min, "max": inputs.counts.max},
            "lease": inputs.lease,
            "labels": inputs.labels,
            "taints": [
                {"key": each.key, "value": each.value, "effect": each.effect}
                for each in inputs.taints
            ],
        }
        k8s.apiextensions.CustomResource(
            f"{name}-nodes",
            api_version=API,
            kind="NodePool",
            metadata={"name": name},
            spec=spec,
            opts=Children(self, opts).options(),
        )
        self.register_outputs({})
