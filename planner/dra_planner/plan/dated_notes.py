"""Notes of a plan that depend on the day: the end of Kubernetes support, and facts past their date."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from dra_planner.catalog.facts import DatedFact, outdated
from dra_planner.catalog.support import support

if TYPE_CHECKING:
    from dra_planner.fleet import Fleet

_ALWAYS: Final = ("kubernetes-support", "prices", "regions", "driver-releases")
_OF_CLOUD: Final = {"eks": ("eks-image", "eks-driver-units"), "aks": ("aks-image",), "gke": ("zones",)}


def dated_notes(fleet: Fleet, today: date) -> tuple[str, ...]:
    """Return the end of support of the fleet's Kubernetes version, and the outdated facts that its plan uses."""
    notes: list[str] = []
    found = support(fleet.cloud, int(fleet.kubernetes.split(".")[1]))
    if found is not None and (sentence := found.sentence(today)):
        notes.append(sentence)
    used = (*_ALWAYS, *_OF_CLOUD.get(fleet.cloud, ()))
    old = [each for each in outdated(today) if each.key in used and _is_of(each, fleet.cloud)]
    if old:
        shown = ", ".join(dict.fromkeys(f"{each.about} (seen on {each.seen_on})" for each in old))
        notes.append(f"Facts past their date: {shown}. See `pulumi-dra catalog outdated`.")
    return tuple(notes)


def _is_of(fact: DatedFact, cloud: str) -> bool:
    """Return True unless the fact comes from a source of another cloud."""
    marks = {"eks": ("aws", "eks"), "gke": ("gcp", "gke"), "aks": ("azure", "aks")}
    others = [mark for name, found in marks.items() if name != cloud for mark in found]
    return not any(mark in fact.source for mark in others)
