"""The node count to send for a managed node group whose count an autoscaler changes.

EKS expects minimum, desired, and maximum together, and rejects a minimum above the desired size in
the request (terraform-aws-modules/terraform-aws-eks issue 3306). A program that ignores changes of
the desired size sends the old size. It can't raise the minimum, or change a limit without removing
the autoscaler's nodes.
"""

import pulumi
import pulumi_aws as aws

from dra_planner.clouds import POOL
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.pool_inputs import Counts


def desired_size(
    counts: Counts, pool_name: str, cluster_name: pulumi.Input[str], children: Children
) -> pulumi.Input[int]:
    """Return the desired size to send: the plan's size or, with an autoscaler, the current size
    within the new limits.
    """
    if not counts.autoscaled:
        return counts.desired
    names = aws.eks.get_node_groups_output(
        cluster_name=cluster_name, opts=children.invoke_options()
    ).names

    def look_up(known: list[str]) -> pulumi.Output[list[aws.eks.GetNodeGroupResult]]:
        return pulumi.Output.all(
            *(
                aws.eks.get_node_group_output(
                    cluster_name=cluster_name, node_group_name=name, opts=children.invoke_options()
                )
                for name in known
            )
        )

    def within(groups: list[aws.eks.GetNodeGroupResult]) -> int:
        mine = [group for group in groups if group.labels.get(POOL) == pool_name]
        present = max(
            (group.scaling_configs[0].desired_size for group in mine), default=counts.desired
        )
        return counts.within(present)

    return names.apply(look_up).apply(within)
