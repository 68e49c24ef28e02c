"""The number of claims that share a device of a pool, and the amount that limits it."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.allocation import Placement
from dra_planner.allocation.reasons.shares import share_limit, shares_of_pick
from dra_planner.plan.model import Plan


def share_limits(plan: Plan) -> Iterator[str]:
    """Yield one sentence for each claim whose pods are placed on a pool with shared devices, in the
    order of the pools.
    """
    used = {
        (size.workload, pool)
        for size in plan.judgement.sizing.workloads
        for pool, pods in size.placements
        if pods
    }
    for shape in () if plan.judgement.is_observed else plan.demand.shapes:
        claims = {claim.name: claim for claim in shape.claims}
        workload = min(member.workload for member in shape.members)
        for pool_answer in plan.judgement.answers(shape) if claims else ():
            pool, answer = pool_answer.offer.name, pool_answer.answer
            is_used = any((member.workload, pool) in used for member in shape.members)
            if not isinstance(answer, Placement) or not is_used:
                continue
            for got in answer.picks:
                claim = claims.get(got.name)
                shares = [s for pick in got.picks for s in shares_of_pick(pick, claim, answer.node)]
                limit = share_limit(shares)
                if limit and claim is not None:
                    yield f"{claim.title(workload)} on {pool}: {limit}"
