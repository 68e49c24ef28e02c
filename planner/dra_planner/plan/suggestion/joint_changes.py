"""The changes of pods and pools in a joint fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from dra_planner.allocation import Undecided
from dra_planner.fleet import Fleet
from dra_planner.model import Demand, PodSpec, Shape, WorkloadRef
from dra_planner.offers import SYSTEM_POOL
from dra_planner.plan.blockers.idle_configuration import divides_claim
from dra_planner.plan.judgement.judgement import Judgement, PoolAnswer
from dra_planner.plan.pools.needed_maximums import built_counts
from dra_planner.plan.suggestion.changed_fleet import ChangedFleet
from dra_planner.simulation import Fix, PodSetRef
from dra_planner.simulation.sizing.fixes import pin_pod
from dra_planner.sizing import hourly_usd
from dra_planner.sizing.topology import ZONES
from dra_planner.wording import counted

_SHARED_CLAIM_FULL: Final = "shared-claim-node-full"
KEEPING: Final = frozenset(
    {
        "tolerate",
        "select-less",
        "tolerate-device",
        "compare-inclusive",
        "correct-value",
        "correct-class",
        "constrain-pairs",
        "guard-class",
        "use-class",
    }
)
"""Kinds of changes after which the pod still gets the amounts that it requests."""


def nodes_usd(judgement: Judgement, fleet: Fleet) -> Decimal | None:
    """Return the price per hour of the nodes that the cloud builds, or None if a price is
    unknown.
    """
    return hourly_usd(built_counts(judgement, fleet), judgement.offers)


def rollout_nodes_usd(judgement: Judgement) -> Decimal | None:
    """Return the price per hour of the nodes of all pods and all additional pods of rollouts, or
    None if a price is unknown.
    """
    pools = judgement.sizings["peak"].pools
    return hourly_usd({pool.name: pool.plan for pool in pools}, judgement.offers)


def undecided_pools(answers: Iterable[PoolAnswer]) -> Iterator[str]:
    """Yield the pools that fit a pod if their nodes are in the zone that the pod selects."""
    for each in answers:
        answer = each.answer
        if (
            isinstance(answer, Undecided)
            and answer.kind == "label"
            and set(answer.details) <= set(ZONES)
            and each.offer.name != SYSTEM_POOL
        ):
            yield each.offer.name


def selected_zone(pod: PodSpec) -> str:
    """Return the zone that a pod selects, or "" if it selects none or has several terms."""
    for label in ZONES:
        if label in pod.node_selector:
            return pod.node_selector[label]
    terms = () if pod.node_affinity is None else pod.node_affinity.terms
    values = [
        each.values[0]
        for term in terms
        for each in term.match_expressions
        if each.key in ZONES and each.operator == "In"
    ]
    return values[0] if len(terms) == 1 and values else ""


def pinned(demand: Demand, fix: Fix) -> Demand | None:
    """Return the demand with its pods restricted to a fix's pools.

    Returns None if the fix restricts only some pods of a shape.
    """
    shapes: list[Shape] = []
    for shape in demand.shapes:
        pins = {fix.pins.get(PodSetRef(each.workload, each.pod_set)) for each in shape.members}
        if len(pins) != 1:
            return None
        pools = pins.pop()
        shapes.append(shape if pools is None else replace(shape, pod=pin_pod(shape.pod, pools)))
    return replace(demand, shapes=tuple(shapes))


def with_own_claims(judgement: Judgement) -> tuple[Demand, tuple[WorkloadRef, ...]]:
    """Return the demand in which pods that don't fit one node no longer share a claim.

    Each of these pods gets its own claim. Also returns their workloads. A claim whose configuration
    divides its devices is shared on purpose, so it stays shared.
    """
    full = {
        size.workload
        for size in judgement.sizing.workloads
        if any(reason.code == _SHARED_CLAIM_FULL for reason in size.reasons)
    }
    demand = judgement.demand
    users = Counter(
        claim.shared for shape in demand.shapes for claim in shape.claims if claim.shared
    )
    shapes: list[Shape] = []
    changed: dict[WorkloadRef, None] = {}
    for shape in demand.shapes:
        own = [
            claim
            for claim in shape.claims
            if claim.shared and users[claim.shared] == 1 and not divides_claim(claim.spec)
        ]
        if own and all(member.workload in full for member in shape.members):
            claims = tuple(
                replace(each, shared=None) if each in own else each for each in shape.claims
            )
            changed |= dict.fromkeys(member.workload for member in shape.members)
            shape = replace(shape, claims=claims)
        shapes.append(shape)
    return replace(demand, shapes=tuple(shapes)), tuple(changed)


def joint_steps(changes: Collection[str], changed: ChangedFleet, fleet: Fleet) -> Iterator[str]:
    """Yield the changes, followed by the added pools and the raised pools of the changed `fleet`.

    Each pool has its number of nodes. A pool that another change mentions comes first, with its
    name.
    """
    names = {text: row["name"] for text, row in changed.added.items()}
    most = {pool.name: pool.count.max for pool in fleet.pools}
    named = {name for name in names.values() if any(f'"{name}"' in each for each in changes)}
    for is_named in (True, False):
        for text, name in names.items():
            if (name in named) is is_named:
                nodes = counted(most[name], "node")
                called = f'the name "{name}" and ' if is_named else ""
                yield f"{text}, with {called}at most {nodes}"
        if is_named:
            yield from changes
    for pool in changed.given.pools:
        if most[pool.name] > pool.count.max:
            yield f'set the maximum of pool "{pool.name}" to {most[pool.name]}'
