"""Compare the tables `api_values` and `api_constraints` with the API models of the clouds' SDKs.

    python conformance/api_values/run.py            report differences from the installed models
    python conformance/api_values/run.py --write    write the rows that models provide

Rows that don't come from a model stay unchanged.
"""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import botocore.loaders
from azure_constraints import azure_limits, azure_members
from google.cloud import container_v1

from dra_sandbox.clouds.sdk import Sdk
from dra_sandbox.clouds.sdk_schema import Properties, Schema, TypeSpec

DATA = Path(__file__).parents[2] / "planner/dra_planner/data"
COLUMNS = ("type", "property", "kind", "value", "grows", "source")
TABLES = {
    "api_values": COLUMNS,
    "api_constraints": ("type", "property", "kind", "value", "source"),
}
MODELS = (
    "botocore-models",
    "google-container-models",
    "azure-native-models",
    "azure-sdk-models",
)
OF_VALUES = ("values", "words", "keys", "range")

AWS = {
    "aws:eks/cluster:Cluster": ("eks", "CreateClusterRequest"),
    "aws:eks/nodeGroup:NodeGroup": ("eks", "CreateNodegroupRequest"),
    "aws:eks/accessEntry:AccessEntry": ("eks", "CreateAccessEntryRequest"),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": (
        "eks",
        "AssociateAccessPolicyRequest",
    ),
    "aws:eks/addon:Addon": ("eks", "CreateAddonRequest"),
    "aws:eks/fargateProfile:FargateProfile": ("eks", "CreateFargateProfileRequest"),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": (
        "eks",
        "CreatePodIdentityAssociationRequest",
    ),
    "aws:iam/instanceProfile:InstanceProfile": ("iam", "CreateInstanceProfileRequest"),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": ("iam", "AttachRolePolicyRequest"),
    "aws:ec2/launchTemplate:LaunchTemplate": ("ec2", "RequestLaunchTemplateData"),
    "aws:ec2/capacityReservation:CapacityReservation": ("ec2", "CreateCapacityReservationRequest"),
    "aws:ec2/placementGroup:PlacementGroup": ("ec2", "CreatePlacementGroupRequest"),
    "aws:ec2/natGateway:NatGateway": ("ec2", "CreateNatGatewayRequest"),
    "aws:ec2/vpcEndpoint:VpcEndpoint": ("ec2", "CreateVpcEndpointRequest"),
    "aws:autoscaling/group:Group": ("autoscaling", "CreateAutoScalingGroupType"),
}
RENAMED = {
    "vpcConfig": "resourcesVpcConfig",
    "resolveConflictsOnCreate": "resolveConflicts",
    "resolveConflictsOnUpdate": "resolveConflicts",
    "nodeConfig": "config",
    "guestAccelerators": "accelerators",
}
# Properties of clusters that are in a nested message of the API.
FLATTENED = {
    "datapathProvider": "networkConfig",
    "inTransitEncryptionConfig": "networkConfig",
    "privateIpv6GoogleAccess": "networkConfig",
}
GCP = {
    "gcp:container/cluster:Cluster": container_v1.Cluster,
    "gcp:container/nodePool:NodePool": container_v1.NodePool,
}
AZURE = (
    "azure-native:containerservice:ManagedCluster",
    "azure-native:containerservice:AgentPool",
    "azure-native:containerservice:MaintenanceConfiguration",
    "azure-native:authorization:RoleAssignment",
    "azure-native:compute:CapacityReservation",
    "azure-native:managedidentity:FederatedIdentityCredential",
    "azure-native:network:Subnet",
    "azure-native:network:VirtualNetwork",
    "azure-native:network:RouteTable",
    "azure-native:network:NetworkSecurityGroup",
    "azure-native:network:NatGateway",
    "azure-native:compute:ProximityPlacementGroup",
)
# New images appear between versions of the AWS models. The other models are older than the APIs.
GROWING = ("amiType", "tier")
# Properties that are checked elsewhere (machine types, taints, pools inside clusters), or that a
# provider writes in another form.
UNRELATED = (
    "agentPoolProfiles",
    "effect",
    "instanceRequirements",
    "instanceType",
    "nodePoolAutoConfig",
    "nodePoolDefaults",
    "nodePools",
    "notificationConfig",
    "outpostConfig",
    "resourceType",
    "sandboxConfig",
    "windowsNodeConfig",
    "windowsProfile",
    "workloadRuntime",
)

