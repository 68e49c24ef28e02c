"""Write the constraints in the schemas of the Terraform provider for AWS.

    python conformance/provider_schemas/run.py FOLDER            report differences
    python conformance/provider_schemas/run.py FOLDER --write    write the tables

FOLDER is `internal/service` of the provider. Values and ranges are written to the table
`api_values`, and all other constraints to `api_constraints`. The command skips constraints that
other sources already state, and prints properties that the SDK doesn't have.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import botocore.loaders
from go_schemas import GoProperty, read_schema

from dra_sandbox.clouds.sdk import Sdk
from dra_sandbox.clouds.sdk_schema import Properties, Schema, TypeSpec

DATA = Path(__file__).parents[2] / "planner/dra_planner/data"
TABLES = {
    "api_values": ("type", "property", "kind", "value", "grows", "source"),
    "api_constraints": ("type", "property", "kind", "value", "source"),
}
SOURCE = "aws-provider-schemas"
# type → file, function, and service model with the values of its enums
RESOURCES = {
    "aws:autoscaling/group:Group": ("autoscaling/group", "ResourceGroup", "autoscaling"),
    "aws:ec2/capacityReservation:CapacityReservation": (
        "ec2/ec2_capacity_reservation",
        "ResourceCapacityReservation",
        "ec2",
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": (
        "ec2/ec2_launch_template",
        "ResourceLaunchTemplate",
        "ec2",
    ),
    "aws:ec2/natGateway:NatGateway": ("ec2/vpc_nat_gateway", "ResourceNATGateway", "ec2"),
    "aws:ec2/placementGroup:PlacementGroup": (
        "ec2/ec2_placement_group",
        "ResourcePlacementGroup",
        "ec2",
    ),
    "aws:ec2/subnet:Subnet": ("ec2/vpc_subnet", "ResourceSubnet", "ec2"),
    "aws:ec2/vpcEndpoint:VpcEndpoint": ("ec2/vpc_endpoint", "ResourceVPCEndpoint", "ec2"),
    "aws:eks/addon:Addon": ("eks/addon", "resourceAddon", "eks"),
    "aws:eks/cluster:Cluster": ("eks/cluster", "resourceCluster", "eks"),
    "aws:eks/fargateProfile:FargateProfile": (
        "eks/fargate_profile",
        "resourceFargateProfile",
        "eks",
    ),
    "aws:eks/nodeGroup:NodeGroup": ("eks/node_group", "resourceNodeGroup", "eks"),
    "aws:iam/role:Role": ("iam/role", "ResourceRole", "iam"),
}
# Properties that are omitted: a limit that newer versions of the provider raised, and values that
# another rule checks.
ELSEWHERE = ("blockDeviceMappings[].ebs.throughput", "taints[].effect")
# Patterns of texts, by the function that validates them.
FORMS = {
    "verify.ValidARN": r"^arn:aws(-[a-z]+)*:",
    "verify.ValidLaunchTemplateID": r"^lt-[a-z0-9]+$",
    "validation.IsIPv4Address": r"^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$",
    "verify.ValidIPv4CIDRNetworkAddress": r"^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+$",
    "verify.ValidCIDRNetworkAddress": r"^[0-9a-fA-F.:]+/[0-9]+$",
}
COMBINATIONS = {
    "ConflictsWith": "at most one",
    "ExactlyOneOf": "one of",
    "AtLeastOneOf": "at least one",
    "RequiredWith": "needs",
}
ONE_EACH = ("values", "words", "range", "length", "count", "pattern")
Row = dict[str, str]


class ResourceRows:
    """The rows of one resource type."""

    def __init__(self, token: str, schema: Schema, shapes: Mapping[str, Any]) -> None:
        self.token, self.schema, self.shapes = token, schema, shapes
        self.unknown: list[str] = []
        self._paths: dict[str, str] = {}

    def rows(self, members: dict[str, GoProperty]) -> Iterator[Row]:
        """Yield the rows of a schema."""
        found = list(self._named(members, self.schema.inputs, "", ""))
        self._paths = {go_path: path for go_path, path, _ in found}
        for _, path, each in found:
            yield from self._of_values(path, each)
        for go_path, path, each in found:
            yield from self._combinations(go_path, path, each)

    def _named(
        self, members: dict[str, GoProperty], inputs: Properties, go_path: str, path: str
    ) -> Iterator[tuple[str, str, GoProperty]]:
        for go_name, each in members.items():
            name = _sdk_name(go_name, inputs)
            if name is None:
                if each.entries.get("Optional") or each.entries.get("Required"):
                    self.unknown.append(f"{self.token} {go_path}{go_name}")
                continue
            here, there = f"{path}{name}", f"{go_path}{go_name}"
            yield there, here, each
            suffix, below = _children(self.schema, inputs[name].type)
            if below is not None:
                yield from self._named(each.members, below, f"{there}.", f"{here}{suffix}.")

    def _of_values(self, path: str, each: GoProperty) -> Iterator[Row]:
        is_list = each.entries.get("Type", "").endswith(("List", "Set"))
        called = each.entries.get("ValidateFunc") or each.entries.get("ValidateDiagFunc") or ""
        here = f"{path}[]" if is_list else path
        low, high = (each.entries.get(f"{end}Items", "") for end in ("Min", "Max"))
        if is_list and high not in ("", "1"):
            yield self.row(path, "count", f"{low} to {high}".strip())
        if found := re.fullmatch(r"validation\.IntBetween\((-?\d+), (\d+)\)", called):
            if int(found[1]) >= 0:
                yield self.row(path, "range", f"{found[1]} to {found[2]}")
        elif found := re.fullmatch(r"validation\.IntAtLeast\(([1-9]\d*)\)", called):
            yield self.row(path, "range", f"{found[1]} to")
        elif found := re.search(r"StringInSlice\(\[\]string\{(.*)\}, (\w+)\)", called):
            yield self.row(here, "values", "|".join(re.findall(r'"([^"]+)"', found[1])))
        elif found := re.search(r"\.(\w+)_Values\(\)|Validate\[\w+\.(\w+)\]", called):
            shape = self.shapes.get(found[1] or found[2], {})
            if values := shape.get("enum"):
                yield self.row(here, "values", "|".join(values))
        for low, high in re.findall(r"StringLenBetween\((\d+), (\d+)\)", called):
            yield self.row(path, "length", f"{low if low != '0' else ''} to {high}".strip())
        if not called.startswith("validation.Any"):
            for pattern in re.findall(r"MustCompile\(`([^`]+)`\)", called):
                if "\\p{" in pattern:  # character classes that Python's re doesn't support
                    continue
                yield self.row(here, "pattern", pattern)
        if called in FORMS:
            yield self.row(here, "pattern", FORMS[called])

    def _combinations(self, go_path: str, path: str, each: GoProperty) -> Iterator[Row]:
        for entry, kind in COMBINATIONS.items():
            listed = re.findall(r'"([\w.]+)"', each.entries.get(entry, ""))
            others = [self._paths.get(re.sub(r"\.\d+\.", ".", name)) for name in listed]
            if not others or None in others:
                continue
            named = [str(other) for other in others]
            groups = [named] if kind != "at most one" else [[path, other] for other in named]
            if kind == "needs":
                groups = [[path, *(other for other in named if other != path)]]
            for group in groups:
                yield from self._group(kind, group)

    def _group(self, kind: str, group: list[str]) -> Iterator[Row]:
        scopes = {each.rpartition(".")[0] for each in group}
        scope = scopes.pop() if len(scopes) == 1 else ""
        if not scope and any("[]" in each for each in group):
            return
        names = [each.removeprefix(f"{scope}.") if scope else each for each in group]
        ordered = names if kind == "needs" else sorted(names)
        yield self.row(scope, kind, "|".join(ordered))

    def row(self, path: str, kind: str, value: str) -> Row:
        is_list = kind == "values"
        return {
            "type": self.token,
            "property": path,
            "kind": kind,
            "value": value,
            "grows": "yes" if is_list else "",
            "source": SOURCE,
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    found, unknown = rows_of_provider(arguments.folder)
    differs = False
    for table, columns in TABLES.items():
        file = DATA / f"{table}.csv"
        written = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
        others = [row for row in written if row["source"] != SOURCE]
        known = {_key(row) for row in others} | set(_rules_of_provider())
        rows = [row for row in found if _table(row) == table and _key(row) not in known]
        kept = [{key: row[key] for key in columns} for row in rows]
        text = _csv(columns, sorted((*others, *kept), key=_place))
        print(f"{len(kept)} rows in {table}")
        differs = differs or text != file.read_text(encoding="utf-8")
        if arguments.write:
            file.write_text(text, encoding="utf-8")
    print("\n".join(unknown))
    return int(differs and not arguments.write)


def rows_of_provider(folder: Path) -> tuple[list[Row], list[str]]:
    """Return the rows of all resource types, and the properties that the SDK doesn't have."""
    sdk, loader = Sdk("aws"), botocore.loaders.Loader()
    found: list[Row] = []
    unknown: list[str] = []
    for token, (file, function, service) in RESOURCES.items():
        shapes = loader.load_service_model(service, "service-2")["shapes"]
        part = ResourceRows(token, sdk.resource(token), shapes)
        text = (folder / f"{file}.go").read_text(encoding="utf-8")
        for row in part.rows(read_schema(text, function)):
            if row not in found and row["property"] not in ELSEWHERE:
                found.append(row)
        unknown += part.unknown
    return found, unknown


