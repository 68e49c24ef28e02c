"""The result of placing one pod on one node: a placement, a refusal, or undecided."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from msgspec import Struct

from dra_planner.allocation.node.filters import Misfit
from dra_planner.allocation.node.state import NodeState
from dra_planner.allocation.search.attempt_errors import AttemptError
from dra_planner.allocation.search.holdings import Pick
from dra_planner.allocation.search.results import allocation_of
from dra_planner.model import AllocatedDevice, ClaimAllocation, ObjectKey, Reason, Shape

_ALTERNATIVES = 8  # maximum number of entries in firstAvailable


class ClaimPicks(Struct, frozen=True):
    """The devices of one claim of the pod on this node. `shared` is the name of the claim if pods
    share it.
    """

    name: str
    shared: ObjectKey | None
    picks: tuple[Pick, ...]


class Placement(Struct, frozen=True, eq=False, dict=True):
    """The pod fits. `node` is the state afterward.

    `notes` describe how another patch version might decide.
    """

    shape: Shape
    node: NodeState
    picks: tuple[ClaimPicks, ...] = ()
    notes: tuple[Reason, ...] = ()
    steps: int = 0

    @cached_property
    def claims(self) -> dict[str, ClaimAllocation]:
        """The allocation of each newly allocated claim, by its name in the pod."""
        return {claim.name: allocation_of(claim.picks, self.node.template) for claim in self.picks}

    @cached_property
    def rank(self) -> int:
        """The rank of the alternatives that the pod got, or 0 if the scheduler doesn't
        score them.
        """
        if not self.node.features.scores_alternatives or not self._has_alternatives:
            return 0
        return sum(_ALTERNATIVES - number for number in self.alternatives)

    @property
    def _has_alternatives(self) -> bool:
        for claim in self.shape.claims:
            for request in claim.spec.requests:
                if request.first_available:
                    return True
        return False

    @property
    def alternatives(self) -> tuple[int, ...]:
        """The index of the alternative that each request with `firstAvailable` got, where 0 is the
        most preferred alternative.
        """
        chosen = []
        specs = {claim.name: claim.spec for claim in self.shape.claims}
        for got in self.picks:
            for request in specs[got.name].requests if got.name in specs else ():
                names = [f"{request.name}/{sub.name}" for sub in request.first_available]
                labels = [p.request for p in got.picks if p.request in names]
                if labels:
                    chosen.append(names.index(labels[0]))
        return tuple(chosen)

    @property
    def devices(self) -> tuple[AllocatedDevice, ...]:
        """All newly allocated devices of the pod."""
        return tuple(device for claim in self.claims.values() for device in claim.devices)


RefusalKind = Literal["filter", "claim", "devices", "error"]


class Refusal(Struct, frozen=True, eq=False):
    """The pod doesn't fit on this node.

    The values of `kind` are "filter" (the node is rejected before its devices are considered, see
    `misfit`), "claim" (a claim can't be used here, whatever is free), "devices" (no devices satisfy
    the claims together), and "error" (the scheduling attempt fails on every node, with `error`).
    `message` is set only for "claim".
    """

    shape: Shape
    node: NodeState
    kind: RefusalKind
    message: str = ""
    misfit: Misfit | None = None
    claim: str = ""
    # set if the kind is "claim", and the code that found the reason knows the claim
    fix: str = ""
    steps: int = 0
    error: AttemptError | None = None
    may: frozenset[str] = frozenset()  # defects that prevent the pod from fitting


class Undecided(Struct, frozen=True, eq=False):
    """It's unknown whether the pod fits, because the result depends on a value that is known only
    at run time, or because the search was too long.
    """

    shape: Shape
    node: NodeState
    kind: Literal["unknown", "effort", "volume", "doubt", "driver", "estimate", "label"]
    steps: int = 0
    details: tuple[str, ...] = ()


Answer = Placement | Refusal | Undecided
