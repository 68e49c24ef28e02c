"""A managed node group of GPU machines for Dynamic Resource Allocation, sized by a plan."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_aws as aws
from dra_planner import catalog
from dra_planner.errors import CatalogError

from pulumi_dra.children import Children
from pulumi_dra.eks import launch_template
from pulumi_dra.eks.boot_config import boot_config
from pulumi_dra.eks.capacity import KINDS, capacity_type, check_capacity, is_bought, machine_in_template
from pulumi_dra.eks.mig import mig_instances
from pulumi_dra.eks.node_image import BOTTLEROCKET_REFUSAL, architecture_of, gpu_image
from pulumi_dra.inputs import InputReader
from pulumi_dra.labels import GPU_TAINT_KEY, GPU_TAINT_VALUE, eks_pool_labels
from pulumi_dra.pool_inputs import read_counts, read_labels, read_pool_name


class EksGpuPoolArgs(TypedDict):
    """Inputs of EksGpuPool."""

    cluster_name: pulumi.Input[str]
    """Name of the cluster."""
    node_role_arn: pulumi.Input[str]
    """IAM role of the nodes."""
    subnet_ids: pulumi.Input[list[pulumi.Input[str]]]
    """Subnets the nodes may be in: those of the pool's zones."""
    machine: str
    """Machine type, p5.48xlarge for example."""
    max_nodes: int
    """The most nodes the pool may have."""
    min_nodes: NotRequired[int]
    """The fewest nodes the pool may have. Default 0."""
    desired_nodes: NotRequired[int]
    """How many nodes the pool is created with. Default the minimum."""
    autoscaled: NotRequired[bool]
    """Whether an autoscaler changes the number of nodes; Pulumi then leaves it alone. Default false."""
    pool_name: NotRequired[str]
    """Name of the pool in the label `pulumi-dra/pool`. Default the component's name."""
    capacity: NotRequired[str]
    """Where machines come from: on-demand (default), spot, reservation or capacity-block."""
    reservation_id: NotRequired[pulumi.Input[str]]
    """Id of the capacity reservation or Capacity Block (cr-…)."""
    image: NotRequired[str]
    """Operating system: al2023, the only one supported with DRA."""
    kubernetes_version: NotRequired[pulumi.Input[str]]
    """Kubernetes version of the nodes. Default the cluster's at creation."""
    mig_layout: NotRequired[str]
    """MIG layout made at boot: one for every GPU (all-1g.10gb) or by device (0-3=all-balanced). Default none."""
    efa: NotRequired[bool]
    """Whether every network card carries EFA. Default false."""
    cluster_security_group_id: NotRequired[pulumi.Input[str]]
    """Security group of the cluster; needed with EFA, because the template then names the groups."""
    vpc_id: NotRequired[pulumi.Input[str]]
    """VPC of the nodes; needed with EFA, for its security group."""
    placement_group: NotRequired[bool]
    """Whether nodes are placed close together, in one zone. Default false."""
    disk_gib: NotRequired[int]
    """Size of the root volume. Default 200."""
    local_storage: NotRequired[str]
    """What to do with local NVMe disks: none (default), raid0 (one file system for containers) or mount."""
    disk_kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key that encrypts the root volume. Default: the account's key for EBS."""
    node_repair: NotRequired[bool]
    """Whether EKS replaces nodes that report a broken GPU; needs the add-on eks-node-monitoring-agent.
    Default false."""
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Further labels of the nodes."""
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags on everything that takes tags, instances and volumes included."""


