"""Costs in a plan with `--detail`: by claim and namespace, of one more pod or node, and of stranded
devices.
"""

from __future__ import annotations

from pydantic import Field

from dra_command.contract.output import Output, VerdictText
from dra_command.plan_report.contract.nodes import WorkloadName


class ClaimCostRow(Output):
    """Cost of a workload's claims with the same name."""

    workload: WorkloadName
    claim: str = Field(
        description="Name of the entry in the pod's claims, or NAMESPACE/NAME of a shared claim."
    )
    claims: int
    each: float
    hourly: float


class NamespaceCostRow(Output):
    """Cost of the workloads in one namespace."""

    namespace: str
    hourly: float


class OnePodMoreRow(Output):
    """Cost of one more pod of a workload, or of one of its pod sets."""

    workload: WorkloadName
    pod_set: str
    room: int | None = Field(
        description="Number of pods that fit on the planned nodes in addition to the planned "
        "pods. null if affinity or spread rules apply across nodes, or if the "
        "plan is too large."
    )
    room_is_least: bool = Field(description="True if more pods might fit.")
    verdict: VerdictText | None = Field(
        description="Verdict for one more pod. null if not computed."
    )
    hourly: float | None = Field(
        description="Cost in US dollars per hour: 0 if the planned nodes have unused capacity for "
        "the pod, otherwise the additional cost of the packing. null if the pod doesn't fit, if "
        "the plan didn't compute the cost, or if a price is unknown."
    )
    nodes: dict[str, int] = Field(
        description="Additional nodes in each pool. Negative if a pool has fewer nodes."
    )


class OneNodeMoreRow(Output):
    """Effect of one more node in a pool's maximum, a quota, or a reservation."""

    name: str
    pool: str = Field(description="Name of the pool. Empty for a shared limit.")
    saves: float | None = Field(
        description="Reduction in the packing's cost, in US dollars per hour. null if some "
        "pods don't fit without the node, or if a price is unknown."
    )
    pods: int = Field(description="Number of additional pods that fit.")


class StrandedRow(Output):
    """Free devices that no pod can use."""

    pool: str
    nodes: int
    devices: dict[str, int] = Field(description="Devices on all nodes in the group, by kind.")
    workload: WorkloadName | None = Field(
        description="Workload that could use the devices. null if no workload requests the "
        "pool's devices."
    )
    lacks: str = Field(
        description="Resources that the pool's nodes lack for one more pod of the workload."
    )


class DetailRow(Output):
    """Cost by claim and namespace, cost of one more pod or node, and reasons why devices are
    stranded.
    """

    claim_costs: list[ClaimCostRow]
    namespace_costs: list[NamespaceCostRow]
    pods: list[OnePodMoreRow]
    nodes: list[OneNodeMoreRow]
    stranded: list[StrandedRow]
    not_sized: int = Field(
        description="Number of pods and nodes without these details, because the plan is too large."
    )
