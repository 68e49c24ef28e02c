"""The results of a plan's simulation in sentences, for all formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dra_command.pens.amounts import usd
from dra_planner.plan import Plan
from dra_planner.plan.judgement.simulated_fixes import fix_sentence, saved_usd
from dra_planner.wording import counted, verb

if TYPE_CHECKING:  # needed only for type checking, because importing the simulation takes time
    from dra_planner.simulation import SimulatedCounts

_MOST_WORKLOADS: Final = 4


def simulation(plan: Plan) -> tuple[str, ...]:
    """Return the simulation's results as sentences, and whether a search ended at its limit."""
    found = plan.judgement.simulated
    sentences = _simulation_result(plan)
    if sentences and found is not None and found.complete and not plan.judgement.tried_all_fixes:
        return (
            *sentences,
            "The search for fixes reached its simulation limit. To raise the limit, use --simulate "
            "SECONDS.",
        )
    return sentences


def _simulation_result(plan: Plan) -> tuple[str, ...]:
    found = plan.judgement.simulated
    if plan.fleet is None or found is None:
        return ()
    tried = len(found.orders)
    scale = f", at a scale of 1:{found.scale}" if found.scale > 1 else ""
    without, placed = "", "all pods"
    if found.left_out:
        names = ", ".join(map(str, found.left_out[:_MOST_WORKLOADS]))
        more = len(found.left_out) - _MOST_WORKLOADS
        without = (
            " without workloads that don't fit in any pool "
            f"({names}{f' and {more} more' if more > 0 else ''})"
        )
        placed = "all other pods"
    sentence = f"Simulated in {counted(tried, 'pod arrival order')}{scale}{without}: "
    if plan.judgement.is_observed:
        return _growth_simulation(sentence, found)
    if not found.at_packing:
        return (f"{sentence}{placed} fit on the nodes in the packing, in every order.",)
    most = max(each.pods for each in found.at_packing)
    sentence += (
        f"on the nodes in the packing, up to {counted(most, 'pod')} {verb(most, 'stay')} pending "
        f"in {counted(len(found.at_packing), 'order')}"
    )
    if found.counts is not None:
        kept = (
            "; the fleet sets sizing: packing, so Pulumi creates the packing's nodes"
            if plan.fleet.sizing == "packing"
            else ""
        )
        return (
            f"{sentence}, but with {_beyond_packing(plan)}, no pods stay pending{kept}.",
            *_cheaper(plan),
        )
    if not found.complete:
        return (
            (
                f"{sentence}; the simulation reached its time limit before it found enough nodes "
                f"for {placed} (to raise the limit, use --simulate SECONDS)."
            ),
        )
    return (
        (
            f"{sentence}, and the search didn't find node counts within the maximums that place "
            "all pods."
        ),
    )


def _beyond_packing(plan: Plan) -> str:
    """Return how the simulated counts differ from the packing, which can have more nodes in some
    pools.
    """
    simulated = {pool.name: pool.simulated or 0 for pool in plan.pools}
    more = sum(simulated.values()) - sum(pool.packing for pool in plan.pools)
    if all(simulated[pool.name] >= pool.packing for pool in plan.pools):
        return counted(more, "more node")
    nodes = ", ".join(f"{count} × {name}" for name, count in simulated.items() if count)
    return f"other nodes ({nodes})"


def _growth_simulation(sentence: str, found: SimulatedCounts) -> tuple[str, ...]:
    if not found.at_packing:
        return (f"{sentence}all pods fit on the existing nodes in every order.",)
    pods = counted(max(each.pods for each in found.at_packing), "pod")
    sentence += f"the existing nodes leave up to {pods} pending in {counted(len(found.at_packing), 'order')}"
    if found.counts is not None:
        return (f"{sentence}, but with the new nodes, no pods stay pending.",)
    if not found.complete:
        return (
            (
                f"{sentence}; the simulation reached its time limit before it found the number of "
                "additional nodes (to raise the limit, use --simulate SECONDS)."
            ),
        )
    return (
        (
            f"{sentence}, and the search didn't find node counts within the maximums that place "
            "all pods."
        ),
    )


def _cheaper(plan: Plan) -> tuple[str, ...]:
    """Return the change with which all pods fit on cheaper nodes, and the savings compared with the
    planned nodes.
    """
    if not plan.judgement.fixes:
        return ()
    fix = plan.judgement.fixes[0]
    built = {pool.name: pool.recommended - pool.spare for pool in plan.pools}
    fewer = sum(built.values()) - sum(fix.counts.values())
    saved = saved_usd(fix, built, plan.offers)
    if fewer <= 0 and not saved:
        return ()
    worth = [f"{counted(fewer, 'fewer node')}"] if fewer > 0 else []
    worth += [f"{usd(saved)} per hour less"] if saved else []
    sentence = fix_sentence(fix, plan.offers)
    return (
        (
            f"{sentence[0].upper()}{sentence[1:]}: {', '.join(worth)}, and all pods still fit "
            "(simulated)."
        ),
    )
