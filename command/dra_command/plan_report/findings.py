"""The findings and the decisive assumptions of a plan, for all formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from dra_planner.errors import Diagnostic
from dra_planner.plan import Plan

_MOST_OF_A_RULE: Final = 3  # number of a rule's warnings that reports list in full


def diagnostics(plan: Plan) -> tuple[Diagnostic, ...]:
    """Return findings about objects, errors first."""
    order = {"error": 0, "warning": 1, "note": 2}
    # these findings are printed together with the reasons
    explained = {each.workload for each in plan.workloads}
    apart = (
        each.diagnostic
        for each in plan.blockers
        if each.verdict == "fits" or explained.isdisjoint(each.workloads)
    )
    found = (*plan.diagnostics, *apart, *plan.beside, *_grouped(plan.advice))
    return tuple(sorted(found, key=lambda each: (order[each.severity], each.place, each.code)))


def _grouped(advice: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the findings of each rule, and only the first one if a rule has many."""
    by_rule: dict[str, list[Diagnostic]] = {}
    for each in advice:
        by_rule.setdefault(each.code, []).append(each)
    for first, *more in by_rule.values():
        if len(more) < _MOST_OF_A_RULE:
            yield from (first, *more)
        else:
            note = f"{first.message}. `pulumi-dra check` lists {len(more)} more of these"
            yield replace(first, message=note)


def decisive_assumptions(plan: Plan) -> tuple[str, ...]:
    """Return the assumptions about pools that might fit a workload (with an unknown result), or
    that have a schedule.
    """
    doubtful = {
        pool for each in plan.workloads for pool, verdict in each.fits if verdict == "cannot-tell"
    }
    decisive = {
        text for offer in plan.offers if offer.name in doubtful for text in offer.assumptions
    }
    decisive |= {
        pool.schedule_sentence for pool in (plan.fleet.pools if plan.fleet else ()) if pool.schedule
    }
    return tuple(each for each in plan.assumptions if any(each.endswith(text) for text in decisive))
