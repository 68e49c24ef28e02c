"""systemd units that node images had and no longer have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from dra_planner.catalog.image_releases import image_release
from dra_planner.catalog.tables import read_table


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageUnit:
    """A unit, the first release of the image without it, and what follows for scripts that depend
    on it.
    """

    cloud: str
    unit: str
    gone_since: str
    says: str
    fix: str

    def is_gone(self, release: str) -> bool:
        """Return True if an image doesn't have the unit. `release` is "" for the newest image."""
        found = image_release(release)
        return not found or found >= self.gone_since


@cache
def image_units(cloud: str) -> tuple[ImageUnit, ...]:
    """Return the units that images of a cloud no longer have, in table order."""
    fields = ("cloud", "unit", "gone_since", "says", "fix")
    rows = [row for row in read_table("image_units") if row["cloud"] == cloud]
    return tuple(ImageUnit(**{field: row[field] for field in fields}) for row in rows)
