"""One answer as it is kept: a row of plain values, found again by the digest of all that it depends
on.
"""

from __future__ import annotations

from typing import NamedTuple


class AnswerRow(NamedTuple):
    """One cell. `outcome` is a verdict, "answered", or "failed:" and why; `details` is JSON.

    Money is US dollars per hour; None where a price, or a number, is not known.
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
    hourly_usd: float | None = None
    bound_usd: float | None = None
    why: str = ""
    details: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether asking again gives the same: not so where time, memory or a worker was at
        fault.
        """
        return not self.outcome.startswith("failed:") or self.outcome == "failed:input"

    @property
    def briefly(self) -> AnswerRow:
        """The row without the JSON of a plan, of which a portfolio has very many."""
        return self._replace(details="") if self.question == "plan" else self
