"""Taints of an imported pool, which become part of the fleet or are listed in a note."""

from __future__ import annotations

from collections.abc import Sequence

from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud, NodeOrigin
from dra_planner.clouds.foreign import ForeignPool
from dra_planner.model import Taint


def imported_taints(
    pool: ForeignPool, machine: Machine, of_cloud: Cloud, notes: list[str]
) -> list[dict[str, str]]:
    """Return the taints for the fleet's pool. Add a note for each other taint, unless the fleet's
    nodes have the same taint automatically.
    """
    origin = NodeOrigin(name=pool.name, machine=machine, capacity=pool.capacity)
    automatic = (*of_cloud.taints(origin), *of_cloud.added_taints(origin))
    kept: dict[tuple[str, str], Taint] = {}
    for taint in pool.taints:
        place = (taint.key, taint.effect)
        if taint in automatic or kept.get(place) == taint:
            continue
        if place in kept:
            reason = f"because {kept[place]} has the same key and effect"
        else:
            reason = _reason(taint, automatic, of_cloud)
        if reason:
            notes.append(f"pool {pool.name}: its taint {taint} isn't imported, {reason}")
        else:
            kept[place] = taint
    _note_unread(pool, notes)
    return [
        {"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in kept.values()
    ]


def note_new_taint(
    pool: ForeignPool, machines: Sequence[Machine], of_cloud: Cloud, notes: list[str]
) -> None:
    """Add a note if the fleet's nodes have a taint with a key that today's nodes don't have."""
    if of_cloud.taints_new_gpu_pools:
        return
    today = {taint.key for taint in pool.taints}
    notes.extend(
        f"pool {pool.name}: the fleet adds the taint {taint}, which these files don't contain, so "
        f"pods without a toleration for {taint.key} can't run on new nodes"
        for taint in of_cloud.taints(NodeOrigin(name=pool.name, machine=machines[0]))
        if taint.key not in today
    )


def note_lost_taints(pool: ForeignPool, of_cloud: Cloud, notes: list[str]) -> None:
    """Add a note for each taint of a pool without accelerators, which becomes part of the system
    pool.
    """
    automatic = of_cloud.added_taints(NodeOrigin(name=pool.name, machine=None))
    notes.extend(
        f"pool {pool.name}: its taint {taint} isn't imported, because the system pool doesn't have "
        "taints"
        for taint in pool.taints
        if taint not in automatic
    )
    _note_unread(pool, notes)


def _reason(taint: Taint, automatic: tuple[Taint, ...], of_cloud: Cloud) -> str:
    """Return why a fleet can't set a taint, or "" if it can."""
    for each in automatic:
        if (each.key, each.effect) == (taint.key, taint.effect):
            return (
                f"because the nodes have {each}. A toleration for this key needs operator: "
                f"Exists{f' or the value {each.value}' if each.value else ''}"
            )
    if fault := of_cloud.taint_fault(taint.key):
        return f"because {fault}"
    if any(each.key == taint.key for each in of_cloud.possible_taints):
        return f"because only {of_cloud.title} sets taints with this key"
    return ""


def _note_unread(pool: ForeignPool, notes: list[str]) -> None:
    notes.extend(
        f"pool {pool.name}: its taint {written} isn't imported, because it's not a valid taint"
        for written in pool.unread_taints
    )
