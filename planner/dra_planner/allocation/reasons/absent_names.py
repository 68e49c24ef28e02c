"""The names that devices publish, for selectors that read a name that no device publishes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from dra_planner.allocation.search.devices import Candidate
from dra_planner.wording import listed

_SAME_WORD: Final = 0.75  # minimum of difflib's ratio
_ABSENT: Final = re.compile(r"no such key: \S+")


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
    near = get_close_matches(short, in_domain, 1, _SAME_WORD)
    elsewhere = [own for own in known if own.rpartition("/")[2] == short]
    if near:
        return known[in_domain[near[0]]]
    return known[elsewhere[0]] if len(elsewhere) == 1 else ""


def published_instead(error: str, devices: Sequence[Candidate]) -> str:
    """Return a clause with the names that each driver publishes, if a selector failed because of a
    missing name. Otherwise, return "".
    """
    if _ABSENT.search(error) is None:
        return ""
    published: list[str] = []
    for driver in dict.fromkeys(each.driver for each in devices):
        of_driver = [each for each in devices if each.driver == driver]
        capacities = sorted({name for each in of_driver for name in each.capacity})
        attributes = sorted({name for each in of_driver for name in each.attributes})
        kinds = (("capacity", "capacities", capacities), ("attribute", "attributes", attributes))
        have = [
            f"the {one if len(names) == 1 else several} {listed(names)}"
            for one, several, names in kinds
            if names
        ]
        published.append(f"{driver} publishes only {' and '.join(have)}")
    return f"; {'; '.join(published)}" if published else ""
