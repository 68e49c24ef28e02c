"""Nodes: their resources other than devices, and limits that pools share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model.objects import Amounts, ObjectMeta
from dra_planner.records import equality

TaintEffect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class Taint(Struct, frozen=True):
    """A taint of a node."""

    key: str
    value: str = ""
    effect: TaintEffect = "NoSchedule"

    def __str__(self) -> str:
        return (
            f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"
        )


@equality(unhashed=("allocatable",))
class Node(Struct, frozen=True, kw_only=True):
    """A real or predicted node. `allocatable` includes `pods`. See `Amounts` for the units."""

    meta: ObjectMeta
    allocatable: Amounts
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False

    @property
    def name(self) -> str:
        return self.meta.name


@equality(unhashed=("takes",))
class SharedLimit(Struct, frozen=True, kw_only=True):
    """A limit that the nodes of several pools share.

    `takes` is the number of units that one node of each pool needs. `name` is its name in messages,
    and `unit` is the counted unit, for example "vCPU". `most` is the number available to these
    pools. `beside` is the use of other nodes, which isn't part of `most`. `unsure` is the possible
    additional use of other nodes.
    """

    name: str
    most: int
    unit: str
    takes: Mapping[str, int]
    beside: int = 0
    unsure: int = 0

    def used(self, counts: Mapping[str, int]) -> int:
        """Return the number of units that these nodes of each pool need."""
        return sum(takes * counts.get(pool, 0) for pool, takes in self.takes.items())

    def less(self, counts: Mapping[str, int]) -> SharedLimit:
        """Return the number of units left after existing nodes, at least 0."""
        return replace(self, most=max(0, self.most - self.used(counts)))


def nodes_left(limits: Iterable[SharedLimit], counts: Mapping[str, int]) -> dict[str, int]:
    """Return the maximum number of additional nodes of each limited pool, while the other pools
    stay unchanged.
    """
    left: dict[str, int] = {}
    for limit in limits:
        spare = max(0, limit.most - limit.used(counts))
        for pool, takes in limit.takes.items():
            nodes = spare // takes
            left[pool] = min(left.get(pool, nodes), nodes)
    return left


def fill_up(
    limits: Iterable[SharedLimit], least: Mapping[str, int], most: Mapping[str, int]
) -> dict[str, int]:
    """Return `least` with every pool raised in order, as far towards `most` as the limits allow."""
    counts, kept = dict(least), tuple(limits)
    for pool, nodes in most.items():
        left = nodes_left(kept, counts).get(pool)
        counts[pool] = nodes if left is None else min(nodes, counts[pool] + left)
    return counts
