"""AWS resources as the API requests that create them, with the names of botocore's API model, which
validates the requests.

`REQUESTS` lists the operations that create a resource. The model contains names (which differ from
Pulumi's names in case and in a few places that the table lists), types, required members, patterns,
and enums.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import botocore.session
from api_names import Names, renamed
from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator
from msgspec import Struct


class Operation(Struct, frozen=True):
    """One request. `fixed` contains the members that the provider adds, `within` is the member that
    contains all other members, `named` is the member that autonaming sets, `of` is the member for
    the ID that the first request returned, and `tagged` is the kind of resource that an EC2 request
    tags. `id` and `outputs` are JMESPath expressions for the response. `simulated` is true if moto
    implements the request.
    """

    service: str
    name: str
    names: Names = {}
    fixed: Mapping[str, Any] = {}
    within: str = ""
    named: str = ""
    of: str = ""
    tagged: str = ""
    id: str = ""
    outputs: Mapping[str, str] = {}
    simulated: bool = True


PLACEHOLDER_ID = "id-of-what-is-made"


def _ec2(operation: str, kind: str, id: str, **more: Any) -> Operation:
    return Operation("ec2", operation, tagged=kind, id=id, **more)


def _permissions(rules: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the rules of a security group: `self` becomes a pair with the group itself, a network
    a range.
    """
    return {"IpPermissions": [_permission(dict(rule)) for rule in rules]}


def _permission(rule: dict[str, Any]) -> dict[str, Any]:
    names = {"protocol": "IpProtocol", "fromPort": "FromPort", "toPort": "ToPort"}
    description = rule.pop("description", None)
    from_whom: dict[str, Any] = {}
    if rule.pop("self", False):
        from_whom["UserIdGroupPairs"] = [{"GroupId": PLACEHOLDER_ID, "Description": description}]
    if blocks := rule.pop("cidrBlocks", []):
        from_whom["IpRanges"] = [{"CidrIp": block, "Description": description} for block in blocks]
    return {**from_whom, **{names.get(key, key): value for key, value in rule.items()}}


def _default_group(vpc: str) -> dict[str, Any]:
    return {
        "Filters": [
            {"Name": "vpc-id", "Values": [vpc]},
            {"Name": "group-name", "Values": ["default"]},
        ]
    }


def _size(name: str) -> Callable[[int], dict[str, int]]:
    """Return the sizes that the provider sends, without -1."""
    return lambda value: {} if value == -1 else {name: value}


