"""The parts of a plan file, published as `docs/schema/plan-file.json`."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from dra_planner.fleet import Fleet
from dra_planner.model import DemandLevel, Verdict
from dra_planner.planfile.demand import ApiObject, DemandPart, FiguresRow, ReasonRow
from dra_planner.planfile.guards import GuardsPart
from dra_planner.planfile.part import PlanFilePart, Rows

VERSION = 1


class Inputs(PlanFilePart):
    """Inputs of the plan."""

    fleet: str = Field(description="Digest of the fleet, including default values.")
    workloads: str = Field(
        description="Digest of the YAML documents. File names, the order of documents, comments, "
        "exemptions, and image tags don't affect the digest."
    )
    paths: Rows[str] = Field(default=(), description="Workload paths (informational only).")


class CountRow(PlanFilePart):
    """Node counts of a pool: the limits in the fleet, the proven minimum, the best packing found,
    and the number that the default scheduler needs in every simulated pod arrival order.
    """

    min: int = Field(description="Minimum in the fleet.")
    bound: int = Field(description="Proven minimum number of nodes.")
    packing: int = Field(description="Number of nodes in the best packing found.")
    simulated: int | None = Field(
        description=(
            "Number of nodes that the default scheduler needs. null if the plan has no "
            "simulation, or if the number exceeds the maximum."
        )
    )
    max: int = Field(description="Maximum in the fleet.")


class NodesRow(PlanFilePart):
    """Initial size of the pool."""

    min: int = Field(ge=0, description="Minimum number of nodes.")
    desired: int = Field(ge=0, description="Number of nodes at creation.")
    max: int = Field(ge=0, description="Maximum number of nodes.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.min <= self.desired <= self.max:
            raise ValueError(
                f"min {self.min}, desired {self.desired}, and max {self.max} aren't in ascending "
                "order"
            )
        return self


class DevicesRow(PlanFilePart):
    """Devices on the nodes in the packing. Stranded devices are free, but no pod can use them."""

    total: int = Field(description="Number of devices.")
    used: int = Field(description="Number of used devices.")
    stranded: int = Field(description="Number of stranded devices.")


class PoolRow(PlanFilePart):
    """One pool of the plan."""

    name: str = Field(description="Name of the pool.")
    machine: str = Field(description="Machine type.")
    count: CountRow
    nodes: NodesRow
    devices: DevicesRow


class PlacementRow(PlanFilePart):
    """A number of pods in one pool."""

    pool: str = Field(description="Name of the pool.")
    pods: int = Field(description="Number of pods.")


class WorkloadRow(PlanFilePart):
    """The result for one workload."""

    kind: str = Field(description="Kind of the workload.")
    namespace: str = Field(description="Namespace.")
    name: str = Field(description="Name.")
    demand: FiguresRow
    placed: int = Field(description="Number of placed pods.")
    pending: int = Field(description="Number of pending pods.")
    verdicts: dict[DemandLevel, Verdict] = Field(description="Verdict at each level of demand.")
    placements: Rows[PlacementRow] = Field(
        description="Number of pods in each pool, in the packing."
    )
    reasons: Rows[ReasonRow] = Field(
        description="Reasons why pods don't fit. Empty if all pods fit."
    )


class PlanFile(PlanFilePart):
    """A plan file with a verified digest."""

    version: int = Field(description="Version of this format.")
    digest: str = Field(description="Digest of the plan's content.")
    inputs: Inputs
    kubernetes: str = Field(description='Kubernetes version: "1.34".')
    verdict: Verdict = Field(description="Verdict of the plan.")
    assumptions: Rows[str] = Field(description="Assumptions of the plan.")
    fleet: Fleet
    classes: Rows[ApiObject] = Field(
        description="DeviceClasses in the cluster, resource.k8s.io/v1."
    )
    demand: DemandPart
    pools: Rows[PoolRow] = Field(description="Pools of the plan.")
    workloads: Rows[WorkloadRow] = Field(description="Workloads of the plan.")
    guards: GuardsPart | None = Field(
        default=None,
        exclude_if=lambda guards: guards is None,
        description="Guards that the plan needs. Fleet and demand include them. Default: none.",
    )

    def pool(self, name: str) -> PoolRow:
        """Return the row of that pool. Raises KeyError."""
        for row in self.pools:
            if row.name == name:
                return row
        raise KeyError(name)

    def document(self) -> dict[str, Any]:
        """Return the plan file as plain data in the form in which it was read, without later
        additions, so that its digest matches.
        """
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)
