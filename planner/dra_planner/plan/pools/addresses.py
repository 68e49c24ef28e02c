"""Quotas of addresses: what the nodes that are built may take, where that depends on the pods of
each.

Sizing counts what a node takes at least, so what does not fit is proved; here is what it may take
at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet, Quota
from dra_planner.fleet.limits import node_takes
from dra_planner.offers import Offer
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.values import MAY_RUN_OUT
from dra_planner.wording import counted


def find_address_doubts(
    judgement: Judgement, fleet: Fleet, offers: Mapping[str, Offer], built: Mapping[str, int]
) -> Iterator[Diagnostic]:
    """Yield a warning for each quota of addresses that the nodes built may exceed; `offers` are
    those of the pools.
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
                message=f"{limit.name} allows {counted(quota.limit, limit.unit)}, but its nodes "
                f"need {limit.used(built) + limit.beside} to {most}, depending on the "
                "pods of each node",
                fix=f"raise {limit.name} to {counted(most, limit.unit)}",
            )


def _at_most(
    judgement: Judgement,
    fleet: Fleet,
    offers: Mapping[str, Offer],
    built: Mapping[str, int],
    quota: Quota,
) -> int:
    """Return what the nodes of the pools may take of a quota: each with as many pods as it may
    have.
    """
    total = 0
    for pool in fleet.pools:
        if built[pool.name] and quota.counts(pool.machine, pool.source.kind):
            most = _pods_of_a_node(judgement, offers[pool.name])
            total += built[pool.name] * (node_takes(fleet, quota, pool, most) or 0)
    return total


def _pods_of_a_node(judgement: Judgement, offer: Offer) -> int:
    """Return how many pods one node may have: its daemon pods, and of each shape as many as it
    takes alone.
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
