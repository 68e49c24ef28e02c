"""Inputs of the DRA driver that DraPlatform sets itself. All others are options of a platform."""

from pulumi_dra.dra.nvidia.driver_inputs import DraDriverArgs

DRIVER_INPUTS = (DraDriverArgs,)
DRIVER_SET = {
    "compute_domains": "the fleet's drivers.nvidia.computeDomains",
    "consumable_shares": "the fleet's drivers.nvidia.consumableShares",
    "feature_gates": "the fleet's drivers.nvidia.featureGates",
    "max_nodes": "the plan",
    "platform": "the fleet's cloud",
    "version": "the fleet's drivers.nvidia.version",
}
