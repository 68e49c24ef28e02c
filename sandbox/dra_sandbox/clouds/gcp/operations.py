"""GKE operations of other clients, which a change must wait for."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest

OPERATION = "dra-sandbox:gcp:Operation"
"""Kind of the stored operations, by name: {"cluster": its name, "doing": "upgrading the
master"}.
"""


def may_begin(request: CloudRequest) -> str | None:
    """Reject a change while another operation is in progress.

    The provider waits for the operation and retries until its timeout. Source:
    terraform-provider-google issue 10366.
    """
    parts = request.identifier.split("/")
    cluster = parts[parts.index("clusters") + 1] if "clusters" in parts else ""
    for name, running in request.cloud.all(OPERATION).items():
        if running["cluster"] == cluster:
            return (
                f"Error 400: Operation {name} is currently {running['doing']} for cluster "
                f"{cluster}. Please wait and "
                "try again once it is done., failedPrecondition"
            )
    return None
