"""Convert resources of a Pulumi state to formats that checkov reads: a Terraform plan, an ARM
template, and manifests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from dra_sandbox.clouds.sdk import Sdk
from dra_sandbox.clouds.sdk_schema import Schema, TypeSpec

Resource = Mapping[str, Any]
Properties = dict[str, Any]

PREFIXES = {"aws": "aws", "gcp": "google"}
# Terraform types that can't be derived from Pulumi's module and name.
TYPES = {
    "aws:ec2/eip:Eip": "aws_eip",
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": "aws_iam_openid_connect_provider",
    "gcp:projects/iAMMember:IAMMember": "google_project_iam_member",
    "gcp:serviceaccount/account:Account": "google_service_account",
}
# Modules that aren't part of Terraform's types.
UNNAMED_MODULES = {"ec2"}
# Lists for which the bridge uses the plural: Pulumi's name → Terraform's name.
SINGULAR = {
    "allows": "allow",
    "clientIdLists": "client_id_list",
    "denies": "deny",
    "guestAccelerators": "guest_accelerator",
    "maintenanceExclusions": "maintenance_exclusion",
    "nodePools": "node_pool",
    "routes": "route",
    "secondaryIpRanges": "secondary_ip_range",
    "sourceIpRangesToNats": "source_ip_ranges_to_nat",
    "subnetworks": "subnetwork",
    "taints": "taint",
    "thumbprintLists": "thumbprint_list",
}
SECRET = "4dabf18193072939515e22adb298388d"  # the engine's marker for a secret in a state
# SDK types → Resource Manager types, and the keys next to `properties` in a template.
ARM_TYPES = {
    "containerservice:AgentPool": "Microsoft.ContainerService/managedClusters/agentPools",
    "containerservice:ManagedCluster": "Microsoft.ContainerService/managedClusters",
    "managedidentity:UserAssignedIdentity": "Microsoft.ManagedIdentity/userAssignedIdentities",
    "monitor:DiagnosticSetting": "Microsoft.Insights/diagnosticSettings",
    "network:NatGateway": "Microsoft.Network/natGateways",
    "network:NetworkSecurityGroup": "Microsoft.Network/networkSecurityGroups",
    "network:PublicIPAddress": "Microsoft.Network/publicIPAddresses",
    "network:Subnet": "Microsoft.Network/virtualNetworks/subnets",
    "network:VirtualNetwork": "Microsoft.Network/virtualNetworks",
    "operationalinsights:Workspace": "Microsoft.OperationalInsights/workspaces",
}
BESIDE_PROPERTIES = frozenset({"identity", "kind", "location", "sku", "tags", "zones"})
NOT_OF_THE_BODY = frozenset({"__defaults", "resourceGroupName", "resourceName"})


def terraform_plan(resources: Iterable[Resource]) -> Properties:
    """Return a Terraform plan that creates the AWS and Google resources, with their references."""
    mine = [
        each for each in resources if each.get("custom") and each["type"].split(":")[0] in PREFIXES
    ]
    address = {each["urn"]: f"{terraform_type(each['type'])}.{_label(each)}" for each in mine}
    planned, configured = [], []
    for each in mine:
        schema = _sdk(each["type"].split(":")[0]).resource(each["type"])
        known = _revealed(each.get("inputs") or {})
        head = {
            "address": address[each["urn"]],
            "mode": "managed",
            "type": terraform_type(each["type"]),
            "name": _label(each),
        }
        planned.append(
            {**head, "values": _block(schema, {n: s.type for n, s in schema.inputs.items()}, known)}
        )
        references = {
            snake(SINGULAR.get(name, name)): {"references": [address[urn] + ".id", address[urn]]}
            for name, urns in (each.get("propertyDependencies") or {}).items()
            for urn in urns
            if urn in address
        }
        configured.append({**head, "expressions": references})
    changes = [
        {
            **{key: each[key] for key in ("address", "mode", "type", "name")},
            "change": _created(each["values"]),
        }
        for each in planned
    ]
    return {
        "format_version": "1.2",
        "terraform_version": "1.9.0",
        "planned_values": {"root_module": {"resources": planned}},
        "resource_changes": changes,
        "configuration": {"root_module": {"resources": configured}},
    }


def arm_template(resources: Iterable[Resource]) -> Properties:
    """Return a Resource Manager template with the Azure resources whose type exists there. The
    other resources are roles and maintenance windows.
    """
    bodies = []
    for each in resources:
        kind = ARM_TYPES.get(each["type"].removeprefix("azure-native:"))
        if not kind or not each["type"].startswith("azure-native:"):
            continue
        given = {
            n: v for n, v in _revealed(each.get("inputs") or {}).items() if n not in NOT_OF_THE_BODY
        }
        beside = {name: value for name, value in given.items() if name in BESIDE_PROPERTIES}
        inside = {name: value for name, value in given.items() if name not in BESIDE_PROPERTIES}
        bodies.append(
            {
                "type": kind,
                "apiVersion": "2025-01-01",
                "name": _label(each),
                **beside,
                "properties": inside,
            }
        )
    return {
        "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
        "contentVersion": "1.0.0.0",
        "resources": bodies,
    }


def manifests(resources: Iterable[Resource]) -> Sequence[Properties]:
    """Return the objects that are declared in the cluster. Helm renders charts, so they aren't
    included.
    """
    return [
        {name: value for name, value in _revealed(each["inputs"]).items() if name != "__defaults"}
        for each in resources
        if each["type"].startswith("kubernetes:") and "apiVersion" in (each.get("inputs") or {})
    ]


def terraform_type(token: str) -> str:
    """Return the Terraform type for a type in the bridged SDKs."""
    if token in TYPES:
        return TYPES[token]
    cloud, middle, name = token.split(":")
    module = middle.split("/")[0]
    between = [] if module in UNNAMED_MODULES else [module]
    return "_".join([PREFIXES[cloud], *between, snake(name)])


def snake(name: str) -> str:
    """Return a name in snake case: enableDnsHostnames as enable_dns_hostnames, and IAMMember as
    iam_member.
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _block(schema: Schema, members: Mapping[str, TypeSpec], given: Mapping[str, Any]) -> Properties:
    """Return the members of a block with Terraform's names. A nested block is a list with one item,
    as in Terraform's plans.
    """
    block: Properties = {}
    for name, value in given.items():
        if name in members:
            block[snake(SINGULAR.get(name, name) if isinstance(value, list) else name)] = _value(
                schema, members[name], value
            )
    return block


