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
    """Numbers of simultaneous pods. null if a number isn't limited."""

    floor: int = Field(description="Minimum of the workload's scalers.")
    steady: int = Field(description="Number of pods in the manifest.")
    ceiling: int | None = Field(description="Maximum of the workload's scalers.")
    peak: int | None = Field(description="Ceiling plus the surge of a rollout.")

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
    """The reason why something doesn't fit or can't be determined."""

    code: str = Field(description="Code of the reason.")
    message: str = Field(description="Reason as a sentence.")
    fix: str = Field(description="Fix, or an empty text.")
    claim: str = Field(description="Claim that the reason refers to.")
    request: str = Field(description="Request that the reason refers to.")
    pool: str = Field(description="Pool that the reason refers to.")

    @classmethod
    def of(cls, reason: Reason) -> Self:
        """Return the row of a reason, without its place."""
        return cls(
            code=reason.code,
            message=reason.message,
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
    """The pods of a shape that one workload contributes."""

    kind: str = Field(description="Kind of the workload.")
    namespace: str = Field(description="Namespace.")
    name: str = Field(description="Name.")
    pod_set: str = Field(description="Name of the pod template in the workload.")
    figures: FiguresRow
    templates: Rows[KeyRow] = Field(
        default=(),
        exclude_if=lambda keys: not keys,
        description="ResourceClaimTemplates of its pods that guards name.",
    )


class ClaimRow(PlanFilePart):
    """One claim of a pod: its own, or one that it shares with other pods."""

    name: str = Field(description="Name of the entry in the pod's claims.")
    spec: dict[str, Any] = Field(description="Spec of a ResourceClaim, resource.k8s.io/v1.")
    shared: KeyRow | None


class ShapeRow(PlanFilePart):
    """Pods that are equal to the scheduler."""

    id: str = Field(description="Digest of the shape.")
    namespace: str = Field(description="Namespace of the pods.")
    labels: dict[str, str] = Field(description="Labels of the pods that rules use.")
    pod: dict[str, Any] = Field(description="Spec of a Pod, v1; only what placement depends on.")
    claims: Rows[ClaimRow] = Field(description="Claims of one pod.")
    members: Rows[MemberRow] = Field(description="Workloads with such pods.")
    per_node: bool = Field(description="One pod on every node that accepts it, as for a DaemonSet.")


class BlockedRow(PlanFilePart):
    """Pods that can't run on any node, whatever the pools."""

    member: MemberRow
    verdict: Verdict = Field(description="Verdict for the pods.")
    reason: ReasonRow
    created: bool = Field(
        default=True,
        description="True if the pods exist and are pending. False if the API server rejects them.",
    )
    requests_devices: bool = Field(
        default=True, description="False if they request none, or if it's unknown."
    )
    classes: Rows[str] = Field(
        default=(), description="Requested DeviceClasses, if one of them is unknown."
    )


class GangPartRow(PlanFilePart):
    """Pods of one workload in each group of a gang."""

    kind: str = Field(description="Kind of the workload.")
    namespace: str = Field(description="Namespace.")
    name: str = Field(description="Name.")
    pod_set: str = Field(description="Name of the pod template in the workload.")
    pods: int = Field(description="0 for all of them, if the gang is one group.")


class GangRow(PlanFilePart):
    """Pods that are only useful together: one group, or several equal groups."""

    name: str = Field(description="Name of the gang.")
    parts: Rows[GangPartRow] = Field(description="Pod sets of the gang.")
    least: int = Field(description="Number of pods with which a group starts. 0 for all.")
    held_by: str = Field(
        description="Program that holds the pods back until this number fits. Empty if there is none."
    )


class DemandPart(PlanFilePart):
    """All requests of the workloads, and the level for which pools are sized."""

    level: DemandLevel = Field(description="Level of demand for which pools are sized.")
    shapes: Rows[ShapeRow] = Field(description="Shapes of pods.")
    shared_claims: Rows[ApiObject] = Field(
        description="ResourceClaims that pods share, resource.k8s.io/v1."
    )
    blocked: Rows[BlockedRow] = Field(description="Pods that can't run on any node.")
    gangs: Rows[GangRow] = Field(default=(), description="Pods that start together.")
    namespaces: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="Labels of namespaces, for rules between pods that select namespaces.",
    )
