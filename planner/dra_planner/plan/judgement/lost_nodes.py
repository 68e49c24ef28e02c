"""The result of a plan for lost nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from dra_planner.fleet import Redundancy
from dra_planner.records import equality

if TYPE_CHECKING:  # only simulations need this module
    from dra_planner.simulation import Loss

Counts = Mapping[str, int]


@equality(unhashed=("counts", "spare", "short"))
class Survival(Struct, frozen=True, kw_only=True):
    """Nodes of each pool including spare ones, the number of spare nodes, and the losses that leave
    pods pending.

    `tried` is the number of simulated losses. `short` are the pools that would need more nodes than
    allowed.
    """

    redundancy: Redundancy
    counts: Counts
    spare: Counts
    tried: int = 0
    losses: tuple[Loss, ...] = ()
    short: Counts = {}


def lost(redundancy: Redundancy) -> str:
    """Return the losses that the fleet plans for, as the end of a sentence."""
    if redundancy.zones:
        return "any zone is lost"
    return (
        "any GPU node is lost"
        if redundancy.nodes == 1
        else f"any {redundancy.nodes} GPU nodes are lost"
    )
