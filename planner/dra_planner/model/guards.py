"""Guards: what a plan adds to pools and pods so that the scheduler follows it.

steer   pods go to one pool, by the ResourceClaimTemplate that they use or by their workload
split   a pool becomes several pools that share its maximum
pack    pods prefer the node of their pool that holds the most pods
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from dra_planner.model.demand import PodSetKey, Shape
from dra_planner.model.objects import ObjectKey

GuardKind = Literal["steer", "split", "pack"]
GUARD_KINDS: Final[tuple[GuardKind, ...]] = ("steer", "split", "pack")


@dataclass(frozen=True, slots=True, order=True)
class PoolPart:
    """A pool that a split creates: its name, and the pool of the fleet that it is a part of."""

    name: str
    pool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SteerRule:
    """Pods that go to `pool`: all pods that use one of the templates, and the pods of the workloads."""

    pool: str
    templates: tuple[ObjectKey, ...] = ()
    workloads: tuple[PodSetKey, ...] = ()

    def matches(self, shape: Shape) -> bool:
        """Return whether the rule steers pods of a shape."""
        if any(key in self.templates for key in templates_of(shape)):
            return True
        return any((member.workload, member.pod_set) in self.workloads for member in shape.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """The guards of a plan. `packs`: steered pods prefer full nodes."""

    parts: tuple[PoolPart, ...] = ()
    rules: tuple[SteerRule, ...] = ()
    packs: bool = False

    @property
    def kinds(self) -> tuple[GuardKind, ...]:
        """The kinds of guards that there are, in the order in which they are listed."""
        present = {"steer": bool(self.rules), "split": bool(self.parts), "pack": self.packs}
        return tuple(kind for kind in GUARD_KINDS if present[kind])

    @property
    def split_pools(self) -> tuple[str, ...]:
        """The pools of the fleet that are split, each once."""
        return tuple(dict.fromkeys(part.pool for part in self.parts))

    def parts_of(self, pool: str) -> tuple[str, ...]:
        """Return the names of the pools that a pool of the fleet becomes: its own if it isn't split."""
        return tuple(part.name for part in self.parts if part.pool == pool) or (pool,)

    def rule_for(self, shape: Shape) -> SteerRule | None:
        """Return the rule that steers pods of a shape; None if the scheduler chooses their pool."""
        return next((rule for rule in self.rules if rule.matches(shape)), None)


NO_GUARDS: Final = Guards()


def templates_of(shape: Shape) -> Iterator[ObjectKey]:
    """Yield the ResourceClaimTemplates that pods of a shape use."""
    for claim in shape.pod.resource_claims:
        if claim.resource_claim_template_name is not None:
            yield ObjectKey(shape.namespace, claim.resource_claim_template_name)
