"""Constraints of APIs and providers on the properties of a resource: members, types, patterns, and
combinations. `api_values` contains the accepted values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from msgspec import Struct

from dra_planner.catalog.tables import Row, read_table

_BRIDGED = ("aws:", "gcp:")  # their providers are built on Terraform
_PARTS = ("conflicts", "one_of", "any_of", "needs")


class ApiConstraint(Struct, frozen=True, kw_only=True):
    """One constraint of a resource type.

    `path` is the dotted path of the constrained part ("" for the whole resource), with `[]` for
    every entry of a list, and `{}` for every value of a mapping. `kind` determines how to read
    `value`: a list of members separated by `|`, or one condition (docs/tables.md). `of_provider`
    marks a constraint of a provider's own schema. Such a provider ignores empty values, and also
    returns values that the user didn't set.
    """

    path: str
    kind: str
    value: str
    of_provider: bool = False

    @property
    def members(self) -> tuple[str, ...]:
        """The members to which the constraint applies."""
        return tuple(self.value.split("|"))


class DefinitionChart(Struct, frozen=True):
    """The charts that install the definitions of an API group, and the chart version that the
    tables describe.
    """

    charts: tuple[str, ...]
    version: tuple[int, ...]


@cache
def definition_charts() -> Mapping[str, DefinitionChart]:
    """Return the charts with the definitions of custom resources, by API group."""
    return {
        row["group"]: DefinitionChart(
            tuple(row["charts"].split()), tuple(map(int, row["version"].split(".")))
        )
        for row in read_table("definition_charts")
    }


@cache
def api_constraints() -> Mapping[str, tuple[ApiConstraint, ...]]:
    """Return the constraints by resource type, in table order."""
    found: dict[str, list[ApiConstraint]] = {}
    for row in read_table("api_constraints"):
        found.setdefault(row["type"], []).append(
            ApiConstraint(
                path=row["property"],
                kind=row["kind"],
                value=row["value"],
                of_provider=row["type"].startswith(_BRIDGED),
            )
        )
    for row in read_table("provider_rules"):
        found.setdefault(row["type"], []).extend(_of_provider(row))
    return {token: tuple(dict.fromkeys(rows)) for token, rows in found.items()}


def _of_provider(row: Row) -> Iterator[ApiConstraint]:
    """Yield the constraints in a row of `provider_rules`, relative to the nearest part that
    contains all its properties.
    """
    path = row["property"].replace("[*]", "[]")
    parent, _, name = path.rpartition(".")
    if row["omitted"] == "required":
        yield ApiConstraint(path=parent, kind="required", value=name, of_provider=True)
    for column in _PARTS:
        others = [] if row[column].startswith("@") else row[column].replace("[*]", "[]").split()
        if not others:
            continue
        kind, groups = {
            "conflicts": ("at most one", [sorted((path, each)) for each in others]),
            "one_of": ("one of", [sorted(others)]),
            "any_of": ("at least one", [sorted(others)]),
            "needs": ("needs", [[path, *others]]),
        }[column]
        for group in groups:
            yield from _combination(kind, group, parent)


def _combination(kind: str, paths: list[str], parent: str) -> Iterator[ApiConstraint]:
    """Yield a constraint relative to the parent of all paths, or to the whole resource.

    The requirement to set a part applies only if its parent is set.
    """
    scope = parent if all(each.rpartition(".")[0] == parent for each in paths) else ""
    has_items = any("[]" in each for each in paths)
    if (not scope and has_items) or (kind in ("one of", "at least one") and scope != parent):
        return
    members = "|".join(each.removeprefix(f"{scope}.") if scope else each for each in paths)
    yield ApiConstraint(path=scope, kind=kind, value=members, of_provider=True)


@cache
def value_forms() -> Mapping[str, str]:
    """Return the form that each pattern requires, as a noun phrase. Patterns without a known form
    are absent.
    """
    return {row["pattern"]: row["form"] for row in read_table("value_forms")}
