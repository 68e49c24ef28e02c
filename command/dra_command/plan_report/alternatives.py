"""Sentences about the alternatives that the claims of a plan use."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.plan import Plan
from dra_planner.plan.nodes.alternatives import used_alternatives
from dra_planner.wording import counted, verb


def alternative_lines(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each request with alternatives (firstAvailable)."""
    for (claim, request), pods in used_alternatives(plan).items():
        used = " and ".join(
            f"{counted(number, 'pod')} {verb(number, 'use')} alternative {name}"
            for name, number in pods.items()
        )
        yield f"In the packing, {used} of request {request} in claim {claim}."
