"""The resources that a row of the table `resource_rows` reads, and conditions about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from dra_policies.unknown_values import UNKNOWN, Properties, as_list, as_mapping, has_unknown

_WORDS: Final[Mapping[str, frozenset[object]]] = {
    "null": frozenset({None}),
    "true": frozenset({True, "true"}),
    "false": frozenset({False, "false"}),
}


class RowOwner(Struct, frozen=True, kw_only=True):
    """The properties that a path belongs to, and the properties that other resources provide."""

    props: Properties
    sourced: frozenset[str] = frozenset()

    def comes_from_resource(self, path: str) -> bool:
        """Return whether the output of another resource provides a property, so it isn't null."""
        return path.partition(".")[0] in self.sourced

    def item(self, path: str, item: Properties) -> RowOwner:
        """Return an item of a list, whose unknown properties come from where the list does."""
        return RowOwner(
            props=item, sourced=_keys(item) if self.comes_from_resource(path) else frozenset()
        )

    def holds(self, condition: str) -> bool:
        """Return whether a condition is certainly true."""
        path, equals, wanted = condition.lstrip("!").partition("=")
        value = self.props.at(path)
        if value is UNKNOWN and not equals and self.comes_from_resource(path):
            return not condition.startswith("!")
        if value is UNKNOWN or (equals and has_unknown(value)):
            return False
        answer = any(equals_word(each, wanted) for each in leaves(value)) if equals else bool(value)
        return answer != condition.startswith("!")


def _keys(props: Properties) -> frozenset[str]:
    return frozenset(as_mapping(props.values) or {})


class RowSubject(Struct, frozen=True, kw_only=True):
    """A resource, and the cluster and launch template of a pool, None if they aren't known."""

    own: RowOwner
    cluster: RowOwner | None = None
    template: RowOwner | None = None

    def owner(self, path: str) -> tuple[RowOwner | None, str]:
        """Return the resource that a path belongs to, and the path there."""
        prefix, colon, rest = path.partition(":")
        if not colon:
            return self.own, path
        return (self.cluster if prefix == "cluster" else self.template), rest

    def holds(self, condition: str) -> bool:
        """Return whether a condition is certainly true."""
        negated, text = condition.startswith("!"), condition.lstrip("!")
        head, equals, wanted = text.partition("=")
        owner, path = self.owner(head)
        return owner is not None and owner.holds(f"{'!' if negated else ''}{path}{equals}{wanted}")


def equals_word(value: object, wanted: str) -> bool:
    """Return whether a value is written as in the table."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) == wanted
    return (value is None or isinstance(value, str | bool)) and value in _WORDS.get(
        wanted, frozenset({wanted})
    )


def leaves(value: Any) -> list[Any]:
    """Return the items of a list, or the value itself."""
    return as_list(value) or [value]
