"""Check Azure role assignments."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

ROLE = "azure-native:authorization:RoleAssignment"


def is_given_once(request: CloudRequest) -> str | None:
    """Reject a second assignment of a role to a principal on the same scope, even with another
    name. Source: learn.microsoft.com/azure/role-based-access-control/troubleshooting
    (RoleAssignmentExists, 409).
    """
    if request.inputs is None or request.before is not None:
        return None
    wanted = _meaning(request.inputs)
    for identifier, there in request.cloud.all(ROLE).items():
        if _meaning(there) == wanted:
            name = identifier.rpartition("/")[2]
            return (
                "RoleAssignmentExists: The role assignment already exists. The ID of the existing "
                "role assignment is "
                f"{name}."
            )
    return None


def _meaning(assignment: Values) -> tuple[str, str, str]:
    """Return the role, the principal, and the scope of an assignment. Azure IDs are
    case-insensitive.
    """
    definition = str(assignment.get("roleDefinitionId")).rpartition("/")[2]
    return (
        str(assignment.get("scope")).lower(),
        str(assignment.get("principalId")),
        definition.lower(),
    )


REFUSALS = (is_given_once,)
