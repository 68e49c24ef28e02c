"""Nodes in a plan: groups of identical nodes, devices by kind, cost shares, and results of the pod
arrival orders.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output

DeviceStateText = Literal["used", "free", "stranded"]


class WorkloadName(Output):
    """Name of a workload."""

    kind: str
    namespace: str
    name: str


class KindRow(Output):
    """Devices of one kind. Stranded devices are free, but no pod can use them."""

    kind: str = Field(
        description="GPU, MIG slice, NIC, TPU chip, or Neuron device. For other devices, the driver's "
        "name."
    )
    total: int
    used: int
    free: int
    stranded: int


class NodeDeviceRow(Output):
    """One device of a node."""

    name: str
    driver: str
    kind: str
    profile: str = Field(description="MIG profile; empty for other devices.")
    memory_mib: int | None = Field(description="Memory in MiB. null if unknown.")
    board: str = Field(description="GPU of a MIG device. Empty for other devices.")
    pcie_root: str = Field(description="PCIe root. Empty if unknown.")
    start: int | None = Field(description="First memory slice of a MIG device.")
    size: int | None = Field(description="Number of memory slices of a MIG device.")
    state: DeviceStateText
    holders: list[WorkloadName] = Field(
        description="Workloads that use the device. A shared device can have multiple workloads."
    )
    is_rest: bool = Field(
        description="True for the unpartitioned remainder of a GPU, which isn't a device."
    )


class PodsRow(WorkloadName):
    """Number of pods in a workload."""

    pods: int


class NodeGroupRow(Output):
    """A group of identical nodes of a pool."""

    pool: str
    nodes: int
    gpu: str = Field(
        description="GPU model. Empty if the nodes don't have GPUs, or if the model is unknown."
    )
    gpu_memory_mib: int | None
    slices_per_gpu: int | None = Field(description="Number of memory slices on a GPU with MIG.")
    pods: list[PodsRow]
    kinds: list[KindRow] = Field(description="Devices on all nodes in the group, by kind.")
    devices: list[NodeDeviceRow] = Field(description="Devices on each node in the group.")


class FilledNodesRow(Output):
    """The planned nodes, and the pods on them."""

    source: Literal["packing", "simulated", "observed"] = Field(
        description="Source of the placement: the packing, the simulated scheduler, or the "
        "scheduler on observed nodes."
    )
    order: str = Field(description="Simulated pod arrival order. Empty for a packing.")
    groups: list[NodeGroupRow] = Field(
        description="Node groups, by pool in fleet order. Within a pool, the largest group "
        "is first."
    )


class HeldRow(Output):
    """Devices of one kind on one node, by workload."""

    kind: str
    workload: WorkloadName | None = Field(
        description="Workload that uses the devices. null if the devices are unused."
    )
    devices: int


class OutcomeNodesRow(Output):
    """Nodes of a pool on which the same workloads use the same number of devices of each kind."""

    pool: str
    nodes: int
    devices: list[HeldRow]


class OrderOutcomeRow(Output):
    """One result of the simulated pod arrival orders. Orders with the same result share one row."""

    orders: list[str]
    pending: list[PodsRow]
    nodes: list[OutcomeNodesRow]


class PoolCostRow(Output):
    """Price of one pool's planned nodes. null if a node's price is unknown."""

    pool: str
    nodes: int
    each: float | None
    hourly: float | None


class CostShareRow(Output):
    """Part of the cost for the devices of one workload. If the workload is null, the part for
    unused devices.
    """

    workload: WorkloadName | None
    state: DeviceStateText
    hourly: float


class PoolDifferenceRow(Output):
    """Nodes of one pool in the saved plan and in the new plan."""

    pool: str
    machine: str
    saved: int
    now: int
    hourly: float | None = Field(description="Change at the current price. null if unknown.")
    because: list[str]


class PlanDifferenceRow(Output):
    """Differences between this plan and the saved plan."""

    verdict_before: str
    nodes: int
    hourly: float | None = Field(
        description="Change at current prices. null if a relevant price is unknown."
    )
    pools: list[PoolDifferenceRow]
