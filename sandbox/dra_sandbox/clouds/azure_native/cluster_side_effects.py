"""Resources of an Azure cluster outside the cluster itself: maintenance windows and diagnostic
settings.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

WINDOW = "azure-native:containerservice:MaintenanceConfiguration"
DIAGNOSTICS = "azure-native:monitor:DiagnosticSetting"
_SINKS = ("workspaceId", "storageAccountId", "eventHubAuthorizationRuleId", "marketplacePartnerId")


def window_is_new(request: CloudRequest) -> str | None:
    """Reject the creation of an existing window.

    Source: pulumi/pulumi-azure-native:provider/pkg/provider/provider.go@006a62a.
    """
    if (
        request.inputs is None
        or request.before is not None
        or request.cloud.get(WINDOW, request.identifier) is None
    ):
        return None
    return f'cannot create already existing resource "{request.identifier}"'


def sink_has_its_logs_once(request: CloudRequest) -> str | None:
    """Reject a destination that already receives the same log of the same resource.

    Sources: Azure/terraform-azurerm-avm-ptn-aiml-landing-zone issue 19,
    Azure/bicep-registry-modules issue 3407.
    """
    if request.inputs is None:
        return None
    mine, own = set(_sent(request.inputs)), request.identifier.lower().rpartition("/")[0]
    for identifier, there in request.cloud.all(DIAGNOSTICS).items():
        if identifier == request.identifier or identifier.lower().rpartition("/")[0] != own:
            continue
        for sink, category in _sent(there):
            if (sink, category) in mine:
                return (
                    f"Conflict: Data sink '{sink}' is already used in diagnostic setting "
                    f"'{identifier.rpartition('/')[2]}' for category '{category}'. Data sinks "
                    "can't be reused in "
                    "different settings on the same category for the same resource."
                )
    return None


def _sent(setting: Values) -> Iterator[tuple[str, str]]:
    """Yield each log and its destination. Azure IDs are case-insensitive."""
    sinks = [str(setting[name]).lower() for name in _SINKS if setting.get(name)]
    for log in setting.get("logs") or []:
        if log.get("enabled"):
            yield from (
                (sink, str(log.get("category") or log.get("categoryGroup"))) for sink in sinks
            )


def go_with_their_cluster(request: CloudRequest) -> None:
    """Delete the maintenance windows of a deleted cluster.

    Diagnostic settings outlive their cluster, and apply to a new cluster with the same name.
    Source: MicrosoftDocs/azure-docs pull request 107734.
    """
    for identifier in request.cloud.all(WINDOW) if request.inputs is None else ():
        if identifier.startswith(f"{request.identifier}/maintenanceConfigurations/"):
            request.cloud.drop(WINDOW, identifier)
