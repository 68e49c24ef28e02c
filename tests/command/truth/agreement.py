"""Run `plan`, `check`, and all of `explain` on one input with one evaluation, and list their
disagreements.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from commands import STATUSES, Answer, errors, run
from corpora import Input
from msgspec.structs import replace

from dra_command.explain.pod import run as explained_pods
from dra_command.findings import evaluation
from dra_command.inputs import planned_inputs
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.blockers import STAGES

WRONG_INPUT: Final = 2
"""Codes of rollouts that never finish, which don't change the verdict of the pods that run."""
SEVERITY: Final = {0: 0, 3: 1, 1: 2}
"""Exit statuses in the order of their verdicts."""


class SharedPlan:
    """Evaluates a request once, although every command requests it. The paths in a request are only
    recorded.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.plan: Plan | None = None
        self._request: PlanRequest | None = None
        for module in (planned_inputs, evaluation, explained_pods):
            patch.setattr(module, "make_plan", self._make)

    def _make(self, request: PlanRequest) -> Plan:
        request = replace(request, paths=())
        if self.plan is None or request != self._request:
            self.plan, self._request = make_plan(request), request
        return self.plan


def disagreements(given: Input, folder: Path, shared: SharedPlan) -> Iterator[str]:
    """Yield sentences about commands whose exit statuses contradict each other, or have no reason.

    Input that `plan` rejects only needs a reason.
    """
    words = given.arguments(folder)
    plan = run("plan", *words, "--format", "json")
    if plan.status == WRONG_INPUT:
        yield from _unexplained("plan", plan)
        yield from _unexplained("check", run("check", *words))
        return
    plan_of_input = shared.plan
    check = run("check", *words, "--format", "json")
    yield from contradictions(plan, check)
    assert plan_of_input is not None  # `plan` made it
    yield from _of_explanations(words, plan, check, plan_of_input)


def contradictions(plan: Answer, check: Answer) -> Iterator[str]:
    """Yield what is wrong with the answers of `plan` and `check` to the same input."""
    for name, answer in (("plan", plan), ("check", check)):
        yield from _unexplained(name, answer)
    found = errors(check.json["diagnostics"])
    if plan.status != check.status:
        yield f"plan ends with {plan.status}, check with {check.status}: {found}"
    elif plan.status == 0 and (stopping := [code for code in found if code in STAGES]):
        yield f"plan fits, but check reports that pods can't run: {stopping}"
    elif plan.status == 1 and not found:
        yield "plan doesn't fit, but check doesn't report an error"


def _of_explanations(words: list[str], plan: Answer, check: Answer, made: Plan) -> Iterator[str]:
    asked = [("--pool", pool.name) for pool in made.pools]
    asked += [("--claim", name) for name in _claims(made)]
    asked += [("--finding", code) for code in {each["code"] for each in check.json["diagnostics"]}]
    for option, name in asked:
        answer = run("explain", *words, option, name, "--format", "json")
        yield from _about(f"{option} {name}", answer, 0, plan.status)
    for row in plan.json["workloads"]:
        name = f"{row['namespace']}/{row['name']}"
        answer = run("explain", *words, "--pod", name, "--format", "json")
        least = STATUSES[row["verdicts"][plan.json["demand"]]]
        yield from _about(f"--pod {name}", answer, least, plan.status)


def _claims(made: Plan) -> set[str]:
    """Return the names of a plan's claims. Other claims of a running cluster don't affect the
    plan's verdict.
    """
    planned = {each.workload for each in made.workloads}
    return {
        claim.title(member.workload)
        for shape in made.judgement.demand.shapes
        for member in shape.members
        if member.workload in planned
        for claim in shape.claims
    }


def _about(what: str, answer: Answer, least: int, most: int) -> Iterator[str]:
    """Yield an explanation whose status is better than that of its subject, or worse than that of
    the plan.
    """
    yield from _unexplained(f"explain {what}", answer)
    if answer.status == WRONG_INPUT:
        yield f"explain {what} rejects its input: {answer.line[:300]}"
    elif not SEVERITY[least] <= SEVERITY[answer.status] <= SEVERITY[most]:
        yield f"explain {what} ends with {answer.status}, not between {least} and {most}"


def _unexplained(name: str, answer: Answer) -> Iterator[str]:
    if answer.status == WRONG_INPUT:
        if "pulumi-dra: " not in answer.text and '"message": "' not in answer.text:
            yield f"{name} rejects its input without a reason: {answer.line[:300]}"
    elif answer.status != STATUSES[answer.json["verdict"]]:
        yield f"{name} ends with {answer.status}, but its verdict is {answer.json['verdict']}"
    elif answer.status and not any(_messages(answer.json)):
        yield f"{name} ends with {answer.status} without a reason: {answer.line[:300]}"


def _messages(value: Any) -> Iterator[str]:
    """Yield the messages of findings and reasons in JSON output."""
    if isinstance(value, dict):
        yield from (item for key, item in value.items() if key == "message" and item)
    for item in (*value.values(),) if isinstance(value, dict) else value:
        if isinstance(item, dict | list):
            yield from _messages(item)
