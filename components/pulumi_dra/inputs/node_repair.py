"""EKS node repair: its limits, and its actions for specific faults. In a separate module, because
platform options also have this type.
"""

# No `from __future__ import annotations` here: Pulumi's schema analyzer reads the annotations.
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, cast

from pulumi_dra.inputs.reader import InputReader

if TYPE_CHECKING:
    # The SDK's own type, imported only for type checking.
    from pulumi_aws.eks import NodeGroupNodeRepairConfigArgsDict

ACTIONS = ("Replace", "Reboot", "NoAction")


class RepairOverride(TypedDict):
    """Action that EKS takes for a fault, instead of the default action."""

    condition: str
    """Condition that the node monitoring agent reports, for example AcceleratedHardwareReady."""
    reason: str
    """Reason of the condition, for example NvidiaXID64Error."""
    wait_minutes: int
    """Number of minutes for which the fault must last before EKS acts, at least 1."""
    action: str
    """Action: Replace, Reboot, or NoAction."""


class NodeRepairLimits(TypedDict):
    """Limits for repairs, as a number or percentage of nodes."""

    unhealthy_count: NotRequired[int]
    """Stop repairing if more nodes than this number are unhealthy. Default: the EKS limit, which is
    20% of more than five nodes.
    """
    unhealthy_percentage: NotRequired[int]
    """Stop repairing if more than this percentage of nodes is unhealthy, 1 to 100."""
    parallel_count: NotRequired[int]
    """Number of unhealthy nodes that EKS repairs at the same time."""
    parallel_percentage: NotRequired[int]
    """Percentage of unhealthy nodes that EKS repairs at the same time, 1 to 100."""
    overrides: NotRequired[list[RepairOverride]]
    """Actions for specific faults. Default: the EKS actions."""


# NodeRepairConfig and NodeRepairConfigOverrides of the EKS API reference (botocore's model).
_LIMITS = {
    "unhealthy": ("max_unhealthy_node_threshold_count", "max_unhealthy_node_threshold_percentage"),
    "parallel": ("max_parallel_nodes_repaired_count", "max_parallel_nodes_repaired_percentage"),
}


def read_node_repair(read: InputReader) -> "NodeGroupNodeRepairConfigArgsDict":
    """Return the node group's repair settings, and record errors in `read`.

    false is also sent, because the provider keeps omitted settings
    (hashicorp/terraform-provider-aws:internal/service/eks/node_group.go@012e0a32: optional and
    computed).
    """
    is_on = read.flag("node_repair", False)
    block = read.block("repair_limits")
    if block and not is_on:
        read.refuse("repair_limits", "applies only with node_repair: true")
    inner = read.inside("repair_limits", block, NodeRepairLimits)
    settings: dict[str, Any] = {"enabled": True}
    for what, (count, percentage) in _LIMITS.items():
        if inner.has(f"{what}_count") and inner.has(f"{what}_percentage"):
            inner.refuse(f"{what}_percentage", f"set either {what}_count or {what}_percentage")
        elif inner.has(f"{what}_count"):
            settings[count] = inner.whole(f"{what}_count", least=1)
        elif inner.has(f"{what}_percentage"):
            settings[percentage] = inner.whole(f"{what}_percentage", least=1, most=100)
    if overrides := _read_overrides(inner):
        settings["node_repair_config_overrides"] = overrides
    return cast("NodeGroupNodeRepairConfigArgsDict", settings if is_on else {"enabled": False})


def _read_overrides(read: InputReader) -> list[dict[str, Any]]:
    overrides: list[dict[str, Any]] = []
    for index, block in enumerate(read.blocks("overrides")):
        inner = read.inside(f"overrides[{index}]", block, RepairOverride)
        override = {
            "node_monitoring_condition": inner.text("condition"),
            "node_unhealthy_reason": inner.text("reason"),
            "min_repair_wait_time_mins": inner.whole("wait_minutes", least=1),
            "repair_action": inner.choice("action", ACTIONS, ""),
        }
        known = [
            (each["node_monitoring_condition"], each["node_unhealthy_reason"]) for each in overrides
        ]
        if (override["node_monitoring_condition"], override["node_unhealthy_reason"]) in known:
            inner.refuse("reason", "appears twice for this condition")
        overrides.append(override)
    return overrides