REQUESTS: dict[str, tuple[Operation, ...]] = {
    "aws:ec2/vpc:Vpc": (
        _ec2("CreateVpc", "vpc", "Vpc.VpcId"),
        Operation(
            "ec2", "ModifyVpcAttribute", {"enableDnsSupport": "EnableDnsSupport.Value"}, of="VpcId"
        ),
        Operation(
            "ec2",
            "ModifyVpcAttribute",
            {"enableDnsHostnames": "EnableDnsHostnames.Value"},
            of="VpcId",
        ),
    ),
    "aws:ec2/subnet:Subnet": (
        _ec2(
            "CreateSubnet",
            "subnet",
            "Subnet.SubnetId",
            outputs={"availabilityZone": "Subnet.AvailabilityZone"},
        ),
        Operation(
            "ec2",
            "ModifySubnetAttribute",
            {"mapPublicIpOnLaunch": "MapPublicIpOnLaunch.Value"},
            of="SubnetId",
        ),
    ),
    "aws:ec2/internetGateway:InternetGateway": (
        _ec2("CreateInternetGateway", "internet-gateway", "InternetGateway.InternetGatewayId"),
        Operation("ec2", "AttachInternetGateway", of="InternetGatewayId"),
    ),
    "aws:ec2/routeTable:RouteTable": (
        _ec2("CreateRouteTable", "route-table", "RouteTable.RouteTableId"),
    ),
    "aws:ec2/route:Route": (Operation("ec2", "CreateRoute"),),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": (
        Operation("ec2", "AssociateRouteTable", id="AssociationId"),
    ),
    "aws:ec2/eip:Eip": (
        _ec2(
            "AllocateAddress",
            "elastic-ip",
            "AllocationId",
            outputs={"allocationId": "AllocationId"},
        ),
    ),
    "aws:ec2/natGateway:NatGateway": (
        _ec2("CreateNatGateway", "natgateway", "NatGateway.NatGatewayId"),
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": (
        _ec2("CreateVpcEndpoint", "vpc-endpoint", "VpcEndpoint.VpcEndpointId"),
    ),
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": (
        Operation(
            "ec2",
            "DescribeSecurityGroups",
            {"vpcId": _default_group},
            id="SecurityGroups[0].GroupId",
        ),
        Operation("ec2", "CreateTags", of="Resources"),
    ),
    "aws:ec2/securityGroup:SecurityGroup": (
        _ec2("CreateSecurityGroup", "security-group", "GroupId", named="GroupName"),
        Operation("ec2", "AuthorizeSecurityGroupIngress", {"ingress": _permissions}, of="GroupId"),
        Operation("ec2", "AuthorizeSecurityGroupEgress", {"egress": _permissions}, of="GroupId"),
    ),
    "aws:ec2/placementGroup:PlacementGroup": (
        _ec2("CreatePlacementGroup", "placement-group", "", named="GroupName", simulated=False),
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": (
        _ec2(
            "CreateLaunchTemplate",
            "launch-template",
            "LaunchTemplate.LaunchTemplateId",
            names={"networkInterfaces.securityGroups": "Groups", "updateDefaultVersion": None},
            within="LaunchTemplateData",
            named="LaunchTemplateName",
            outputs={"latestVersion": "LaunchTemplate.LatestVersionNumber"},
        ),
    ),
    "aws:ec2/flowLog:FlowLog": (
        _ec2(
            "CreateFlowLogs",
            "vpc-flow-log",
            "FlowLogIds[0]",
            names={"vpcId": "ResourceIds", "iamRoleArn": "DeliverLogsPermissionArn"},
            fixed={"ResourceType": "VPC", "LogDestinationType": "cloud-watch-logs"},
        ),
    ),
    "aws:cloudwatch/logGroup:LogGroup": (
        Operation("logs", "CreateLogGroup", {"name": "logGroupName"}, named="logGroupName"),
        Operation("logs", "PutRetentionPolicy", {"name": "logGroupName"}, named="logGroupName"),
    ),
    "aws:iam/role:Role": (
        Operation(
            "iam",
            "CreateRole",
            {"assumeRolePolicy": "AssumeRolePolicyDocument"},
            named="RoleName",
            id="Role.RoleName",
            outputs={"name": "Role.RoleName", "arn": "Role.Arn"},
        ),
    ),
    "aws:iam/rolePolicy:RolePolicy": (
        Operation(
            "iam",
            "PutRolePolicy",
            {"role": "RoleName", "policy": "PolicyDocument"},
            named="PolicyName",
        ),
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": (
        Operation("iam", "AttachRolePolicy", {"role": "RoleName"}),
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": (
        Operation(
            "iam",
            "CreateOpenIDConnectProvider",
            {"clientIdLists": "ClientIDList"},
            id="OpenIDConnectProviderArn",
            outputs={"arn": "OpenIDConnectProviderArn"},
        ),
    ),
    "aws:iam/instanceProfile:InstanceProfile": (
        Operation(
            "iam",
            "CreateInstanceProfile",
            named="InstanceProfileName",
            id="InstanceProfile.InstanceProfileName",
        ),
        Operation(
            "iam", "AddRoleToInstanceProfile", {"role": "RoleName"}, of="InstanceProfileName"
        ),
    ),
    "aws:sqs/queue:Queue": (
        Operation(
            "sqs",
            "CreateQueue",
            {
                "messageRetentionSeconds": "Attributes.MessageRetentionPeriod",
                "sqsManagedSseEnabled": "Attributes.SqsManagedSseEnabled",
            },
            named="QueueName",
            id="QueueUrl",
        ),
    ),
    "aws:sqs/queuePolicy:QueuePolicy": (
        Operation("sqs", "SetQueueAttributes", {"policy": "Attributes.Policy"}),
    ),
    "aws:cloudwatch/eventRule:EventRule": (Operation("events", "PutRule", named="Name"),),
    "aws:cloudwatch/eventTarget:EventTarget": (
        Operation("events", "PutTargets", {"targetId": "Targets.Id", "arn": "Targets.Arn"}),
    ),
    "aws:kms/key:Key": (
        Operation("kms", "CreateKey", id="KeyMetadata.KeyId", outputs={"arn": "KeyMetadata.Arn"}),
        Operation("kms", "EnableKeyRotation", {"enableKeyRotation": lambda _: {}}, of="KeyId"),
    ),
    "aws:kms/grant:Grant": (Operation("kms", "CreateGrant", {"keyId": "KeyId"}),),
    "aws:eks/cluster:Cluster": (
        Operation(
            "eks",
            "CreateCluster",
            {
                "vpcConfig": "resourcesVpcConfig",
                "enabledClusterLogTypes": lambda types: {
                    "logging": {"clusterLogging": [{"types": types, "enabled": True}]}
                },
            },
            named="name",
            id="cluster.name",
            outputs={
                "name": "cluster.name",
                "arn": "cluster.arn",
                "endpoint": "cluster.endpoint",
                "version": "cluster.version",
                "identities": "[{oidcs: [{issuer: cluster.identity.oidc.issuer}]}]",
            },
        ),
    ),
    "aws:eks/nodeGroup:NodeGroup": (
        Operation(
            "eks",
            "CreateNodegroup",
            {"nodeRoleArn": "nodeRole", "subnetIds": "subnets"},
            named="nodegroupName",
        ),
    ),
    "aws:eks/addon:Addon": (
        Operation(
            "eks", "CreateAddon", {"resolveConflictsOnCreate": "resolveConflicts"}, simulated=False
        ),
        Operation(
            "eks", "UpdateAddon", {"resolveConflictsOnUpdate": "resolveConflicts"}, simulated=False
        ),
    ),
    "aws:eks/accessEntry:AccessEntry": (Operation("eks", "CreateAccessEntry", simulated=False),),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": (
        Operation("eks", "AssociateAccessPolicy", simulated=False),
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": (
        Operation("eks", "CreatePodIdentityAssociation", simulated=False),
    ),
    "aws:autoscaling/schedule:Schedule": (
        Operation(
            "autoscaling",
            "PutScheduledUpdateGroupAction",
            {
                "autoscalingGroupName": "AutoScalingGroupName",
                "minSize": _size("MinSize"),
                "maxSize": _size("MaxSize"),
            },
            simulated=False,
        ),
    ),
}

