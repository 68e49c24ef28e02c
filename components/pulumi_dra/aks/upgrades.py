"""Settings for node upgrades of a pool."""

from typing import TYPE_CHECKING

from msgspec import Struct

from pulumi_dra.inputs.reader import InputReader

if TYPE_CHECKING:
    from pulumi_azure_native.containerservice import AgentPoolUpgradeSettingsArgsDict

MOST_NODES = 100


class Upgrades(Struct, frozen=True):
    """The number of additional nodes that an upgrade starts, and of nodes that it removes
    at once.
    """

    surge: int
    unavailable: int
    drain_minutes: int
    soak_minutes: int


def read_upgrades(read: InputReader, capacity: str) -> Upgrades | None:
    """Return surge, unavailable nodes, drain timeout, and soak time; None for Spot pools, which
    don't accept them.

    By default, an upgrade removes one node before it starts the replacement, because a full pool
    has no quota and capacity for an additional node.
    """
    surge = read.whole("max_surge", 0, most=MOST_NODES)
    unavailable = read.whole("max_unavailable", 0 if surge else 1, most=MOST_NODES)
    drain = read.whole("drain_timeout_minutes", 30, least=1, most=1440)
    soak = read.whole("node_soak_minutes", 0, most=30)
    if capacity == "spot":
        for key in ("max_surge", "max_unavailable", "drain_timeout_minutes", "node_soak_minutes"):
            if read.has(key):
                read.refuse(
                    key,
                    "isn't supported with spot, because AKS doesn't surge or drain spot pools",
                )
        return None
    if not surge + unavailable:
        read.refuse(
            "max_unavailable",
            "must be 1 or more if max_surge is 0, because otherwise AKS can't replace nodes",
        )
    return Upgrades(surge, unavailable, drain, soak)


def upgrade_settings(upgrades: Upgrades | None) -> "AgentPoolUpgradeSettingsArgsDict | None":
    """Return the settings of an agent pool."""
    if upgrades is None:
        return None
    settings: AgentPoolUpgradeSettingsArgsDict = {
        "max_surge": str(upgrades.surge),
        "max_unavailable": str(upgrades.unavailable),
        "drain_timeout_in_minutes": upgrades.drain_minutes,
    }
    if upgrades.soak_minutes:
        settings["node_soak_duration_in_minutes"] = upgrades.soak_minutes
    return settings
