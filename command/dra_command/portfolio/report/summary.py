"""Summary of all cells: totals of scenarios, the first scenario in which a stack doesn't fit, and
errors.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cached_property

from msgspec import Struct

from dra_command.portfolio.computation.answer_row import AnswerRow
from dra_command.portfolio.computation.cell_names import CellName
from dra_command.portfolio.computation.execution import PortfolioAnswers
from dra_planner.model import Verdict

FAILED = "failed"
MISSING = "not computed"


class ScenarioTotal(Struct, frozen=True, kw_only=True):
    """One scenario, summed over all stacks. `hourly_usd` is None if the cost of any stack is
    unknown. In that case, `priced` is the number of stacks with a known cost.
    """

    name: str
    counts: Counter[str]
    nodes: int
    hourly_usd: float | None
    priced: int

    @property
    def all_fit(self) -> bool:
        """Whether every stack fits in this scenario."""
        return self.counts["fits"] == self.counts.total()


class StackLine(Struct, frozen=True, kw_only=True, dict=True):
    """One stack in all scenarios, in order. `as_is` is its row without edits."""

    name: str
    as_is: AnswerRow | None
    outcomes: tuple[str, ...]
    rows: tuple[AnswerRow | None, ...]
    first_not_fitting: str = ""


class Summary(Struct, frozen=True, dict=True):
    """Totals of the results for the question `plan`."""

    answers: PortfolioAnswers

    @property
    def scenarios(self) -> tuple[str, ...]:
        return tuple(each.scenario.name for each in self.answers.collected.futures)

    @cached_property
    def stacks(self) -> tuple[StackLine, ...]:
        """One line for each stack, in the order of the portfolio."""
        count = len(self.scenarios)
        rows: list[list[AnswerRow | None]] = [[None] * count for _ in self.answers.collected.stacks]
        for cell in self.answers.cells:
            if cell.question == "plan":
                rows[cell.stack][cell.scenario] = self.answers.row(cell)
        return tuple(
            self._line(inputs.name, mine)
            for inputs, mine in zip(self.answers.collected.stacks, rows, strict=True)
        )

    def _line(self, name: str, rows: list[AnswerRow | None]) -> StackLine:
        outcomes = tuple(outcome_of(row) for row in rows)
        first = next(
            (at for at, each in enumerate(outcomes) if each in ("does-not-fit", "cannot-tell")),
            None,
        )
        return StackLine(
            name=name,
            as_is=rows[0],
            outcomes=outcomes,
            rows=tuple(rows),
            first_not_fitting="" if first is None else self.scenarios[first],
        )

    @cached_property
    def totals(self) -> tuple[ScenarioTotal, ...]:
        """One total for each scenario, in the order of the portfolio."""
        totals = []
        for at, name in enumerate(self.scenarios):
            rows = [row for line in self.stacks if (row := line.rows[at]) is not None]
            prices = [row.hourly_usd for row in rows if row.hourly_usd is not None]
            totals.append(
                ScenarioTotal(
                    name=name,
                    counts=Counter(line.outcomes[at] for line in self.stacks),
                    nodes=sum(row.nodes or 0 for row in rows),
                    hourly_usd=sum(prices) if prices and len(prices) == len(rows) else None,
                    priced=len(prices),
                )
            )
        return tuple(totals)

    @cached_property
    def counts(self) -> Counter[str]:
        """Cells by outcome."""
        return sum((total.counts for total in self.totals), Counter[str]())

    @property
    def verdict(self) -> Verdict:
        """The verdict: *does not fit* if a cell doesn't fit, else *cannot tell* if a cell has no
        clear answer.
        """
        if self.counts["does-not-fit"]:
            return "does-not-fit"
        return "fits" if self.counts["fits"] == self.counts.total() else "cannot-tell"

    @property
    def has_wrong_input(self) -> bool:
        """Whether a stack, an edit, or a workload to place is invalid."""
        placed = self.answers.placement
        return (
            any(row.outcome == "failed:input" for _, row in self.faults())
            or (placed is not None and placed.outcome == "failed:input")
            or bool(self.patterns_without_workload)
        )

    @cached_property
    def patterns_without_workload(self) -> tuple[str, ...]:
        """Patterns in `ask.curves` that don't match a workload with pods in any stack. Empty while
        a curve has no result.
        """
        curves = self.answers.collected.portfolio.ask.curves
        if curves is None:
            return ()
        rows = [self.answers.row(cell) for cell in self.answers.cells if cell.question == "curves"]
        if self.answers.sampled or any(row is None or outcome_of(row) == FAILED for row in rows):
            return ()
        found = [
            each["workload"]
            for row in rows
            if row is not None
            for each in json.loads(row.details)["curves"]
        ]
        names = {workload.rpartition(" ")[2] for workload in found}
        return tuple(
            pattern
            for pattern in curves.workloads
            if pattern != "*" and not any(fnmatchcase(name, pattern) for name in names)
        )

    def faults(self) -> Iterator[tuple[CellName, AnswerRow]]:
        """Yield the cells without a result, for every question."""
        for cell in self.answers.cells:
            row = self.answers.row(cell)
            if row is not None and outcome_of(row) == FAILED:
                yield cell, row

    def name_of(self, cell: CellName) -> str:
        """Return the name of a cell: STACK/SCENARIO."""
        return f"{self.answers.collected.stacks[cell.stack].name}/{self.scenarios[cell.scenario]}"


def outcome_of(row: AnswerRow | None) -> str:
    """Return the verdict of a cell. It's FAILED if there is none, and MISSING if it wasn't
    computed.
    """
    if row is None:
        return MISSING
    return FAILED if row.outcome.startswith("failed:") else row.outcome
