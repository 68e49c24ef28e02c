"""The node count to send for an agent pool whose count the cluster autoscaler changes.

AKS expects the count in every change of a pool. It rejects a count that would scale an autoscaled
pool (Azure/azure-cli pull request 13996; terraform-provider-azurerm pull request 4256: it broke
changes of tags and versions), or one outside new limits (Azure/AKS issue 4185). A program that
doesn't change the count would send an outdated count.
"""

import pulumi
from pulumi_azure_native import containerservice
from pulumi_azure_native.containerservice.outputs import ManagedClusterAgentPoolProfileResponse

from pulumi_dra.child_options import Children
from pulumi_dra.inputs.pool_inputs import Counts


def node_count(
    counts: Counts,
    pool_name: str,
    resource_group_name: pulumi.Input[str],
    cluster_name: pulumi.Input[str],
    children: Children,
) -> pulumi.Input[int]:
    """Return the count to send: the plan's count or, with the autoscaler, the current count within
    the new limits.
    """
    if not counts.autoscaled:
        return counts.desired
    found = containerservice.get_managed_cluster_output(
        resource_group_name=resource_group_name,
        resource_name=cluster_name,
        opts=children.invoke_options(),
    )

    def within(pools: list[ManagedClusterAgentPoolProfileResponse] | None) -> int:
        mine = next((pool for pool in pools or [] if pool.name == pool_name), None)
        if mine is None or mine.count is None:
            return counts.desired
        wanted = counts.within(mine.count)
        if wanted != mine.count and not mine.enable_auto_scaling:
            raise pulumi.RunError(
                f'AksGpuPool "{pool_name}": AKS can\'t change the count and enable the autoscaler '
                f"in the same update (Azure/AKS issue 1248), but the pool has {mine.count} nodes, "
                f"outside the range {counts.min} to {counts.max}. First, run `pulumi up` with a "
                "count in this range and without the autoscaler"
            )
        return wanted

    return found.agent_pool_profiles.apply(within)
