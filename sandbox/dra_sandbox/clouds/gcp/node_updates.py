"""Check the provider's timeout for changes that re-create the nodes of a pool."""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Value, Values

USUAL_MINUTES = 120
# The settings whose change re-creates nodes:
# docs.cloud.google.com/kubernetes-engine/docs/concepts/managing-clusters.
ANEW = ("diskSizeGb", "diskType", "imageType", "kubeletConfig", "linuxNodeConfig", "machineType")


def is_waited_for(request: CloudRequest) -> str | None:
    """Fail if the provider's timeout ends before the update. The update itself continues.

    Sources: GoogleCloudPlatform/magic-modules pull request 18250 (two hours, previously one hour);
    terraform-google-kubernetes-engine issue 939 (the message).
    """
    now, wanted = request.before, request.inputs
    if now is None or wanted is None or _made_of(now) == _made_of(wanted, now):
        return None
    settings = wanted.get("upgradeSettings") or {}
    at_once = int(settings.get("maxSurge", 1)) + int(settings.get("maxUnavailable", 0))
    nodes = int(now.get("nodeCount") or 0) * max(1, len(now.get("nodeLocations") or []))
    if request.waits_for(nodes, at_once, USUAL_MINUTES):
        return None
    return (
        "Error waiting for updating GKE node pool: timeout while waiting for state to become "
        "'DONE' (last state: "
        "'RUNNING', timeout: 2h0m0s)"
    )


def _made_of(pool: Values, others: Values | None = None) -> Value:
    """Return the settings that determine a pool's nodes. A missing setting keeps its previous
    value.
    """
    config = {**((others or {}).get("nodeConfig") or {}), **(pool.get("nodeConfig") or {})}
    return [
        pool.get("version") or (others or {}).get("version"),
        *(config.get(key) for key in ANEW),
    ]
