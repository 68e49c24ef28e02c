"""Compare address quotas with the built nodes' maximum use, which depends on the nodes' pods.

Sizing counts a node's minimum use, so that *does not fit* is proven. This module counts the maximum
use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet, Quota
from dra_planner.fleet.limits import node_takes
from dra_planner.offers import Offer
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.model import MAY_RUN_OUT
from dra_planner.wording import counted


def find_address_doubts(
    judgement: Judgement, fleet: Fleet, offers: Mapping[str, Offer], built: Mapping[str, int]
) -> Iterator[Diagnostic]:
    """Yield a warning for each address quota that the built nodes might exceed.

    `offers` are the pools' offers.
    """
    if judgement.sizing.verdict != "fits":
        return
    limits = {limit.name: limit for limit in fleet.limits}
    for quota in fleet.quotas:
        limit = limits.get(f'quota "{quota.name}"')
        if quota.unit != "addresses" or limit is None:
            continue
        most = limit.beside + limit.unsure + _at_most(judgement, fleet, offers, built, quota)
        if most > quota.limit >= limit.used(built) + limit.beside:
            yield Diagnostic(
                severity="warning",
                code=MAY_RUN_OUT,
                message=f"{limit.name} allows {counted(quota.limit, limit.unit)}, but the "
                f"nodes need {limit.used(built) + limit.beside} to {most}, depending "
                "on the number of pods per node",
                fix=f"raise {limit.name} to {counted(most, limit.unit)}",
            )


def _at_most(
    judgement: Judgement,
    fleet: Fleet,
    offers: Mapping[str, Offer],
    built: Mapping[str, int],
    quota: Quota,
) -> int:
    """Return the maximum use of a quota by the pools' nodes, with the maximum number of pods on
    each node.
    """
    total = 0
    for pool in fleet.pools:
        if built[pool.name] and quota.counts(pool.machine, pool.source.kind):
            most = _pods_of_a_node(judgement, offers[pool.name])
            total += built[pool.name] * (node_takes(fleet, quota, pool, most) or 0)
    return total


def _pods_of_a_node(judgement: Judgement, offer: Offer) -> int:
    """Return the maximum number of pods on one node: its daemon pods, and as many pods of each
    shape as fit.
    """
    most = offer.node.allocatable["pods"]
    if judgement.is_observed:
        return most
    pods = sum(each.amounts.get("pods", 0) for each in offer.deductions)
    for shape in judgement.demand.shapes:
        wanted = shape.figures.at(judgement.level)
        alone = next(
            answer.pods_per_node
            for answer in judgement.answers(shape)
            if answer.offer.name == offer.name
        )
        pods += alone if wanted is None else min(alone, wanted)
    return min(most, pods)
