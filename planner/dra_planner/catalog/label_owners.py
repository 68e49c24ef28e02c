"""Node labels that a pool's owner can't set, with the component that sets them and alternatives for
selectors.
"""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from dra_planner.catalog.tables import read_table


class LabelOwner(Struct, frozen=True):
    """Who sets the labels that begin with `prefix`; `instead` is an imperative sentence, "" where
    nothing is.
    """

    prefix: str
    owner: str
    instead: str


def label_owner(key: str) -> LabelOwner | None:
    """Return who sets a label; None for one that pools can be given."""
    return next((each for each in _owners() if key.startswith(each.prefix)), None)


@cache
def _owners() -> tuple[LabelOwner, ...]:
    return tuple(
        LabelOwner(row["prefix"], row["owner"], row["instead"])
        for row in read_table("label_owners")
    )
