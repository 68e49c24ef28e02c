"""Check node pools that use reservations. If the simulation contains no reservation, every name is
accepted.
"""

from __future__ import annotations

from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

RESERVATION, POOL = "gcp:compute/reservation:Reservation", "gcp:container/nodePool:NodePool"


def is_there_and_large_enough(request: CloudRequest) -> str | None:
    """Reject a reservation that doesn't exist in a zone of the pool, or that is too small.

    Sources: cluster-toolkit pull request 5043 (not in the zone); GoogleCloudPlatform/gsutil issue
    1000 (too small).
    """
    named = _named(request.inputs or {})
    reservations = request.cloud.all(RESERVATION).values()
    if request.inputs is None or not named or not reservations:
        return None
    pool, config = request.inputs["name"], request.inputs.get("nodeConfig") or {}
    wanted = _per_zone(request.inputs)
    for zone in request.inputs.get("nodeLocations") or []:
        found = next(
            (each for each in reservations if each["name"] == named and each["zone"] == zone), None
        )
        if found is None:
            return (
                f'Error 404: Google Compute Engine: reservation "{named}" not found for node pool '
                f'"{pool}" at zone '
                f'"{zone}".'
            )
        has = found["specificReservation"]
        short = wanted + _taken_by_others(request, named, zone) - int(has["count"])
        machine = config.get("machineType")
        if short > 0 or (has.get("instanceProperties") or {}).get("machineType") != machine:
            return (
                "Error 429: Reservation does not have enough resources for the request: specific "
                "reservation "
                f'"{named}" is insufficient for node pool "{pool}" at zone "{zone}": required '
                f"{wanted} and short of "
                f"{short if short > 0 else wanted} VM count of machine type {machine}."
            )
    return None


def _named(pool: Values) -> str:
    affinity = (pool.get("nodeConfig") or {}).get("reservationAffinity") or {}
    if affinity.get("consumeReservationType") != "SPECIFIC_RESERVATION":
        return ""
    return (
        str(next(iter(affinity.get("values") or []), ""))
        .partition("/reservationBlocks/")[0]
        .rpartition("/")[2]
    )


def _per_zone(pool: Values) -> int:
    """Return the maximum number of nodes that a zone certainly has. Autoscaler limits
    don't count.
    """
    return int(pool.get("nodeCount") or pool.get("initialNodeCount") or 0)


def _taken_by_others(request: CloudRequest, reservation: str, zone: str) -> int:
    return sum(
        _per_zone(pool)
        for identifier, pool in request.cloud.all(POOL).items()
        if identifier != request.identifier
        and _named(pool) == reservation
        and zone in (pool.get("nodeLocations") or [])
    )
