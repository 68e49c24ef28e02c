"""The names that devices publish, for selectors that read a name that no device publishes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from dra_planner.allocation.search.devices import Candidate

_ABSENT: Final = re.compile(r"no such key: \S+")


def similar_attribute(name: str, devices: Sequence[Candidate]) -> str:
    """Return the attribute of these devices that is most similar to a qualified name, or ""."""
    known = {
        own.lower(): own
        for each in devices
        for attribute in each.attributes
        for own in [attribute if "/" in attribute else f"{each.driver}/{attribute}"]
    }
    return next((known[near] for near in get_close_matches(name.lower(), known, 1, 0.8)), "")


def published_instead(error: str, devices: Sequence[Candidate]) -> str:
    """Return a clause with the names that each driver publishes, if a selector failed because of a
    missing name. Otherwise, return "".
    """
    if _ABSENT.search(error) is None:
        return ""
    told: list[str] = []
    for driver in dict.fromkeys(each.driver for each in devices):
        of_driver = [each for each in devices if each.driver == driver]
        capacities = sorted({name for each in of_driver for name in each.capacity})
        attributes = sorted({name for each in of_driver for name in each.attributes})
        have = f"capacities {', '.join(capacities)}; " if capacities else ""
        told.append(f"{driver} publishes only {have}attributes {', '.join(attributes)}")
    clause = " (a CEL error fails the pod's scheduling cycle, unlike a mismatch)"
    return f"{clause}; {'; '.join(told)}" if told else clause
