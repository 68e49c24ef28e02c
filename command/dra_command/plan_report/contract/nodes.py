"""What a plan's nodes hold: identical nodes once, devices by kind, who pays for what, how orders of
arrival end.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output

DeviceStateText = Literal["used", "free", "stranded"]


class WorkloadName(Output):
    """How a workload is called."""

    kind: str
    namespace: str
    name: str


class KindRow(Output):
    """Devices of one kind; stranded ones are free, and no pod of the demand can take them."""

    kind: str = Field(
        description="GPU, MIG slice, NIC, TPU chip, Neuron device, or the driver that publishes it."
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
    memory_mib: int | None = Field(description="null if unknown.")
    board: str = Field(description="GPU of a MIG device. Empty for other devices.")
    pcie_root: str = Field(description="PCIe root. Empty if unknown.")
    start: int | None = Field(description="First memory slice of a MIG device.")
    size: int | None = Field(description="Number of memory slices of a MIG device.")
    state: DeviceStateText
    holders: list[WorkloadName] = Field(
        description="Workloads that use the device. Several if it's shared."
    )
    is_rest: bool = Field(description="Unpartitioned rest of a GPU, which isn't a device.")


class PodsRow(WorkloadName):
    """So many pods of a workload."""

    pods: int


class NodeGroupRow(Output):
    """Identical nodes of a pool, told once."""

    pool: str
    nodes: int
    gpu: str = Field(description="GPU model. Empty if there are no GPUs or it's unknown.")
    gpu_memory_mib: int | None
    slices_per_gpu: int | None = Field(description="Number of memory slices of one GPU with MIG.")
    pods: list[PodsRow]
    kinds: list[KindRow] = Field(description="Devices of all nodes of the group.")
    devices: list[NodeDeviceRow] = Field(description="Devices of each node of the group.")


class FilledNodesRow(Output):
    """The nodes that are built, and what is on them."""

    source: Literal["packing", "simulated", "observed"] = Field(
        description="Source of the placement: the packing, the simulated scheduler, or the "
        "scheduler on observed nodes."
    )
    order: str = Field(description="Simulated pod arrival order. Empty for a packing.")
    groups: list[NodeGroupRow] = Field(
        description="Pools in the order of the fleet, largest groups first."
    )


class HeldRow(Output):
    """Devices of one kind on one node, by who uses them."""

    kind: str
    workload: WorkloadName | None = Field(description="null if unused.")
    devices: int


class OutcomeNodesRow(Output):
    """Nodes of a pool on which the same workloads use as many devices of each kind."""

    pool: str
    nodes: int
    devices: list[HeldRow]


class OrderOutcomeRow(Output):
    """One way in which orders of arrival end; orders that end the same are told together."""

    orders: list[str]
    pending: list[PodsRow]
    nodes: list[OutcomeNodesRow]


class PoolCostRow(Output):
    """Price of the nodes of one pool that are built; null where a node's price is not known."""

    pool: str
    nodes: int
    each: float | None
    hourly: float | None


class CostShareRow(Output):
    """The part of the cost that one workload's devices have; null workload: what nobody uses."""

    workload: WorkloadName | None
    state: DeviceStateText
    hourly: float


class PoolDifferenceRow(Output):
    """Nodes of one pool in the saved plan and in this one."""

    pool: str
    machine: str
    saved: int
    now: int
    hourly: float | None = Field(description="Change at the current price. null if unknown.")
    because: list[str]


class PlanDifferenceRow(Output):
    """What this plan changes of the saved one."""

    verdict_before: str
    nodes: int
    hourly: float | None = Field(
        description="Change at current prices. null if a relevant price is unknown."
    )
    pools: list[PoolDifferenceRow]