def _sdk_name(go_name: str, inputs: Properties) -> str | None:
    """Return the SDK's name of a property, in camel case. The name of a list is in the plural."""
    flat = go_name.replace("_", "")
    plurals = (flat, f"{flat}s", f"{flat}es", re.sub("y$", "ies", flat))
    return next((name for name in inputs if name.casefold() in plurals), None)


def _children(schema: Schema, spec: TypeSpec) -> tuple[str, Properties | None]:
    """Return the suffix of a path and the properties of an object or a list of objects."""
    if spec.kind == "union":
        parts = [_children(schema, member) for member in spec.of]
        return next((each for each in parts if each[1] is not None), ("", None))
    if spec.kind == "list":
        return "[]", _children(schema, spec.of[0])[1]
    return "", schema.objects.get(spec.object_name) if spec.kind == "object" else None


def _rules_of_provider() -> Iterator[tuple[str, ...]]:
    """Yield the constraints that the table `provider_rules` already states."""
    file = DATA / "provider_rules.csv"
    for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
        path = row["property"].replace("[*]", "[]")
        if row["accepts"]:
            yield row["type"], path, "range"
            yield row["type"], path, "values"
        for column, kind in (
            ("conflicts", "at most one"),
            ("one_of", "one of"),
            ("any_of", "at least one"),
            ("needs", "needs"),
        ):
            if row[column] and not row[column].startswith("@"):
                yield row["type"], path.rpartition(".")[0], kind


def _key(row: Row) -> tuple[str, ...]:
    """Return the identity of a constraint. A property has only one range, length, or list of
    values.
    """
    place = (row["type"], row["property"], row["kind"].replace("words", "values"))
    return place if row["kind"] in ONE_EACH else (*place, row["value"])


def _table(row: Row) -> str:
    return "api_values" if row["kind"] in ("values", "words", "range") else "api_constraints"


def _place(row: Row) -> tuple[str, str]:
    return row["type"], row["property"]


def _csv(columns: tuple[str, ...], rows: list[Row]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, columns, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


if __name__ == "__main__":
    sys.exit(main())
