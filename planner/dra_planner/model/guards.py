"""Guards: additions to pools and pods that make the scheduler follow a plan.

steer    pods go to one pool, by the ResourceClaimTemplate that they use or by their workload
split    a pool becomes several pools that share its maximum
pack     pods prefer the node of their pool that holds the most pods
spread   the nodes of a pool hold equal numbers of certain pods, give or take one
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from dra_planner.model.demand import PodSetKey, Shape
from dra_planner.model.objects import ObjectKey
from dra_planner.model.pods import PodSpec, TopologySpreadConstraint
from dra_planner.model.workloads import WorkloadRef

SPREAD: Final = "pulumi-dra/spread"
"""The label of pods that spread evenly over the nodes of their pool."""
OF_A_GUARD: Final = "a guard of the plan"
"""Origin of a node selector that a guard adds to pods."""
GuardKind = Literal["steer", "split", "pack", "spread"]
GUARD_KINDS: Final[tuple[GuardKind, ...]] = ("steer", "split", "pack", "spread")


class PoolPart(Struct, frozen=True, order=True):
    """A pool that a split creates: its name, and the fleet's pool to which it belongs."""

    name: str
    pool: str


class SteerRule(Struct, frozen=True, kw_only=True):
    """Pods that must use `pool`: all pods with one of the templates, and the pods of the
    workloads.

    With a name in `spread`, its pods spread evenly over the pool's nodes. A pool can have several
    such rules, each with its own name.
    """

    pool: str
    templates: tuple[ObjectKey, ...] = ()
    workloads: tuple[PodSetKey, ...] = ()
    spread: str = ""

    @property
    def labels(self) -> dict[str, str]:
        """The labels that the rule adds to its pods, so that they are counted together."""
        return {SPREAD: self.spread} if self.spread else {}

    def matches(self, templates: Iterable[ObjectKey], pod_sets: Iterable[PodSetKey]) -> bool:
        """Return whether the rule steers pods of these pod sets with these templates."""
        return any(key in self.templates for key in templates) or any(
            key in self.workloads for key in pod_sets
        )


class Guards(Struct, frozen=True, kw_only=True):
    """The guards of a plan. `packs` means that steered pods prefer full nodes."""

    parts: tuple[PoolPart, ...] = ()
    rules: tuple[SteerRule, ...] = ()
    packs: bool = False

    @property
    def kinds(self) -> tuple[GuardKind, ...]:
        """The kinds of guards in use, in their standard order."""
        present = {
            "steer": bool(self.rules),
            "split": bool(self.parts),
            "pack": self.packs,
            "spread": any(rule.spread for rule in self.rules),
        }
        return tuple(kind for kind in GUARD_KINDS if present[kind])

    @property
    def split_pools(self) -> tuple[str, ...]:
        """The fleet's pools that are split, each once."""
        return tuple(dict.fromkeys(part.pool for part in self.parts))

    def parts_of(self, pool: str) -> tuple[str, ...]:
        """Return the names of the pools into which a fleet's pool is split, or its own name if it
        isn't split.
        """
        return tuple(part.name for part in self.parts if part.pool == pool) or (pool,)

    def rule_for(self, shape: Shape) -> SteerRule | None:
        """Return the rule that steers pods of a shape, or None if the scheduler chooses
        their pool.
        """
        pod_sets = [(member.workload, member.pod_set) for member in shape.members]
        return self._rule(tuple(templates_of(shape)), pod_sets)

    def rule_of(
        self, workload: WorkloadRef, pod_set: str, templates: Sequence[ObjectKey]
    ) -> SteerRule | None:
        """Return the rule that steers pods of a workload, or None if the scheduler chooses their
        pool.
        """
        return self._rule(templates, [(workload, pod_set)])

    def _rule(
        self, templates: Sequence[ObjectKey], pod_sets: Sequence[PodSetKey]
    ) -> SteerRule | None:
        return next((rule for rule in self.rules if rule.matches(templates, pod_sets)), None)


NO_GUARDS: Final = Guards()


def is_of_guards(constraint: TopologySpreadConstraint) -> bool:
    """Return whether a spread constraint comes from a rule that spreads its pods evenly."""
    selector = constraint.label_selector
    return selector is not None and any(each.key == SPREAD for each in selector.requirements)


def templates_of(shape: Shape) -> Iterator[ObjectKey]:
    """Yield the ResourceClaimTemplates of a shape's pods, each once."""
    yield from dict.fromkeys(key for member in shape.members for key in member.templates)


def templates_in(namespace: str, pod: PodSpec) -> tuple[ObjectKey, ...]:
    """Return the ResourceClaimTemplates of a pod in a namespace."""
    names = (claim.resource_claim_template_name for claim in pod.resource_claims)
    return tuple(ObjectKey(namespace, name) for name in names if name is not None)
