"""Reject a new location for an existing Azure resource."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest


def stays_where_it_is(request: CloudRequest) -> str | None:
    """Reject a change of the location.

    Source:
    learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors
    (InvalidResourceLocation).
    """
    if request.inputs is None or request.before is None:
        return None
    now, wanted = (_plain(each.get("location")) for each in (request.before, request.inputs))
    if not now or not wanted or now == wanted:
        return None
    name = request.identifier.rpartition("/")[2]
    group = request.inputs.get("resourceGroupName")
    return (
        f"InvalidResourceLocation: The resource '{name}' already exists in location '{now}' in "
        f"resource group '{group}'. A resource with the same name cannot be created in location "
        f"'{wanted}'. Please select a new resource name."
    )


def _plain(location: object) -> str:
    return str(location or "").replace(" ", "").lower()
