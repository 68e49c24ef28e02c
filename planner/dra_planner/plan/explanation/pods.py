"""Explain why a pod runs or doesn't run: each pool's answer, the holders of its devices, and the
smallest change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation import Edit, Placement, reasons_of
from dra_planner.allocation.reasons.devices import ADD_NODE_FOR_DEVICES
from dra_planner.errors import Place, PlannerError
from dra_planner.model import Reason, Shape, Verdict, WorkloadRef, best
from dra_planner.plan.explanation.claims import (
    Holder,
    smallest_edits,
)
from dra_planner.plan.explanation.later_runs import reasons_to_run_later
from dra_planner.plan.explanation.names import full_name, use_some, workload_names
from dra_planner.plan.explanation.obstacles import Obstacles, find_rejections
from dra_planner.plan.explanation.rejected import NeverCreated, find_rejected_workload
from dra_planner.plan.judgement.judgement import Judgement, PoolAnswer
from dra_planner.plan.model import JointFix, Plan
from dra_planner.plan.suggestion.missing.missing_pools import missing_pool
from dra_planner.sizing import WorkloadSize
from dra_planner.wording import use_one_of

_GENERATED_SUFFIXES: Final[Mapping[str, str]] = {
    "Deployment": "[a-z0-9]{1,10}-[a-z0-9]{5}",
    "ReplicaSet": "[a-z0-9]{5}",
    "DaemonSet": "[a-z0-9]{5}",
    "Job": "([0-9]+-)?[a-z0-9]{5}",
    "CronJob": "[0-9]+-([0-9]+-)?[a-z0-9]{5}",
}
"""Patterns for the suffixes of pod names that controllers generate."""


class PoolForPod(Struct, frozen=True, kw_only=True):
    """The answer of one pool's empty node, or of one node of a snapshot, to the pod.

    `devices` are the devices that its claims would get, as (claim and request, device). `edits` is
    a minimal set of changes to the pod or its claims that make it fit the node. All of these
    changes are needed.
    """

    pool: str
    machine: str
    verdict: Verdict
    reasons: tuple[Reason, ...]
    devices: tuple[tuple[str, str], ...] = ()
    edits: tuple[Edit, ...] = ()


class PodExplanation(Struct, frozen=True, kw_only=True):
    """One pod, its workload, its claims, and the answer of each pool.

    `verdict` is the verdict among all other workloads. A pod that fits an empty node doesn't fit if
    others hold the devices that it requests. `placed` and `pending` are numbers of the workload's
    pods. `pending_reasons` explains why pods that fit an empty node are pending, and `holders` are
    the workloads with their devices. `missing` is the pool or setting that the fleet lacks if no
    pool fits the pod. `pod_set` is the pod template's name if the workload has several.
    """

    pod: str
    workload: str
    pod_set: str
    verdict: Verdict
    placed: int
    pending: int
    claims: tuple[str, ...]
    pools: tuple[PoolForPod, ...]
    pending_reasons: tuple[Reason, ...] = ()
    # causes that prevent pods from running although their devices fit
    blockers: tuple[Reason, ...] = ()
    holders: tuple[Holder, ...] = ()
    missing: Reason | None = None
    is_observed: bool = False
    stalls: bool = False  # the pod runs, but a rollout of its workload never finishes
    # the fix for all workloads, if this workload doesn't run
    joint_fix: JointFix | None = None


def explain_pod(judgement: Judgement, name: str, pool: str = "") -> tuple[PodExplanation, ...]:
    """Return why the pod with that name fits or doesn't fit, for each pod template of its workload,
    on one or all pools.

    The name is NAMESPACE/NAME of a pod or of its workload. Raises PlannerError with the existing
    pods or pools if the pod or the pool isn't found.
    """
    namespaces = {ref.namespace for ref in _workloads(judgement)}
    short = [f"{each}/{name}" for each in namespaces if _is_known(judgement, f"{each}/{name}")]
    if not short and not _is_known(judgement, name):
        name = _of_generated_name(judgement, name)
    name = full_name(name, short)
    if pool and pool not in {offer.name for offer in judgement.offers}:
        known = [offer.name for offer in judgement.offers]
        raise PlannerError(f'pool "{pool}" isn\'t in the plan', fix=use_one_of("pool", known))
    found = tuple(_explain(judgement, name, pool))
    if found:
        return found
    known_names = workload_names(judgement)
    nearest = get_close_matches(name, known_names, 1)
    fix = f'did you mean "{nearest[0]}"?' if nearest else use_some("workload", known_names)
    raise PlannerError(f'no workload has a pod "{name}"', fix=fix)


def explain_pod_of_plan(plan: Plan, name: str, pool: str = "") -> tuple[PodExplanation, ...]:
    """Return the explanation with the obstacles that the plan's verdict includes.

    These obstacles prevent the pods from running although their devices fit. The name can be that
    of a workload that the API server rejects. Raises PlannerError like `explain_pod`.
    """
    try:
        found = explain_pod(plan.judgement, name, pool)
    except PlannerError:
        never = find_rejected_workload(plan, name)
        if never is None:
            raise
        return (_of_rejected(never, is_observed=plan.judgement.is_observed),)
    return tuple(_hindered(pod, plan) for pod in found)


def _of_rejected(never: NeverCreated, *, is_observed: bool) -> PodExplanation:
    return PodExplanation(
        pod=never.name,
        workload=never.workload,
        pod_set="",
        verdict=never.verdict,
        placed=0,
        pending=0,
        claims=(),
        pools=(),
        pending_reasons=never.reasons,
        is_observed=is_observed,
    )


def _hindered(pod: PodExplanation, plan: Plan) -> PodExplanation:
    own = Obstacles.of(plan, {pod.workload}, pod.verdict)
    rejections = find_rejections(plan, pod.pending_reasons)
    return replace(
        pod,
        verdict=own.verdict,
        blockers=(*pod.blockers, *own.reasons, *rejections),
        stalls=own.stalls,
        joint_fix=None if own.verdict == "fits" else plan.joint_fix,
    )


def pods_at(judgement: Judgement, place: Place) -> tuple[str, ...]:
    """Return the names (for `explain_pod`) of the workloads whose pods are described at a place in
    a file.
    """
    members = [member for shape in judgement.demand.shapes for member in shape.members]
    members += [each.member for each in judgement.demand.blocked]
    here = {
        f"{member.workload.namespace}/{member.workload.name}"
        for member in members
        if (member.place.file, member.place.line) == (place.file, place.line)
    }
    return tuple(sorted(here))


def _workloads(judgement: Judgement) -> Iterator[WorkloadRef]:
    yield from (member.workload for shape in judgement.demand.shapes for member in shape.members)
    yield from (each.member.workload for each in judgement.demand.blocked)


def _explain(judgement: Judgement, name: str, pool: str) -> Iterator[PodExplanation]:
    sizes = {size.workload: size for size in judgement.sizing.workloads}
    for shape in judgement.demand.shapes:
        for member in shape.members:
            if _is_named(member.workload, member.figures.peak, name):
                size = sizes.get(member.workload)
                yield _of_shape(judgement, shape, member.workload, member.pod_set, name, pool, size)
    for blocked in judgement.demand.blocked:
        member = blocked.member
        if not _is_named(member.workload, member.figures.peak, name):
            continue
        size = sizes.get(member.workload)
        pods = member.figures.at(judgement.level)
        # a workload without pods fits, and a rollout or a scaler can add pods later
        if pods != 0 or size is None or not _has_shape(judgement, member.workload):
            yield PodExplanation(
                pod=name,
                workload=str(member.workload),
                pod_set=member.pod_set,
                verdict=blocked.verdict if pods != 0 or size is None else size.verdict,
                placed=0,
                pending=pods or 0,
                claims=(),
                pools=(),
                pending_reasons=(blocked.reason,),
                is_observed=judgement.is_observed,
            )


def _has_shape(judgement: Judgement, workload: WorkloadRef) -> bool:
    return any(
        member.workload == workload for shape in judgement.demand.shapes for member in shape.members
    )


def _of_generated_name(judgement: Judgement, pod: str) -> str:
    """Return the full name of the workload whose pods have generated names like this one, or the
    given name.
    """
    namespace, _, short = pod.rpartition("/")
    for ref in _workloads(judgement):
        suffix = _GENERATED_SUFFIXES.get(ref.kind, "")
        is_pod = suffix and re.fullmatch(f"{re.escape(ref.name)}-{suffix}", short)
        if is_pod and namespace in ("", ref.namespace):
            return f"{ref.namespace}/{ref.name}"
    return pod


def _is_known(judgement: Judgement, name: str) -> bool:
    return any(_is_named(ref, None, name) for ref in _workloads(judgement))


def _is_named(workload: WorkloadRef, pods: int | None, name: str) -> bool:
    """Return whether a name belongs to the workload, or to one of its possible pods."""
    namespace, _, short = name.partition("/")
    if namespace != workload.namespace:
        return False
    begin, _, index = short.rpartition("-")
    is_index = (
        begin == workload.name and index.isdecimal() and (pods is None or int(index) < max(pods, 1))
    )
    return short == workload.name or (is_index and workload.pod_name(int(index)) == short)


def _of_shape(
    judgement: Judgement,
    shape: Shape,
    workload: WorkloadRef,
    pod_set: str,
    name: str,
    pool: str,
    size: WorkloadSize | None,
) -> PodExplanation:
    answers = [each for each in judgement.answers(shape) if pool in ("", each.offer.name)]
    pools = tuple(_of_pool(each, judgement) for each in answers)
    if size is not None and any(each.changes and each.needs_another_node for each in size.reasons):
        pools = tuple(_with_another_node(each) for each in pools)
    verdict = best(each.verdict for each in pools) if pools else _without_pools(size)
    is_short = verdict == "fits" and size is not None and size.verdict != "fits"
    shown = (reason for each in pools for reason in each.reasons)
    later = () if pool or size is None else reasons_to_run_later(shape, verdict, shown, (size,))
    room = [each.pool for each in pools if each.verdict == "fits"]
    return PodExplanation(
        pod=name,
        workload=str(workload),
        pod_set=pod_set,
        verdict=size.verdict if (is_short or later) and size is not None else verdict,
        placed=0 if size is None else size.placed,
        pending=0 if size is None else size.pending,
        claims=tuple(each.title(workload) for each in shape.claims),
        pools=pools,
        pending_reasons=size.reasons if (is_short or not pools) and size is not None else (),
        holders=tuple(_holders(judgement, shape, room)) if is_short else (),
        blockers=later,
        missing=missing_pool(judgement, shape),
        is_observed=judgement.is_observed,
    )


def _without_pools(size: WorkloadSize | None) -> Verdict:
    """Return the verdict of a pod without answers of pools, because it runs on the system pool."""
    return "does-not-fit" if size is None else size.verdict


def _of_pool(pool_answer: PoolAnswer, judgement: Judgement) -> PoolForPod:
    answer = pool_answer.answer
    return PoolForPod(
        pool=pool_answer.offer.name,
        machine=pool_answer.offer.machine,
        verdict=pool_answer.verdict,
        reasons=() if isinstance(answer, Placement) else reasons_of(answer),
        devices=tuple(_devices(answer)) if isinstance(answer, Placement) else (),
        edits=smallest_edits(pool_answer, judgement),
    )


def _with_another_node(pool: PoolForPod) -> PoolForPod:
    """Return the answer with one more node, if other pods use the devices that match after the
    other changes.
    """
    if not pool.edits:
        return pool
    return replace(pool, edits=(*pool.edits, Edit("add-node", ADD_NODE_FOR_DEVICES)))


def _devices(answer: Placement) -> Iterator[tuple[str, str]]:
    for name, allocation in answer.claims.items():
        for each in allocation.devices:
            yield f"{name}/{each.request}", each.device


def _holders(judgement: Judgement, shape: Shape, pools: list[str]) -> Iterator[Holder]:
    """Yield the workloads with pods on these pools after the demand is placed.

    If the pod has claims, only workloads with claims.
    """
    with_claims = {
        member.workload
        for each in judgement.demand.shapes
        if each.claims
        for member in each.members
    }
    for pool in pools:
        for size in judgement.sizing.workloads:
            pods = dict(size.placements).get(pool, 0)
            if pods and (not shape.claims or size.workload in with_claims):
                yield Holder(pool, str(size.workload), pods)