Row = dict[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    found = list(rows_of_models())
    differences: list[str] = []
    for table, columns in TABLES.items():
        rows = [row for row in found if (row["kind"] in OF_VALUES) == (table == "api_values")]
        differences += _compare(DATA / f"{table}.csv", columns, rows, write=write)
    print("\n".join(differences) or f"{len(found)} rows agree with the models")
    return int(bool(differences) and not write)


def _compare(file: Path, columns: tuple[str, ...], found: list[Row], *, write: bool) -> list[str]:
    """Return the differences between one table and the rows from the models. For the same property,
    a row from another source takes precedence.
    """
    written = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    others = [row for row in written if row["source"] not in MODELS]
    known = {(row["type"], row["property"], _about(row)) for row in others}
    kept = [row for row in found if (row["type"], row["property"], _about(row)) not in known]
    kept = [{key: row[key] for key in columns} for row in kept]
    if write:
        text = io.StringIO()
        table = csv.DictWriter(text, columns, lineterminator="\n")
        table.writeheader()
        rows = (*kept, *others)
        table.writerows(sorted(rows, key=lambda row: (row["type"], row["property"])))
        file.write_text(text.getvalue(), encoding="utf-8")
    there, here = (
        {tuple(row[key] for key in columns) for row in rows}
        for rows in ([row for row in written if row["source"] in MODELS], kept)
    )
    return [f"not in the table: {' '.join(each)}" for each in sorted(here - there)] + [
        f"not in the models: {' '.join(each)}" for each in sorted(there - here)
    ]


def _about(row: Row) -> str:
    """Return the subject of a row. A property has one range or list of values, but can have
    multiple constraints of the other kinds.
    """
    return "" if row["kind"] in OF_VALUES else f"{row['kind']} {row['value']}"


def rows_of_models() -> Iterator[Row]:
    """Yield the rows that the installed SDKs provide."""
    loader = botocore.loaders.Loader()
    aws, gcp, azure = Sdk("aws"), Sdk("gcp"), Sdk("azure-native")
    for token, (service, shape) in AWS.items():
        shapes = loader.load_service_model(service, "service-2")["shapes"]
        schema = aws.resource(token)
        source = MODELS[0]
        yield from _of_aws(token, schema, schema.inputs, shapes, shapes[shape], "", source)
    for token, message in GCP.items():
        schema = gcp.resource(token)
        source = MODELS[1]
        yield from _of_gcp(token, schema, schema.inputs, message, "", source)
    for token in AZURE:
        schema = azure.resource(token)
        source = MODELS[2]
        yield from _of_enums(token, schema, schema.inputs, "", source, ())
    for found, source in ((azure_members(), MODELS[2]), (azure_limits(), MODELS[3])):
        for token, path, kind, value in found:
            yield {**_row(token, path, kind, value, source), "grows": ""}


def _children(schema: Schema, spec: TypeSpec) -> tuple[str, Properties | None]:
    """Return the suffix of a path and the properties of an object or a list of objects."""
    if spec.kind == "union":
        for member in spec.of:
            suffix, found = _children(schema, member)
            if found is not None:
                return suffix, found
    if spec.kind == "list":
        return "[]", _children(schema, spec.of[0])[1]
    return "", schema.objects.get(spec.object_name) if spec.kind == "object" else None


def _of_aws(
    token: str,
    schema: Schema,
    properties: Properties,
    shapes: Any,
    shape: Any,
    path: str,
    source: str,
) -> Iterator[Row]:
    members = {name.casefold(): member for name, member in shape.get("members", {}).items()}
    for name, spec in properties.items():
        wanted = RENAMED.get(name, name).casefold()
        member = members.get(wanted) or members.get(wanted.removesuffix("s"))
        if member is None or name in UNRELATED:
            continue
        target, here = shapes[member["shape"]], f"{path}{name}"
        suffix, below = _children(schema, spec.type)
        if target["type"] == "list":
            target, suffix = shapes[target["member"]["shape"]], "[]"
        if below is not None and target["type"] == "structure":
            yield from _of_aws(token, schema, below, shapes, target, f"{here}{suffix}.", source)
        elif "enum" in target:
            yield _row(token, f"{here}{suffix}", "values", "|".join(target["enum"]), source)
        elif target["type"] in ("integer", "long") and (target.get("min") or "max" in target):
            limits = f"{target.get('min', '')} to {target.get('max', '')}".strip()
            yield _row(token, here, "range", limits, source)
        yield from _limits_of_aws(token, f"{here}{suffix}", target, source)


def _limits_of_aws(token: str, path: str, target: Any, source: str) -> Iterator[Row]:
    """Yield the pattern and the length of a text."""
    if target["type"] != "string":
        return
    pattern = target.get("pattern", "")
    # patterns that match any text, and invalid patterns, aren't constraints
    if pattern and not pattern.startswith(r"[\u0020") and "^" not in pattern[1:].replace("[^", ""):
        yield _row(token, path, "pattern", pattern, source)
    if not path.endswith("[]") and ((target.get("min") or 0) > 1 or "max" in target):
        low = target.get("min") or ""
        yield _row(token, path, "length", f"{low} to {target.get('max', '')}".strip(), source)


def _of_gcp(
    token: str, schema: Schema, properties: Properties, message: Any, path: str, source: str
) -> Iterator[Row]:
    fields = {name.replace("_", ""): field for name, field in message.meta.fields.items()}
    for name, spec in properties.items():
        wanted = RENAMED.get(name, name).casefold()
        field = fields.get(wanted) or fields.get(wanted.removesuffix("s"))
        if name in FLATTENED and not path:
            inner = fields[FLATTENED[name].casefold()].message.meta.fields.items()
            field = {key.replace("_", ""): each for key, each in inner}.get(wanted)
        if field is None or name in UNRELATED:
            continue
        suffix, below = _children(schema, spec.type)
        here = f"{path}{name}{suffix}"
        if field.enum is not None and not isinstance(field.enum, str):
            yield _row(token, here, "values", "|".join(each.name for each in field.enum), source)
        elif below is not None and field.message is not None and hasattr(field.message, "meta"):
            yield from _of_gcp(token, schema, below, field.message, f"{here}.", source)


def _of_enums(
    token: str,
    schema: Schema,
    properties: Properties,
    path: str,
    source: str,
    above: tuple[str, ...],
) -> Iterator[Row]:
    for name, spec in properties.items():
        if name in UNRELATED:
            continue
        suffix, below = _children(schema, spec.type)
        here = f"{path}{name}{suffix}"
        values = [str(each) for each in _enum(spec.type)]
        if values:
            yield _row(token, here, "words", "|".join(values), source)
        elif below is not None and spec.type.object_name not in above:
            inside = (*above, spec.type.object_name)
            yield from _of_enums(token, schema, below, f"{here}.", source, inside)


def _enum(spec: TypeSpec) -> tuple[Any, ...]:
    if spec.kind == "enum":
        return spec.values
    return next((found for member in spec.of if (found := _enum(member))), ())


def _row(token: str, path: str, kind: str, value: str, source: str) -> Row:
    leaf = path.rpartition(".")[2].removesuffix("[]")
    grows = "yes" if leaf in GROWING or source != MODELS[0] else ""
    return dict(zip(COLUMNS, (token, path, kind, value, grows, source), strict=True))


if __name__ == "__main__":
    sys.exit(main())
