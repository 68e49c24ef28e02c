"""The changes of a fleet in a joint fix, as values that a search can add and remove."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.clouds import cloud
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.fleet.imported_pools import free_pool_name
from dra_planner.offers import Offer
from dra_planner.plan.judgement.simulated_fixes import prefer_others_rows, raised_maximums
from dra_planner.plan.suggestion.system_machine import system_nodes_usd
from dra_planner.simulation import Fix


class ChangedFleet(Struct, frozen=True, kw_only=True, eq=False):
    """A fleet and its changes.

    `added` are the rows of added pools, by the sentence that adds them, and `rows` are changed rows
    of the given pools. `most` contains the raised maximums, and `zones` contains the set zones, by
    pool. `avoided` are the pools that get a PreferNoSchedule taint, and `keys` are other keys of
    the fleet.
    """

    given: Fleet
    added: Mapping[str, Mapping[str, Any]] = {}
    rows: Mapping[str, Mapping[str, Any]] = {}
    most: Mapping[str, int] = {}
    zones: Mapping[str, str] = {}
    avoided: tuple[str, ...] = ()
    keys: Mapping[str, Any] = {}

    @property
    def is_changed(self) -> bool:
        """Whether the fleet has any changes."""
        changes = (self.added, self.rows, self.most, self.zones, self.avoided, self.keys)
        return any(changes)

    def with_change(self, text: str, after: Fleet) -> ChangedFleet | None:
        """Return the changes combined with a fleet's changes that a sentence describes.

        Returns None if both change the same values.
        """
        if text in self.added:
            return self
        old, new = self.given.document(), after.document()
        keys = {
            key: value for key, value in new.items() if key != "pools" and old.get(key) != value
        }
        before = {row["name"]: row for row in old["pools"]}
        added = [row for row in new["pools"] if row["name"] not in before]
        rows = {row["name"]: row for row in new["pools"] if row != before.get(row["name"], row)}
        if len(added) > 1 or _conflict(self.keys, keys) or _conflict(self.rows, rows):
            return None
        changed = self.with_pool(text, added[0]) if added else self
        return replace(changed, rows={**self.rows, **rows}, keys={**self.keys, **keys})

    def with_pool(self, text: str, row: Mapping[str, Any]) -> ChangedFleet:
        """Return the changes with another pool, unless the sentence already adds one."""
        if text in self.added:
            return self
        taken = {each["name"] for each in (*self.given.document()["pools"], *self.added.values())}
        name = free_pool_name(f"added-{len(self.added) + 1}", taken, cloud(self.given.cloud))
        return replace(self, added={**self.added, text: {**row, "name": name}})

    def with_most(self, most: Mapping[str, int]) -> ChangedFleet:
        """Return the changes with these additional maximums."""
        return replace(self, most={**self.most, **most})

    def with_system_pool(self, **keys: object) -> ChangedFleet:
        """Return the changes with new values for keys of the system pool."""
        before = self.keys.get("systemPool", self.given.document().get("systemPool", {}))
        return self.with_key("systemPool", {**before, **keys})

    def with_key(self, key: str, value: object) -> ChangedFleet:
        """Return the changes with a new value for a key of the fleet."""
        return replace(self, keys={**self.keys, key: value})

    def with_fix(self, fix: Fix, offers: Iterable[Offer]) -> ChangedFleet:
        """Return the changes combined with a simulated fix, and with the maximums that it needs.

        A fix that changes pods doesn't change the fleet otherwise.
        """
        changed = self.with_most(raised_maximums(fix, offers))
        match fix.kind:
            case "profile":
                return changed.with_key("schedulerProfile", "most-allocated")
            case "taint":
                return replace(changed, avoided=fix.pools)
            case "guards":
                return changed.with_key("placement", "guided")
            case "maximum" | "affinity":
                return changed

    def fleet(self) -> Fleet | None:
        """Return the fleet with the changes, or None if it isn't valid, for example because of a
        quota, or because of the cloud's limit on nodes per pool.
        """
        document = {**self.given.document(), **self.keys}
        rows = [self.rows.get(row["name"], row) for row in document["pools"]]
        rows += self.added.values()
        document["pools"] = [self._changed_row(row) for row in rows]
        try:
            return read_fleet(document)
        except PlannerError:
            return None

    def system_usd(self, fleet: Fleet) -> Decimal | None:
        """Return the change in the price per hour of the system nodes, or None if it's unknown."""
        if "systemPool" not in self.keys:
            return Decimal(0)
        after, before = system_nodes_usd(fleet), system_nodes_usd(self.given)
        return None if after is None or before is None else after - before

    def _changed_row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        name = row["name"]
        changed = dict(row)
        if name in self.avoided:
            changed["taints"] = [*(row.get("taints") or ()), *prefer_others_rows(1)]
        if name in self.most:
            changed["count"] = _with_maximum(row.get("count", 1), self.most[name])
        if name in self.zones:
            changed["zones"] = [self.zones[name]]
        return changed


def _conflict(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    return any(one[key] != other[key] for key in one.keys() & other.keys())


def _with_maximum(count: Any, most: int) -> dict[str, int]:
    limits: dict[str, int] = (
        dict(count) if isinstance(count, Mapping) else {"min": count, "max": count}
    )
    return {**limits, "max": max(most, limits.get("max", most))}
