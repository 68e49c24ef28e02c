"""Rights without which a cluster or its nodes don't work."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from dra_planner.catalog.tables import read_table


class NeededRight(Struct, frozen=True, kw_only=True):
    """A right that the identity of clusters or pools needs.

    `property` is the path at which they name the identity. Any of `rights` is enough, or `action`
    in a policy. If `rights` is empty, any right is enough. `trusted` is the service that must be
    able to assume the identity. `elsewhere` is an add-on that might have the right itself. The
    right is needed only if `where` (a property of pools) is set, and if an image of pods matches
    the regular expression `images` ("" means always). With `chart`, it's needed only for pods of
    this chart, and only if the chart's values don't set `account` (the annotations of their service
    account).
    """

    cloud: str
    holder: str  # cluster or pool
    property: str
    rights: tuple[str, ...]
    action: str
    trusted: str
    elsewhere: str
    where: str
    images: str
    chart: str
    account: str
    doubt: str  # reason why the right might not be needed, or "" if it's certainly needed
    consequence: str
    fix: str


@cache
def needed_rights(cloud: str) -> tuple[NeededRight, ...]:
    """Return the rights that clusters and pools of a cloud need, in table order."""
    texts = (
        "holder",
        "property",
        "action",
        "trusted",
        "elsewhere",
        "where",
        "images",
        "chart",
        "account",
        "doubt",
        "consequence",
        "fix",
    )
    return tuple(
        NeededRight(
            cloud=cloud, rights=tuple(row["rights"].split()), **{name: row[name] for name in texts}
        )
        for row in read_table("identity_rights")
        if row["cloud"] == cloud
    )
