"""Node images: releases that a machine type needs, and releases on which it fails."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache

from msgspec import Struct

from dra_planner.catalog.dated_facts import fact
from dra_planner.catalog.tables import Row, read_table
from dra_planner.errors import RejectedValue


class ImageRule(Struct, frozen=True, kw_only=True):
    """A fact about images of one cloud on some machine types."""

    cloud: str
    machines: str  # prefix or pattern of machine types
    first: str  # first release that works, or "" if all releases work
    broken: str  # a release that doesn't work, or "" if there is none
    reason: str
    fix: str
    source: str

    def covers(self, machine: str) -> bool:
        """Return True if the rule applies to this machine type."""
        return machine.startswith(self.machines) or fnmatchcase(
            machine.removeprefix("Standard_"), self.machines
        )

    def forbids(self, release: str) -> bool:
        """Return True if the machine fails with this release of the image."""
        if self.broken:
            return _numbers(release) == _numbers(self.broken)
        return _numbers(release) < _numbers(self.first)


@cache
def image_rules() -> tuple[ImageRule, ...]:
    """Return every rule, in table order."""
    return tuple(_rule(row) for row in read_table("image_releases"))


def image_release(text: str) -> str:
    """Return the image release in the name or version of an image, or "" if the text doesn't
    contain one.

    `1.34.2-20260115` → `20260115`, `Ubuntu-2404gen2-202607.02.0` → `202607.02.0`.
    """
    found = re.search(r"(?:^|-|v)(20\d{6}|20\d{4}\.\d{2}\.\d+)$", text)
    return found[1] if found else ""


def image_release_fault(cloud: str, machine: str, text: str) -> RejectedValue | None:
    """Return why a machine type doesn't work with an image of this version, or None if no problem
    is known.
    """
    release = image_release(text)
    for rule in image_rules() if release else ():
        if rule.cloud == cloud and rule.covers(machine) and rule.forbids(release):
            return RejectedValue(
                f"{machine} doesn't work with image version {release}, because {rule.reason}",
                rule.fix,
            )
    return None


def unseen_release(cloud: str, text: str) -> str:
    """Return a sentence if an image is newer than the newest known image, otherwise ""."""
    release, newest = image_release(text), fact(f"{cloud}-image")
    if not release or newest is None or _numbers(release) <= _numbers(newest.newest):
        return ""
    return (
        f"image version {release} is newer than {newest.newest}, the newest known version (as of "
        f"{newest.seen_on}), so its NVIDIA driver and systemd units are unknown"
    )


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def _rule(row: Row) -> ImageRule:
    names = ("cloud", "machines", "first", "broken", "reason", "fix", "source")
    return ImageRule(**{name: row[name] for name in names})
