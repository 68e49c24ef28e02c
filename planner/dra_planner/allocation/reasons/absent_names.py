"""The names that devices publish, for selectors and constraints that read a name that no device
publishes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from dra_planner.allocation.search.devices import Candidate

_SAME_WORD: Final = 0.6  # minimum of difflib's ratio
_SAME_ATTRIBUTE: Final = 0.75  # the same, for the attribute of a constraint


def names_in(candidate: Candidate, kind: str, domain: str) -> set[str]:
    """Return the attributes ("attributes") or capacities ("capacity") of a device in a domain,
    without the domain.
    """
    own = candidate.driver == domain
    return {
        name.rpartition("/")[2]
        for name in _published(candidate, kind)
        if (name.rpartition("/")[0] or domain) == domain and (own or "/" in name)
    }


def similar_name(name: str, known: Collection[str]) -> str:
    """Return the known name that is most similar to a misspelled one. Returns "" if there is none,
    or if the name itself is known.
    """
    by_lower = {each.lower(): each for each in sorted(known)}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=_SAME_WORD)
    return by_lower[near[0]] if near and name not in known else ""


def published_domain(name: str, kind: str, domain: str, devices: Iterable[Candidate]) -> str:
    """Return the other domain in which devices publish a name, or "" if there isn't exactly one."""
    domains = {
        full.rpartition("/")[0] or each.driver
        for each in devices
        for full in _published(each, kind)
        if full.rpartition("/")[2] == name
    }
    return domains.pop() if len(domains) == 1 and domain not in domains else ""


def sibling_attributes(name: str, devices: Sequence[Candidate]) -> list[str]:
    """Return the published attributes whose names differ from a name only in their numbers, such as
    the identifiers of groups with another size.
    """
    known = {
        own
        for each in devices
        for attribute in each.attributes
        for own in [attribute if "/" in attribute else f"{each.driver}/{attribute}"]
    }
    return sorted(
        (each for each in known - {name} if _without_numbers(each) == _without_numbers(name)),
        key=lambda each: (len(each), each),
    )


def _without_numbers(name: str) -> str:
    return re.sub(r"\d+", "#", name)


def _published(candidate: Candidate, kind: str) -> Collection[str]:
    return (candidate.device.capacity if kind == "capacity" else candidate.device.attributes).keys()


def similar_attribute(name: str, devices: Sequence[Candidate]) -> str:
    """Return the attribute that a qualified name probably means: one of these devices' attributes
    with a similar name in the same domain, or with the same name in one other domain. Returns "" if
    there is none.
    """
    domain, _, short = name.lower().rpartition("/")
    known = {
        own.lower(): own
        for each in devices
        for attribute in each.attributes
        for own in [attribute if "/" in attribute else f"{each.driver}/{attribute}"]
    }
    in_domain = {own.rpartition("/")[2]: own for own in known if own.rpartition("/")[0] == domain}
    near = get_close_matches(short, in_domain, 1, _SAME_ATTRIBUTE)
    elsewhere = [own for own in known if own.rpartition("/")[2] == short]
    if near:
        return known[in_domain[near[0]]]
    return known[elsewhere[0]] if len(elsewhere) == 1 else ""
