"""Operations of GKE that somebody else has started, and which a change must wait for."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest

OPERATION = "dra-sandbox:gcp:Operation"
"""Kind under which a cloud remembers what runs, by name: {"cluster": its name, "doing": "upgrading
the master"}.
"""


def may_begin(request: CloudRequest) -> str | None:
    """terraform-provider-google issue 10366. The provider waits for it and tries again, until its
    time is up.
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
