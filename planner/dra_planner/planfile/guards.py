"""The guards in a plan file, which make the scheduler follow the plan.

Components build them, and rules check them.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field

from dra_planner.model import Guards, ObjectKey, PoolPart, SteerRule, WorkloadRef
from dra_planner.planfile.demand import KeyRow
from dra_planner.planfile.part import PlanFilePart, Rows


class PoolPartRow(PlanFilePart):
    """A pool that replaces a part of one of the fleet's pools. All parts share the maximum of that
    pool.
    """

    name: str = Field(description="Name of the part.")
    pool: str = Field(description="Name of the fleet's pool.")


class PodSetRow(PlanFilePart):
    """The pods of one pod template in a workload."""

    kind: str = Field(description="Kind of the workload.")
    namespace: str = Field(description="Namespace.")
    name: str = Field(description="Name.")
    pod_set: str = Field(description="Name of the pod template in the workload.")


class SteerRuleRow(PlanFilePart):
    """Pods that must run in one pool: all pods that use one of the ResourceClaimTemplates, and the
    pods of the listed workloads.
    """

    pool: str = Field(description="Name of the pool.")
    templates: Rows[KeyRow] = Field(
        description="ResourceClaimTemplates whose pods must run in the pool."
    )
    workloads: Rows[PodSetRow] = Field(description="Workloads whose pods must run in the pool.")
    spread: str = Field(
        default="",
        exclude_if=lambda name: not name,
        description="Value of the pulumi-dra/spread label on the pods. Within a pool, pods "
        "with the same value are spread evenly across the nodes. Without a value, the pods don't "
        "have to be spread.",
    )


class GuardsPart(PlanFilePart):
    """Guards of a plan."""

    parts: Rows[PoolPartRow] = Field(description="Pools that replace split pools.")
    rules: Rows[SteerRuleRow] = Field(
        description="Rules that steer pods to pools. All other pods can run in any pool."
    )
    packs: bool = Field(
        description="True if steered pods prefer the node with the most pods in their pool."
    )

    @classmethod
    def of(cls, guards: Guards) -> Self:
        """Return the part of a document that contains these guards."""
        return cls(
            parts=tuple(PoolPartRow(name=part.name, pool=part.pool) for part in guards.parts),
            rules=tuple(
                SteerRuleRow(
                    pool=rule.pool,
                    templates=tuple(
                        KeyRow(namespace=key.namespace, name=key.name) for key in rule.templates
                    ),
                    workloads=tuple(
                        PodSetRow(**ref._asdict(), pod_set=pod_set)
                        for ref, pod_set in rule.workloads
                    ),
                    spread=rule.spread,
                )
                for rule in guards.rules
            ),
            packs=guards.packs,
        )

    @property
    def guards(self) -> Guards:
        """The guards of the part."""
        return Guards(
            parts=tuple(PoolPart(row.name, row.pool) for row in self.parts),
            rules=tuple(
                SteerRule(
                    pool=row.pool,
                    templates=tuple(ObjectKey(key.namespace, key.name) for key in row.templates),
                    workloads=tuple(
                        (WorkloadRef(each.kind, each.namespace, each.name), each.pod_set)
                        for each in row.workloads
                    ),
                    spread=row.spread,
                )
                for row in self.rules
            ),
            packs=self.packs,
        )
