"""Nodes without GPUs that run controllers and add-ons."""

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from dra_planner.clouds import POOL
from pulumi_dra.child_options import Children
from pulumi_dra.eks.boot import launch_template
from pulumi_dra.eks.boot.node_image import architecture_of, system_image
from pulumi_dra.eks.naming import NODE_GROUP_NAME
from pulumi_dra.resource_names import fitting

ROOT_VOLUME_GIB = 50


def declare_system_nodes(
    name: str,
    cluster: aws.eks.Cluster,
    role: aws.iam.Role,
    subnet_ids: pulumi.Input[list[str]],
    *,
    machine: str,
    count: int,
    tags: dict[str, pulumi.Input[str]],
    keep_subnets: bool,
    disk_kms_key: pulumi.Input[str] | None,
    children: Children,
    depends_on: Sequence[pulumi.Resource],
) -> aws.eks.NodeGroup:
    """Declare a managed node group of `count` nodes, with at most one more during updates.

    With `keep_subnets`, it stays in its original subnets, because other subnets would replace it.
    """
    template = aws.ec2.LaunchTemplate(
        f"{name}-system",
        update_default_version=True,
        metadata_options=launch_template.metadata_options(),
        block_device_mappings=launch_template.root_volume(ROOT_VOLUME_GIB, disk_kms_key),
        tag_specifications=launch_template.tag_specifications(tags),
        tags=tags,
        opts=children.options(),
    )
    return aws.eks.NodeGroup(
        fitting(f"{name}-system", NODE_GROUP_NAME),
        cluster_name=cluster.name,
        node_role_arn=role.arn,
        subnet_ids=subnet_ids,
        version=cluster.version,
        ami_type=system_image(architecture_of(machine)),
        instance_types=[machine],
        scaling_config={"min_size": count, "desired_size": count, "max_size": count + 1},
        update_config={"max_unavailable": 1},
        launch_template={"id": template.id, "version": template.latest_version.apply(str)},
        labels={POOL: "system"},
        tags=tags,
        opts=children.options(
            depends_on=depends_on, ignore_changes=["subnetIds"] if keep_subnets else None
        ),
    )
