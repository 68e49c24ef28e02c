"""Evaluation of a demand on existing nodes: the default scheduler's placement, one document after
another.

Pods on nodes and allocated claims in the snapshot stay where they are unless they are preempted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from dra_planner.allocation.reasons.shares import Share, shares_of_pick
from dra_planner.model import (
    AllocatedDevice,
    Blocked,
    Demand,
    DeviceClass,
    Member,
    ObjectKey,
    Reason,
    Verdict,
    WorkloadRef,
    generated_claim_name,
    worst,
)
from dra_planner.offers import Offer
from dra_planner.plan.judgement.claim_devices import GivenClaim, GivenDevice
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.releases import Features
from dra_planner.simulation import (
    ArrivalOrder,
    SimulationOutcome,
    Simulator,
    WorkloadOutcome,
    failure_reasons,
    observed_nodes,
)
from dra_planner.sizing import DeviceCount, Sizing, WorkloadSize, count_state
from dra_planner.wording import counted, verb

_SEEDS: Final = range(1, 6)
_STEPS_OF_CHOICES: Final = 60_000
_METHOD: Final = "simulation of the default scheduler, pod by pod in document order"


def judge_nodes(
    demand: Demand,
    offers: tuple[Offer, ...],
    classes: Mapping[str, DeviceClass],
    features: Features,
) -> Judgement:
    """Return the verdicts of declared demand on observed nodes, without sizing.

    If the scheduler can choose among nodes with equal scores, other choices are tried. Verdicts
    that depend on them are *cannot tell*.
    """
    simulator = Simulator.of(demand, observed_nodes(offers), classes, features)
    outcome = simulator.run()
    others = tuple(_other_choices(simulator, outcome))
    judgement = replace(
        judge_outcome(demand, offers, classes, features, outcome), other_outcomes=others
    )
    sizing = judgement.sizings["steady"]
    workloads = tuple(_with_chance(size, outcome, others) for size in sizing.workloads)
    if workloads == sizing.workloads:
        return judgement
    verdict = worst(size.verdict for size in workloads)
    return replace(
        judgement, sizings={"steady": replace(sizing, verdict=verdict, workloads=workloads)}
    )


def _other_choices(simulator: Simulator, outcome: SimulationOutcome) -> Iterator[SimulationOutcome]:
    """Yield the results with other random choices among nodes with equal scores, until the steps
    are used up.
    """
    left = _STEPS_OF_CHOICES
    for seed in _SEEDS:
        left -= outcome.steps
        if left < 0 or not outcome.complete:
            return
        yield simulator.run(ArrivalOrder("settled", seed))


def _with_chance(
    size: WorkloadSize, outcome: SimulationOutcome, others: Sequence[SimulationOutcome]
) -> WorkloadSize:
    """Return *cannot tell* for a workload that fits with some choices and not with others."""
    if size.workload not in outcome.workloads:
        return size
    missing = [_without_node(each.workloads[size.workload]) for each in (outcome, *others)]
    if not any(missing) or all(missing) or (missing[0] and size.wanted != size.placed + missing[0]):
        return size
    short = [pods for pods in missing if pods]
    message = (
        "the scheduler chooses randomly between nodes with equal scores, and leaves up to "
        f"{counted(max(short), 'pod')} pending in {len(short)} of {len(missing)} simulations"
    )
    verdict = worst((size.verdict, "cannot-tell")) if not missing[0] else "cannot-tell"
    return replace(
        size,
        verdict=verdict,
        reasons=(*size.reasons, Reason(code="choice-decides", message=message)),
    )


def _without_node(each: WorkloadOutcome) -> int:
    return each.pending + each.not_created + each.lost


def judge_outcome(
    demand: Demand,
    offers: tuple[Offer, ...],
    classes: Mapping[str, DeviceClass],
    features: Features,
    outcome: SimulationOutcome,
) -> Judgement:
    """Return the answer of a simulated outcome for declared demand. Pods are placed on groups of
    nodes.
    """
    refs = sorted({member.workload for member in _members(demand) if not member.ahead})
    workloads = tuple(size_workload(ref, demand, outcome) for ref in refs)
    sizing = Sizing(
        level="steady",
        verdict=worst(size.verdict for size in workloads),
        pools=(),
        workloads=workloads,
        nodes_bound=len(offers),
        nodes_plan=len(offers),
        hourly_bound=None,
        hourly_plan=None,
        method=_METHOD,
    )
    counts = {
        node.name: count_state(state)
        for node, state in zip(outcome.nodes, outcome.states, strict=True)
    }
    return Judgement(
        demand=demand,
        offers=offers,
        classes=classes,
        features=features,
        level="steady",
        sizings={"steady": sizing},
        claims=tuple(_claims(outcome)),
        outcome=outcome,
        devices={
            name: DeviceCount(total=total, used=used, stranded=0)
            for name, (total, used) in counts.items()
        },
    )


def _members(demand: Demand) -> Iterator[Member]:
    for shape in demand.shapes:
        yield from shape.members
    yield from (blocked.member for blocked in demand.blocked)


def size_workload(ref: WorkloadRef, demand: Demand, outcome: SimulationOutcome) -> WorkloadSize:
    """Return the answer for one workload. Pods that are never created aren't pending, and reasons
    explain it.
    """
    held = [
        each
        for each in demand.blocked
        if each.member.workload == ref and each.member.figures.steady
    ]
    verdicts: list[Verdict] = [each.verdict for each in held]
    reasons: dict[Reason, None] = {}
    simulated = outcome.workloads.get(ref)
    waits = simulated is not None and bool(simulated.pending or simulated.not_created)
    made = [each.created and not (waits and each.member.in_order) for each in held]
    running, left = (
        0,
        sum(each.member.figures.steady for each, there in zip(held, made, strict=True) if there),
    )
    refused = sum(each.member.figures.steady for each in held) - left
    placements: Iterable[tuple[str, int]] = ()
    if simulated is not None:
        names = tuple(node.name for node in outcome.nodes)
        for failure in simulated.failures:
            verdicts.append("cannot-tell" if failure.is_undecided else "does-not-fit")
            reasons.update(dict.fromkeys(failure_reasons(failure, names)))
        if simulated.lost:
            verdicts.append("does-not-fit")
            reasons[_preempted(simulated.lost)] = None
        before = sum(simulated.old.values())
        running = simulated.placed + before
        placements = sorted((Counter(simulated.groups) + Counter(simulated.old_groups)).items())
        left += simulated.pending
        missing = max(0, simulated.not_created - before - simulated.old_pending)
        refused += missing + simulated.lost
        if missing:
            reasons[_not_created(missing)] = None
        if simulated.old_pending:
            verdicts.append("does-not-fit")
        if before or simulated.old_pending:
            reasons[_not_replaced(before + simulated.old_pending)] = None
        excess = _pods_after_old(held, simulated, left)
        left, refused = left - excess, refused + excess
    reasons.update(dict.fromkeys(each.reason for each in held))
    return WorkloadSize(
        workload=ref,
        wanted=running + left + refused,
        placed=running,
        pending=left,
        verdict=worst(verdicts),
        placements=tuple(placements),
        reasons=tuple(reasons),
    )


def _pods_after_old(held: Sequence[Blocked], simulated: WorkloadOutcome, left: int) -> int:
    """Return how many of the pods that `left` counts as pending a Deployment doesn't create while
    it has old pods, because its pods of both templates never exceed its replicas and its surge.

    Source: kubernetes/kubernetes:pkg/controller/deployment/util/deployment_util.go@v1.36.3
    (NewRSNewReplicas).
    """
    old = sum(simulated.old.values()) + simulated.old_pending
    rollouts = [each.member.rollout for each in held if each.created]
    if not old or not rollouts or rollouts[0] is None or simulated.workload.kind != "Deployment":
        return 0
    waiting = left - simulated.old_pending
    created = simulated.pending - simulated.old_pending + simulated.not_created
    wanted = simulated.placed + created + sum(each.member.figures.steady for each in held)
    room = wanted + rollouts[0].surge - old - simulated.placed
    return max(0, waiting - max(0, room))


def _not_created(pods: int) -> Reason:
    message = f"{counted(pods, 'more pod')} won't be created until the pending pods run"
    return Reason(code="not-created", message=message)


def _not_replaced(pods: int) -> Reason:
    subject = f"{counted(pods, 'pod')} of the previous template {verb(pods, 'stay')}"
    return Reason(
        code="rollout-waits", message=f"{subject}, because the rollout waits for free capacity"
    )


def _preempted(pods: int) -> Reason:
    subject, object_ = ("1 pod is", "it") if pods == 1 else (f"{pods} pods are", "them")
    return Reason(
        code="preempted",
        message=f"{subject} preempted by higher-priority pods, and no controller re-creates "
        f"{object_}",
        fix="add a node, or raise the priority of the preempted pods",
    )


def _claims(outcome: SimulationOutcome) -> Iterator[GivenClaim]:
    """Yield the devices of claims in arrival order. A shared claim comes with its first pod."""
    yielded: set[ObjectKey] = set()
    cluster = outcome.cluster
    for key in outcome.placed:
        placed = cluster.pods[key]
        node = outcome.nodes[placed.node].name
        state, shape = cluster.stage_of[placed.node].state, placed.pod.kind.shape
        claims = {claim.shared or claim.name: claim for claim in shape.claims} if shape else {}
        for got in placed.picks:
            name = generated_claim_name(key.name, got.name)
            devices = cluster.devices_of(placed, got)
            shares = [shares_of_pick(pick, claims.get(got.name), state) for pick in got.picks]
            yield _given(key.namespace, name, key.name, node, zip(devices, shares, strict=True))
        for shared in placed.shared:
            if shared not in yielded:
                yielded.add(shared)
                given = [
                    (
                        device,
                        tuple(
                            share
                            for pick in state.picks_of([device])
                            for share in shares_of_pick(pick, claims.get(shared), state)
                        ),
                    )
                    for device in cluster.devices_of_claim(shared)
                ]
                yield _given(shared.namespace, shared.name, key.name, node, given)


def _given(
    namespace: str,
    claim: str,
    pod: str,
    node: str,
    devices: Iterable[tuple[AllocatedDevice, tuple[Share, ...]]],
) -> GivenClaim:
    return GivenClaim(
        namespace=namespace,
        name=claim,
        pod=pod,
        devices=tuple(
            GivenDevice(
                request=each.request,
                node=node,
                driver=each.driver,
                pool=each.pool,
                device=each.device,
                shares=shares,
            )
            for each, shares in devices
        ),
    )
