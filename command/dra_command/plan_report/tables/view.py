"""The nodes, letters, signs, and line width that all tables of one plan share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dra_command.pens.signs import Signs
from dra_command.pens.table import Table
from dra_command.pens.visible_text import middle
from dra_command.plan_report.figures import (
    Letters,
    in_letter_order,
    letters_of,
)
from dra_planner.model import WorkloadRef
from dra_planner.plan import Plan
from dra_planner.plan.nodes.built_placements import built_placements
from dra_planner.plan.nodes.groups import FilledNodes, fill_nodes

MOST_ROWS = 15
MOST_GROUPS = 4
NARROW = 72
SHORTEST_NAME = 10


class PlanView(Struct, frozen=True):
    """One plan as its tables show it, in lines of `width` columns. With `every`, nothing is
    collapsed.
    """

    plan: Plan
    signs: Signs
    filled: FilledNodes
    letters: Letters
    placements: Mapping[WorkloadRef, Counter[str]]
    width: int
    every: bool = False

    @classmethod
    def of(cls, plan: Plan, signs: Signs, *, width: int, every: bool = False) -> PlanView:
        """Return the view of a plan."""
        filled = fill_nodes(plan)
        letters, placements = letters_of(plan, filled), built_placements(plan, filled)
        ordered = in_letter_order(filled, letters)
        return cls(plan, signs, ordered, letters, placements, width, every)

    @property
    def narrow(self) -> bool:
        """Whether lines are too short for all columns."""
        return self.width < NARROW

    @property
    def is_placed_otherwise(self) -> bool:
        """Return whether the simulated scheduler uses other pools than the packing. The table of
        placements shows this difference.
        """
        if self.filled.source != "simulated":
            return False
        return any(
            pods != self.placements[each.workload][pool]
            for each in self.plan.workloads
            for pool, pods in each.placements
        )

    def room(self, others: Sequence[Sequence[str]]) -> int:
        """Return the number of characters that these other cells leave for names. Negative if
        lines are too narrow even for the other cells.
        """
        return self.width - sum(max(map(len, column)) + 2 for column in zip(*others, strict=True))

    def with_short_names(self, table: Table) -> Table:
        """Return a table whose first cells are shortened if lines are too narrow for them."""
        room = self.room([table.heads[1:], *(row[1:] for row in table.rows)])
        rows = tuple(
            (middle(name, max(SHORTEST_NAME, room)), *cells) for name, *cells in table.rows
        )
        return replace(table, rows=rows)
