"""Node groups whose launch template names an image.

EKS doesn't configure such nodes, so their user data must configure them. Source: EKS user guide,
“Customize managed nodes with launch templates”, “Specifying an AMI”:
awsdocs/amazon-eks-user-guide:latest/ug/nodes/launch-templates.adoc@f6004140.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from email import message_from_string
from typing import Any

import yaml

from dra_sandbox.clouds.type_rows import CloudRequest, Facts
from dra_sandbox.clouds.wire_values import Value, Values

CLUSTER, TEMPLATE = "aws:eks/cluster:Cluster", "aws:ec2/launchTemplate:LaunchTemplate"
INVALID = "InvalidParameterException: "
OWN = "CUSTOM"
NEW_NODE = "dra-sandbox:aws:NewNode"
"""Labels and taints of a group's nodes when they join, by the group's ID: {"labels": {…}, "taints":
["k=v:E"]}.
"""
_NOT_JOINED = "NodeCreationFailure: Instances failed to join the kubernetes cluster"


def ami_type(facts: Facts) -> Value:
    """Return the AMI type: CUSTOM if the template names an image, otherwise the default (EKS API
    reference, Nodegroup).
    """
    return OWN if _template(facts.cloud, facts.inputs).get("imageId") else "AL2023_x86_64_STANDARD"


def has_no_release(request: CloudRequest) -> str | None:
    """Reject amiType, releaseVersion, and version together with an image. Source: “Limits and
    conditions when specifying an AMI ID”.
    """
    if request.inputs is None or not _template(request.cloud, request.inputs).get("imageId"):
        return None
    if request.inputs.get("releaseVersion"):
        return (
            f"{INVALID}You cannot specify a release version to use when specifying an image id to "
            "use within the "
            "launch template."
        )
    return None


def keeps_its_kind_of_image(request: CloudRequest) -> str | None:
    """Reject a change from a custom image to an EKS image or back, which needs a new group.

    Source: the page above.
    """
    if request.inputs is None or request.before is None or not request.before.get("amiType"):
        return None
    had, has = (
        request.before["amiType"] == OWN,
        bool(_template(request.cloud, request.inputs).get("imageId")),
    )
    if had == has:
        return None
    return (
        f"{INVALID}You must create a new node group to switch between specifying an AMI ID in a "
        "launch template and "
        "not specifying an AMI ID."
    )


def joins_its_cluster(request: CloudRequest) -> str | None:
    """Reject nodes that don't join their cluster. EKS doesn't merge their user data, and
    CreateNodegroup and updates fail if nodes don't join.

    The required settings of AL2023 are name, endpoint, certificate, and service CIDR: the same
    page, “Amazon EC2 user data”.
    """
    if request.inputs is None or not request.inputs["scalingConfig"]["desiredSize"]:
        return None
    template = _template(request.cloud, request.inputs)
    if not template.get("imageId"):
        return None
    text = _text(template)
    if text.lstrip().startswith("[settings") or "/etc/eks/bootstrap.sh" in text:
        return None  # the user data of Bottlerocket and Amazon Linux 2 isn't checked
    settings = node_config(text).get("cluster") or {}
    cluster = request.cloud.get(CLUSTER, request.inputs["clusterName"])
    expected = _coordinates(request.inputs["clusterName"], cluster)
    wrong = [
        key
        for key, right in expected.items()
        if not settings.get(key) or settings[key] != (right or settings[key])
    ]
    return (
        f"{_NOT_JOINED}: {', '.join(wrong)} of NodeConfig is missing or of another cluster"
        if wrong
        else None
    )


def registers(request: CloudRequest) -> None:
    """Return the labels and taints with which a node registers.

    With EKS images, these are the labels and taints of the group. With other images, only those of
    the kubelet count. “Any taints set in the API are applied asynchronously if you specify an AMI
    ID”, and so are labels (aws/containers-roadmap issue 1962).
    """
    if request.inputs is None:
        request.cloud.drop(NEW_NODE, request.identifier)
        return
    template = _template(request.cloud, request.inputs)
    if template.get("imageId"):
        flags = (node_config(_text(template)).get("kubelet") or {}).get("flags") or []
        labels = {
            key: value
            for key, _, value in (each.partition("=") for each in _values(flags, "--node-labels"))
        }
        node: Values = {"labels": labels, "taints": list(_values(flags, "--register-with-taints"))}
    else:
        taints = request.inputs.get("taints") or []
        words = {
            "NO_SCHEDULE": "NoSchedule",
            "NO_EXECUTE": "NoExecute",
            "PREFER_NO_SCHEDULE": "PreferNoSchedule",
        }
        node = {
            "labels": dict(request.inputs.get("labels") or {}),
            "taints": [
                f"{each['key']}={each.get('value') or ''}:{words[each['effect']]}"
                for each in taints
            ],
        }
    request.cloud.put(NEW_NODE, request.identifier, node)


def node_config(text: str) -> dict[str, Any]:
    """Return the spec of the NodeConfig in user data, or {} if there is none. nodeadm merges
    multiple NodeConfigs into one.
    """
    document = message_from_string(text)
    parts = document.get_payload() if document.is_multipart() else [document]
    merged: dict[str, Any] = {}
    for part in parts:
        if part.get_content_type() != "application/node.eks.aws":  # type: ignore[union-attr]  # parts of a message
            continue
        for each in yaml.safe_load_all(part.get_payload()):  # type: ignore[union-attr]
            merged = _merged(merged, (each or {}).get("spec") or {})
    return merged


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(one)
    for key, value in other.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _coordinates(name: str, cluster: Values | None) -> dict[str, Value]:
    """Return the cluster settings that a NodeConfig must contain.

    A value is None if the simulation doesn't store it, and any value is accepted then.
    """
    here = cluster or {}
    return {
        "name": name,
        "apiServerEndpoint": here.get("endpoint"),
        "certificateAuthority": (here.get("certificateAuthority") or {}).get("data"),
        "cidr": (here.get("kubernetesNetworkConfig") or {}).get("serviceIpv4Cidr"),
    }


def _values(flags: list[str], name: str) -> Iterator[str]:
    for flag in flags:
        key, _, value = flag.partition("=")
        yield from (each for each in value.split(",") if each) if key == name else ()


def _text(template: Values) -> str:
    return base64.b64decode(template.get("userData") or "").decode()


def _template(cloud: Any, group: Values) -> Values:
    return cloud.get(TEMPLATE, str((group.get("launchTemplate") or {}).get("id"))) or {}


REFUSALS = (has_no_release, keeps_its_kind_of_image, joins_its_cluster)
