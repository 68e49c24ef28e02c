"""What a plan says with `--detail` of costs: by claim and namespace, of one more pod or node, and what is stranded."""

from __future__ import annotations

from pydantic import Field

from dra_command.contract.output import Output, VerdictText
from dra_command.plan_report.contract.nodes import WorkloadName


class ClaimCostRow(Output):
    """What the claims of one name cost a workload."""

    workload: WorkloadName
    claim: str = Field(description="Entry in the claims of its pods, or NAMESPACE/NAME of a claim that pods share.")
    claims: int
    each: float
    hourly: float


class NamespaceCostRow(Output):
    """What the workloads of one namespace cost."""

    namespace: str
    hourly: float


class OnePodMoreRow(Output):
    """One more pod of a workload, or of one of its pod sets."""

    workload: WorkloadName
    pod_set: str
    room: int | None = Field(
        description="Pods more that run on the nodes as they are filled; null where rules between pods span nodes, or "
        "there was too much to ask."
    )
    room_is_least: bool = Field(description="Whether there may be more room than that.")
    verdict: VerdictText | None = Field(description="Whether one more fits; null where it was not sized.")
    hourly: float | None = Field(
        description="US dollars: 0 where there is room, else what the packing costs more; null where it does not fit, "
        "was not sized, or a price is unknown."
    )
    nodes: dict[str, int] = Field(description="Nodes more of each pool, negative for fewer.")


class OneNodeMoreRow(Output):
    """One more node of a pool's maximum, or of a quota or reservation."""

    name: str
    pool: str = Field(description="Empty for what pools share.")
    saves: float | None = Field(
        description="US dollars per hour that the packing costs less; null where not everything is placed without it, "
        "or a price is unknown."
    )
    pods: int = Field(description="Pods more that are placed.")


class StrandedRow(Output):
    """Free devices that no pod of the demand can take."""

    pool: str
    nodes: int
    devices: dict[str, int] = Field(description="By kind, on all these nodes.")
    workload: WorkloadName | None = Field(description="null where no workload requests devices of the pool.")
    lacks: str = Field(description="What a pod of the workload lacks on such a node.")


class DetailRow(Output):
    """Who pays what, what one more would cost, and why devices are stranded."""

    claim_costs: list[ClaimCostRow]
    namespace_costs: list[NamespaceCostRow]
    pods: list[OnePodMoreRow]
    nodes: list[OneNodeMoreRow]
    stranded: list[StrandedRow]
    not_sized: int = Field(description="Pods and nodes that were not sized again, since there were too many.")
