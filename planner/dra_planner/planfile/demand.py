"""The demand in a plan file: shapes of pods in the form of the Kubernetes API, and their numbers.

It doesn't contain file locations, and its size doesn't depend on replicas. A plan file is evaluated
again without simulation, so it doesn't contain facts that only the simulation needs (disruption
budgets, and how workloads create, spread, and replace their pods).
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import ConfigDict, Field

from dra_planner.model import DemandLevel, Figures, Reason, Verdict
from dra_planner.planfile.part import PlanFilePart, Rows


class ApiObject(PlanFilePart):
    """An object in the Kubernetes API's form. An existing claim also has a status."""

    model_config = ConfigDict(extra="allow")

    api_version: str = Field(description="API version of the object.")
    kind: str = Field(description="Kind of the object.")
    metadata: dict[str, Any] = Field(description="Metadata of the object.")
    spec: dict[str, Any] = Field(description="Spec of the object.")

    def document(self) -> dict[str, Any]:
        """Return the object as plain data."""
        return self.model_dump(mode="json", by_alias=True)


class FiguresRow(PlanFilePart):
    """Numbers of simultaneous pods. null if a number is unlimited."""

    floor: int = Field(description="Minimum of the workload's autoscalers.")
    steady: int = Field(description="Number of pods in the manifest.")
    ceiling: int | None = Field(description="Maximum of the workload's autoscalers.")
    peak: int | None = Field(description="Ceiling, plus the surge pods of a rollout.")

    @classmethod
    def of(cls, figures: Figures) -> Self:
        """Return the row of these figures."""
        return cls(
            floor=figures.floor, steady=figures.steady, ceiling=figures.ceiling, peak=figures.peak
        )

    @property
    def figures(self) -> Figures:
        """The figures of the row."""
        return Figures(self.floor, self.steady, self.ceiling, self.peak)


class ReasonRow(PlanFilePart):
    """The reason why pods don't fit, or why the result is unknown."""

    code: str = Field(description="Reason code.")
    message: str = Field(description="Reason as a sentence.")
    fix: str = Field(description="Fix, or empty.")
    claim: str = Field(description="Claim that the reason refers to.")
    request: str = Field(description="Request that the reason refers to.")
    pool: str = Field(description="Pool that the reason refers to.")

    @classmethod
    def of(cls, reason: Reason) -> Self:
        """Return the row of a reason, without its place."""
        return cls(
            code=reason.code,
            message=reason.text,
            fix=reason.fix,
            claim=reason.claim,
            request=reason.request,
            pool=reason.pool,
        )

    @property
    def reason(self) -> Reason:
        """The reason of the row."""
        return Reason(
            code=self.code,
            message=self.message,
            fix=self.fix,
            claim=self.claim,
            request=self.request,
            pool=self.pool,
        )


class KeyRow(PlanFilePart):
    """Namespace and name of an object."""

    namespace: str = Field(description="Namespace.")
    name: str = Field(description="Name.")


class MemberRow(PlanFilePart):
    """The pods of one workload with the same shape."""

    kind: str = Field(description="Kind of the workload.")
    namespace: str = Field(description="Namespace.")
    name: str = Field(description="Name.")
    pod_set: str = Field(description="Name of the pod template in the workload.")
    figures: FiguresRow
    templates: Rows[KeyRow] = Field(
        default=(),
        exclude_if=lambda keys: not keys,
        description="These pods' ResourceClaimTemplates, if a guard refers to them.",
    )


class ClaimRow(PlanFilePart):
    """One claim of a pod, either its own claim or a shared claim."""

    name: str = Field(description="Name of the entry in the pod's claims.")
    spec: dict[str, Any] = Field(description="Spec of a ResourceClaim, resource.k8s.io/v1.")
    shared: KeyRow | None


class ShapeRow(PlanFilePart):
    """Pods that the scheduler treats as equal."""

    id: str = Field(description="Digest of the shape.")
    namespace: str = Field(description="Namespace of the pods.")
    labels: dict[str, str] = Field(description="Pod labels that affinity and spreading rules use.")
    pod: dict[str, Any] = Field(
        description="Spec of a Pod (v1), with only the fields that affect placement."
    )
    claims: Rows[ClaimRow] = Field(description="Claims of one pod.")
    members: Rows[MemberRow] = Field(description="Workloads that create pods with this shape.")
    per_node: bool = Field(
        description="True if each node that accepts the pod runs one copy, as with a DaemonSet."
    )


class BlockedRow(PlanFilePart):
    """Pods that can't run on any node, regardless of the pools."""

    member: MemberRow
    verdict: Verdict = Field(description="Verdict for the pods.")
    reason: ReasonRow
    created: bool = Field(
        default=True,
        description="True if the pods exist and are pending. False if the API server rejects them.",
    )
    requests_devices: bool = Field(
        default=True,
        description="False if the pods don't request devices, or if this is unknown.",
    )
    classes: Rows[str] = Field(
        default=(), description="Requested DeviceClasses, if at least one of them is unknown."
    )


class GangPartRow(PlanFilePart):
    """The pods of one workload in each group of a gang."""

    kind: str = Field(description="Kind of the workload.")
    namespace: str = Field(description="Namespace.")
    name: str = Field(description="Name.")
    pod_set: str = Field(description="Name of the pod template in the workload.")
    pods: int = Field(
        description="Number of pods in each group. 0 means all pods, if the gang is one group."
    )


class GangRow(PlanFilePart):
    """Pods that must start together: one group, or multiple equal groups."""

    name: str = Field(description="Name of the gang.")
    parts: Rows[GangPartRow] = Field(description="Pod sets of the gang.")
    least: int = Field(
        description="Minimum number of pods that a group needs to start. 0 means all pods."
    )
    held_by: str = Field(
        description=(
            "Controller or scheduler that holds the pods back until the minimum number fits, for "
            "example Kueue. Empty if nothing holds the pods back."
        )
    )


class DemandPart(PlanFilePart):
    """All requests of the workloads, and the level of demand for which the plan sizes the pools."""

    level: DemandLevel = Field(description="Level of demand for which the plan sizes the pools.")
    shapes: Rows[ShapeRow] = Field(description="Shapes of pods.")
    shared_claims: Rows[ApiObject] = Field(
        description="Shared ResourceClaims (resource.k8s.io/v1)."
    )
    blocked: Rows[BlockedRow] = Field(description="Pods that can't run on any node.")
    gangs: Rows[GangRow] = Field(default=(), description="Pods that start together.")
    namespaces: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="Labels of namespaces, for pod affinity rules that select namespaces.",
    )
