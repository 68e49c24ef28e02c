"""Dates in tables: the date on which a fact was read, and later dates."""

from __future__ import annotations

from datetime import date

from dra_planner.catalog.tables import Row


def day(row: Row, column: str) -> date | None:
    """Return the date in a cell.

    Returns None if the cell is empty, or if the table doesn't have the column.
    """
    text = row.get(column, "")
    return date.fromisoformat(text) if text else None
