"""Nodes: what they can hold beside devices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dra_planner.model.objects import Amounts, ObjectMeta

TaintEffect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node."""

    key: str
    value: str = ""
    effect: TaintEffect = "NoSchedule"

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node, real or predicted. `allocatable` includes `pods`; see `Amounts` for units."""

    meta: ObjectMeta
    allocatable: Amounts = field(hash=False)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False

    @property
    def name(self) -> str:
        return self.meta.name
