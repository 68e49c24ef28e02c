"""Input that `ci` can't read: the comment, the summary, the annotations, and the files say why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_project import Done, Project
from comment_host import Host, environment, running_host

from dra_command.ci.failures import failures_of

pytestmark = pytest.mark.programs

FILES = ("--sarif", "found.sarif", "--junit", "found.xml", "--code-quality", "found.json")


class Pipeline:
    """Runs of `ci` for one pull request on GitHub."""

    def __init__(self, project: Project, host: Host, folder: Path) -> None:
        self.project, self.host, self.summary = project, host, folder / "summary.md"
        self.environment = environment("github", host, folder) | {
            "GITHUB_ACTIONS": "true",
            "GITHUB_STEP_SUMMARY": str(self.summary),
        }

    def run(self, *words: str) -> Done:
        self.summary.write_text("", encoding="utf-8")
        return self.project.run("ci", *words, **self.environment)

    @property
    def comment(self) -> str:
        (found,) = self.host.comments
        return str(found["body"])


@pytest.fixture
def pipeline(project: Project, tmp_path: Path) -> Iterator[Pipeline]:
    with running_host("github") as host:
        yield Pipeline(project, host, tmp_path)


class TestAMisspelledKeyOfTheFleet:
    """Given a comment that says "fits", when a later commit breaks the fleet."""

    MESSAGE = "systemPol isn't a key of the fleet"

    @pytest.fixture
    def done(self, pipeline: Pipeline) -> Done:
        assert pipeline.run("--stack", "dev").status == 0
        assert "Fits" in pipeline.comment
        pipeline.project.stack("systemPool", "systemPol")
        return pipeline.run("--stack", "dev", *FILES)

    def test_comment_and_summary_contain_the_error(self, done: Done, pipeline: Pipeline) -> None:
        assert done.status == 2
        for text in (pipeline.comment, pipeline.summary.read_text(encoding="utf-8")):
            assert "✕ invalid input" in text
            assert (text.count(self.MESSAGE), "Fits" in text) == (1, False)

    def test_line_is_annotated_once(self, done: Done) -> None:
        found = [line for line in done.out.splitlines() if line.startswith("::error")]
        assert [line for line in found if self.MESSAGE in line] == [
            "::error file=stacks/Pulumi.dev.yaml,line=9,title=invalid-input::"
            f'{self.MESSAGE}%0Adid you mean "systemPool"?'
        ]

    def test_each_file_contains_the_reason(self, done: Done, pipeline: Pipeline) -> None:
        root = pipeline.project.root
        suites = ElementTree.parse(root / "found.xml").getroot()
        texts = ["".join(suite.itertext()) for suite in suites]
        assert [self.MESSAGE in text for text in texts] == [True, True]
        (run,) = json.loads((root / "found.sarif").read_text(encoding="utf-8"))["runs"]
        assert run["automationDetails"] == {"id": "pulumi-dra/dev/"}
        assert any(self.MESSAGE in each["message"]["text"] for each in run["results"])
        rows = json.loads((root / "found.json").read_text(encoding="utf-8"))
        assert any(self.MESSAGE in each["description"] for each in rows)

    def test_fixed_fleet_makes_the_comment_fit_again(self, done: Done, pipeline: Pipeline) -> None:
        pipeline.project.stack()
        assert pipeline.run("--stack", "dev").status == 0
        assert "invalid input" not in pipeline.comment


def test_misspelled_configuration_key_comes_before_the_plan(pipeline: Pipeline) -> None:
    pipeline.project.write("pulumi-dra.yaml", "thresholds: {cost-abov-ceiling: 1}\n")
    done = pipeline.run("--stack", "dev")
    failed, _, planned = pipeline.comment.partition("<!-- pulumi-dra:plan -->")
    assert done.status == 2
    assert "cost-abov-ceiling" in failed
    assert "Fits" in planned


def test_unreadable_plan_file_does_not_hide_the_other_stacks(pipeline: Pipeline) -> None:
    pipeline.project.stack(name="west")
    assert pipeline.project.run("plan", "--stack", "dev", "--write").status == 0
    pipeline.project.write("stacks/west.plan.json", "garbage")
    done = pipeline.run("--stack", "dev,west", "--junit", "found.xml")
    assert done.status == 2
    assert "invalid-input: isn't valid JSON" in pipeline.comment
    assert "1 of 2 stacks fits" in pipeline.comment
    assert "| `dev` | ✓ fits |" in pipeline.comment
    assert "| `west` | ✕ invalid input |" in pipeline.comment
    plan, *_ = ElementTree.parse(pipeline.project.root / "found.xml").getroot()
    assert "stacks/west.plan.json:1 isn't valid JSON" in "".join(plan.itertext())


def test_wrong_options_are_in_the_comment(pipeline: Pipeline) -> None:
    assert pipeline.run("--stack", "dev").status == 0
    assert pipeline.run("--stack", "dev,west", "workloads").status == 2
    assert "PATH can't be combined with several stacks" in pipeline.comment


def test_unwritable_file_is_in_the_comment(pipeline: Pipeline) -> None:
    assert pipeline.run("--stack", "dev", "--sarif", "missing/found.sarif").status == 2
    assert "invalid input" in pipeline.comment


@pytest.mark.parametrize(("status", "number"), [(0, 0), (1, 0), (3, 0), (2, 0), (70, 1), (-9, 1)])
def test_subcommand_that_ends_without_a_report_is_a_failure(
    status: int, number: int, tmp_path: Path
) -> None:
    found = failures_of("check", status, tmp_path / "errors.json", "note: a\nkilled\n")
    assert len(found) == number
    for each in found:
        assert each.message == f"`pulumi-dra check` failed with exit status {status}: killed"


def test_check_writes_errors_to_its_files(project: Project) -> None:
    project.stack("systemPool", "systemPol")
    done = project.run("check", "--stack", "dev", "--output", "json=a.json,markdown=a.md")
    assert done.status == 2
    rows = json.loads((project.root / "a.json").read_text(encoding="utf-8"))["diagnostics"]
    assert {row["code"] for row in rows} == {"invalid-input"}
    assert "isn't a key of the fleet" in (project.root / "a.md").read_text(encoding="utf-8")
