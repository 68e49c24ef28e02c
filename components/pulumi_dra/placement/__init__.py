"""Admission policies that place pods in the planned pools, and a gate that rejects unplanned
objects.
"""

from pulumi_dra.placement.placement_policies import PlacementPolicies, PlacementPoliciesArgs
from pulumi_dra.placement.plan_gate import PlanGate, PlanGateArgs

__all__ = ["PlacementPolicies", "PlacementPoliciesArgs", "PlanGate", "PlanGateArgs"]
