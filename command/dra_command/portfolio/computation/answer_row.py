"""A stored result: a row of plain values, identified by the digest of everything that the result
depends on.
"""

from __future__ import annotations

from typing import NamedTuple


class AnswerRow(NamedTuple):
    """One cell.

    `outcome` is a verdict, "answered", or "failed:" with the reason. `details` is JSON. Costs are
    in US dollars per hour. None means that a price or a number is unknown.
    """

    digest: str
    question: str
    outcome: str
    kubernetes: str = ""
    nodes_bound: int | None = None
    nodes_packing: int | None = None
    nodes_simulated: int | None = None
    nodes: int | None = None
    placed: int | None = None
    pending: int | None = None
    stalled: int | None = None
    hourly_usd: float | None = None
    bound_usd: float | None = None
    why: str = ""
    details: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether computing the cell again would have the same result. False if time, memory, or a
        worker was the cause of an error.
        """
        return not self.outcome.startswith("failed:") or self.outcome == "failed:input"

    @property
    def briefly(self) -> AnswerRow:
        """The row without the JSON of a plan, because a portfolio can have very many rows."""
        return self._replace(details="") if self.question == "plan" else self
