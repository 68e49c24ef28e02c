"""Why pods are pending, with the claim, the pool, the shortage, and the fix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation.reasons.nodes import TOO_MANY_PODS
from dra_planner.model import (
    DemandLevel,
    Member,
    Reason,
    Shape,
    SharedLimit,
    WorkloadRef,
)
from dra_planner.sizing.packing.filling import FillStop
from dra_planner.sizing.packing.first_fit import Room
from dra_planner.wording import counted, listed, pending_text

POOL_TOO_SMALL: Final = "pool-too-small"
"""The code of the reason that maximums are too low for pods that fit a pool."""


class Shortage(Struct, frozen=True, kw_only=True):
    """A pool that is too small, and sufficient raises of maximums, its own first."""

    room: Room
    bound: int
    raises: tuple[tuple[Room, int], ...]  # empty if no sufficient raises were found
    method: str
    proved: bool  # message that the pods don't fit
    # limits of several pools, and the values to which they must be raised
    limits: tuple[tuple[SharedLimit, int], ...] = ()
    # reason why a node can't run more of these pods, or empty if its devices are used up
    node_limit: str = ""
    node_fix: str = ""  # change of the pods with which a node runs more of them, or empty
    share_limit: str = ""  # number of these claims that can share a device, with the reason


def refusals(stops: Sequence[tuple[Room, FillStop]]) -> tuple[Reason, ...]:
    """Return why each pool's empty node rejects an item, undecided pools first."""
    ranked: list[tuple[int, int, Reason]] = []
    for position, (room, stop) in enumerate(stops):
        for reason in stop.reasons:
            named = on_every_node(reason if reason.pool else replace(reason, pool=room.name))
            ranked.append((0 if stop.is_undecided else 1, position, named))
    return _without_repeats(reason for _, _, reason in sorted(ranked, key=lambda each: each[:2]))


def on_every_node(reason: Reason) -> Reason:
    """Return a rejection reason worded for an empty node, where another equal node doesn't help."""
    if not reason.needs_another_node:
        return reason
    fix = "request less for each pod, or use larger nodes"
    if reason.code == TOO_MANY_PODS:
        fix = "raise the maximum number of pods per node, or use larger nodes"
    return replace(reason, fix=fix, needs_another_node=False)


def errors_elsewhere(room: Room, stop: FillStop) -> tuple[Reason, ...]:
    """Return the reason that an error on one pool's nodes stops the pod everywhere.

    This holds as long as such a node has free capacity. Source of the behavior:
    kubernetes/kubernetes:pkg/scheduler/schedule_one.go (findNodesThatPassFilters) @v1.36.3.
    """
    return tuple(
        replace(
            reason,
            code="error-on-other-pool",
            message=f'an error on a node in pool "{room.name}" prevents the scheduler from placing '
            f"the pod on any node: {reason.message}",
            pool=room.name,
        )
        for reason in stop.reasons[:1]
    )


def too_small(
    shortage: Shortage, shape: Shape, workload: WorkloadRef, pending: int, wanted: int
) -> Reason:
    """Return why a workload's pods that fit a pool are pending: the pool is too small, or no better
    packing was found.

    `pending` and `wanted` are pods of the workload.
    """
    room, claim = shortage.room, _claim_name(shape)
    maximum = room.maximum or 0
    limit = (
        f"{'is fixed at' if room.minimum == maximum else 'has at most'} {counted(maximum, 'node')}"
    )
    devices = pending * devices_of(shape)
    title = next((each.title(workload) for each in shape.claims), "")
    unit = "more share" if shortage.share_limit else "more device"
    limited = f" ({shortage.share_limit})" if shortage.share_limit else ""
    short = f"; claim {title} needs {counted(devices, unit)}{limited}" if devices else ""
    if takes_all_devices(shape):
        short = f"; claim {title} needs all devices of {counted(pending, 'more node')}"
    if shortage.node_limit:
        short = f": {shortage.node_limit}"
    still_pending = f"so {pending_text(pending, wanted)}{short}"
    if shortage.limits:
        return Reason(
            code="limit-too-small" if shortage.proved else "packing-exceeds-limit",
            message=f"{_exhausted(shortage)}, {still_pending}",
            fix=with_alternative(raise_text(shortage.raises, shortage.limits), shortage.node_fix),
            alternative=shortage.node_fix,
            claim=claim,
            pool=room.name,
            is_node_full=bool(shortage.node_limit),
        )
    if shortage.proved:
        message = f'pool "{room.name}" {limit}, {still_pending}'
    else:
        takes = shortage.raises[0][1] if shortage.raises else "more"
        message = (
            f'pool "{room.name}" {limit}, but the best packing found ({shortage.method}) needs '
            f"{takes} (lower bound: {shortage.bound}), {still_pending}"
        )
    return Reason(
        code=POOL_TOO_SMALL if shortage.proved else "packing-too-large",
        message=message,
        fix=with_alternative(raise_text(shortage.raises), shortage.node_fix),
        alternative=shortage.node_fix,
        claim=claim,
        pool=room.name,
        is_node_full=bool(shortage.node_limit),
    )