def _value(schema: Schema, spec: TypeSpec, value: Any) -> Any:
    if spec.kind == "union":
        spec = next((each for each in spec.of if each.kind in ("object", "list")), spec.of[0])
    if spec.kind == "object" and isinstance(value, dict):
        members = {name: member.type for name, member in schema.objects[spec.object_name].items()}
        return [_block(schema, members, value)]
    if spec.kind == "list" and isinstance(value, list):
        items = [_value(schema, spec.of[0], item) for item in value]
        return [item[0] if isinstance(item, list) and len(item) == 1 else item for item in items]
    return value


def _revealed(value: Any) -> Any:
    """Return a value in which each secret is replaced by the word `secret`. No check depends on the
    content of a secret.
    """
    if isinstance(value, dict):
        return (
            "secret"
            if SECRET in value
            else {name: _revealed(member) for name, member in value.items()}
        )
    return [_revealed(item) for item in value] if isinstance(value, list) else value


def _created(values: Properties) -> Properties:
    return {"actions": ["create"], "before": None, "after": values, "after_unknown": {}}


def _label(resource: Resource) -> str:
    return re.sub(r"[^\w-]", "_", resource["urn"].rpartition("::")[2])


@cache
def _sdk(name: str) -> Sdk:
    return Sdk(name)
