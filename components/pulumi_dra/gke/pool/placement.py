"""Placement of GKE nodes close together, with a policy from GKE or a custom one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from dra_planner.clouds.gke.capacity import compact_fault
from pulumi_dra.gke.pool.machine import GkeMachine
from pulumi_dra.inputs.reader import InputReader

if TYPE_CHECKING:
    # The SDK's own type, so that the type checker finds misspelled keys. Imported only for type
    # checking.
    from pulumi_gcp.container import NodePoolPlacementPolicyArgsDict


def read_placement(
    read: InputReader, zones: int, machine: GkeMachine, capacity: str
) -> NodePoolPlacementPolicyArgsDict | None:
    """Return the pool's placement policy, None for none, and record errors in `read`.

    Warns if nodes share NVLink and no policy keeps them in one domain
    (cluster-toolkit:examples/gke-a4x@10470803).

    A custom policy must exist when the pool is created
    (cluster-toolkit:modules/compute/gke-node-pool@10470803).
    """
    name = read.text(
        "placement_policy",
        "",
        pattern=r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?",
        meaning="the name of a resource policy",
    )
    is_compact, machine_type = read.flag("compact_placement", False), machine.instance_type
    domain = machine.found.nvlink_nodes if machine.found is not None else None
    if domain and not name:
        pulumi.warn(
            f"{machine_type} nodes share NVLink in domains of {domain} nodes, but without "
            "placement_policy, the nodes might be in different domains"
        )
    for key, requested in (("placement_policy", bool(name)), ("compact_placement", is_compact)):
        if requested and zones > 1:
            read.refuse(key, f"requires exactly one zone, not {zones}")
        if requested and machine_type and (fault := compact_fault(machine_type, capacity)):
            read.refuse(key, fault)
    if name and read.has("compact_placement") and not is_compact:
        read.refuse(
            "placement_policy",
            "already places nodes close together, so compact_placement can't be false",
        )
    if name:
        return {"type": "COMPACT", "policy_name": name}
    return {"type": "COMPACT"} if is_compact else None
