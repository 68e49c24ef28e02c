"""Read the changes for which the provider re-creates a resource from the table `replacements.csv`.

Sources, by column: `forceNewMap` is the list in pulumi/pulumi-azure-native:
provider/pkg/gen/replacement.go@1b7112a (July 2026). `path` contains the parameters in the path of a
resource. `mutability` contains the properties that Azure's specification marks with
`x-ms-mutability` as set only at creation (…/provider/pkg/gen/properties.go@f65ea5b). Other
properties are updated, which the API can reject.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from dra_sandbox.clouds.differences import PropertyDifference, ReplaceRule, general_path


class AzureReplaceRule(ReplaceRule, frozen=True):
    """The paths of one resource type that cause a replacement, as the provider compares them
    (pulumi/pulumi-azure-native:provider/pkg/provider/diff.go@03707ff).
    """

    def replaces(self, change: PropertyDifference) -> bool:
        """Return True if a listed property or a value inside a listed object changes.

        Adding or removing a whole object replaces the resource only if the object itself is listed,
        not because of its members.
        """
        path = general_path(change.path)
        if path in self.paths:
            return True
        return change.kind == "update" and any(each in self.paths for each in _objects_above(path))


def _objects_above(path: str) -> Iterator[str]:
    """Yield the objects that contain a value. An element of a list counts as an object, but the
    list doesn't.
    """
    while path := path.rpartition(".")[0]:
        yield path


def read_replacements() -> Mapping[str, AzureReplaceRule]:
    """Return the rule of each resource type in the table."""
    found: dict[str, set[str]] = {}
    file = Path(__file__).with_name("replacements.csv")
    with file.open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            found.setdefault(row["type"], set()).add(row["property"])
    return {token: AzureReplaceRule(frozenset(paths)) for token, paths in found.items()}
