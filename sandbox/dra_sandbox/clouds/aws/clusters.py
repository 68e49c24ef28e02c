"""Check EKS clusters and access to them, with the error messages that users of the real
EKS report.
"""

from __future__ import annotations

import ipaddress
import re

from dra_sandbox.clouds.aws.api_values import OFFERED
from dra_sandbox.clouds.aws.subnets import zones_of
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

ENTRY, NODE_GROUP = "aws:eks/accessEntry:AccessEntry", "aws:eks/nodeGroup:NodeGroup"
ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
INVALID = "InvalidParameterException: "
SECURITY_GROUPS, ASSOCIATIONS = 5, 1000
CLUSTER = "aws:eks/cluster:Cluster"
FULL_ZONE = "dra-sandbox:aws:FullZone"
"""Kind of the stored zones without capacity for a control plane, by name."""
MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
SERVICES = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))


def is_accepted(inputs: Values) -> str | None:
    """Return the first error for a cluster, or None if EKS accepts it.

    Sources: awsdocs/amazon-eks-user-guide PR 795 (subnets);
    finos/compliant-financial-infrastructure issue 228 (version);
    crossplane-contrib/provider-upjet-aws issue 1345 (creator); botocore's model of CreateCluster
    (name, security groups).
    """
    vpc, access = inputs["vpcConfig"], inputs.get("accessConfig") or {}
    if inputs.get("version") and inputs["version"] not in OFFERED:
        return f"{INVALID}unsupported Kubernetes version"
    if len(vpc.get("subnetIds") or []) < 2:
        return f"{INVALID}Subnets specified must be in at least two different AZs"
    if len(vpc.get("securityGroupIds") or []) > SECURITY_GROUPS:
        return f"{INVALID}a cluster has at most {SECURITY_GROUPS} security groups"
    if not re.fullmatch(r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}", inputs.get("name") or "x"):
        return f"{INVALID}the name of a cluster has letters, digits, - and _"
    if vpc.get("endpointPublicAccess") is False and vpc.get("endpointPrivateAccess") is False:
        return f"{INVALID}Private and public endpoint access cannot both be false"
    if wrong := [cidr for cidr in vpc.get("publicAccessCidrs") or [] if not _is_range(cidr)]:
        return (
            f"{INVALID}The following CIDRs are invalid in publicAccessCidrs: [{', '.join(wrong)}]"
        )
    if not _is_for_services((inputs.get("kubernetesNetworkConfig") or {}).get("serviceIpv4Cidr")):
        return f"{INVALID}serviceIpv4Cidr must be a private range of /12 to /24"
    by_map = access.get("authenticationMode", "CONFIG_MAP") == "CONFIG_MAP"
    if by_map and access.get("bootstrapClusterCreatorAdminPermissions") is False:
        return (
            f"{INVALID}bootstrapClusterCreatorAdminPermissions must be true if cluster "
            "authentication mode is set to "
            "CONFIG_MAP"
        )
    return None


def has_a_key_of_its_region(request: CloudRequest) -> str | None:
    """Reject a KMS key in another region.

    Source: EKS user guide, “Encrypt Kubernetes secrets with KMS on existing clusters” (without the
    text of the error message).
    """
    inputs = request.inputs or {}
    zones = (
        zones_of(request.cloud, (inputs.get("vpcConfig") or {}).get("subnetIds") or [])
        or set[str]()
    )
    key = str(((inputs.get("encryptionConfig") or {}).get("provider") or {}).get("keyArn") or "")
    own = "".join(key.split(":")[3:4])
    if not own or all(zone.startswith(own) for zone in zones):
        return None
    return (
        f"{INVALID}The keyArn in encryptionConfig provider is invalid: {key} is not in the "
        "region of the cluster"
    )


def _is_range(text: str) -> bool:
    """Return True if EKS accepts a network for the public endpoint of an IPv4 cluster.

    Sources: EKS user guide, “Cluster API server endpoint” (IPv6), and rancher/eks-operator's tests
    of hosted clusters, which expect the same sentence.
    """
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        return False
    return isinstance(network, ipaddress.IPv4Network) and not any(
        network.overlaps(each) for each in SERVICES
    )


def _is_for_services(text: str | None) -> bool:
    """Return True if EKS accepts a service CIDR.

    Source: the description of serviceIpv4Cidr in botocore's model.
    """
    try:
        network = ipaddress.ip_network(text) if text else None
    except ValueError:
        return False
    if network is None:
        return True
    inside = isinstance(network, ipaddress.IPv4Network) and any(
        network.subnet_of(each) for each in SERVICES
    )
    return inside and 12 <= network.prefixlen <= 24


def moves_by_one_minor(request: CloudRequest) -> str | None:
    """Reject an upgrade by more than one minor version, and an upgrade while node groups have an
    older version.

    Sources: terraform-aws-eks issue 2607 (steps); terraform-provider-aws issue 19478 (older
    groups). Groups with a custom image have no version, and no source describes how EKS compares
    them, so they aren't compared.
    """
    now, wanted = (request.before or {}).get("version"), (request.inputs or {}).get("version")
    if not now or not wanted or now == wanted:
        return None
    if _minor(wanted) - _minor(now) != 1:
        return f"{INVALID}Unsupported Kubernetes minor version update from {now} to {wanted}"
    with_version = [group for group in _groups(request) if group.get("amiType") != "CUSTOM"]
    behind = sorted(
        group["nodeGroupName"] for group in with_version if _minor(group["version"]) < _minor(now)
    )
    if not behind:
        return None
    return (
        f"{INVALID}Nodegroups {', '.join(behind)} must be updated to match cluster version {now} "
        "before updating "
        "cluster version"
    )


