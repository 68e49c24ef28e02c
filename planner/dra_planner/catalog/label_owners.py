"""Node labels that a pool's owner can't set, with the component that sets them and alternatives for
selectors.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from dra_planner.catalog.tables import read_table

GPU_DISCOVERY: Final = "GPU feature discovery"
"""The owner of labels that exist only on nodes with a device plugin."""


class LabelOwner(Struct, frozen=True):
    """The software that sets labels with this prefix. `instead` is an imperative sentence with an
    alternative, or "".
    """

    prefix: str
    owner: str
    instead: str


def label_owner(key: str) -> LabelOwner | None:
    """Return the software that sets a label. Returns None for labels that users can set on
    pools.
    """
    return next((each for each in _owners() if key.startswith(each.prefix)), None)


@cache
def _owners() -> tuple[LabelOwner, ...]:
    return tuple(
        LabelOwner(row["prefix"], row["owner"], row["instead"])
        for row in read_table("label_owners")
    )
