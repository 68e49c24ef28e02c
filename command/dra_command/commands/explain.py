"""`pulumi-dra explain`: why one claim fits or not, pool by pool and term by term."""

from __future__ import annotations

import argparse

from dra_command.inputs import read_inputs
from dra_command.progress import doing
from dra_command.status import status_of
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.plan.explaining import explain_claim


def run(values: argparse.Namespace) -> int:
    """Explain the claim, or the message of somebody else, and return the exit status of its verdict."""
    if values.message is not None:
        from dra_command import field_messages

        return field_messages.run(values)
    inputs = read_inputs(values, needs_capacity=True)
    with doing("explaining", quiet=values.quiet):
        plan = make_plan(
            PlanRequest(
                sources=inputs.sources, fleet=inputs.fleet, observed=inputs.observed, kubernetes=inputs.kubernetes
            )
        )
        explanation = explain_claim(plan.judgement, values.claim, values.pool)
    if values.format == "json":
        from dra_command.formats.explain_json import explain_json

        print(explain_json(explanation))
    else:
        from dra_command.formats.explain_text import print_explanation

        print_explanation(explanation, quiet=values.quiet, verbose=values.verbose)
    return status_of(explanation.verdict, allow_unknown=values.allow_unknown)
