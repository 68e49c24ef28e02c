"""Output of `pulumi-dra migrate` for a running cluster."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output


class ClusterPoolRow(Output):
    """The devices of a pool, or of a node outside of pools."""

    name: str
    nodes: int
    allocator: Literal["device-plugin", "dra", "both", "none"]
    offered: dict[str, int] = Field(
        description="Device plugin resources on the nodes, by resource name."
    )
    held: dict[str, int] = Field(
        description="Device plugin resources that are allocated to pods, by resource name."
    )
    published: int = Field(description="Devices that DRA drivers publish.")
    claimed: int = Field(description="Devices that are allocated to claims.")
    contested: list[str] = Field(
        description="Nodes on which a pod and a claim can get the same device."
    )


class DeviceUserRow(Output):
    """A workload that uses devices."""

    workload: str
    pods: int
    waiting: int = Field(description="Pods without a node.")
    units: dict[str, int] = Field(
        description="Device plugin resources that the workload's pods request, by resource name."
    )
    nodes: list[str]
    by_claims: bool
    result: Literal["rewritten", "served", "kept", "cannot"] | None = Field(
        description="Result of the migration. null for pods with claims."
    )
    reason: str
    alternatives: list[str]


class PodLossRow(Output):
    """A pod that doesn't survive the migration."""

    pod: str
    node: str
    reason: str
    fix: str


class ClusterChangeRow(Output):
    """An object that counts extended resources, and its change."""

    object: str
    what: str


class MigrateClusterOutput(Output):
    """Output of `pulumi-dra migrate --observed FILE --format json` without manifests."""

    version: Literal[1] = 1
    is_ready: bool = Field(
        description="True if every workload can move and no node has two allocators."
    )
    pools: list[ClusterPoolRow]
    users: list[DeviceUserRow]
    losses: list[PodLossRow]
    changes: list[ClusterChangeRow]
    notes: list[str]
