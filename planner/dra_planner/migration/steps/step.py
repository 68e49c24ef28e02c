"""The steps of a migration, each with its pools, its checks, its commands, and its rollback
commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from dra_planner.fleet import Fleet
from dra_planner.migration.outcome import Migration, TemplateOutcome
from dra_planner.records import equality
from dra_planner.sources import Source


class StepKind(StrEnum):
    """The kind of a step."""

    PREPARE = "prepare"  # creates DRA pools, the driver, and quotas; no workload moves
    MOVE = "move"  # some workloads move, because new manifests are applied
    SERVE = "serve"  # workloads move without a change, because a DeviceClass serves their resource
    SHRINK = "shrink"  # DRA pools lose the nodes that were needed only for the moves
    FINISH = "finish"  # same as SHRINK, and the device plugin and its empty pools are deleted


class StepPool(Struct, frozen=True, kw_only=True):
    """A pool in a step: its node count during the step, and after the step."""

    name: str
    allocation: Literal["dra", "device-plugin"]
    during: int
    after: int

    @property
    def drained(self) -> int:
        """How many nodes are drained and deleted at the end of the step."""
        return max(0, self.during - self.after)


@equality(unhashed=("served",))
class MigrationStep(Struct, frozen=True, kw_only=True):
    """One step. `moves` are the workloads that move (for example, "Deployment serve/chat").

    In a step of kind SERVE, `served` maps their resources (`extendedResourceName`) to the
    DeviceClasses. `fleet` contains the node counts during the step. `sources` are all manifests
    after the step, and `before` are all manifests before it. `together` are the pods of both
    versions, which are an upper bound for every moment of the rollout. `pending` is the number of
    these pods that stay pending in the simulation (None if unknown), and `reasons` explain why.
    """

    number: int
    name: str
    kind: StepKind
    pools: tuple[StepPool, ...]
    fleet: Fleet
    fleet_after: Fleet
    sources: tuple[Source, ...]
    before: tuple[Source, ...]
    together: tuple[Source, ...]
    pending: int | None
    moves: tuple[str, ...] = ()
    served: Mapping[str, str] = {}
    reasons: tuple[str, ...] = ()
    hourly_usd: Decimal | None = None  # cost during the step
    hourly_usd_after: Decimal | None = None
    commands: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    rollback: tuple[str, ...] = ()

    @property
    def is_safe(self) -> bool:
        """Whether the plan proves that no pod stays pending at any moment of the step."""
        return self.pending == 0

    @property
    def counts_after(self) -> dict[str, int]:
        """The nodes of each pool after the step."""
        return {pool.name: pool.after for pool in self.pools}

    @property
    def folder(self) -> str:
        """Name of the folder with the step's files: "02-move-chat"."""
        return f"{self.number:02}-{self.name}"


@equality(unhashed=("twins", "without_twin"))
class MigrationSteps(Struct, frozen=True, kw_only=True):
    """The complete migration.

    `twins` maps device-plugin pools to the DRA pools that replace them. `without_twin` contains the
    reason why a pool isn't replaced. `notes` are facts to settle before the first step.
    """

    migration: Migration
    steps: tuple[MigrationStep, ...]
    twins: Mapping[str, str]
    without_twin: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()

    @property
    def is_safe(self) -> bool:
        return all(step.is_safe for step in self.steps)

    @property
    def staying(self) -> tuple[TemplateOutcome, ...]:
        """The results of pod templates that no step moves."""
        moved = {name for step in self.steps for name in step.moves}
        return tuple(each for each in self.migration.staying if each.object not in moved)

    @property
    def peak_usd(self) -> Decimal | None:
        """The highest cost per hour of any step, or None if a price is unknown."""
        costs = [step.hourly_usd for step in self.steps]
        known = [each for each in costs if each is not None]
        return max(known, default=None) if len(known) == len(costs) else None
