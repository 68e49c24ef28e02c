"""Claims that each fit a pool, but that need more nodes than its maximum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from dra_planner.allocation import Placement
from dra_planner.allocation.reasons.shares import shares_of
from dra_planner.model import WorkloadRef
from dra_planner.plan import Judgement, PoolAnswer
from dra_planner.sizing.daemons_in_the_way import DAEMONS_IN_THE_WAY
from dra_planner.sizing.reasons import takes_all_devices
from dra_planner.sizing.topology import RULE_BETWEEN_PODS
from dra_planner.wording import counted, verb
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.node_limits import needed_nodes, node_limits
from dra_policies.view.stack_view import StackView
from dra_policies.view.waiting_pods import Waiting, doubt, pods_left, subject, waiting

MOST_FIXES: Final = 3  # number of fixes that one finding names


def check(view: StackView) -> Iterator[Finding]:
    for limit in node_limits(view) if view.complete else ():
        needed = needed_nodes(view, limit.pool)
        if needed > limit.allowed:
            yield Finding(
                message=f"{limit.pool.title} needs at least {counted(needed, 'node')}, but "
                f"{limit.name}",
                fix=limit.fix,
                urn=limit.pool.urn,
            )
    judgement = view.judgement
    if judgement is None:
        return
    cases = waiting(judgement)
    without_pool = {
        case.size.workload for case in cases if not (case.fits_somewhere or case.is_undecided)
    }
    short: dict[WorkloadRef, list[Waiting]] = {}
    for case in cases:
        is_short = case.size.verdict == "does-not-fit" and _pending(case, judgement)
        # more nodes don't help in that case
        if is_short and case.fits_somewhere and case.size.workload not in without_pool:
            short.setdefault(case.size.workload, []).append(case)
    for first, *others in short.values():
        for case in (first, *(each for each in others if each.size.reasons != first.size.reasons)):
            why = _reasons(case, judgement) if others else _shortage(case, judgement)
            yield Finding(
                message=f"{subject([case], view.manifests)}: {why}{doubt(view)}",
                fix=_fix(case, judgement),
                urn=view.judged_urn,
                place=case.member.place,
                about=str(case.size.workload),
                certain=not view.doubtful_pools,
            )


def _fix(case: Waiting, judgement: Judgement) -> str:
    """Return the first fix, preferably of a reason that sizing evaluates. On observed nodes, return
    the different fixes of all nodes, because each of them helps.
    """
    reasons = sorted(case.size.reasons, key=lambda each: each.code == RULE_BETWEEN_PODS)
    fixes = dict.fromkeys(reason.fix for reason in reasons if reason.fix)
    most = MOST_FIXES if judgement.is_observed else 1
    return "; or ".join(list(fixes)[:most])


def _pending(case: Waiting, judgement: Judgement) -> int:
    """Return the pods that stay pending because there are too few nodes. Pods that are pending for
    another reason don't depend on pool sizes.
    """
    blocked = [each.member.figures.at(judgement.level) for each in judgement.demand.blocked
               if each.member.workload == case.size.workload]  # fmt: skip
    pending = max(case.size.pending - sum(filter(None, blocked)), 0)
    if not judgement.on_system:
        return pending
    return min(pending, pods_left(judgement, case.size))


def _reasons(case: Waiting, judgement: Judgement) -> str:
    """Return why pods of a workload stay pending, in the words of the plan."""
    reasons = "; ".join(
        f"on node {reason.pool}, {reason.message}"
        if judgement.is_observed and reason.pool
        else reason.message
        for reason in case.size.reasons
    )
    if reasons:
        details = dict.fromkeys(each.details for each in case.size.reasons if each.details)
        return reasons + "".join(f". {each}" for each in details)
    pending = _pending(case, judgement)
    return f"{counted(pending, 'pod')} {verb(pending, 'stay')} pending"


def _shortage(case: Waiting, judgement: Judgement) -> str:
    each = case.devices_per_pod
    pods = case.member.figures.at(judgement.level)  # the workload's pods that have these claims
    is_node_full = any(
        reason.is_node_full or reason.code == DAEMONS_IN_THE_WAY for reason in case.size.reasons
    )
    fitting = [pool for pool in case.pools if pool.verdict == "fits"]
    is_shared = any(
        isinstance(pool.answer, Placement) and shares_of(pool.answer) for pool in fitting
    )
    is_uncounted = is_node_full or is_shared or takes_all_devices(case.shape)
    if not each or pods is None or judgement.is_observed or is_uncounted:
        return _reasons(case, judgement)
    offers = [_Offered.of(pool, each) for pool in fitting]
    needed, offered = pods * each, sum(offer.devices for offer in offers)
    # devices that other workloads use, if the pools are large enough without these workloads
    taken = offered - needed + _pending(case, judgement) * each if offered >= needed else 0
    if taken >= offered > 0:
        shown = " and of ".join(f"{offer.pool} ({offer.calculation})" for offer in offers)
        have = f"other workloads use all {counted(offered, 'device')} of {shown}"
    else:
        have = " and ".join(offer.at_most for offer in offers)
        have += f", of which other workloads use {taken}" if taken > 0 else ""
    return f"the pods' claims need {counted(needed, 'device')} in total, but {have}"


class _Offered(Struct, frozen=True):
    """The devices in a pool that pods with the same claims can use."""

    pool: str
    nodes: int
    usable: int  # of each node

    @classmethod
    def of(cls, pool: PoolAnswer, each: int) -> _Offered:
        """Return the devices for pods that each need a number of devices."""
        name = f'pool "{pool.offer.name}"'
        return cls(name, pool.offer.count_max, pool.pods_per_node * each)

    @property
    def devices(self) -> int:
        return self.nodes * self.usable

    @property
    def calculation(self) -> str:
        return f"{counted(self.nodes, 'node')} × {self.usable}"

    @property
    def at_most(self) -> str:
        if not self.nodes:
            return f"{self.pool} has 0 nodes"
        return f"{self.pool} has at most {self.devices} ({self.calculation})"


RULE = Rule(
    id="pool-maximum-too-small",
    description="At maximum size, the pools don't have enough devices for the claims of all declared "
    "replicas.",
    why="The remaining pods stay pending, because autoscalers can't add more nodes.",
    fix="Raise the maximum of a pool with suitable devices, add a pool, or reduce the number of "
    "replicas.",
    level="mandatory",
    needs="pools",
    check=check,
)
