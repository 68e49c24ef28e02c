"""Changes that the simulation found, as the published JSON."""

from __future__ import annotations

from dra_command.plan_report.contract.plan import FixRow
from dra_planner.plan import Plan
from dra_planner.plan.judgement.simulated_fixes import fix_patch, fix_sentence, saved_usd


def fix_rows(plan: Plan) -> list[FixRow]:
    """Return each change with its savings compared with the planned nodes, and with its patch,
    starting with the cheapest.
    """
    if not plan.judgement.fixes:
        return []
    built = {pool.name: pool.recommended - pool.spare for pool in plan.pools}
    rows: list[FixRow] = []
    for fix in plan.judgement.fixes:
        saved = saved_usd(fix, built, plan.offers)
        rows.append(
            FixRow(
                kind=fix.kind,
                message=fix_sentence(fix, plan.offers),
                nodes=dict(fix.counts),
                saves_per_hour=None if saved is None else float(saved),
                patch=None
                if plan.manifests is None
                else fix_patch(fix, plan.manifests, plan.offers),
            )
        )
    return rows