DOCUMENTS = (
    "AssumeRolePolicyDocument",
    "PolicyDocument",
    "configurationValues",
    "Policy",
    "EventPattern",
)


class RefusedRequest(Exception):
    """The API's model rejects the request. The message lists every error."""


@cache
def service(name: str) -> ServiceModel:
    return botocore.session.get_session().get_service_model(name)


def requests(
    kind: str, name: str, inputs: Mapping[str, Any], made: Sequence[str] = (PLACEHOLDER_ID,)
) -> Iterator[tuple[Operation, dict[str, Any]]]:
    """Yield the validated requests that create a resource. Raise RefusedRequest for a request that
    the API rejects.

    `made` contains the ID from the first response, for the other requests. A property belongs to
    every operation that has a member for it. An operation that changes an existing resource accepts
    only the properties in its `names`. A property without an operation is an error.
    """
    unclaimed = set(inputs)
    requested: list[tuple[Operation, dict[str, Any]]] = []
    for operation in REQUESTS[kind]:
        shape = service(operation.service).operation_model(operation.name).input_shape
        taken = {key: value for key, value in inputs.items() if _takes(operation, shape, key)}
        if requested and not taken.keys() & unclaimed:
            continue
        unclaimed -= taken.keys()
        requested.append((operation, _request(operation, shape, name, taken)))
    # Add it to the first request, so that the model reports the error.
    requested[0][1].update((key, inputs[key]) for key in unclaimed)
    for operation, request in requested:
        if operation.of:
            request[operation.of] = [made[0]] if operation.of == "Resources" else made[0]
            _point_at_itself(request, made[0])
        shape = service(operation.service).operation_model(operation.name).input_shape
        check(f"{kind} {name}: {operation.name}", shape, request)
        yield operation, request


def _point_at_itself(request: dict[str, Any], id: str) -> None:
    for permission in request.get("IpPermissions", []):
        for pair in permission.get("UserIdGroupPairs", []):
            pair["GroupId"] = id


def _takes(operation: Operation, shape: Any, key: str) -> bool:
    if key in operation.names or (key == "tags" and operation.tagged):
        return True
    if operation.of and operation.names:
        return False
    inner = shape.members[operation.within] if operation.within else shape
    return _member(inner, key) is not None


