"""Compute the differences between two sets of inputs by path, and determine which of them make the
real provider replace the resource.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.wire_values import Value

_INDEX = re.compile(r"\[\d+\]")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*")


class PropertyDifference(Struct, frozen=True):
    """One changed property: its path, whether it is added, deleted, or updated, its value, and its
    value before an update.
    """

    path: str
    kind: str
    value: Value = None
    old: Value = None


class ReplaceRule(Struct, frozen=True):
    """The paths that a real provider can't change in place.

    A path also covers everything below it, and `[*]` stands for every index. `in_place` contains
    exceptions below such a path. A path in `when_removed` replaces the resource only if the
    existing value is removed.
    """

    paths: frozenset[str] = field(default_factory=frozenset)
    in_place: frozenset[str] = field(default_factory=frozenset)
    when_removed: frozenset[str] = field(default_factory=frozenset)

    def applies_to(self, path: str) -> bool:
        """Return True if a change at `path` replaces the resource. The longest matching rule
        decides.
        """
        general = general_path(path)
        best = max((rule for rule in self.paths if _covers(rule, general)), key=len, default=None)
        if best is None:
            return False
        return not any(len(rule) > len(best) and _covers(rule, general) for rule in self.in_place)

    def replaces(self, change: PropertyDifference) -> bool:
        """Return True if the change replaces the resource. Adding or removing a whole object has
        the same effect as changing its members.
        """
        if change.kind == "delete" and change.path in self.when_removed:
            return True
        if self.applies_to(change.path):
            return True
        return change.kind != "update" and any(
            self.applies_to(member.path)
            for member in differences(None, change.value, change.path, deep=True)
        )


def _covers(rule: str, path: str) -> bool:
    return path == rule or path.startswith((f"{rule}.", f"{rule}["))


def differences(
    old: Value, new: Value, path: str = "", *, sets: Collection[str] = (), deep: bool = False
) -> Iterator[PropertyDifference]:
    """Return every difference between the values, at the deepest path that shows it.

    Lists at a path in `sets` have no order. With `deep`, an added object is reported member by
    member.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            if name != "__defaults":
                yield from differences(
                    old.get(name), new.get(name), below(path, name), sets=sets, deep=deep
                )
    elif isinstance(old, list) and isinstance(new, list):
        if general_path(path) in sets:
            old, new = without_common(old, new)
        for index in range(max(len(old), len(new))):
            left = old[index] if index < len(old) else None
            right = new[index] if index < len(new) else None
            yield from differences(left, right, f"{path}[{index}]", sets=sets, deep=deep)
    elif deep and isinstance(new, dict):
        yield from differences({}, new, path, deep=True)
    elif deep and isinstance(new, list):
        yield from differences([], new, path, deep=True)
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        kind = "add" if old is None else "delete" if new is None else "update"
        yield PropertyDifference(path, kind, old if new is None else new)


def without_common(old: list[Value], new: list[Value]) -> tuple[list[Value], list[Value]]:
    """Return both lists without their common elements."""
    added, removed = list(new), []
    for element in old:
        if element in added:
            added.remove(element)
        else:
            removed.append(element)
    return removed, added


def diff_response(
    found: Sequence[PropertyDifference],
    replaces: Callable[[PropertyDifference], bool],
    *,
    ignored: Iterable[str] = (),
) -> provider_pb2.DiffResponse:
    """Return the response to the engine for these differences.

    `ignored` are paths that the program ignores.
    """
    skipped = ReplaceRule(frozenset(ignored))
    found = [change for change in found if not skipped.applies_to(change.path)]
    replacing = [change.path for change in found if replaces(change)]
    kinds = provider_pb2.PropertyDiff.Kind
    detailed: Mapping[str, provider_pb2.PropertyDiff] = {
        change.path: provider_pb2.PropertyDiff(
            kind=kinds.Value(
                f"{change.kind.upper()}{'_REPLACE' if change.path in replacing else ''}"
            ),
            inputDiff=True,
        )
        for change in found
    }
    changes = provider_pb2.DiffResponse.DIFF_SOME if found else provider_pb2.DiffResponse.DIFF_NONE
    return provider_pb2.DiffResponse(
        changes=changes,
        replaces=sorted({_top(path) for path in replacing}),
        diffs=sorted({_top(change.path) for change in found}),
        detailedDiff=detailed,
        hasDetailedDiff=True,
    )


def general_path(path: str) -> str:
    """Return the path with `[*]` for every index."""
    return _INDEX.sub("[*]", path)


def below(path: str, name: str) -> str:
    """Return the path of a member as the engine writes paths. Keys that aren't identifiers are in
    brackets.
    """
    if _PLAIN_KEY.fullmatch(name) is None:
        return f'{path}["{name}"]'
    return f"{path}.{name}" if path else name


def _top(path: str) -> str:
    return re.split(r"[.\[]", path, maxsplit=1)[0]