def with_alternative(fix: str, alternative: str) -> str:
    """Return a fix that ends with a change of the pods, if there is one."""
    return f"{fix}, or {alternative}" if fix and alternative else fix or alternative


def _exhausted(shortage: Shortage) -> str:
    """Return the shared limits that are too low."""
    limits = [
        f"{limit.name} allows {counted(limit.most + limit.beside, limit.unit)}"
        + ("" if shortage.proved else f", and {most + limit.beside} are used")
        for limit, most in shortage.limits
    ]
    how = "" if shortage.proved else f" by the best packing found ({shortage.method})"
    return f"{listed(limits)}{how}"


def raise_text(
    raises: Sequence[tuple[Room, int]], limits: Sequence[tuple[SharedLimit, int]] = ()
) -> str:
    """Return the sentence that recommends these maximums, or ""."""
    steps = [
        f"raise {limit.name} to {counted(most + limit.beside + limit.unsure, limit.unit)}"
        for limit, most in limits
    ]
    for room, nodes in raises:
        verb = "set the count" if room.minimum == room.maximum else "raise the maximum"
        steps.append(f'{verb} of pool "{room.name}" to {nodes}')
    more = sum(nodes - (room.maximum or 0) for room, nodes in raises)
    if not more:
        return " and ".join(steps)
    return f"{' and '.join(steps)} ({counted(more, 'more node')})" if steps else ""


def unbounded(member: Member, level: DemandLevel) -> Reason:
    """Return the reason that the number of a workload's pods isn't limited."""
    return Reason(
        code="unbounded-demand",
        message=f"{member.workload} doesn't have a maximum pod count, so its "
        f"{'rollout' if level == 'peak' else 'maximum'} demand is unlimited",
        fix=(
            "set concurrencyPolicy to Forbid or Replace, so that at most one of its Jobs runs"
            if member.workload.kind == "CronJob"
            else "set a maximum replica count in its autoscaler"
        ),
        place=member.place,
    )


def no_pools() -> Reason:
    """Return the reason that no pod can run, because the fleet doesn't have pools."""
    return Reason(
        code="no-pools", message="the fleet doesn't have a pool", fix="add a pool to the fleet"
    )


def takes_all_devices(shape: Shape) -> bool:
    """Return whether one pod needs all matching devices of its node."""
    return any(
        request.exactly is not None
        and request.exactly.allocation_mode == "All"
        and not request.exactly.admin_access
        for claim in shape.claims
        if claim.shared is None
        for request in claim.spec.requests
    )


def devices_of(shape: Shape) -> int:
    """Return the number of devices that one pod needs exclusively, by the first alternative of each
    request. `All` counts as one.
    """
    wanted = (
        way
        for claim in shape.claims
        if claim.shared is None
        for request in claim.spec.requests
        for way in request.alternatives[:1]
    )
    return sum(
        each.count if each.allocation_mode == "ExactCount" else 1
        for each in wanted
        if not each.admin_access
    )


def _claim_name(shape: Shape) -> str:
    for claim in shape.claims:
        return str(claim.shared) if claim.shared is not None else f"{shape.namespace}/{claim.name}"
    return ""


def _without_repeats(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    kept: dict[tuple[str, str, str], Reason] = {}
    for reason in reasons:
        kept.setdefault((reason.code, reason.message, reason.pool), reason)
    return tuple(kept.values())
