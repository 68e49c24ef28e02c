"""`diff` of fleets, plan files, stacks, and git refs, in every format."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from command_project import STACK, Project

SCHEMA = Path(__file__).parents[3] / "docs/schema/diff.json"
FLEET: dict[str, Any] = yaml.safe_load(STACK)["config"]["pulumi-dra:fleet"]


def commit(project: Project, message: str = "change") -> None:
    """Commit the project's files."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", message]):
        subprocess.run(["git", "-C", str(project.root), *words], check=True, capture_output=True)


def write_fleet(project: Project, name: str, most: int, machine: str = "g6.2xlarge") -> None:
    pool = {"name": "l4", "machine": machine, "count": {"max": most}}
    project.write(name, json.dumps({**FLEET, "pools": [pool]}))


def test_ref_is_compared_with_the_working_tree(project: Project) -> None:
    commit(project)
    assert "No differences. Verdict: fits." in project.run("diff", "main").out
    project.stack("max: 4", "max: 1")

    done = project.run("diff", "main")

    assert done.status == 1
    assert "Verdict: fits → does not fit" in done.out
    assert "pools.l4.count.max  4       1" in done.out
    assert "Pod default/second" in done.out
    assert "before: main · after: working tree" in done.out


def test_two_refs_are_compared_without_the_working_tree(project: Project) -> None:
    commit(project)
    project.stack("max: 4", "max: 1")
    commit(project)
    project.stack()

    answer = project.run("diff", "main~1", "main", "--stack", "dev", "--format", "json").json

    assert (answer["verdict_before"], answer["verdict_after"]) == ("fits", "does-not-fit")
    back = project.run("diff", "main", "main~1", "--stack", "dev", "--format", "json")
    assert (back.status, back.json["verdict"]) == (0, "fits")


def test_added_stack_is_new(project: Project) -> None:
    commit(project)
    project.write("stacks/Pulumi.new.yaml", STACK)

    done = project.run("diff", "main", "--stack", "new")

    assert done.status == 0
    assert "New: fits; +2 nodes, +USD 1.96 per hour" in done.out


def test_error_at_a_ref_names_the_ref(project: Project) -> None:
    project.stack("machine: g6.2xlarge", "machine: g6.nothing")
    commit(project)
    project.stack()

    done = project.run("diff", "main", "--stack", "dev")

    assert (done.status, "at main: " in done.err, "g6.nothing" in done.err) == (2, True, True)


def test_two_fleets_are_compared_for_the_same_workloads(project: Project) -> None:
    write_fleet(project, "small.json", 2)
    write_fleet(project, "other.json", 2, "g6e.xlarge")
    words = ("diff", "small.json", "other.json", "--workloads", "workloads")

    done = project.run(*words)
    answer = project.run(*words, "--format", "json").json

    assert "g6.2xlarge → g6e.xlarge" in done.out
    (pool,) = answer["pools"]
    assert (pool["before"], pool["after"], pool["machine"]) == (2, 2, "g6e.xlarge")
    assert answer["hourly"] == pytest.approx(pool["hourly"])
    assert answer["monthly"] == pytest.approx(730 * answer["hourly"])
    jsonschema.validate(answer, json.loads(SCHEMA.read_text()))


def test_no_check_mark_if_the_plan_still_does_not_fit(project: Project) -> None:
    write_fleet(project, "before.yaml", 1)
    write_fleet(project, "after.yaml", 1, "g6.4xlarge")

    done = project.run("diff", "before.yaml", "after.yaml", "--workloads", "workloads")

    assert done.status == 0, done.err
    assert done.out.startswith("✕ Verdict: still does not fit")


def test_plan_files_are_compared_as_saved(project: Project) -> None:
    project.run("plan", "--stack", "dev", "--write")
    plan = (project.root / "stacks/dev.plan.json").read_text()
    project.write("old.plan.json", plan)
    project.stack("max: 4", "max: 3")
    project.run("plan", "--stack", "dev", "--write")

    answer = project.run("diff", "old.plan.json", "stacks/dev.plan.json", "--format", "json").json

    assert [row["path"] for row in answer["settings"]] == ["pools.l4.count.max"]
    assert (answer["pools"], answer["workloads"], answer["nodes"]) == ([], [], 0)
    project.write(
        "old.plan.json", plan.replace('"max":4', '"max":5').replace('"max": 4', '"max": 5')
    )
    assert "someone changed it by hand" in project.run("diff", "old.plan.json", "old.plan.json").err


def test_two_stacks_are_compared(project: Project) -> None:
    project.write("stacks/Pulumi.prod.yaml", STACK.replace('"1.34"', '"1.36"'))
    done = project.run("diff", "dev", "prod")
    assert done.status == 0
    assert "kubernetes" in done.out


def test_stack_is_compared_at_the_demand_of_its_saved_plan(project: Project) -> None:
    project.write("stacks/Pulumi.other.yaml", STACK)
    for name, demand in (("dev", "peak"), ("other", "steady")):
        assert project.run("plan", "--stack", name, "--demand", demand, "--write").status == 0

    saved = project.run("diff", "dev", "other", "--format", "json").json
    requested = project.run("diff", "dev", "other", "--demand", "peak", "--format", "json").json

    assert {"path": "demand", "before": "peak", "after": "steady"} in saved["settings"]
    assert not [each for each in requested["settings"] if each["path"] == "demand"]


def test_names_are_escaped_in_markdown(project: Project) -> None:
    write_fleet(project, "a.json", 4)
    write_fleet(project, "b.json", 1)

    done = project.run(
        "diff", "a.json", "b.json", "--workloads", "workloads", "--format", "markdown"
    )

    assert done.status == 1
    assert done.out.startswith("<!-- pulumi-dra:diff -->\n**Verdict: fits → does not fit")
    assert "| l4 | g6.2xlarge | 2 → 1 | -1 | −0.98 |" in done.out
    assert "### Settings" in done.out


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("nowhere", "--stack", "dev"), "git can't find the ref"),
        (("a.json",), "a.json needs a second plan, fleet, or stack to compare with"),
        (("a.json", "a.json"), "without workloads; add --workloads PATH"),
        (("main", "--fleet", "a.json"), "without workloads; add --workloads PATH"),
        (("a.json", "b.json", "--workloads", "workloads"), "b.json"),
        (("broken.plan.json", "dev"), "isn't valid JSON"),
    ],
)
def test_wrong_input_is_rejected(words: tuple[str, ...], fault: str, project: Project) -> None:
    commit(project)
    write_fleet(project, "a.json", 4)
    project.write("broken.plan.json", "{")
    done = project.run("diff", *words)
    assert (done.status, fault in done.err) == (2, True), done.err


def test_fix_for_refs_in_the_wrong_order_works(project: Project) -> None:
    commit(project)
    project.write("stacks/Pulumi.new.yaml", STACK)
    commit(project)

    wrong = project.run("diff", "main", "main~1", "--stack", "new")
    right = project.run("diff", "main~1", "main", "--stack", "new")

    assert "swap the refs, or use a later ref" in wrong.err
    assert (wrong.status, right.status) == (2, 0)
