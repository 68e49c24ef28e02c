"""The three verdicts, how they combine, and their reasons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from dra_planner.errors import NOWHERE, Place
from dra_planner.records import equality

Verdict = Literal["fits", "does-not-fit", "cannot-tell"]


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict for all workloads: *does not fit* takes precedence over *cannot tell*,
    which takes precedence over *fits*.
    """
    seen = set(verdicts)
    for verdict in ("does-not-fit", "cannot-tell"):
        if verdict in seen:
            return verdict
    return "fits"


def best(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of one claim for several pools: a pool that fits takes precedence over one
    that can't be evaluated.
    """
    seen = set(verdicts)
    for verdict in ("fits", "cannot-tell"):
        if verdict in seen:
            return verdict
    return "does-not-fit"


@equality(
    ignored=(
        "alternative",
        "changes",
        "place",
        "needs_another_node",
        "is_node_full",
        "is_conditional",
        "exceeded",
    )
)
class Reason(Struct, frozen=True, kw_only=True):
    """The reason why something doesn't fit or can't be determined, with a fix."""

    code: str  # words in kebab case, which are part of the JSON contract
    message: str
    details: str = ""  # sentences that follow the message, without a period at the end
    fix: str = ""
    intent: str = ""  # the author's probable intent, with which the fix begins
    alternative: str = ""  # a change of the pods with which the fix ends, because it adds no nodes
    claim: str = ""  # "<namespace>/<claim>" if the reason is about a claim
    request: str = ""  # "<request>" or "<request>/<subrequest>"
    pool: str = ""
    exceeded: str = ""  # the resource of which a ResourceQuota allows too little
    # whether the fix helps only if less than the requested amount is enough
    is_conditional: bool = False
    # for the fix: the current text, and its replacement
    changes: tuple[tuple[str, str], ...] = ()
    place: Place = NOWHERE
    # whether the pod would fit on another node of the same kind, because other pods use this node
    needs_another_node: bool = False
    # whether pods use up a node's other resources before its devices
    is_node_full: bool = False

    @property
    def text(self) -> str:
        """The message with its details."""
        return f"{self.message}. {self.details}" if self.details else self.message
