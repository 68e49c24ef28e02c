"""What differs between two sets of inputs, path by path, and which of it the real provider replaces
for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.wire_values import Value

_INDEX = re.compile(r"\[\d+\]")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True)
class PropertyDifference:
    """One property that differs: its path, whether it is added, deleted or updated, the value it
    has or had, and the one before an update.
    """

    path: str
    kind: str
    value: Value = None
    old: Value = None


@dataclass(frozen=True, slots=True)
class ReplaceRule:
    """Which paths a real provider cannot change in place.

    A path covers everything below it; `[*]` stands for every index. `in_place` names exceptions
    below such a path; `when_removed` paths replace only when what is there goes away.
    """

    paths: frozenset[str] = field(default_factory=frozenset)
    in_place: frozenset[str] = field(default_factory=frozenset)
    when_removed: frozenset[str] = field(default_factory=frozenset)

    def applies_to(self, path: str) -> bool:
        """Whether a change at `path` replaces the resource. The longest rule that covers it
        decides.
        """
        general = general_path(path)
        best = max((rule for rule in self.paths if _covers(rule, general)), key=len, default=None)
        if best is None:
            return False
        return not any(len(rule) > len(best) and _covers(rule, general) for rule in self.in_place)

    def replaces(self, change: PropertyDifference) -> bool:
        """Whether the change replaces the resource: an object that comes or goes whole does what
        its members do.
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
    """Every difference between the values, at the deepest path that tells it.

    Lists at a path in `sets` have no order. With `deep` an object that comes whole is told member
    by member.
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
    """Both lists without the elements that they share."""
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
    """The engine's answer to these differences; `ignored` are paths that the program tells to leave
    alone.
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
    """The path with `[*]` for every index."""
    return _INDEX.sub("[*]", path)


def below(path: str, name: str) -> str:
    """The path of a member, written as the engine writes paths: keys that are no identifiers in
    brackets.
    """
    if _PLAIN_KEY.fullmatch(name) is None:
        return f'{path}["{name}"]'
    return f"{path}.{name}" if path else name


def _top(path: str) -> str:
    return re.split(r"[.\[]", path, maxsplit=1)[0]
