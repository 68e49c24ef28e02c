"""Resources of aws-native, which rules read as resources of pulumi-aws.

Source: CloudFormation template reference (AWS::EKS::Cluster, AWS::EKS::Nodegroup, AWS::EKS::Addon,
AWS::EC2::LaunchTemplate, AWS::EC2::SecurityGroup and its rules, AWS::EC2::CapacityReservation,
AWS::EC2::PlacementGroup), whose names aws-native writes in camel case.
"""

from __future__ import annotations

from typing import Any, Final

from dra_planner.clouds.other_providers.resource_form import KEEP, ResourceForm

_GROUP_RULE: Final = {
    "cidrIp": "cidrIpv4",
    "destinationSecurityGroupId": "referencedSecurityGroupId",
    "groupId": "securityGroupId",
    "sourceSecurityGroupId": "referencedSecurityGroupId",
}
_INLINE_RULE: Final = {
    "destinationSecurityGroupId": "securityGroups",
    "ipProtocol": "protocol",
    "sourceSecurityGroupId": "securityGroups",
}


def _cluster(values: dict[str, Any]) -> dict[str, Any]:
    """Return a cluster with its log types and its encryption setting in the form of pulumi-aws."""
    result = dict(values)
    logging = values.get("enabledClusterLogTypes")
    if isinstance(logging, dict):
        enabled = (logging.get("clusterLogging") or {}).get("enabledTypes") or []
        result["enabledClusterLogTypes"] = [each.get("type") for each in enabled]
    if isinstance(keys := values.get("encryptionConfig"), list) and keys:
        result["encryptionConfig"] = keys[0]
    return result


def _template(values: dict[str, Any]) -> dict[str, Any]:
    """Return a template with the interfaces' groups and the disks' flags in the form of
    pulumi-aws.
    """
    result = dict(values)
    if isinstance(interfaces := values.get("networkInterfaces"), list):
        result["networkInterfaces"] = [_interface(each) for each in interfaces]
    if isinstance(disks := values.get("blockDeviceMappings"), list):
        result["blockDeviceMappings"] = [_disk(each) for each in disks]
    return result


def _interface(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {"securityGroups" if key == "groups" else key: item for key, item in value.items()}


def _disk(value: Any) -> Any:
    ebs = value.get("ebs") if isinstance(value, dict) else None
    if not isinstance(ebs, dict) or not isinstance(ebs.get("encrypted"), bool):
        return value
    return {**value, "ebs": {**ebs, "encrypted": str(ebs["encrypted"]).lower()}}


def _group(values: dict[str, Any]) -> dict[str, Any]:
    """Return a security group with lists of peers, and with tags as a mapping."""
    result = dict(values)
    for side in ("ingress", "egress"):
        if isinstance(rules := values.get(side), list):
            result[side] = [_rule(each) for each in rules]
    if isinstance(tags := values.get("tags"), list):
        result["tags"] = {each.get("key"): each.get("value") for each in tags}
    return result


def _rule(value: Any) -> Any:
    if not isinstance(value, dict) or "securityGroups" not in value:
        return value
    return {**value, "securityGroups": [value["securityGroups"]]}


FORMS: Final = (
    ResourceForm(
        token="aws-native:eks:Cluster",
        becomes="aws:eks/cluster:Cluster",
        names={"resourcesVpcConfig": "vpcConfig", "logging": "enabledClusterLogTypes"},
        finish=_cluster,
    ),
    ResourceForm(
        token="aws-native:eks:Nodegroup",
        becomes="aws:eks/nodeGroup:NodeGroup",
        names={
            "nodeRole": "nodeRoleArn",
            "nodegroupName": "nodeGroupName",
            "subnets": "subnetIds",
        },
    ),
    ResourceForm(token="aws-native:eks:Addon", becomes="aws:eks/addon:Addon"),
    ResourceForm(
        token="aws-native:ec2:LaunchTemplate",
        becomes="aws:ec2/launchTemplate:LaunchTemplate",
        names={"launchTemplateName": "name", "launchTemplateData": KEEP},
        parts={"launchTemplateData": {"securityGroupIds": "vpcSecurityGroupIds"}},
        finish=_template,
    ),
    ResourceForm(
        token="aws-native:ec2:SecurityGroup",
        becomes="aws:ec2/securityGroup:SecurityGroup",
        names={
            "groupName": "name",
            "securityGroupEgress": "egress",
            "securityGroupIngress": "ingress",
        },
        parts={"securityGroupEgress": _INLINE_RULE, "securityGroupIngress": _INLINE_RULE},
        finish=_group,
    ),
    ResourceForm(
        token="aws-native:ec2:SecurityGroupEgress",
        becomes="aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        names=_GROUP_RULE,
    ),
    ResourceForm(
        token="aws-native:ec2:SecurityGroupIngress",
        becomes="aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        names=_GROUP_RULE,
    ),
    ResourceForm(
        token="aws-native:ec2:CapacityReservation",
        becomes="aws:ec2/capacityReservation:CapacityReservation",
    ),
    ResourceForm(
        token="aws-native:ec2:PlacementGroup", becomes="aws:ec2/placementGroup:PlacementGroup"
    ),
)
