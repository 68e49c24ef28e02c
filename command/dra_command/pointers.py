"""Which command says more about a claim that does not fit: `explain`, with the options that the plan was made with."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

from dra_planner.model import WorkloadRef, generated_claim_name
from dra_planner.plan import Plan


def explain_commands(plan: Plan, values: argparse.Namespace) -> Iterator[str]:
    """Yield for each workload that does not fit, and whose claim is at fault, the command that explains the claim."""
    for workload in plan.workloads:
        if workload.verdicts[plan.level] == "fits":
            continue
        claims = dict(_claims(plan, workload.workload))
        claim = next((claims[reason.claim] for reason in workload.reasons if reason.claim in claims), "")
        if claim:
            yield shlex.join(["pulumi-dra", "explain", *_capacity(values), "--claim", claim])


def _claims(plan: Plan, ref: WorkloadRef) -> Iterator[tuple[str, str]]:
    """Yield the claims of a workload as reasons call them, and by a name that no other workload has."""
    for shape in plan.demand.shapes:
        if any(member.workload == ref for member in shape.members):
            for claim in shape.claims:
                told = str(claim.shared or f"{shape.namespace}/{claim.name}")
                own = f"{ref.namespace}/{generated_claim_name(ref.name, claim.name)}"
                yield told, told if claim.shared else own


def _capacity(values: argparse.Namespace) -> Iterator[str]:
    yield from values.paths
    capacity = ("observed",) if values.observed else ("fleet", "stack")
    for option in (*capacity, "kubernetes"):
        value = getattr(values, option)
        if value:
            yield from (f"--{option}", value)
