"""Values that the AWS APIs accept, for properties whose SDK type is only "string".

They were compared with the service models of botocore 1.44.5 (eks/2017-11-01, ec2/2016-11-15).
"""

from __future__ import annotations

from dra_planner.releases import MAXIMUM_MINOR

OFFERED = tuple(f"1.{minor}" for minor in range(31, MAXIMUM_MINOR + 1))
"""Kubernetes minor versions of EKS. The oldest is in extended support until 26 November 2026: EKS
user guide, “Understand the Kubernetes version lifecycle on EKS”.
"""

# eks API, shape AMITypes.
AMI_TYPES = frozenset(
    {
        "AL2_x86_64",
        "AL2_x86_64_GPU",
        "AL2_ARM_64",
        "CUSTOM",
        "BOTTLEROCKET_ARM_64",
        "BOTTLEROCKET_x86_64",
        "BOTTLEROCKET_ARM_64_FIPS",
        "BOTTLEROCKET_x86_64_FIPS",
        "BOTTLEROCKET_ARM_64_NVIDIA",
        "BOTTLEROCKET_x86_64_NVIDIA",
        "BOTTLEROCKET_ARM_64_NVIDIA_FIPS",
        "BOTTLEROCKET_x86_64_NVIDIA_FIPS",
        "WINDOWS_CORE_2019_x86_64",
        "WINDOWS_FULL_2019_x86_64",
        "WINDOWS_CORE_2022_x86_64",
        "WINDOWS_FULL_2022_x86_64",
        "WINDOWS_CORE_2025_x86_64",
        "WINDOWS_FULL_2025_x86_64",
        "AL2023_x86_64_STANDARD",
        "AL2023_ARM_64_STANDARD",
        "AL2023_x86_64_NEURON",
        "AL2023_x86_64_NVIDIA",
        "AL2023_ARM_64_NVIDIA",
    }
)
# eks API, shapes CapacityTypes, TaintEffect, AuthenticationMode, LogType, ResolveConflicts,
# SupportType, IpFamily, ControlPlaneScalingConfig, NodegroupUpdateStrategies, RepairAction; the
# types of access entries are in the text of CreateAccessEntryRequest.
CAPACITY_TYPES = frozenset({"ON_DEMAND", "SPOT", "CAPACITY_BLOCK"})
TAINT_EFFECTS = frozenset({"NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"})
AUTHENTICATION_MODES = frozenset({"API", "API_AND_CONFIG_MAP", "CONFIG_MAP"})
LOG_TYPES = frozenset({"api", "audit", "authenticator", "controllerManager", "scheduler"})
RESOLVE_CONFLICTS = frozenset({"OVERWRITE", "NONE", "PRESERVE"})
SUPPORT_TYPES = frozenset({"STANDARD", "EXTENDED"})
CONTROL_PLANE_TIERS = frozenset({"standard", "tier-xl", "tier-2xl", "tier-4xl", "tier-8xl"})
IP_FAMILIES = frozenset({"ipv4", "ipv6"})
UPDATE_STRATEGIES = frozenset({"DEFAULT", "MINIMAL"})
REPAIR_ACTIONS = frozenset({"Replace", "Reboot", "NoAction"})
ACCESS_ENTRY_TYPES = frozenset(
    {
        "STANDARD",
        "FARGATE_LINUX",
        "EC2_LINUX",
        "EC2_WINDOWS",
        "EC2",
        "HYBRID_LINUX",
        "HYPERPOD_LINUX",
    }
)
# ec2 API, shapes LaunchTemplateHttpTokensState, VolumeType, MarketType,
# CapacityReservationPreference, ConnectivityType, PlacementStrategy, Tenancy; interface types are
# in the text of the network interface's request.
HTTP_TOKENS = frozenset({"optional", "required"})
ENABLED_DISABLED = frozenset({"enabled", "disabled"})
VOLUME_TYPES = frozenset({"standard", "io1", "io2", "gp2", "gp3", "sc1", "st1"})
MARKET_TYPES = frozenset(
    {"spot", "capacity-block", "interruptible-capacity-reservation", "on-demand"}
)
RESERVATION_PREFERENCES = frozenset({"capacity-reservations-only", "open", "none"})
NETWORK_INTERFACE_TYPES = frozenset({"interface", "efa", "efa-only"})
CONNECTIVITY_TYPES = frozenset({"private", "public"})
PLACEMENT_STRATEGIES = frozenset({"cluster", "partition", "precision-time", "spread"})
TENANCIES = frozenset({"default", "dedicated", "host"})
# From the text of LaunchTemplateTagSpecificationRequest: the resources that a launch template can
# tag.
RESOURCE_TYPES_TAGGED = frozenset(
    {"instance", "network-interface", "spot-instances-request", "volume"}
)
