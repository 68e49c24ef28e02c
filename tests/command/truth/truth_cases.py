"""A case: for a fleet and objects, `plan` and `check` have the same verdict and print the same
reasons.
"""

from __future__ import annotations

from typing import Literal

from commands import STATUSES
from msgspec import Struct, field
from truth_objects import Object, fleet

Verdict = Literal["fits", "does-not-fit", "cannot-tell"]


class Case(Struct, frozen=True, kw_only=True):
    """`texts` are texts that both commands print without -v. `silent` are texts that neither
    command prints.
    """

    name: str
    given: list[Object]
    verdict: Verdict
    texts: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    on: Object = field(default_factory=fleet)

    @property
    def status(self) -> int:
        """The exit status of both commands."""
        return STATUSES[self.verdict]
