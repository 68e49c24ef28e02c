"""Single changes to a pod, its claims, or the number of nodes, each of which removes one
obstacle.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Literal, get_args

from msgspec import Struct

from dra_planner.model import DeviceToleration, ExactDeviceRequest, Shape, Toleration
from dra_planner.quantity import Quantity

EditKind = Literal[
    "tolerate",
    "add-node",
    "select-less",
    "tolerate-device",
    "compare-inclusive",
    "correct-value",
    "correct-class",
    "correct-constraint",
    "split-claim",
    "rename-capacity",
    "drop-doubled-request",
    "lower-count",
    "count-instead-of-all",
    "constrain-pairs",
    "drop-constraint",
    "drop-selector",
    "limit-capacity",
    "lower-capacity",
    "lower-resource",
    "drop-host-port",
    "drop-anti-affinity",
    "guard-class",
    "use-class",
    "other-pool",
]
PREFERENCE: tuple[EditKind, ...] = get_args(EditKind)
"""Edits from the least to the most intrusive."""
CORRECTING: frozenset[EditKind] = frozenset(
    {
        "compare-inclusive",
        "correct-value",
        "correct-class",
        "correct-constraint",
        "split-claim",
        "drop-doubled-request",
    }
)
"""Edits that correct a mistake."""
REMOVING: frozenset[EditKind] = frozenset(
    {"drop-constraint", "drop-selector", "drop-host-port", "drop-anti-affinity", "select-less"}
)
"""Edits that remove a requirement of the pod, although the pod's author might need it."""


class Edit(Struct, frozen=True):
    """One change, as text (`text`).

    `claim`, `request`, and `way` are positions in the shape (way -1: no alternatives), and `index`
    is a position in a list there. `name` is a resource, label, class, attribute, or the new amount
    of a selector, and `value` is the new amount of a resource.
    """

    kind: EditKind
    text: str
    claim: int = -1
    request: int = -1
    way: int = -1
    index: int = -1
    name: str = ""
    value: int = 0

    # whether the change helps only if less than the requested amount is enough
    is_conditional: bool = False
    toleration: Toleration | DeviceToleration | None = None
    # each condition of the selector at `index` that changes, and its replacement
    conditions: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.text


def keeps_intent(edits: Sequence[Edit]) -> bool:
    """Return whether edits only correct mistakes, so that the pod requests what was meant."""
    return bool(edits) and all(
        each.kind in CORRECTING and not each.is_conditional for each in edits
    )


def distance(edits: Sequence[Edit]) -> tuple[int, int, float]:
    """Return a sort key: the fewest changes first, among these the least intrusive, and among
    these, the changes that lower requested amounts least.
    """
    amounts = [
        each.value if each.kind == "lower-count" else Quantity.parse(each.name).as_float()
        for each in edits
        if each.kind == "lower-count" or (each.kind == "correct-value" and each.name)
    ]
    rank = max(map(_rank, edits), default=0)
    return len(edits), rank, -min(amounts, default=inf)


def _rank(edit: Edit) -> int:
    """Return how intrusive an edit is. If only less than the requested amount is left, a condition
    means as little as without it.
    """
    kind: EditKind = "drop-selector" if edit.is_conditional else edit.kind
    return PREFERENCE.index(kind)


def way_of(shape: Shape, edit: Edit) -> ExactDeviceRequest:
    """Return the alternative of an edit."""
    request = shape.claims[edit.claim].spec.requests[edit.request]
    way = request.exactly if edit.way < 0 else request.first_available[edit.way]
    assert way is not None  # this edit is derived from it
    return way
