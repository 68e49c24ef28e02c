"""`plan` and `check` have the same verdict for the same reasons, and print the reasons without
-v.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from cases_of_admission import ADMISSION
from cases_of_completeness import COMPLETENESS
from cases_of_conditions import CONDITIONS
from cases_of_devices import DEVICES
from cases_of_idle_objects import IDLE_OBJECTS
from cases_of_operators import OPERATORS
from cases_of_policies import POLICIES
from cases_of_queues import QUEUES
from cases_of_reading import READING
from cases_of_rules import RULES_OF_PODS
from cases_of_starting import STARTING
from cases_of_volumes import VOLUMES
from cases_of_workflows import WORKFLOWS
from commands import STATUSES, run
from corpora import Input, dump
from truth_cases import Case

from dra_planner.plan.blockers import STAGES
from dra_policies.rules import RULES

SEVERITY = {0: 0, 3: 1, 1: 2}
"""Exit statuses in the order of their verdicts."""
CASES = (
    *STARTING,
    *ADMISSION,
    *QUEUES,
    *READING,
    *IDLE_OBJECTS,
    *OPERATORS,
    *RULES_OF_PODS,
    *CONDITIONS,
    *POLICIES,
    *VOLUMES,
    *WORKFLOWS,
    *DEVICES,
    *COMPLETENESS,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_plan_and_check_agree_with_a_reason(case: Case, tmp_path: Path) -> None:
    words = Input(name=case.name, manifests=dump(case.given), on=case.on).arguments(tmp_path)
    for command in ("plan", "check"):
        answer = run(command, *words)
        assert answer.status == case.status, answer.text
        assert [text for text in case.texts if text not in answer.line] == [], answer.text
        assert [text for text in case.silent if text in answer.line] == [], answer.text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_explain_agrees_with_the_plan(case: Case, tmp_path: Path) -> None:
    words = Input(name=case.name, manifests=dump(case.given), on=case.on).arguments(tmp_path)
    planned = run("plan", *words, "--format", "json").json
    for row in planned["workloads"][:2]:
        pod = f"{row['namespace']}/{row['name']}"
        answer = run("explain", *words, "--pod", pod, "--format", "json")
        assert answer.status in STATUSES.values(), answer.text
        of_row = STATUSES[row["verdicts"][planned["demand"]]]
        assert SEVERITY[answer.status] >= SEVERITY[of_row], answer.text
        assert SEVERITY[answer.status] <= SEVERITY[case.status], answer.text


def test_explain_reports_the_obstacle_of_a_pod(tmp_path: Path) -> None:
    case = next(each for each in CASES if each.name == "MPS with a disabled gate")
    words = Input(name=case.name, manifests=dump(case.given), on=case.on).arguments(tmp_path)
    answer = run("explain", *words, "--pod", "ml/serve")
    assert answer.status == case.status, answer.text
    assert [text for text in case.texts if text not in answer.line] == [], answer.text


@pytest.mark.parametrize("name", ["a template in the flat form of v1beta1"])
def test_explain_reports_the_error_of_the_rejected_object(name: str, tmp_path: Path) -> None:
    case = next(each for each in CASES if each.name == name)
    words = Input(name=name, manifests=dump(case.given), on=case.on).arguments(tmp_path)
    answer = run("explain", *words, "--pod", "ml/serve")
    assert [text for text in case.texts if text not in answer.line] == [], answer.text


def test_case_names_are_unique() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


def test_rules_about_obstacles_of_pods_are_mandatory() -> None:
    """The planner's table determines this for plans, checks, and the policy pack."""
    levels = {rule.id: rule.level for rule in RULES}
    assert {each: levels.get(each) for each in STAGES} == dict.fromkeys(STAGES, "mandatory")


def test_a_note_about_a_workload_is_at_its_first_line(tmp_path: Path) -> None:
    case = next(each for each in CASES if each.name == "a claim that only an init container uses")
    words = Input(name=case.name, manifests=dump(case.given), on=case.on).arguments(tmp_path)
    manifests = Path(next(word for word in words if Path(word).suffix == ".yaml"))
    line = next(
        number
        for number, text in enumerate(manifests.read_text(encoding="utf-8").splitlines(), start=1)
        if "apps/v1" in text
    )
    for command in ("plan", "check"):
        (note,) = (
            each
            for each in run(command, *words, "--format", "json").json["diagnostics"]
            if "init container" in each["message"]
        )
        assert (Path(note["file"]).name, note["line"]) == (manifests.name, line), command


def test_explain_does_not_place_pods_that_never_run(tmp_path: Path) -> None:
    case = next(each for each in CASES if each.name == "an affinity to a label that no pod has")
    words = Input(name=case.name, manifests=dump(case.given), on=case.on).arguments(tmp_path)
    answer = run("explain", *words, "--pod", "ml/serve")
    assert "the packing has nodes for 2 of 2 pods" in answer.line
    assert "pods of the workload placed" not in answer.line


def test_a_plan_without_workloads_names_the_kinds_that_are_not_read(tmp_path: Path) -> None:
    case = next(each for each in CASES if each.name.startswith("a SealedSecret"))
    words = Input(name=case.name, manifests=dump(case.given), on=case.on).arguments(tmp_path)
    answer = run("plan", *words)
    assert "1 unknown kind is ignored: SealedSecret (bitnami.com)" in answer.line, answer.text