def stays_in_its_zones(request: CloudRequest) -> str | None:
    """Reject subnets in fewer than two zones, in a zone without capacity, or outside the zones of
    an existing cluster.

    Sources: awsdocs/amazon-eks-user-guide PR 795 (two zones) and its page network-reqs (zones can't
    change later); eksctl-io/eksctl issue 817 (a zone without capacity).
    """
    if request.inputs is None:
        return None
    zones = zones_of(request.cloud, request.inputs["vpcConfig"].get("subnetIds") or [])
    if zones is None:
        return None
    if len(zones) < 2:
        return f"{INVALID}Subnets specified must be in at least two different AZs"
    if (
        full := sorted(zones & request.cloud.all(FULL_ZONE).keys())
        if request.before is None
        else []
    ):
        return (
            "UnsupportedAvailabilityZoneException: Cannot create cluster "
            f"'{request.inputs['name']}' because {full[0]},"
            " the targeted availability zone, does not currently have sufficient capacity to "
            "support the cluster. "
            "Retry and choose from other availability zones"
        )
    before = zones_of(
        request.cloud, ((request.before or {}).get("vpcConfig") or {}).get("subnetIds") or []
    )
    if before and zones != before:
        return (
            f"{INVALID}Provided subnets must belong to the zones of the cluster, "
            f"{', '.join(sorted(before))}"
        )
    return None


def with_the_key_of_its_alias(inputs: Values) -> Values:
    """Return the inputs with the key behind an alias, as EKS returns them.

    Each run then finds a difference. Sources: terraform-provider-aws issue 43244,
    cluster-api-provider-aws issue 3096.
    """
    config = inputs.get("encryptionConfig") or {}
    head, is_alias, alias = str((config.get("provider") or {}).get("keyArn") or "").partition(
        ":alias/"
    )
    if not is_alias:
        return inputs
    return {
        **inputs,
        "encryptionConfig": {**config, "provider": {"keyArn": f"{head}:key/of-{alias}"}},
    }


def has_no_groups_left(request: CloudRequest) -> str | None:
    """Reject the deletion of a cluster that has node groups.

    Source: gruntwork-io/cloud-nuke issue 148.
    """
    if request.inputs is None and _groups(request):
        return "ResourceInUseException: Cluster has nodegroups attached"
    return None


def authenticates_as_before_or_by_more(request: CloudRequest) -> str | None:
    """Allow changes of the authentication mode from the ConfigMap to both, and from both to access
    entries, but not back. Source: EKS user guide, “Change authentication mode to use access
    entries” (without the text of the error message).
    """
    now, wanted = (
        authentication_mode(each) for each in (request.before or {}, request.inputs or {})
    )
    if not request.before or not request.inputs or MODES.index(wanted) - MODES.index(now) in (0, 1):
        return None
    return f"{INVALID}Unsupported authentication mode update from {now} to {wanted}"


def has_entries(request: CloudRequest) -> str | None:
    """Reject access entries of clusters whose mode doesn't support them. Source: terraform-aws-eks
    issue 3048.
    """
    cluster = request.cloud.get(CLUSTER, str((request.inputs or {}).get("clusterName")))
    if request.before is not None or cluster is None or authentication_mode(cluster) != MODES[0]:
        return None
    return (
        "InvalidRequestException: The cluster's authentication mode must be set to one of [API, "
        "API_AND_CONFIG_MAP] to "
        "perform this operation."
    )


def authentication_mode(cluster: Values) -> str:
    """Return the authentication mode of a cluster, from its inputs or its current state."""
    return str((cluster.get("accessConfig") or {}).get("authenticationMode") or MODES[0])


def is_the_only_entry(request: CloudRequest) -> str | None:
    """Reject a second entry for the same principal: the creator's entry together with the bootstrap
    entry, or the role of a managed group. Source: terraform-aws-eks issue 2968.
    """
    if request.before is not None or request.inputs is None:
        return None
    cluster, principal = request.inputs["clusterName"], request.inputs["principalArn"]
    entries = request.cloud.all(ENTRY).values()
    taken = {entry["principalArn"] for entry in entries if entry["clusterName"] == cluster}
    groups = request.cloud.all(NODE_GROUP).values()
    taken |= {group["nodeRoleArn"] for group in groups if group["clusterName"] == cluster}
    if principal in taken:
        return (
            "ResourceInUseException: The specified access entry resource is already in use on "
            "this cluster."
        )
    return None


def is_the_only_association(request: CloudRequest) -> str | None:
    """Reject a second association of a service account in a cluster. Source: EKS API reference,
    CreatePodIdentityAssociation.
    """
    if request.before is not None or request.inputs is None:
        return None
    wanted = [request.inputs[name] for name in ("clusterName", "namespace", "serviceAccount")]
    for identifier, each in request.cloud.all(ASSOCIATION).items():
        if [each[name] for name in ("clusterName", "namespace", "serviceAccount")] == wanted:
            return f"ResourceInUseException: Association already exists: {identifier}"
    return None


def has_room_for_an_association(request: CloudRequest) -> str | None:
    """Reject an association beyond the quota.

    Source: EKS user guide, “View and manage Amazon EKS and Fargate service quotas” (without the
    text of the error message).
    """
    if request.before is not None or request.inputs is None:
        return None
    cluster = request.inputs["clusterName"]
    there = sum(each["clusterName"] == cluster for each in request.cloud.all(ASSOCIATION).values())
    if there < ASSOCIATIONS:
        return None
    return (
        f"ResourceLimitExceededException: a cluster has {ASSOCIATIONS} Pod Identity "
        "associations at most"
    )


def _groups(request: CloudRequest) -> list[Values]:
    groups = request.cloud.all(NODE_GROUP).values()
    return [group for group in groups if group["clusterName"] == request.identifier]


def _minor(version: str) -> int:
    return int(version.split(".")[1])
