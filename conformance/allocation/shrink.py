"""Reduce a case with a difference to the smallest case that still has the difference."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]
Path = tuple[str | int, ...]


def shrink(case: Json, differs: Callable[[list[Json]], list[bool]]) -> Json:
    """Return the smallest case that was found by removing parts. `differs` evaluates multiple cases
    at the same time.
    """
    while True:
        smaller = [_without(case, path) for path in _paths(case)]
        verdicts = differs(smaller) if smaller else []
        found = next((s for s, bad in zip(smaller, verdicts, strict=True) if bad), None)
        if found is None:
            return case
        case = found


def _paths(case: Json) -> Iterator[Path]:
    """Yield the paths of the parts that can be removed, starting with the largest parts."""
    for key in ("claims", "slices", "allocated", "classes"):
        for number in range(len(case[key])):
            yield (key, number)
    for c, claim in enumerate(case["claims"]):
        yield from _list(
            claim["spec"]["devices"], ("claims", c, "spec", "devices"), ("constraints", "requests")
        )
        for r, request in enumerate(claim["spec"]["devices"].get("requests", ())):
            base: Path = ("claims", c, "spec", "devices", "requests", r)
            yield from _list(request, base, ("firstAvailable",))
            ways = [((*base, "exactly"), request["exactly"])] if "exactly" in request else []
            ways += [
                ((*base, "firstAvailable", i), s)
                for i, s in enumerate(request.get("firstAvailable", ()))
            ]
            for path, way in ways:
                yield from (
                    (*path, k)
                    for k in ("selectors", "tolerations", "capacity", "adminAccess")
                    if k in way
                )
    for s, item in enumerate(case["slices"]):
        yield from _list(item["spec"], ("slices", s, "spec"), ("devices", "sharedCounters"))
        for d, device in enumerate(item["spec"].get("devices", ())):
            path = ("slices", s, "spec", "devices", d)
            yield from ((*path, k) for k in device if k not in ("name", "attributes", "capacity"))
            yield from ((*path, "attributes", k) for k in device.get("attributes", ()))
            yield from ((*path, "capacity", k) for k in device.get("capacity", ()))
    for a, claim in enumerate(case["allocated"]):
        results = claim["status"]["allocation"]["devices"]["results"]
        yield from (
            ("allocated", a, "status", "allocation", "devices", "results", i)
            for i in range(len(results))
        )


def _list(holder: Json, base: Path, keys: tuple[str, ...]) -> Iterator[Path]:
    for key in keys:
        # the API rejects a request without alternatives
        least = 1 if key == "firstAvailable" else 0
        items = len(holder.get(key, ()))
        yield from ((*base, key, number) for number in range(items if items > least else 0))


def _without(case: Json, path: Path) -> Json:
    made = copy.deepcopy(case)
    holder: Any = made
    for part in path[:-1]:
        holder = holder[part]
    del holder[path[-1]]
    return made
