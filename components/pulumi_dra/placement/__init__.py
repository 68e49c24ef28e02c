"""A plan in the cluster: policies that send pods to its pools, and a gate for what it covers."""

from pulumi_dra.placement.placement_policies import PlacementPolicies, PlacementPoliciesArgs
from pulumi_dra.placement.plan_gate import PlanGate, PlanGateArgs

__all__ = ["PlacementPolicies", "PlacementPoliciesArgs", "PlanGate", "PlanGateArgs"]
