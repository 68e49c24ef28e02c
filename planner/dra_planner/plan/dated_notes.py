"""Notes of a plan that depend on the day: the end of Kubernetes support, and facts past their
date.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from dra_planner.catalog.facts import outdated
from dra_planner.catalog.support import support
from dra_planner.clouds import cloud, names

if TYPE_CHECKING:
    from dra_planner.fleet import Fleet

_ALWAYS: Final = ("kubernetes-support", "prices", "regions", "driver-releases")


def dated_notes(fleet: Fleet, today: date) -> tuple[str, ...]:
    """Return the end of support of the fleet's Kubernetes version, and the outdated facts that its
    plan uses.
    """
    notes: list[str] = []
    found = support(fleet.cloud, int(fleet.kubernetes.split(".")[1]))
    if found is not None and (sentence := found.sentence(today)):
        notes.append(sentence)
    used = (*_ALWAYS, *cloud(fleet.cloud).dated_facts)
    elsewhere = [
        part for name in names() if name != fleet.cloud for part in cloud(name).fact_sources
    ]
    old = [
        each
        for each in outdated(today)
        if each.key in used and not any(part in each.source for part in elsewhere)
    ]
    if old:
        shown = ", ".join(dict.fromkeys(f"{each.about} (seen on {each.seen_on})" for each in old))
        notes.append(f"Facts past their date: {shown}. See `pulumi-dra catalog outdated`.")
    return tuple(notes)
