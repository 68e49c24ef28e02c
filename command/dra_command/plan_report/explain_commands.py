"""Commands that explain misfits: `explain`, with the options of the plan."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from typing import Final

from dra_command.command_line.shared_options import CONTEXT
from dra_command.pens.visible_text import visible
from dra_command.plan_report.guards import PULUMI, guard_lines
from dra_planner.model import WorkloadRef
from dra_planner.plan import Plan

TERM_BY_TERM: Final = "all conditions"


def explain_commands(plan: Plan, values: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """For each workload that doesn't fit, yield the subject of a command, and the command.

    A report shows only the first failing condition on each pool, but these commands show every
    failing condition. If a claim is the cause, its command explains the claim. Otherwise, the
    command lists all changes that the pod needs.
    """
    if values.observed and (values.fleet or values.stack):
        return  # `explain` reads either a fleet or a snapshot
    for workload in plan.workloads:
        if workload.verdicts[plan.level] == "fits":
            continue
        ref = workload.workload
        claims = dict(_claims(plan, ref))
        claim = next(
            (claims[reason.claim] for reason in workload.reasons if reason.claim in claims), ""
        )
        if claim:
            yield TERM_BY_TERM, explain_command(values, "--claim", claim)
        elif _is_turned_down(plan, ref):
            pod = f"{ref.namespace}/{ref.name}"
            yield "all required changes", explain_command(values, "--pod", pod)


def explain_command(values: argparse.Namespace, *options: str) -> str:
    """Return an `explain` command with the same inputs as another command, ready to copy."""
    return shlex.join(["pulumi-dra", "explain", *input_words(values), *options])


def print_next_commands(plan: Plan, values: argparse.Namespace) -> None:
    """Print the commands that explain misfits or write guards to standard error."""
    for subject, command in dict.fromkeys(
        (*explain_commands(plan, values), *_guards(plan, values))
    ):
        print(visible(f"{subject}: {command}"), file=sys.stderr)


def _is_turned_down(plan: Plan, ref: WorkloadRef) -> bool:
    """Return whether, in every pool, a node rejects some pods of a workload."""
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
                name = str(claim.shared or f"{shape.namespace}/{claim.name}")
                yield name, claim.title(ref)


def _guards(plan: Plan, values: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield the command that writes the guards to a file, if `pulumi up` can't create them."""
    by_owners = any(each.who_acts != PULUMI for each in guard_lines(plan))
    if by_owners and not getattr(values, "constraints", ""):
        words = ["pulumi-dra", "plan", *input_words(values), "--constraints"]
        yield "guards for the manifests", shlex.join([*words, "guards/kustomization.yaml"])


def input_words(values: argparse.Namespace) -> Iterator[str]:
    """Yield the arguments with which another command uses the same inputs."""
    yield from values.paths
    for option, dest in (("-f", "values_files"), ("--set", "set_values")):
        for value in getattr(values, dest, None) or ():
            yield from (option, value)
    observed = values.observed or ""
    context = observed.removeprefix(CONTEXT) if observed.startswith(CONTEXT) else ""
    given = {
        "context": context,
        "kubeconfig": getattr(values, "kubeconfig", ""),
        "observed": "" if observed.startswith(CONTEXT) else observed,
        "fleet": "" if observed else values.fleet,
        "stack": "" if observed else values.stack,
        "kubernetes": getattr(values, "kubernetes", ""),
    }
    for name, value in given.items():
        if value:
            yield from (f"--{name}", value)
    for change in getattr(values, "what_if", None) or ():
        yield from ("--what-if", change)
