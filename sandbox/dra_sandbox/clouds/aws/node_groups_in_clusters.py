"""Check managed node groups against other resources: their cluster, add-ons, subnets, and
machines.
"""

from __future__ import annotations

from dra_planner.catalog import machine
from dra_planner.errors import CatalogError
from dra_sandbox.clouds.aws.subnets import zones_of
from dra_sandbox.clouds.type_rows import CloudRequest, Facts
from dra_sandbox.clouds.wire_values import Values

CLUSTER, GROUP = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup"
TEMPLATE, ADDON = "aws:ec2/launchTemplate:LaunchTemplate", "aws:eks/addon:Addon"
INVALID = "InvalidParameterException: "


def version(facts: Facts) -> str:
    """Return the default version of a node group (EKS API reference, CreateNodegroup)."""
    cluster = facts.cloud.get(CLUSTER, str(facts.inputs.get("clusterName"))) or {}
    return str(cluster.get("version") or "1.34")


def release(facts: Facts) -> str:
    """Return the default image of a node group: the newest image of its minor version (EKS API
    reference, CreateNodegroup).
    """
    return f"{facts.inputs.get('version') or version(facts)}.2-20260101"


def has_a_name_of_its_own(request: CloudRequest) -> str | None:
    """Reject a name that the cluster already uses. Source: EKS API reference, CreateNodegroup."""
    if request.before is None and request.inputs and request.cloud.get(GROUP, request.identifier):
        name, cluster = request.inputs["nodeGroupName"], request.inputs["clusterName"]
        return (
            f"ResourceInUseException: NodeGroup already exists with name {name} and cluster "
            f"name {cluster}"
        )
    return None


def begins_at_the_clusters_version(request: CloudRequest) -> str | None:
    """Reject any version other than the cluster's. Source: EKS API reference, CreateNodegroup."""
    wanted = (request.inputs or {}).get("version")
    cluster = request.cloud.get(CLUSTER, str((request.inputs or {}).get("clusterName")))
    if request.before is not None or not wanted or cluster is None or wanted == cluster["version"]:
        return None
    return f"{INVALID}Nodegroup version {wanted} is not the cluster's, {cluster['version']}"


def has_a_network_for_pods(request: CloudRequest) -> str | None:
    """Reject nodes that start before vpc-cni, because they never become ready.

    Source: terraform-aws-eks issue 3446.
    """
    group = request.inputs or {}
    cluster = request.cloud.get(CLUSTER, str(group.get("clusterName")))
    if (
        request.before is not None
        or cluster is None
        or cluster.get("bootstrapSelfManagedAddons", True)
    ):
        return None
    addons = [
        each
        for each in request.cloud.all(ADDON).values()
        if each["clusterName"] == group["clusterName"]
    ]
    if not group["scalingConfig"]["desiredSize"] or any(
        each["addonName"] == "vpc-cni" for each in addons
    ):
        return None
    return (
        "NodeCreationFailure: Instances failed to join the kubernetes cluster: container runtime "
        "network not ready: "
        "cni plugin not initialized"
    )


def block_is_empty_when_upgraded(request: CloudRequest) -> str | None:
    """Reject the upgrade of a node group with nodes in a Capacity Block. Source: EKS user guide,
    “Create a managed node group with Capacity Blocks for ML”.
    """
    now, wanted = request.before or {}, request.inputs or {}
    if wanted.get("capacityType") != "CAPACITY_BLOCK" or not wanted.get("version"):
        return None
    if (
        wanted["version"] != now.get("version", wanted["version"])
        and now["scalingConfig"]["desiredSize"]
    ):
        return (
            f"{INVALID}the desired size of a node group of a Capacity Block must be 0 for an "
            "upgrade"
        )
    return None


def placement_group_has_one_zone(request: CloudRequest) -> str | None:
    """Reject an update that puts nodes of a cluster placement group into more than one zone,
    because such a group has only one. Source: terraform-aws-eks issue 3045.
    """
    group, template = request.inputs or {}, _template(request)
    name = ((template or {}).get("placement") or {}).get("groupName")
    zones = zones_of(request.cloud, group.get("subnetIds") or [])
    if not name or request.before is None or zones is None or len(zones) < 2:
        return None
    zone = min(zones)
    return (
        f"InvalidRequestException: Instances in the {name} Placement Group must be launched in the "
        f"{zone} Availability "
        f"Zone. Specify the {zone} Availability Zone and try again."
    )


def bought_machines_are_where_they_are(request: CloudRequest) -> str | None:
    """Reject a placement group that doesn't contain the reserved machines. Source:
    terraform-aws-eks PR 3730.
    """
    group, template = request.inputs or {}, _template(request) or {}
    name = (template.get("placement") or {}).get("groupName")
    target = (template.get("capacityReservationSpecification") or {}).get(
        "capacityReservationTarget"
    ) or {}
    reservation = target.get("capacityReservationId")
    if not name or not reservation or not group["scalingConfig"]["desiredSize"]:
        return None
    return (
        "NodeCreationFailure: AsgInstanceLaunchFailures: Could not launch On-Demand Instances. "
        f"InsufficientInstanceCapacity - {reservation} has no capacity in the placement group "
        f"{name}. Launching EC2 "
        "instance failed."
    )


def has_as_many_efas_as_the_machine(request: CloudRequest) -> str | None:
    """Reject more EFA interfaces than the machine type supports. Source: EC2 user guide, “Maximize
    network bandwidth …”.
    """
    template = _template(request)
    if request.inputs is None or template is None:
        return None
    kinds = [each.get("interfaceType") for each in template.get("networkInterfaces") or []]
    efas = sum(str(kind).startswith("efa") for kind in kinds)
    for name in [template.get("instanceType"), *(request.inputs.get("instanceTypes") or [])]:
        most = _efas_of(name) if efas and name else None
        if most is not None and efas > most:
            return (
                f"InvalidParameterValue: {efas} EFA interfaces: instance type {name} supports "
                f"{most} "
                "(Ec2LaunchTemplateInvalidConfiguration)"
            )
    return None


def _efas_of(name: str) -> int | None:
    try:
        return machine("eks", name).efa_interfaces
    except CatalogError:
        return None


def _template(request: CloudRequest) -> Values | None:
    return request.cloud.get(
        TEMPLATE, str(((request.inputs or {}).get("launchTemplate") or {}).get("id"))
    )


REFUSALS = (
    has_a_name_of_its_own,
    begins_at_the_clusters_version,
    has_a_network_for_pods,
    block_is_empty_when_upgraded,
    placement_group_has_one_zone,
    bought_machines_are_where_they_are,
    has_as_many_efas_as_the_machine,
)
