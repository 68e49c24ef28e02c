"""The Auto Scaling groups behind managed node groups: which tags they and their instances have."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
TAGGED = "dra-sandbox:aws:TaggedScalingGroup"
"""Kind under which a cloud remembers tags, by the node group's id: {"tags": {…}, "instanceTags":
{…}}.
"""


def has_tags_of_its_own(request: CloudRequest) -> None:
    """EKS API reference, CreateNodegroup: tags of a node group reach nothing else; a template's
    reach instances.

    What a template says of instances holds for those that are started with its version (EKS user
    guide, “Customize managed nodes with launch templates”).
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
