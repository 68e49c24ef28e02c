"""Notes of a plan that depend on the date: the end of Kubernetes support, and outdated facts."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from dra_planner.catalog.dated_facts import fact, outdated
from dra_planner.catalog.kubernetes_support import Support, support
from dra_planner.clouds import cloud, names

if TYPE_CHECKING:
    from dra_planner.fleet import Fleet

_ALWAYS: Final = ("prices", "regions", "driver-releases")
_CALENDAR: Final = "kubernetes-support"


def dated_notes(fleet: Fleet, today: date) -> tuple[str, ...]:
    """Return the end of support of the fleet's Kubernetes version, and the outdated facts that its
    plan uses.
    """
    notes: list[str] = []
    found = support(fleet.cloud, int(fleet.kubernetes.split(".")[1]))
    if found is not None and (sentence := found.sentence(today)):
        notes.append(sentence)
    used = (*_ALWAYS, *cloud(fleet.cloud).dated_facts)
    old = [each for each in outdated(today) if each.key in used]
    if old:  # other clouds are loaded only to exclude their facts
        elsewhere = [
            part for name in names() if name != fleet.cloud for part in cloud(name).fact_sources
        ]
        old = [each for each in old if not any(part in each.source for part in elsewhere)]
    stale = [f"{each.about} (seen on {each.seen_on})" for each in old]
    if found is not None and (date_of_row := _old_row(found, today)):
        stale.insert(0, date_of_row)
    if stale:
        shown = ", ".join(dict.fromkeys(stale))
        notes.append(f"These facts may be outdated: {shown}. See `pulumi-dra catalog outdated`.")
    return tuple(notes)


def _old_row(found: Support, today: date) -> str:
    """Return the calendar fact to verify, or "" while the row of the fleet's version is recent.

    The rows of other versions are ignored, because the plan doesn't use them.
    """
    calendar = fact(_CALENDAR)
    if calendar is None or today - found.seen_on <= calendar.true_until - calendar.seen_on:
        return ""
    return f"{calendar.about} (seen on {found.seen_on})"
