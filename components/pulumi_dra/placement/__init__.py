"""Guards of a plan in the cluster: admission policies that send pods to the pools of the plan."""

from pulumi_dra.placement.placement_policies import PlacementPolicies, PlacementPoliciesArgs

__all__ = ["PlacementPolicies", "PlacementPoliciesArgs"]
