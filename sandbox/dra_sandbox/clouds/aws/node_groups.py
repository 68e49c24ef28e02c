"""Check managed node groups, with the error messages that users of the real EKS report."""

from __future__ import annotations

import re
from typing import Any

from dra_sandbox.clouds.aws.api_values import OFFERED
from dra_sandbox.clouds.label_syntax import is_key, is_value
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

CLUSTER, TEMPLATE = "aws:eks/cluster:Cluster", "aws:ec2/launchTemplate:LaunchTemplate"
INVALID = "InvalidParameterException: "
# eksctl-io/eksctl issue 4007.
RESERVED_PREFIXES = ("kubernetes.io/", "k8s.io/", "eks.amazonaws.com/")
REPAIR_OVERRIDE = (
    "minRepairWaitTimeMins",
    "nodeMonitoringCondition",
    "nodeUnhealthyReason",
    "repairAction",
)
MACHINES, TAGS = 20, 50
RELEASE = r"\d+\.\d+\.\d+-\d{8}"  # release of Amazon Linux (awslabs/amazon-eks-ami)
TAINTS = 50  # terraform-provider-aws:internal/service/eks/node_group.go@012e0a32


def is_had_so(request: CloudRequest) -> str | None:
    """Reject UltraServers outside Capacity Blocks.

    Source: EKS user guide, “Use P6e-GB200 UltraServers with Amazon EKS” (without the text of the
    error message).
    """
    group = request.inputs or {}
    ultra = [name for name in group.get("instanceTypes") or [] if str(name).startswith("p6e-")]
    template = request.cloud.get(TEMPLATE, str((group.get("launchTemplate") or {}).get("id"))) or {}
    if not ultra or (template.get("capacityReservationSpecification") or {}).get(
        "capacityReservationTarget"
    ):
        return None
    return f"{INVALID}{ultra[0]} is available in Capacity Blocks for UltraServers only"


def sizes_in_order(request: CloudRequest) -> str | None:
    """Require that the desired size is between the minimum and the maximum.

    Sources: sassoftware/viya4-iac-aws issue 298 (creation); terraform-aws-eks issues 2508 and 3306
    (update); ministryofjustice/cloud-platform-infrastructure issue 4595.
    """
    if request.inputs is None:
        return None
    scaling = request.inputs["scalingConfig"]
    low, wanted, high = scaling["minSize"], scaling["desiredSize"], scaling["maxSize"]
    if wanted > high:
        return f"{INVALID}desiredSize can't be greater than maxSize"
    if low <= wanted:
        return None
    if request.before is None:
        return f"{INVALID}minSize can't be greater than desiredSize"
    return f"{INVALID}Minimum capacity {low} can't be greater than desired size {wanted}"


def has_a_name(inputs: Values) -> str | None:
    """Reject a name with invalid characters. The provider itself checks the length of the name.

    Source: EKS user guide, “Create a managed node group for your cluster”.
    """
    name = str(inputs.get("nodeGroupName") or "x")
    if re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z_-]*", name):
        return None
    return (
        f"{INVALID}The nodegroup name {name} must begin with a letter or a digit and have "
        "only letters, digits, - and _"
    )


def has_a_version(inputs: Values) -> str | None:
    """Reject a version that EKS doesn't offer.

    Source: finos/compliant-financial-infrastructure issue 228.
    """
    return (
        None
        if inputs.get("version", OFFERED[0]) in OFFERED
        else f"{INVALID}unsupported Kubernetes version"
    )


def has_a_size(inputs: Values) -> str | None:
    """Reject sizes below the minimum values in botocore's model of NodegroupScalingConfig."""
    for key, least in (("minSize", 0), ("desiredSize", 0), ("maxSize", 1)):
        if (inputs["scalingConfig"].get(key) or 0) < least:
            return f"{INVALID}{key} can't be less than {least}"
    return None


def has_few_machines_and_tags(inputs: Values) -> str | None:
    """Reject too many machine types or tags.

    Source: EKS API reference, CreateNodegroup (the description of instanceTypes, and the model of
    tags).
    """
    for key, most in (("instanceTypes", MACHINES), ("tags", TAGS)):
        if len(inputs.get(key) or ()) > most:
            return f"{INVALID}{key} has {len(inputs[key])} members, and {most} at most"
    return None


def template_or_own(inputs: Values) -> str | None:
    """Reject inputs of a group that aren't allowed together with a launch template (EKS API
    reference, CreateNodegroup).
    """
    template = inputs.get("launchTemplate")
    if template is None:
        return None
    if inputs.get("diskSize") is not None:
        return f"{INVALID}disk size cannot be given together with a launch template"
    if inputs.get("remoteAccess") is not None:
        return "remoteAccess conflicts with launchTemplate"
    if template.get("id") and template.get("name"):
        return f"{INVALID}Either provide launch template ID or launch template name in the request."
    return None


