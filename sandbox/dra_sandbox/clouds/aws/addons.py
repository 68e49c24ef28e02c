"""Check EKS add-ons, with the error messages that users of the real EKS report."""

from __future__ import annotations

import json
import re

from dra_sandbox.clouds.type_rows import CloudRequest, Facts
from dra_sandbox.clouds.wire_values import Values

CLUSTER, ADDON = "aws:eks/cluster:Cluster", "aws:eks/addon:Addon"
INVALID = "InvalidParameterException: "
# EKS user guide, “AWS add-ons”, and the community add-ons that EKS offers.
NAMES = frozenset(
    {
        "adot",
        "amazon-cloudwatch-observability",
        "aws-ebs-csi-driver",
        "aws-efs-csi-driver",
        "aws-fsx-csi-driver",
        "aws-guardduty-agent",
        "aws-mountpoint-s3-csi-driver",
        "aws-network-flow-monitoring-agent",
        "coredns",
        "eks-node-monitoring-agent",
        "eks-pod-identity-agent",
        "kube-proxy",
        "metrics-server",
        "snapshot-controller",
        "vpc-cni",
    }
)


def has_a_name_and_a_version(inputs: Values) -> str | None:
    """Reject an add-on that EKS doesn't offer, or a version in another format.

    Sources: aws/containers-roadmap issue 1429 (name); terraform-provider-aws issue 32238 (version).
    """
    if inputs["addonName"] not in NAMES:
        return f"{INVALID}Addon specified is not supported"
    version = inputs.get("addonVersion")
    if version and not re.fullmatch(r"v\d+\.\d+\.\d+-eksbuild\.\d+", version):
        return f"{INVALID}Addon version specified is not supported"
    return None


def has_values_in_an_object(inputs: Values) -> str | None:
    """Reject settings that aren't a JSON object. Their content isn't checked, because only the API
    has its schema. Source: cookpad/terraform-aws-eks pull request 331.
    """
    text = inputs.get("configurationValues")
    if not text:
        return None
    try:
        values = json.loads(text)
    except ValueError:
        return f"{INVALID}{text} is not a valid JSON"  # eksctl-io/eksctl pull request 6264
    if isinstance(values, dict):
        return None
    found = {type(None): "null", bool: "boolean", str: "string", list: "array"}.get(
        type(values), "number"
    )
    return (
        f"{INVALID}ConfigurationValue provided in request is not supported: Json schema validation "
        "failed with error: "
        f"[$: {found} found, object expected]"
    )


def default_version(facts: Facts) -> str:
    """Return the version that EKS uses by default. For kube-proxy, it has the cluster's minor
    version.
    """
    cluster = facts.cloud.get(CLUSTER, str(facts.inputs.get("clusterName")))
    if cluster is None or facts.inputs.get("addonName") != "kube-proxy":
        return "v1.0.0-eksbuild.1"
    return f"v{cluster['version']}.0-eksbuild.1"


def version_is_for_the_minor(request: CloudRequest) -> str | None:
    """Reject a kube-proxy whose minor version differs from the cluster's. For other add-ons, no
    source lists the supported versions. Sources: terraform-provider-aws issue 33385 and
    awsdocs/amazon-eks-user-guide pull request 1170.
    """
    inputs = request.inputs or {}
    cluster = request.cloud.get(CLUSTER, str(inputs.get("clusterName")))
    version = str(inputs.get("addonVersion") or "")
    if cluster is None or inputs.get("addonName") != "kube-proxy" or not version:
        return None
    if not version.startswith(f"v{cluster['version']}."):
        return f"{INVALID}Addon version specified is not supported"
    return None
