"""The GitHub Action, the GitLab component, and the pre-commit hooks are run as on their hosts,
except for the installation.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from command_project import Project

pytestmark = pytest.mark.programs

ROOT = Path(__file__).parents[3]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOOKS = {
    hook["id"]: hook
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}
BROKEN = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one}
spec: {devices: {requests: [{name: gpu, deviceClassName: gpu.nvidia.com}]}}
"""


@pytest.fixture
def failing(project: Project) -> Project:
    """A project with a claim in the flat form."""
    project.write("workloads/claims.yaml", BROKEN)
    return project


def in_shell(folder: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script as GitHub's runner does (`shell: bash`), with the tested command on PATH."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


class TestTheAction:
    def run(self, project: Project, **given: str) -> subprocess.CompletedProcess[str]:
        inputs = {name: each["default"] for name, each in ACTION["inputs"].items()} | {
            name.replace("_", "-"): value for name, value in given.items()
        }
        (step,) = (each for each in ACTION["runs"]["steps"] if each.get("id") == "run")

        def filled(text: str) -> str:
            return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)

        (project.root / "summary.md").touch()
        files = {
            "GITHUB_STEP_SUMMARY": "summary.md",
            "GITHUB_OUTPUT": "output.txt",
            "GITHUB_EVENT_PATH": "event.json",
        }
        places = {name: str(project.root / file) for name, file in files.items()}
        variables = {name: filled(value) for name, value in step["env"].items()}
        places |= {"GITHUB_ACTIONS": "true"}
        return in_shell(
            project.root / filled(step["working-directory"]), step["run"], **variables, **places
        )

    def test_findings_are_annotations_files_and_a_summary(self, failing: Project) -> None:
        done = self.run(failing, paths="workloads")

        assert done.returncode == 1, done.stderr
        assert "::error file=workloads/claims.yaml,line=4,title=" in done.stdout
        log = json.loads((failing.root / "pulumi-dra.sarif").read_text(encoding="utf-8"))
        assert log["runs"][0]["results"][0]["level"] == "error"
        assert (
            ElementTree.parse(failing.root / "pulumi-dra.xml").getroot().attrib["failures"] != "0"
        )
        assert (
            (failing.root / "summary.md")
            .read_text(encoding="utf-8")
            .startswith("<!-- pulumi-dra:check -->")
        )
        assert (
            failing.root / "output.txt"
        ).read_text() == "sarif=./pulumi-dra.sarif\njunit=./pulumi-dra.xml\n"

    def test_valid_project_passes_with_its_plan(self, project: Project) -> None:
        assert self.run(project, stack="dev").returncode == 0
        summary = (project.root / "summary.md").read_text(encoding="utf-8")
        assert "fits | 2 | 1.96 | 1,427 | none saved |" in summary
        assert "<!-- pulumi-dra:check -->" in summary

    def test_several_stacks_are_one_run(self, project: Project) -> None:
        text = (project.root / "stacks/Pulumi.dev.yaml").read_text()
        project.write("stacks/Pulumi.small.yaml", text.replace("max: 4", "max: 1"))
        done = self.run(project, stack="dev,small")
        assert done.returncode == 1
        log = json.loads((project.root / "pulumi-dra.sarif").read_text(encoding="utf-8"))
        ids = [each["automationDetails"]["id"] for each in log["runs"]]
        assert ids == ["pulumi-dra/dev/", "pulumi-dra/small/"]
        suites = ElementTree.parse(project.root / "pulumi-dra.xml").getroot()
        assert [each.get("name") for each in suites] == [
            "pulumi-dra plan",
            "pulumi-dra check --stack dev",
            "pulumi-dra check --stack small",
        ]
        assert suites.get("tests") == str(sum(int(each.attrib["tests"]) for each in suites))
        outputs = (project.root / "output.txt").read_text(encoding="utf-8").split()
        assert all(Path(project.root / each.partition("=")[2]).is_file() for each in outputs)
        assert "1 of 2 stacks fits" in (project.root / "summary.md").read_text(encoding="utf-8")

    def test_unknown_result_of_a_rule_can_be_allowed(self, project: Project) -> None:
        rule = {"for": "workload", "expression": 'workload.labels["a"] == "b"', "message": "m"}
        project.write("pulumi-dra.yaml", yaml.safe_dump({"rules": {"own": rule}}))
        assert self.run(project, stack="dev").returncode == 3
        assert self.run(project, stack="dev", allow_unknown="true").returncode == 0

    def test_stale_plan_fails(self, project: Project) -> None:
        assert project.run("plan", "--stack", "dev", "--write").status == 0
        assert self.run(project, stack="dev").returncode == 0
        project.stack("max: 4", "max: 3")
        assert self.run(project, stack="dev").returncode == 1

    def test_inputs_become_options(self, failing: Project) -> None:
        failing.run("check", "workloads", "--write-baseline", "known.json")

        assert self.run(failing, paths="workloads", baseline="known.json").returncode == 0
        assert self.run(failing, paths="workloads", fail_on="never").returncode == 0
        assert (
            self.run(failing, paths="workloads/two-pods.yaml workloads/claims.yaml").returncode == 1
        )
        assert (
            self.run(Project(failing.root), paths=".", working_directory="workloads").returncode
            == 1
        )

    def test_wrong_input_fails_with_a_message(self, project: Project) -> None:
        done = self.run(project, paths="nowhere")

        assert done.returncode == 2
        assert "nowhere doesn't exist" in done.stderr

    @pytest.mark.parametrize("name", ["paths", "stack", "fleet", "diff", "name", "sarif"])
    def test_inputs_are_not_executed(self, project: Project, name: str) -> None:
        self.run(project, **{name: "$(touch hacked)`touch hacked`; touch hacked #"})

        assert not (project.root / "hacked").exists()

    def test_scripts_contain_no_expressions(self) -> None:
        for step in ACTION["runs"]["steps"]:
            assert "${{" not in step.get("run", "")


