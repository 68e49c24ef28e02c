"""What claims that pods share say of a node: held elsewhere, or closed to further consumers.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go
@v1.36.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.allocation import NodeState, Refusal
from dra_planner.allocation.place import MAX_CONSUMERS
from dra_planner.model import ObjectKey, Shape
from dra_planner.releases import Features
from dra_planner.simulation.cluster import SharedClaim


def refuse_claims(
    shape: Shape, state: NodeState, claims: Mapping[ObjectKey, SharedClaim], fits: bool
) -> Refusal | None:
    """Return why the shared claims of a pod keep it off a node, or None. `fits`: nothing else does."""
    shared = [entry.shared for entry in shape.claims if entry.shared is not None]
    held = [(key, claims[key]) for key in shared if key in claims]
    for key, _ in held:
        if state.held_claim(key) is None:
            return Refusal(shape, state, "claim", f"claim {key} is held by another node", claim=str(key))
    for key, claim in held if fits else ():
        message = _refuse_reservation(claim, state.features)
        if message:
            return Refusal(shape, state, "error", f"add reservation to claim {key}: {message}", claim=str(key))
    return None


def _refuse_reservation(claim: SharedClaim, features: Features) -> str:
    """Return the error with which a reservation would end, or nothing."""
    if claim.consumers >= MAX_CONSUMERS:
        return f"status.reservedFor: Too many: {claim.consumers + 1}: must have at most {MAX_CONSUMERS} items"
    if features.needs_allocation_time and features.binding_conditions and not claim.allocation.has_timestamp:
        return "status.allocation: field is immutable (allocated before the upgrade, without a timestamp)"
    return ""
