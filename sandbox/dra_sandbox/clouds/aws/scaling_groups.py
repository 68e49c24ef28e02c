"""The Auto Scaling groups of managed node groups: their tags, and the tags of their instances."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
TAGGED = "dra-sandbox:aws:TaggedScalingGroup"
"""Kind of the stored tags, by the node group's ID: {"tags": {…}, "instanceTags": {…}}."""


def has_tags_of_its_own(request: CloudRequest) -> None:
    """Store the tags of a node group and of its instances.

    The tags of a node group apply only to the group itself. The tags of a launch template apply to
    the instances that are started with it. Sources: EKS API reference, CreateNodegroup; EKS user
    guide, “Customize managed nodes with launch templates”.
    """
    if request.inputs is None:
        request.cloud.drop(TAGGED, request.identifier)
        return
    group = request.inputs
    own = {"eks:cluster-name": group["clusterName"], "eks:nodegroup-name": group["nodeGroupName"]}
    kept = request.cloud.get(TAGGED, request.identifier)
    versions = [(each or {}).get("launchTemplate") or {} for each in (request.before, group)]
    instances = (
        _of_instances(request)
        if kept is None or versions[0] != versions[1]
        else kept["instanceTags"]
    )
    request.cloud.put(TAGGED, request.identifier, {"tags": own, "instanceTags": instances})


def _of_instances(request: CloudRequest) -> Values:
    named = ((request.inputs or {}).get("launchTemplate") or {}).get("id")
    template = request.cloud.get(TEMPLATE, str(named)) or {}
    parts = template.get("tagSpecifications") or []
    return {
        key: value
        for part in parts
        if part.get("resourceType") == "instance"
        for key, value in part["tags"].items()
    }