def labels_are_accepted(inputs: Values) -> str | None:
    """Reject reserved or invalid labels.

    Sources: eksctl-io/eksctl issue 4007; aws-controllers-k8s/community issue 2208; botocore's model
    (1 to 63 characters).
    """
    for key, value in (inputs.get("labels") or {}).items():
        if key.startswith(RESERVED_PREFIXES):
            return (
                f"{INVALID}Label cannot contain reserved prefixes [{', '.join(RESERVED_PREFIXES)}]"
            )
        if not 1 <= len(key) <= 63 or len(value) > 63:
            return f"{INVALID}label {key}: key and value have 1 to 63 characters"
        if not value or not is_value(value) or not is_key(key):
            wrong = key if value and is_value(value) else value
            return (
                f"{INVALID}Invalid value: {wrong}: field must consist of alphanumeric "
                "characters, '-', '_' or '.'"
            )
    return None


def taints_are_accepted(inputs: Values) -> str | None:
    taints = inputs.get("taints") or []
    if len(taints) > TAINTS:
        return (
            f"taint: attribute supports {TAINTS} items maximum, config has {len(taints)} declared"
        )
    for taint in taints:
        if not 1 <= len(taint["key"]) <= 63 or len(taint.get("value") or "") > 63:
            return (
                f"expected length of taint {taint['key']} to be in the range (1 - 63), its "
                "value's (0 - 63)"
            )
        if not is_key(taint["key"]) or not is_value(taint.get("value") or ""):
            return (
                f"{INVALID}taint {taint['key']}: must consist of alphanumeric characters, '-', "
                "'_' or '.'"
            )
    return None


def one_limit_of_updates(inputs: Values) -> str | None:
    """Require either a number or a percentage from 1 to 100.

    Source: EKS API reference, NodegroupUpdateConfig.
    """
    given = [
        value
        for key in ("maxUnavailable", "maxUnavailablePercentage")
        if (value := (inputs.get("updateConfig") or {}).get(key)) is not None
    ]
    if len(given) > 1:
        return f"{INVALID}maxUnavailable and maxUnavailablePercentage exclude each other"
    return (
        None
        if all(1 <= value <= 100 for value in given)
        else f"{INVALID}maxUnavailable must be from 1 to 100"
    )


def repairs_one_way(inputs: Values) -> str | None:
    """Require either numbers or percentages, and all four values in an override.

    Source: EKS API reference, NodeRepairConfig.
    """
    config = inputs.get("nodeRepairConfig") or {}
    for name in ("maxUnhealthyNodeThreshold", "maxParallelNodesRepaired"):
        if config.get(f"{name}Count") is not None and config.get(f"{name}Percentage") is not None:
            return f"{INVALID}{name}Count and {name}Percentage exclude each other"
    for override in config.get("nodeRepairConfigOverrides") or []:
        if missing := [name for name in REPAIR_OVERRIDE if override.get(name) is None]:
            return f"{INVALID}an override of node repair needs {', '.join(missing)}"
    return None


def release_is_of_the_version(inputs: Values) -> str | None:
    """Reject a release of another minor version.

    Bottlerocket's releases don't contain a minor version. Sources: eksctl-io/eksctl issue 7976,
    awslabs/amazon-eks-ami issue 435.
    """
    release, version = inputs.get("releaseVersion"), inputs.get("version")
    if not release or str(inputs.get("amiType") or "").startswith(("BOTTLEROCKET_", "WINDOWS_")):
        return None
    if not re.fullmatch(RELEASE, release):
        return f"{INVALID}Requested Nodegroup release version {release} is invalid."
    if not version or release.startswith(f"{version}."):
        return None
    return (
        f"{INVALID}Requested release version {release} is not valid for kubernetes version "
        f"{version}."
    )


def agrees_with_its_template(request: CloudRequest) -> str | None:
    """Reject settings of a node group that contradict its launch template.

    Sources: terraform-aws-eks issues 1386 and 3459; rancher/eks-operator issue 185; EKS user guide,
    “Create a managed node group with Capacity Blocks for ML” and “Customize managed nodes with
    launch templates”.
    """
    if request.inputs is None:
        return None
    group, template = request.inputs, _template(request)
    if template is None:
        return None
    if template.get("instanceType") and group.get("instanceTypes"):
        return f"{INVALID}Cannot specify instance types in launch template and API Request"
    if template.get("imageId"):
        if group.get("amiType") not in (None, "CUSTOM"):
            return (
                f"{INVALID}You cannot specify an AMI Type other than CUSTOM, when specifying an "
                "image id in your "
                "launch template."
            )
        if group.get("version"):
            return (
                f"{INVALID}You cannot specify a kubernetes version to use when specifying an image "
                "id to use within "
                "the launch template."
            )
    if group.get("capacityType") == "CAPACITY_BLOCK" and (missing := _missing_of_a_block(template)):
        return (
            f"{INVALID}Ec2LaunchTemplateInvalidConfiguration: a Capacity Block needs {missing} "
            "in the template"
        )
    return _not_for_templates(template)


