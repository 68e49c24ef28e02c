"""What a plan says of nodes that may be lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dra_planner.fleet import Redundancy

if TYPE_CHECKING:  # only simulating needs the simulation
    from dra_planner.simulation import Loss

Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """Nodes of each pool with the spare ones, and how many of them are spare; the losses that leave
    pods pending.

    `tried` losses were simulated, 0 where none was; `short` are the pools that would need more than
    they may have.
    """

    asked: Redundancy
    counts: Counts = field(hash=False)
    spare: Counts = field(hash=False)
    tried: int = 0
    losses: tuple[Loss, ...] = ()
    short: Counts = field(default_factory=dict[str, int], hash=False)


def lost(asked: Redundancy) -> str:
    """Return what may be lost, as the end of a sentence."""
    if asked.zones:
        return "any zone is lost"
    return "any GPU node is lost" if asked.nodes == 1 else f"any {asked.nodes} GPU nodes are lost"
