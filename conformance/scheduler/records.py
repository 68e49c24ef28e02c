"""Write a rehearsed case as a document with its fleet, workloads, and result, for later comparisons
without a server.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from dra_planner.plan import Plan
from dra_sandbox.rehearsal import ComparedWorkload, Comparison
from generate import Case

Json = dict[str, Any]


def record_of(case: Case, found: list[Comparison]) -> Json:
    """Return the case with the outcomes of all its rehearsals."""
    return {
        "seed": case.seed,
        "feature": case.feature,
        "fleet": case.fleet,
        "workloads": case.workloads,
        "verdict": found[0].plan.running,
        "undecided": _undecided(found[0].plan),
        "nodes": {pool.name: pool.nodes.desired for pool in found[0].plan.pools},
        "rehearsals": [
            {
                "order": each.order,
                "kubernetes": each.release,
                "outcome": {"/".join(row.outcome.workload): _row(row) for row in each.rows},
            }
            for each in found
        ],
    }


def _undecided(plan: Plan) -> list[str]:
    """Return the codes of the reasons for a plan with the verdict *cannot tell*. For other
    verdicts, return nothing.
    """
    if plan.running != "cannot-tell":
        return []
    unfit = (each for each in plan.workloads if each.verdicts[plan.level] != "fits")
    return sorted({reason.code for each in unfit for reason in each.reasons})


def _row(row: ComparedWorkload) -> Json:
    document: Json = {
        "placed": row.outcome.placed,
        "pending": row.pending,
        "pools": dict(row.outcome.pools),
    }
    nodes = Counter(pod.node for pod in row.outcome.pods if pod.node)
    document["nodes"] = dict(sorted(nodes.items()))
    if row.simulated is not None:
        document["simulated"] = dict(row.simulated.pools)
    for name, difference in (("difference", row.difference), ("deviation", row.deviation)):
        if difference is not None:
            document[name] = {"reason": difference.reason, "message": difference.detail}
    if row.outcome.refused:
        document["refused"] = row.outcome.refused
    return document
