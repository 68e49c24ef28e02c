"""Dates in tables: the day on which a fact was seen, and days after it."""

from __future__ import annotations

from datetime import date

from dra_planner.catalog.tables import Row


def day(row: Row, column: str) -> date | None:
    """Return the date in a cell, None where the cell is empty or the table has no such column."""
    text = row.get(column, "")
    return date.fromisoformat(text) if text else None