class EksGpuPool(pulumi.ComponentResource):
    """A managed node group of GPU machines that the DRA driver runs on and the device plugin keeps off."""

    pool_name: pulumi.Output[str]
    """Name of the pool, the value of the label `pulumi-dra/pool`."""
    node_group_name: pulumi.Output[str]
    """Name of the node group."""
    max_nodes: pulumi.Output[int]
    """The most nodes the pool may have."""

    def __init__(self, name: str, args: EksGpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        read = InputReader("EksGpuPool", name, args, EksGpuPoolArgs)
        cluster_name = read.required_identifier("cluster_name")
        node_role_arn = read.required_identifier("node_role_arn", pattern="arn:.+", meaning="the ARN of a role")
        subnet_ids = read.identifiers("subnet_ids", required=True)
        machine = read.text("machine")
        counts = read_counts(read)
        pool_name = read_pool_name(read, name)
        capacity = read.choice("capacity", KINDS, "on-demand")
        reservation_id = read.identifier(
            "reservation_id", pattern="cr-[0-9a-f]+", meaning="the id of a reservation (cr-…)"
        )
        if complaint := check_capacity(capacity, reservation_id is not None):
            read.refuse("reservation_id", complaint)
        image = read.text("image", "al2023")
        if image != "al2023":
            read.refuse("image", BOTTLEROCKET_REFUSAL if image == "bottlerocket" else f'must be al2023, not "{image}"')
        version = read.identifier("kubernetes_version")
        mig = _read_mig(read, machine)
        efa_cards = _read_efa(read, machine)
        placement = read.flag("placement_group", False)
        disk_gib = read.whole("disk_gib", 200, least=50, most=16_384)
        disk_key = read.identifier("disk_kms_key_arn", pattern="arn:.+:kms:.+", meaning="the ARN of a KMS key")
        local_storage = read.choice("local_storage", ("none", "raid0", "mount"), "none")
        node_repair = read.flag("node_repair", False)
        cluster_group, vpc_id = read.identifier("cluster_security_group_id"), read.identifier("vpc_id")
        labels = read_labels(read, eks_pool_labels(pool_name))
        tags = read.labels("tags")
        read.finish()

        super().__init__("pulumi-dra:index:EksGpuPool", name, {}, opts)
        self._children, self._tags = Children(self, opts), tags
        options = self._children.options
        settings: dict[str, Any] = {}
        if efa_cards:
            assert cluster_group is not None  # `_read_efa` has refused otherwise
            assert vpc_id is not None
            groups = [cluster_group, self._declare_efa_group(vpc_id).id]
            settings["network_interfaces"] = launch_template.efa_interfaces(efa_cards, groups)
        if placement:
            placed = aws.ec2.PlacementGroup(f"{name}-placement", strategy="cluster", tags=tags, opts=options())
            settings["placement"] = {"group_name": placed.name}
        if machine_in_template(capacity):
            settings["instance_type"] = machine
        template = aws.ec2.LaunchTemplate(
            f"{name}-nodes",
            update_default_version=True,
            metadata_options=launch_template.metadata_options(),
            block_device_mappings=launch_template.root_volume(disk_gib, disk_key),
            instance_market_options=launch_template.market_options(capacity),
            capacity_reservation_specification=launch_template.reservation_target(capacity, reservation_id),
            user_data=boot_config(mig=mig, local_storage=local_storage) or None,
            tag_specifications=launch_template.tag_specifications({**tags, "Name": pool_name}),
            tags=tags,
            opts=options(),
            **settings,
        )
        group = aws.eks.NodeGroup(
            f"{name}-nodes",
            cluster_name=cluster_name,
            node_role_arn=node_role_arn,
            subnet_ids=subnet_ids,
            version=version,
            ami_type=gpu_image(architecture_of(machine)),
            capacity_type=capacity_type(capacity),
            instance_types=None if machine_in_template(capacity) else [machine],
            scaling_config={"min_size": counts.min, "desired_size": counts.desired, "max_size": counts.max},
            # A full pool has no room for a new node beside an old one: take one away, then add one.
            update_config={"max_unavailable": 1, "update_strategy": "MINIMAL"},
            node_repair_config={"enabled": True} if node_repair else None,
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            labels=labels,
            taints=[{"key": GPU_TAINT_KEY, "value": GPU_TAINT_VALUE, "effect": "NO_SCHEDULE"}],
            tags=tags,
            opts=options(
                # Bought machines cannot be had twice, so a replacement waits until the old ones are free.
                delete_before_replace=True if is_bought(capacity) else None,
                ignore_changes=["scalingConfig.desiredSize"] if counts.autoscaled else None,
            ),
        )
        self.pool_name = pulumi.Output.from_input(pool_name)
        self.node_group_name = group.node_group_name
        self.max_nodes = pulumi.Output.from_input(counts.max)
        self.register_outputs(
            {"pool_name": self.pool_name, "node_group_name": self.node_group_name, "max_nodes": self.max_nodes}
        )

    def _declare_efa_group(self, vpc_id: pulumi.Input[str]) -> aws.ec2.SecurityGroup:
        """Declare a group whose members reach one another on every protocol, and nobody else: what EFA needs."""
        options = self._children.options
        return aws.ec2.SecurityGroup(
            f"{self._name}-efa",
            description=f"EFA between the nodes of {self._name}",
            vpc_id=vpc_id,
            # Without this the provider would leave the rule that lets everything out.
            ingress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True, "description": "EFA in"}],
            egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True, "description": "EFA out"}],
            tags=self._tags,
            opts=options(),
        )


def _read_mig(read: InputReader, machine: str) -> list[list[str] | None]:
    """Return the MIG instances of each GPU, None for one that stays whole."""
    layout = read.text("mig_layout", "none")
    if layout == "none" or not machine:
        return []
    try:
        return mig_instances(machine, layout)
    except CatalogError as error:
        read.refuse("mig_layout", str(error))
        return []


def _read_efa(read: InputReader, machine: str) -> int:
    """Return how many cards carry EFA, 0 when it was not asked for."""
    if not read.flag("efa", False):
        return 0
    for key in ("cluster_security_group_id", "vpc_id"):
        if not read.has(key):
            read.refuse(key, "is missing: with efa the launch template names the security groups")
    try:
        cards = catalog.machine("eks", machine).efa_interfaces
    except CatalogError:
        read.refuse("efa", f'nobody knows how many EFA interfaces "{machine}" has')
        return 0
    if not cards:
        read.refuse("efa", f"{machine} has no EFA interface")
    return cards or 0
