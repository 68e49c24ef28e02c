"""Units, programs, kernel arguments, and settings that node images don't support."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from dra_planner.catalog.image_releases import image_release
from dra_planner.catalog.tables import read_table
from dra_planner.releases import is_between, parse_version


class ImagePart(Struct, frozen=True, kw_only=True):
    """A part on which a boot script can depend, and the consequence if the image lacks it.

    `images` is the prefix of the names of these images. `gone_since` is the first image release
    without the part ("" if no release has it). For a kernel argument or a pool setting
    ("path=value"), it's the first Kubernetes version that fails with it. For an image, it's the
    first Kubernetes version for which the cloud doesn't build the image.
    """

    cloud: str
    images: str
    kind: str  # unit, program, kernel argument, kubelet setting, pool setting, or image
    part: str
    gone_since: str
    consequence: str
    fix: str

    def is_gone(self, release: str, minor: int | None) -> bool:
        """Return True if an image doesn't support the part. `release` is "" for the newest image.

        `minor` is the image's Kubernetes minor version, or None if it's unknown.
        """
        if self.kind in ("kernel argument", "pool setting"):
            return minor is not None and is_between(minor, parse_version(self.gone_since), None)
        found = image_release(release)
        return not found or found >= self.gone_since


@cache
def image_parts(cloud: str) -> tuple[ImagePart, ...]:
    """Return the parts that images of a cloud don't support, in table order."""
    fields = ("cloud", "images", "kind", "part", "gone_since", "consequence", "fix")
    rows = [row for row in read_table("image_parts") if row["cloud"] == cloud]
    return tuple(ImagePart(**{field: row[field] for field in fields}) for row in rows)
