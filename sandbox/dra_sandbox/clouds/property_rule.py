"""The rule of one property of a resource type: one row of the table that `provider_rules.py`
describes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from ipaddress import ip_network

from msgspec import Struct

from dra_sandbox.clouds.differences import PropertyDifference
from dra_sandbox.clouds.property_checks import PropertyFailure, values_at
from dra_sandbox.clouds.property_values import rejection
from dra_sandbox.clouds.wire_values import Value, Values


class PropertyRule(Struct, frozen=True, kw_only=True):
    """The columns of a row."""

    kind: str
    omitted: str
    default: Value
    replaces: str
    conflicts: tuple[str, ...]
    one_of: tuple[str, ...]
    any_of: tuple[str, ...]
    needs: tuple[str, ...]
    zero_beside: str
    accepts: str
    same: str
    file: str

    def is_replaced_by(self, change: PropertyDifference) -> bool:
        """Return True if this change of the property re-creates the resource."""
        match self.replaces:
            case "changed":
                return change.kind != "add"
            case "removed":
                return change.kind == "delete"
            case "disabled":
                return change.old is True and change.value is not True
            case "narrowed":
                return not _holds_range(change.value, change.old)
            case _:
                return self.replaces == "yes"

    def keeps(self, value: Value) -> bool:
        """Return True if the property keeps this value when the inputs omit it."""
        if self.omitted == "if_enabled":
            return isinstance(value, dict) and value.get("enabled") is not True
        return self.omitted == "kept"


def read_rule(row: Mapping[str, str], any_of: tuple[str, ...]) -> PropertyRule:
    """Return the rule in a row of a table. `any_of` contains the properties of the column
    `any_of`.
    """
    return PropertyRule(
        kind=row["kind"],
        omitted=row["omitted"],
        default=json.loads(row["default"]) if row["default"] else None,
        replaces=row["replaces"],
        conflicts=tuple(row["conflicts"].split()),
        one_of=tuple(row["one_of"].split()),
        any_of=any_of,
        needs=tuple(row["needs"].split()),
        zero_beside=row["zero_beside"],
        accepts=row["accepts"],
        same=row["same"],
        file=row["file"],
    )


def rule_failures(path: str, rule: PropertyRule, inputs: Values) -> Iterator[PropertyFailure]:
    """Return the values that the provider rejects in a preview: values that it doesn't accept, and
    properties that exclude or need each other.
    """
    for place, value in (*values_at(inputs, path), *values_at(inputs, f"{path}[*]")):
        if reason := rejection(rule.accepts, value):
            yield PropertyFailure(place, reason)
    if (rule.conflicts or rule.one_of or rule.any_of or rule.needs) and _is_set(
        inputs, path.rpartition(".")[0]
    ):
        yield from _combination_failures(path, rule, inputs)


def _combination_failures(
    path: str, rule: PropertyRule, inputs: Values
) -> Iterator[PropertyFailure]:
    given = _is_set(inputs, path)
    for other in rule.conflicts if given else ():
        if _is_set(inputs, other):
            yield PropertyFailure(
                path, f'Conflicting configuration arguments. "{path}": conflicts with {other}'
            )
    for other in rule.needs if given else ():
        if not _is_set(inputs, other):
            yield PropertyFailure(
                path,
                f'Missing required argument. "{path}": all of {_quoted(rule.needs)} must be '
                "specified",
            )
    found = [other for other in rule.one_of if _is_set(inputs, other)]
    if rule.one_of and len(found) != 1:
        wanted = "one" if not found else "only one"
        yield PropertyFailure(
            path,
            f'Invalid combination of arguments. "{path}": {wanted} of {_quoted(rule.one_of)} can '
            "be set",
        )
    if rule.any_of and not any(_is_set(inputs, other) for other in rule.any_of):
        yield PropertyFailure(
            path,
            f'Missing required argument. "{path}": one of {_quoted(rule.any_of)} must be specified',
        )


def _quoted(paths: Collection[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def _is_set(inputs: Values, path: str) -> bool:
    return not path or any(value is not None for _, value in values_at(inputs, path))


def _holds_range(wide: Value, narrow: Value) -> bool:
    """Return True if a range of addresses contains another range, or if a text isn't a
    valid range.
    """
    try:
        return ip_network(str(narrow)).subnet_of(ip_network(str(wide)))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return True
