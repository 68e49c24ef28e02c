"""The rows of the security baseline, from the table `security_rows`: what is wrong with a resource.

A row is broken for certain or not at all: what is not known, or left to an account's default, breaks none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from dra_planner.catalog.tables import read_table
from dra_policies.unknowns import UNKNOWN, Properties

EVERYWHERE: Final = frozenset({"0.0.0.0/0", "::/0"})
_WORDS: Final[Mapping[str, frozenset[object]]] = {
    "null": frozenset({None}),
    "true": frozenset({True, "true"}),
    "false": frozenset({False, "false"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing that a resource of a type should not be; `reference` is who else says so.

    `wrong` says when: the property *is* the value, *lacks* it in its list, is *open* to every address, or *open by
    default*, also where it is absent; not so where the property `unless_off` is false.
    """

    type: str
    kind: str
    property: str
    wrong: str
    value: str
    unless_off: str
    says: str
    fix: str
    reference: str

    def is_broken(self, props: Properties) -> bool:
        """Return whether the resource is for certain what it should not be."""
        if self.unless_off and props.flag(self.unless_off, default=True) is not True:
            return False
        if self.wrong == "is":
            wrong = _WORDS.get(self.value, frozenset({self.value}))
            return any(_is_scalar(value) and value in wrong for value in _values(props, self.property))
        if self.wrong == "lacks":
            texts = props.texts(self.property)
            return texts is not None and None not in texts and self.value not in texts
        found = [value for value in _values(props, self.property) if value is not None]
        by_default = self.wrong == "open by default" and props.texts(self.property) == ()
        return by_default or any(_is_scalar(value) and value in EVERYWHERE for value in found)


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | bool | int | float)


def _values(props: Properties, path: str) -> Iterator[Any]:
    """Yield what stands at a path; `name[]` goes through the items of a list, and a list at the end gives its items."""
    head, items, rest = path.partition("[].")
    if items:
        for item in props.items(head) or ():
            yield from _values(item, rest)
        return
    value = props.at(head)
    if value is not UNKNOWN:
        yield from value if isinstance(value, list) and value else [value]


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows, in the order of the table."""
    return tuple(
        Row(
            type=row["type"],
            kind=row["kind"],
            property=row["property"],
            wrong=row["wrong"],
            value=row["value"],
            unless_off=row["unless_off"],
            says=row["says"],
            fix=row["fix"],
            reference=row["reference"],
        )
        for row in read_table("security_rows")
    )
