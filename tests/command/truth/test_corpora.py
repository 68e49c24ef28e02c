"""For all inputs in the repository that can be planned, the commands agree, print reasons for their
status, and end in time.

Without `EVERY_INPUT`, only a sample is planned. `conformance` plans all inputs. `test_every_input`
compares all inputs with the solver, with one evaluation for all commands.
"""

from __future__ import annotations

import os
from pathlib import Path
from zlib import crc32

import pytest
from commands import STATUSES, Answer, errors, run, without_solver
from corpora import Input, inputs

from dra_planner.plan.blockers import STAGES

MOST_SECONDS = 10
SHARE = 1 if os.environ.get("EVERY_INPUT") else 16
EVERY = {each.name: each for each in inputs()}
SAMPLE = [each for each in EVERY.values() if crc32(each.name.encode()) % SHARE == 0]


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("given", SAMPLE, ids=lambda given: given.name)
@pytest.mark.parametrize("has_solver", [True, False], ids=["solver", "no-solver"])
def test_plan_and_check_agree(
    given: Input, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_solver: bool
) -> None:
    words = given.arguments(tmp_path)
    if has_solver:
        plan, check = (
            run("plan", *words, "--format", "json"),
            run("check", *words, "--format", "json"),
        )
    else:
        with without_solver(monkeypatch):
            plan, check = (
                run("plan", *words, "--format", "json"),
                run("check", *words, "--format", "json"),
            )
    assert max(plan.seconds, check.seconds) < MOST_SECONDS
    if 2 in (plan.status, check.status):
        return  # invalid input doesn't have a verdict
    _has_reasons(plan)
    _has_reasons(check)
    verdict = plan.json["verdict"]
    kept = [code for code in errors(check.json["diagnostics"]) if code in STAGES]
    assert not (kept and verdict == "fits"), check.text
    assert not (verdict == "does-not-fit" and not errors(check.json["diagnostics"])), plan.text
    assert check.status == plan.status, f"{plan.text}\n{check.text}"
    assert check.json["verdict"] == verdict, f"{plan.text}\n{check.text}"


def _has_reasons(answer: Answer) -> None:
    """Check that the status matches the verdict, and that every verdict except *fits* has a
    reason.
    """
    found = answer.json
    assert answer.status == STATUSES[found["verdict"]]
    # `check` counts them
    workloads = found["workloads"] if isinstance(found["workloads"], list) else []
    reasons = [reason for each in workloads for reason in each["reasons"]]
    assert found["verdict"] == "fits" or found["diagnostics"] or reasons, answer.text


def test_explain_agrees_and_is_fast(tmp_path: Path) -> None:
    for given in SAMPLE[:: 1 if SHARE == 1 else max(1, len(SAMPLE) // 16)]:
        words = given.arguments(tmp_path)
        planned = run("plan", *words, "--format", "json")
        if planned.status == 2:
            continue
        found = planned.json
        for row in found["workloads"][:1]:
            answer = run("explain", *words, "--pod", f"{row['namespace']}/{row['name']}")
            assert answer.seconds < MOST_SECONDS
            assert answer.status in STATUSES.values(), f"{given.name}: {answer.text}"
            assert found["verdict"] != "fits" or answer.status == 0, f"{given.name}: {answer.text}"
            of_row = row["verdicts"][found["demand"]]
            assert of_row == "fits" or answer.status != 0, f"{given.name}: {answer.text}"


@pytest.mark.parametrize(
    "name", ["preempt-cpu-given", "rollout-makes-new-pods-first", "stateful-set-partition"]
)
def test_explain_counts_capacity_that_other_pods_free(name: str, tmp_path: Path) -> None:
    words = EVERY[f"running_clusters/{name}"].arguments(tmp_path)
    rows = run("plan", *words, "--format", "json").json["workloads"]
    pods = [f"{row['namespace']}/{row['name']}" for row in rows]
    answers = [run("explain", *words, "--pod", pod) for pod in pods]
    faulty = [answer.text for answer in answers if answer.status]
    assert [text for text in faulty if "rollouts never finish" not in " ".join(text.split())] == []
    assert any("the pods fit after other pods" in answer.line for answer in answers)