def _member(shape: Any, key: str) -> str | None:
    return next((member for member in shape.members if member.lower() == key.lower()), None)


def _request(
    operation: Operation, shape: Any, name: str, taken: Mapping[str, Any]
) -> dict[str, Any]:
    body = {key: value for key, value in taken.items() if key != "tags" or not operation.tagged}
    inner = shape.members[operation.within] if operation.within else shape
    request = _fitted(renamed(body, operation.names), inner)
    request = {operation.within: request} if operation.within else request
    if operation.named:
        request.setdefault(operation.named, f"{name}-1a2b3c4")
    if operation.tagged and taken.get("tags"):
        tags = [{"Key": key, "Value": value} for key, value in taken["tags"].items()]
        request["TagSpecifications"] = [{"ResourceType": operation.tagged, "Tags": tags}]
    return {**request, **operation.fixed}


def _fitted(value: Any, shape: Any) -> Any:
    """Return a value in the model's form: its spelling of members, its lists, tags and booleans."""
    if shape.type_name == "structure" and isinstance(value, Mapping):
        result = {}
        for key, inner in value.items():
            member = _member(shape, key)
            result[member or key] = _fitted(inner, shape.members[member]) if member else inner
        return result
    if shape.type_name == "list":
        if isinstance(value, Mapping) and _is_tag(shape.member):
            key, text = shape.member.members
            return [{key: k, text: v} for k, v in value.items()]
        return [
            _fitted(item, shape.member) for item in (value if isinstance(value, list) else [value])
        ]
    if (
        shape.type_name == "map"
        and shape.value.type_name == "string"
        and isinstance(value, Mapping)
    ):
        return {
            key: inner if isinstance(inner, str) else json.dumps(_whole(inner))
            for key, inner in value.items()
        }
    if shape.type_name == "boolean" and value in ("true", "false"):
        return value == "true"
    return _whole(value)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_tag(shape: Any) -> bool:
    return shape.type_name == "structure" and {
        m.lower().removeprefix("tag") for m in shape.members
    } == {"key", "value"}


def check(what: str, shape: Any, request: Mapping[str, Any]) -> None:
    """Raise RefusedRequest unless the request is valid according to botocore's validator, and
    according to enums and patterns, which only the service checks.
    """
    report = ParamValidator().validate(request, shape)
    faults = [report.generate_report()] if report.has_errors() else []
    faults += _faults(request, shape, "")
    if faults:
        raise RefusedRequest(what + "\n" + "\n".join(faults))


def _faults(value: Any, shape: Shape | Any, path: str) -> Iterator[str]:
    if shape.type_name == "structure" and isinstance(value, Mapping):
        for key, inner in value.items():
            if key in shape.members:
                yield from _faults(inner, shape.members[key], f"{path}.{key}")
                if key in DOCUMENTS:
                    json.loads(inner)
    elif shape.type_name == "list" and isinstance(value, Sequence):
        for index, item in enumerate(value):
            yield from _faults(item, shape.member, f"{path}[{index}]")
    elif shape.type_name == "map" and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _faults(key, shape.key, f"{path}.{key}")
            yield from _faults(inner, shape.value, f"{path}.{key}")
    elif shape.type_name == "string" and isinstance(value, str):
        yield from _text_faults(value, shape, path)


def _text_faults(value: str, shape: Any, path: str) -> Iterator[str]:
    if shape.enum and value not in shape.enum:
        yield f"{path}: {value!r} is none of {', '.join(shape.enum)}"
    pattern, most = shape.metadata.get("pattern"), shape.metadata.get("max")
    if pattern and not re.match(_python(pattern), value):
        yield f"{path}: {value!r} does not match {pattern}"
    if most is not None and len(value) > most:
        yield f"{path}: {len(value)} characters, at most {most}"


def _python(pattern: str) -> str:
    """Return one of the models' patterns (Java's) in the form of Python's."""
    for name, characters in (
        # pairs that represent one character
        (r"\uD800\uDC00-\uDBFF\uDFFF", r"\U00010000-\U0010FFFF"),
        (r"\p{L}", r"\w"), (r"\p{Z}", r"\s"), (r"\p{N}", r"\d"), (r"\p{S}", ""), (r"\p{M}", ""), (r"\p{P}", "")
    ):  # fmt: skip
        pattern = pattern.replace(name, characters)
    return pattern.replace("(?=.*\\S)", "") + ("" if pattern.endswith("$") else "$")
