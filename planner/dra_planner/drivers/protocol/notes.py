"""Facts about drivers for authors of claims, which don't affect a verdict."""

from __future__ import annotations

from functools import cache
from typing import Literal, cast

from msgspec import Struct

from dra_planner.catalog.tables import Row, integer, read_table
from dra_planner.wording import either

NoteWhen = Literal["requested", "reads", "joined", "mixed", "tainted"]


class DriverNote(Struct, frozen=True):
    """A fact about the devices published under `driver`, and the condition for showing it.

    `when` is `requested` (a claim requests such devices), `reads` (a selector reads `name`),
    `joined` (a constraint on `name`, or on any attribute if `name` is "", also covers devices of
    another driver), `mixed` (the claim also requests devices of another driver), or `tainted` (the
    nodes that publish the devices have taints). The fact is true on `cloud` ("" means on all
    clouds), from the minor version `from_minor` and before `before_minor` (None means no limit).

    If a selector reads `name`, `renamed_to` is the full name that contains the same value, and
    `instead` are the attributes to select by, the best first. If `placeholder` isn't "", they
    replace `name` only on devices that publish this value, or no value.
    """

    driver: str
    when: NoteWhen
    name: str
    cloud: str
    from_minor: int | None
    before_minor: int | None
    text: str
    fix: str
    renamed_to: str = ""
    instead: tuple[str, ...] = ()
    placeholder: str = ""

    def holds_in(self, minor: int, cloud: str) -> bool:
        """Return whether the fact is true in a minor version of Kubernetes, and can be true on a
        cloud ("" if the cloud is unknown).
        """
        is_here = not (self.cloud and cloud) or self.cloud == cloud
        is_before_end = self.before_minor is None or minor < self.before_minor
        return is_here and (self.from_minor or 0) <= minor and is_before_end


def driver_notes(domain: str) -> tuple[DriverNote, ...]:
    """Return the notes on the devices published under a driver name such as "gpu.amd.com", in table
    order.
    """
    return _notes().get(domain, ())


@cache
def _notes() -> dict[str, tuple[DriverNote, ...]]:
    found: dict[str, tuple[DriverNote, ...]] = {}
    for row in read_table("driver_notes"):
        found[row["driver"]] = (*found.get(row["driver"], ()), _note(row))
    return found


def _note(row: Row) -> DriverNote:
    renamed_to, instead = row["renamed_to"], tuple(row["instead"].split())
    names = (renamed_to,) if renamed_to else instead
    return DriverNote(
        row["driver"],
        cast(NoteWhen, row["when"]),
        row["name"],
        row["cloud"],
        integer(row, "from_minor"),
        integer(row, "before_minor"),
        row["note"],
        row["fix"] or (f"select by {either(names)}" if names else ""),
        renamed_to,
        instead,
        row["placeholder"],
    )
