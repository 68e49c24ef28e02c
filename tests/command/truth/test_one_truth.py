"""`plan` and `check` give one verdict for the same reasons, and print these without -v."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases_of_admission import ADMISSION
from cases_of_queues import QUEUES
from cases_of_reading import READING
from cases_of_starting import STARTING
from commands import STATUSES, run
from corpora import Input, dump
from truth_cases import Case

from dra_planner.plan.hindrances import STAGES
from dra_policies.rules import RULES

CASES = (*STARTING, *ADMISSION, *QUEUES, *READING)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_plan_and_check_agree_and_say_why(case: Case, tmp_path: Path) -> None:
    words = Input(name=case.name, manifests=dump(case.given), on=case.on).arguments(tmp_path)
    for command in ("plan", "check"):
        answer = run(command, *words)
        assert answer.status == STATUSES[case.verdict], answer.text
        assert [text for text in case.says if text not in answer.line] == [], answer.text
        assert [text for text in case.silent if text in answer.line] == [], answer.text


def test_explain_names_what_keeps_a_pod_from_running(tmp_path: Path) -> None:
    case = next(each for each in CASES if each.name == "MPS while its gate is off")
    words = Input(name=case.name, manifests=dump(case.given), on=case.on).arguments(tmp_path)
    answer = run("explain", *words, "--pod", "ml/serve")
    assert answer.status == STATUSES[case.verdict], answer.text
    assert [text for text in case.says if text not in answer.line] == [], answer.text


def test_names_are_used_once() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


def test_what_keeps_pods_from_running_is_mandatory() -> None:
    """The table of the planner decides it for plans, checks, and the policy pack."""
    levels = {rule.id: rule.level for rule in RULES}
    assert {each: levels.get(each) for each in STAGES} == dict.fromkeys(STAGES, "mandatory")
