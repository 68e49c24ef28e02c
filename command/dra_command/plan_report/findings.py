"""The findings and the decisive assumptions of a plan, for all formats."""

from __future__ import annotations

from dra_planner.errors import Diagnostic
from dra_planner.plan import Plan


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
    found = (*plan.diagnostics, *apart, *plan.beside)
    return tuple(sorted(found, key=lambda each: (order[each.severity], each.place, each.code)))


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
