"""Commands that explain misfits: `explain`, with the options of the plan."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

from dra_planner.model import WorkloadRef
from dra_planner.plan import Plan


def explain_commands(plan: Plan, values: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield for workloads that do not fit what a command tells, and the command.

    Where a claim is at fault that is the claim, term by term; where nodes of every pool turn the
    pods down before they look at devices, all that would have to change, since one reason often
    stands before others.
    """
    for workload in plan.workloads:
        if workload.verdicts[plan.level] == "fits":
            continue
        ref = workload.workload
        claims = dict(_claims(plan, ref))
        claim = next(
            (claims[reason.claim] for reason in workload.reasons if reason.claim in claims), ""
        )
        explain = ["pulumi-dra", "explain", *_capacity(values)]
        if claim:
            yield "why, term by term", shlex.join([*explain, "--claim", claim])
        elif _is_turned_down(plan, ref):
            yield (
                "all required changes",
                shlex.join([*explain, "--pod", f"{ref.namespace}/{ref.name}"]),
            )


def _is_turned_down(plan: Plan, ref: WorkloadRef) -> bool:
    """Return whether in every pool a node rejects some pods of a workload."""
    shapes = [
        shape
        for shape in plan.demand.shapes
        if any(member.workload == ref for member in shape.members)
    ]
    return any(
        all(each.verdict != "fits" for each in plan.judgement.answers(shape)) for shape in shapes
    )


def _claims(plan: Plan, ref: WorkloadRef) -> Iterator[tuple[str, str]]:
    """Yield the claims of a workload as reasons identify them, with their titles."""
    for shape in plan.demand.shapes:
        if any(member.workload == ref for member in shape.members):
            for claim in shape.claims:
                told = str(claim.shared or f"{shape.namespace}/{claim.name}")
                yield told, claim.title(ref)


def _capacity(values: argparse.Namespace) -> Iterator[str]:
    yield from values.paths
    capacity = ("observed",) if values.observed else ("fleet", "stack")
    for option in (*capacity, "kubernetes"):
        value = getattr(values, option)
        if value:
            yield from (f"--{option}", value)