class TestTheComponentOfGitlab:
    def job(self, **given: str) -> dict[str, Any]:
        head, body = (ROOT / "templates/check.yml").read_text(encoding="utf-8").split("\n---\n")
        inputs = {
            name: each["default"] for name, each in yaml.safe_load(head)["spec"]["inputs"].items()
        } | given
        filled = re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: inputs[found[1]], body)
        (job,) = yaml.safe_load(filled).values()
        return job

    def test_reports_are_in_the_files_of_the_job(self, failing: Project) -> None:
        job = self.job(options="--stack dev")
        install, *script = job["script"]

        done = in_shell(failing.root, "\n".join(script))

        assert "pip install" in install
        assert done.returncode == 1
        assert "unknown-field: ResourceClaim default/one" in done.stdout
        suite = ElementTree.parse(
            failing.root / job["artifacts"]["reports"]["junit"].replace("*", "")
        ).getroot()
        assert int(suite.attrib["failures"]) > 0
        for path in job["artifacts"]["paths"]:
            assert list(failing.root.glob(path))

    def test_manifests_are_checked_without_pools(self, project: Project) -> None:
        assert (
            in_shell(project.root, "\n".join(self.job(paths="workloads")["script"][1:])).returncode
            == 0
        )


class TestTheHooks:
    def run(self, project: Project, hook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        words = [*shlex.split(HOOKS[hook]["entry"]), *(arguments or HOOKS[hook]["args"])]
        return in_shell(project.root, shlex.join(words))

    def test_commit_with_a_broken_claim_is_rejected(self, failing: Project) -> None:
        done = self.run(failing, "pulumi-dra-check")

        assert done.returncode == 1
        assert "claims.yaml:4" in done.stdout, done.stderr

    def test_unambiguous_findings_are_fixed(self, failing: Project) -> None:
        done = self.run(failing, "pulumi-dra-fix", "workloads")

        assert done.returncode == 0, done.stdout
        assert "exactly: {deviceClassName" in (failing.root / "workloads/claims.yaml").read_text(
            encoding="utf-8"
        )

    def test_hooks_check_all_files(self) -> None:
        assert all(hook["pass_filenames"] is False for hook in HOOKS.values())
