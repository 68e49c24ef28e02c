"""Driver versions that releases of Container-Optimized OS list for their installer, as far as
known.
"""

from __future__ import annotations

from functools import cache

from dra_planner.catalog.tables import read_table


@cache
def qualified_on(version: str) -> str:
    """Return the milestones that list a driver version.

    The result is empty if no milestone is known.
    """
    return next(
        (row["milestones"] for row in read_table("installer_drivers") if row["driver"] == version),
        "",
    )
