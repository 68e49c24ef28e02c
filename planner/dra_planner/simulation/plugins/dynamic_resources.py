"""DynamicResources: the claims of a pod get devices on the node.

The first alternative of a request has the best score.

The allocator searches for devices. This module handles the effect of shared claims on a node: a
claim can be allocated on another node, or can have the maximum number of consumers. Source of the
behavior: kubernetes/kubernetes:pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go
@v1.36.3. Up to 1.34, alternatives have no score, so each placement has rank 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.allocation import Answer, NodeState, Placement, Refusal
from dra_planner.allocation.place import MAX_CONSUMERS
from dra_planner.allocation.search.attempt_errors import AttemptError
from dra_planner.model import ObjectKey, Shape
from dra_planner.releases import Features
from dra_planner.simulation.cluster.cluster import SharedClaim
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.stages import NodeStage
from dra_planner.simulation.plugins.plugin import ClusterView, Plugin, Reject
from dra_planner.simulation.scheduler.pod_rules import PodRules


def filter_claims(_kind: PodKind, _rules: PodRules, view: ClusterView) -> Reject | None:
    """Return a filter that rejects nodes because of the claims that pods share."""
    claims = view.claims
    if not claims:
        return None

    def reject(stage: NodeStage, answer: Answer) -> Refusal | None:
        return refuse_claims(answer.shape, stage.state, claims, isinstance(answer, Placement))

    return reject


def refuse_claims(
    shape: Shape, state: NodeState, claims: Mapping[ObjectKey, SharedClaim], fits: bool
) -> Refusal | None:
    """Return why the shared claims of a pod exclude it from a node, or None. `fits` is True if no
    other reason excludes it.
    """
    shared = [entry.shared for entry in shape.claims if entry.shared is not None]
    held = [(key, claims[key]) for key in shared if key in claims]
    for key, _ in held:
        if state.held_claim(key) is None:
            return Refusal(
                shape, state, "claim", f"claim {key} is allocated on another node", claim=str(key)
            )
    for key, claim in held if fits else ():
        error = _reservation_error(key, claim, state.features)
        if error is not None:
            return Refusal(shape, state, "error", claim=str(key), error=error)
    return None


def _reservation_error(
    key: ObjectKey, claim: SharedClaim, features: Features
) -> AttemptError | None:
    """Return the error of a reservation, or None."""
    action = f"add reservation to claim {key}"
    if claim.consumers >= MAX_CONSUMERS:
        return AttemptError(
            f"{action}: status.reservedFor: Too many: {claim.consumers + 1}: must have at most "
            f"{MAX_CONSUMERS} items",
            "consumers",
        )
    if (
        features.needs_allocation_time
        and features.binding_conditions
        and not claim.allocation.has_timestamp
    ):
        return AttemptError(
            f"{action}: status.allocation: field is immutable (allocated before the upgrade, "
            "without a timestamp)"
        )
    return None


PLUGIN = Plugin(
    name="DynamicResources",
    order=130,
    filter=filter_claims,
    weight=2,
    by_placement=lambda placement: placement.rank,
)
