"""Logs of the control plane."""

import pulumi
from pulumi_azure_native import containerservice

from pulumi_dra.aks.naming import WORKSPACE_NAME
from pulumi_dra.child_options import Children
from pulumi_dra.resource_names import fitting

CATEGORIES = (
    "kube-apiserver",
    "kube-audit-admin",
    "kube-controller-manager",
    "kube-scheduler",
    "guard",
)
"""The audit log without reads, and Entra ID's log (guard):
learn.microsoft.com/azure/aks/monitor-aks.
"""


def declare_workspace(
    name: str,
    group: pulumi.Input[str],
    location: str,
    retention_days: int,
    tags: dict[str, pulumi.Input[str]],
    children: Children,
) -> pulumi.Output[str]:
    """Declare a Log Analytics workspace and return its ID."""
    from pulumi_azure_native import operationalinsights

    workspace = operationalinsights.Workspace(
        fitting(f"{name}-logs", WORKSPACE_NAME),
        resource_group_name=group,
        location=location,
        sku={"name": "PerGB2018"},
        retention_in_days=retention_days,
        tags=tags,
        opts=children.options(),
    )
    return workspace.id


def declare_logs(
    name: str,
    cluster: containerservice.ManagedCluster,
    workspace: pulumi.Input[str],
    children: Children,
) -> pulumi.Resource:
    """Send the control plane's logs to a workspace."""
    from pulumi_azure_native import monitor

    return monitor.DiagnosticSetting(
        f"{name}-logs",
        name="control-plane",
        resource_uri=cluster.id,
        workspace_id=workspace,
        log_analytics_destination_type="Dedicated",
        logs=[{"category": category, "enabled": True} for category in CATEGORIES],
        opts=children.options(),
    )
