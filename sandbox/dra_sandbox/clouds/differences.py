"""What differs between two sets of inputs, path by path, and which of it the real provider replaces for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.wire import Value, Values

_INDEX = re.compile(r"\[\d+\]")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]*")


@dataclass(frozen=True, slots=True)
class Difference:
    """One property that differs: its path, and whether it is added, deleted or updated."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class ReplaceRule:
    """Which paths a real provider cannot change in place.

    A path covers everything below it; `[*]` stands for every index. `in_place` names exceptions below such a path.
    """

    paths: frozenset[str] = field(default_factory=frozenset)
    in_place: frozenset[str] = field(default_factory=frozenset)

    def applies_to(self, path: str) -> bool:
        """Whether a change at `path` replaces the resource. The longest rule that covers it decides."""
        general = _INDEX.sub("[*]", path)
        best = max((rule for rule in self.paths if _covers(rule, general)), key=len, default=None)
        if best is None:
            return False
        return not any(len(rule) > len(best) and _covers(rule, general) for rule in self.in_place)


def _covers(rule: str, path: str) -> bool:
    return path == rule or path.startswith((f"{rule}.", f"{rule}["))


def differences(old: Value, new: Value, path: str = "") -> Iterator[Difference]:
    """Every difference between the values, at the deepest path that tells it."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            if name != "__defaults":
                yield from differences(old.get(name), new.get(name), _below(path, name))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            left = old[index] if index < len(old) else None
            right = new[index] if index < len(new) else None
            yield from differences(left, right, f"{path}[{index}]")
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        yield Difference(path, "add" if old is None else "delete" if new is None else "update")


def diff_response(
    old: Values, new: Values, rule: ReplaceRule, *, ignored: Iterable[str] = ()
) -> provider_pb2.DiffResponse:
    """The engine's answer for a change from `old` to `new`; `ignored` are paths the program told to leave alone."""
    skipped = ReplaceRule(frozenset(ignored))
    found = [change for change in differences(old, new) if not skipped.applies_to(change.path)]
    replacing = [change.path for change in found if rule.applies_to(change.path)]
    kinds = provider_pb2.PropertyDiff.Kind
    detailed: Mapping[str, provider_pb2.PropertyDiff] = {
        change.path: provider_pb2.PropertyDiff(
            kind=kinds.Value(f"{change.kind.upper()}{'_REPLACE' if change.path in replacing else ''}"),
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


def _below(path: str, name: str) -> str:
    """The path of a member, written as the engine writes paths: keys that are no identifiers in brackets."""
    if _PLAIN_KEY.fullmatch(name) is None:
        return f'{path}["{name}"]'
    return f"{path}.{name}" if path else name


def _top(path: str) -> str:
    return re.split(r"[.\[]", path, maxsplit=1)[0]