def release_is_no_older(request: CloudRequest) -> str | None:
    """Reject an older release. Without a version, the release must belong to the cluster's version.
    Sources: EKS API reference, UpdateNodegroupVersion; eksctl-io/eksctl issue 7976.
    """
    group = request.inputs or {}
    wanted, now = (
        str(group.get("releaseVersion") or ""),
        str((request.before or {}).get("releaseVersion") or ""),
    )
    if not re.fullmatch(RELEASE, wanted):
        return None
    if re.fullmatch(RELEASE, now) and _numbers(wanted) < _numbers(now):
        return f"{INVALID}a node group cannot go from release {now} back to {wanted}"
    own = (request.before or request.cloud.get(CLUSTER, str(group.get("clusterName"))) or {}).get(
        "version"
    )
    if group.get("version") or not own or wanted.startswith(f"{own}."):
        return None
    return f"{INVALID}Requested release version {wanted} is not valid for kubernetes version {own}."


def is_no_older(request: CloudRequest) -> str | None:
    """Reject an older version, and at creation any version other than the cluster's. Sources: EKS
    API reference, UpdateNodegroupVersion and CreateNodegroup.
    """
    wanted = (request.inputs or {}).get("version")
    if not wanted:
        return None
    now = (request.before or {}).get("version")
    if now and _minor(wanted) < _minor(now):
        return f"{INVALID}a node group cannot go from Kubernetes {now} back to {wanted}"
    cluster = request.cloud.get(CLUSTER, (request.inputs or {})["clusterName"])
    if cluster is not None and _minor(wanted) > _minor(cluster["version"]):
        return f"{INVALID}Nodegroup version {wanted} is above the cluster's, {cluster['version']}"
    return None


def with_a_number_for_its_template(inputs: Values) -> Values:
    """Return the version number for `$Latest` and `$Default`, as EKS does, so that each run finds a
    difference. Source:
    hashicorp/terraform-provider-aws:website/docs/r/eks_node_group.html.markdown@05389d46.
    """
    template = inputs.get("launchTemplate") or {}
    if template.get("version") not in ("$Latest", "$Default"):
        return inputs
    return {**inputs, "launchTemplate": {**template, "version": "1"}}


def _template(request: CloudRequest) -> Values | None:
    return request.cloud.get(
        TEMPLATE, str(((request.inputs or {}).get("launchTemplate") or {}).get("id"))
    )


def _missing_of_a_block(template: Values) -> str:
    target = (template.get("capacityReservationSpecification") or {}).get(
        "capacityReservationTarget"
    ) or {}
    wanted: dict[str, Any] = {
        "the market type": (template.get("instanceMarketOptions") or {}).get("marketType")
        == "capacity-block",
        "the reservation": target.get("capacityReservationId"),
        "the instance type": template.get("instanceType"),
    }
    return ", ".join(name for name, given in wanted.items() if not given)


def _not_for_templates(template: Values) -> str | None:
    """Return the template settings that EKS rejects for managed node groups, because EKS sets them
    itself.
    """
    head = f"{INVALID}Ec2LaunchTemplateInvalidConfiguration: "
    for key in ("iamInstanceProfile", "instanceInitiatedShutdownBehavior", "hibernationOptions"):
        if template.get(key):
            return f"{head}{key} cannot be in the template of a managed node group"
    interfaces = template.get("networkInterfaces") or []
    if any(interface.get("subnetId") for interface in interfaces):
        return f"{head}the template of a managed node group cannot name subnets"
    if template.get("vpcSecurityGroupIds") and any(
        interface.get("securityGroups") for interface in interfaces
    ):
        return f"{head}security groups must be in the template or in its interfaces, not in both"
    return None


def _minor(version: str) -> int:
    return int(version.split(".")[1])


def _numbers(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)]


CHECKS = (
    has_a_name,
    has_a_version,
    has_a_size,
    has_few_machines_and_tags,
    template_or_own,
    labels_are_accepted,
    taints_are_accepted,
    one_limit_of_updates,
    repairs_one_way,
    release_is_of_the_version,
)
REFUSALS = (is_had_so, sizes_in_order, agrees_with_its_template, release_is_no_older, is_no_older)
