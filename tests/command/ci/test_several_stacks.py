"""`ci` with several stacks, exemptions, and shallow clones."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from command_project import STACK, Project

from dra_command.ci import run as ci

pytestmark = pytest.mark.programs

TOO_SMALL = ("max: 4", "max: 1")
"""A change to the stack after which the workloads need more nodes than the pool's maximum."""

FLEET_FILE = "stacks/dev.fleet.yaml"

ROLLING = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat}
spec:
  replicas: 1
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      containers: [{name: main, image: registry.example/c:1, resources: {claims: [{name: gpu}]}}]
"""

SHALLOW = (
    "this is a shallow clone, so fetch the whole history: fetch-depth: 0 in "
    'actions/checkout, GIT_DEPTH: "0" in GitLab CI, or git fetch --unshallow'
)


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *identity, "-C", str(folder), *words], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (("--stack", "dev"), ["pulumi-dra/dev/"]),
        (("--stack", "dev", "--name", "nightly"), ["pulumi-dra/nightly/dev/"]),
        (("workloads", "--name", "nightly"), ["pulumi-dra/nightly/"]),
        (("workloads",), [None]),
    ],
    ids=["stack", "named stack", "named", "only manifests"],
)
def test_code_scanning_separates_runs(
    options: tuple[str, ...], ids: list[str | None], project: Project
) -> None:
    assert project.run("ci", *options, "--sarif", "found.sarif").status == 0
    runs = json.loads((project.root / "found.sarif").read_text(encoding="utf-8"))["runs"]
    assert [each.get("automationDetails", {}).get("id") for each in runs] == ids


def test_sarif_names_the_stack(project: Project) -> None:
    (run,) = project.run("check", "--stack", "dev", "--format", "sarif").json["runs"]
    assert run["automationDetails"] == {"id": "pulumi-dra/dev/"}


class TestAWorkloadThatDoesNotFit:
    def test_misfit_fails_the_run(self, project: Project) -> None:
        project.stack(*TOO_SMALL)
        assert project.run("ci", "--stack", "dev").status == 1

    def test_baseline_accepts_a_misfit(self, project: Project) -> None:
        project.stack(*TOO_SMALL)
        project.run("check", "--stack", "dev", "--write-baseline", "known.json")
        done = project.run("ci", "--stack", "dev", "--baseline", "known.json")
        assert (done.status, "Does not fit" in done.out) == (0, True)

    def test_disabled_rules_accept_a_misfit(self, project: Project) -> None:
        project.stack(*TOO_SMALL)
        assert project.run("ci", "--stack", "dev").status == 1
        rules = "{claim-fits-no-pool: disabled, pool-maximum-too-small: disabled}"
        project.write("pulumi-dra.yaml", f"rules: {rules}\n")
        assert project.run("ci", "--stack", "dev").status == 0

    def test_target_branch_accepts_a_misfit(self, project: Project) -> None:
        project.stack(*TOO_SMALL)
        git(project.root, "init", "-q", "-b", "main")
        git(project.root, "add", "-A")
        git(project.root, "commit", "-q", "-m", "one")
        assert project.run("ci", "--stack", "dev", "--diff", "main").status == 0

    def test_stale_plan_fails_despite_a_baseline(self, project: Project) -> None:
        assert project.run("plan", "--stack", "dev", "--write").status == 0
        project.stack(*TOO_SMALL)
        project.run("check", "--stack", "dev", "--write-baseline", "known.json")
        assert project.run("ci", "--stack", "dev", "--baseline", "known.json").status == 1


class TestTheReportOfASavedPlan:
    def test_reason_for_a_stale_plan_is_printed(self, project: Project) -> None:
        project.run("plan", "--stack", "dev", "--write")
        project.stack("max: 4", "max: 5")
        done = project.run("ci", "--stack", "dev")
        assert done.status == 1
        assert "**Stale plan.** stacks/dev.plan.json: the plan is stale: the fleet has" in done.out
        assert "run `pulumi-dra plan --stack dev --write`" in done.out

    def test_image_version_or_comment_does_not_make_a_plan_stale(self, project: Project) -> None:
        project.run("plan", "--stack", "dev", "--write")
        for file in (project.root / "workloads").iterdir():
            text = file.read_text(encoding="utf-8")
            file.write_text(f"# reviewed\n{text.replace(':24.04', ':26.04')}", encoding="utf-8")
        assert project.run("ci", "--stack", "dev").status == 0

    def test_deleted_plan_fails_if_other_plans_are_saved(self, project: Project) -> None:
        project.stack(name="west")
        for name in ("dev", "west"):
            project.run("plan", "--stack", name, "--write")
        (project.root / "stacks/west.plan.json").unlink()
        done = project.run("ci", "--stack", "dev,west")
        assert (done.status, "stacks/west.plan.json doesn't exist" in done.out) == (1, True)


class TestAKnownMisfit:
    ANOTHER_POOL = (
        "count: {min: 0, max: 4}",
        "count: {min: 0, max: 1}\n      - name: t4\n        machine: g4dn.xlarge\n"
        "        count: {min: 0, max: 1}\n"
        "        taints: [{key: team, value: a, effect: NoSchedule}]",
    )

    def test_additional_pool_does_not_make_a_finding_new(self, project: Project) -> None:
        project.stack(*TOO_SMALL)
        project.run("check", "--stack", "dev", "--write-baseline", "known.json")
        project.stack(*self.ANOTHER_POOL)
        done = project.run("check", "--stack", "dev", "--baseline", "known.json")
        assert (done.status, "resolved" in done.out) == (0, False)

    def test_comment_reports_accepted_misfits(self, project: Project) -> None:
        project.stack(*TOO_SMALL)
        project.run("check", "--stack", "dev", "--write-baseline", "known.json")
        accepted = "they don't fail this run"
        run = ("check", "--stack", "dev", "--format", "markdown")
        assert accepted not in project.run(*run).out
        assert accepted in project.run(*run, "--baseline", "known.json").out


def test_finding_about_a_pool_has_the_place_of_the_stack(project: Project) -> None:
    project.write(
        "pulumi-dra.yaml",
        "rules: {no-l4: {for: pool, expression: 'false', message: no L4, level: mandatory}}\n",
    )
    (run,) = project.run("check", "--stack", "dev", "--format", "sarif").json["runs"]
    (place,) = run["results"][0]["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "stacks/Pulumi.dev.yaml"},
        "region": {"startLine": 15},
    }
    (row,) = project.run("check", "--stack", "dev", "--format", "json").json["diagnostics"]
    assert (row["file"], row["line"]) == ("stacks/Pulumi.dev.yaml", 15)
    text = project.run("check", "--stack", "dev", "--format", "github").out
    assert "::error file=stacks/Pulumi.dev.yaml,line=15,title=no-l4" in text
    assert "stacks/Pulumi.dev.yaml:15 error no-l4" in project.run("check", "--stack", "dev").out


def test_finding_about_a_plan_has_the_place_of_the_fleet(project: Project) -> None:
    _, _, fleet = STACK.partition("pulumi-dra:fleet:\n")
    project.write("stacks/dev.fleet.yaml", "# nodes\n" + textwrap.dedent(fleet))
    project.write("stacks/Pulumi.dev.yaml", STACK.replace(fleet, "").rstrip() + f" {FLEET_FILE}\n")
    rule = "{for: plan, expression: 'false', message: no plan, level: mandatory}"
    project.write("pulumi-dra.yaml", f"rules: {{no-plan: {rule}}}\n")
    text = project.run("check", "--stack", "dev").out
    assert "stacks/dev.fleet.yaml:2 error no-plan: the plan: no plan" in text


class TestPodsThatStayPendingOnThePlannedNodes:
    """A rollout that adds a pod first, on a plan without a node for this pod."""

    @pytest.fixture
    def rolling(self, project: Project) -> Project:
        for file in (project.root / "workloads").iterdir():
            file.unlink()
        project.write("workloads/chat.yaml", ROLLING)
        return project

    @pytest.mark.parametrize(("fail_on", "status"), [("error", 0), ("warning", 1), ("never", 0)])
    def test_fail_on_includes_warnings_of_the_plan(
        self, fail_on: str, status: int, rolling: Project
    ) -> None:
        assert "peak-exceeds-nodes" in rolling.run("plan", "--stack", "dev").out
        done = rolling.run("ci", "--stack", "dev", "--fail-on", fail_on)
        assert (done.status, "warning scaling-exceeds-pools" in done.out) == (status, True)

    def test_exemption_accepts_a_scaling_warning(self, rolling: Project) -> None:
        rolling.write(
            "pulumi-dra.yaml",
            "exemptions: [{rule: scaling-exceeds-pools, object: Deployment default/chat, "
            "reason: one pod at a time}]\n",
        )
        assert rolling.run("ci", "--stack", "dev", "--fail-on", "warning").status == 0

    def test_saved_plan_for_peak_demand_accepts_a_scaling_warning(self, rolling: Project) -> None:
        rolling.run("plan", "--stack", "dev", "--demand", "peak", "--write")
        assert rolling.run("ci", "--stack", "dev", "--fail-on", "warning").status == 0


def test_log_of_a_workflow_reports_no_findings(project: Project) -> None:
    project.stack(name="west")
    done = project.run("ci", "--stack", "dev,west", GITHUB_ACTIONS="true")
    assert done.out.count("No findings: ") == 2


def test_baseline_of_several_stacks_names_each_stack(project: Project) -> None:
    project.stack(name="west")
    done = project.run("ci", "--stack", "dev,west", "--write-baseline", "known.json")
    assert done.out == (
        "known.json: 0 findings of stack dev\nknown.json: 0 findings of stack west\n"
    )


def test_space_between_stacks_is_reported(project: Project) -> None:
    project.stack(name="west")
    done = project.run("ci", "--stack", "dev,", "west")
    assert (done.status, "remove the space after the comma: --stack dev,west" in done.err) == (
        2,
        True,
    )
    assert project.run("ci", "--stack", "dev,west").status == 0


class TestABaselineOfTwoStacks:
    def test_ci_writes_and_reads_one_baseline(self, project: Project) -> None:
        """Given two stacks, one of which is too small, when the findings are written and read, then
        each stack has only its own findings.
        """
        project.stack(*TOO_SMALL)
        project.stack(name="west")
        both = ("ci", "--stack", "dev,west")
        assert project.run(*both).status == 1
        assert project.run(*both, "--write-baseline", "known.json").status == 0
        done = project.run(*both, "--baseline", "known.json")
        assert (done.status, "resolved" in done.out) == (0, False)
        rows = json.loads((project.root / "known.json").read_text(encoding="utf-8"))["findings"]
        assert {row["stack"] for row in rows if "pool" in row["code"]} == {"dev"}

    def test_finding_of_one_stack_is_new_in_another(self, project: Project) -> None:
        project.stack(name="west")
        project.stack(*TOO_SMALL)
        project.run("check", "--stack", "dev", "--write-baseline", "known.json")
        project.stack(*TOO_SMALL, name="west")
        run = ("check", "--baseline", "known.json", "--stack")
        assert (project.run(*run, "dev").status, project.run(*run, "west").status) == (0, 1)

    def test_file_that_is_not_a_baseline_is_not_overwritten(self, project: Project) -> None:
        project.write("known.json", "{}")
        done = project.run("check", "--stack", "dev", "--write-baseline", "known.json")
        assert (done.status, "isn't a baseline file" in done.err) == (2, True)
        assert (project.root / "known.json").read_text(encoding="utf-8") == "{}"


class TestJUnitFailsWhenTheRunFails:
    @staticmethod
    def failures(project: Project) -> dict[str, int]:
        suites = ElementTree.parse(project.root / "found.xml").getroot()
        return {str(each.get("name")): int(each.get("failures", 0)) for each in suites}

    def test_stale_plan_is_a_failure_in_junit(self, project: Project) -> None:
        project.run("plan", "--stack", "dev", "--write")
        project.stack("max: 4", "max: 5")
        assert project.run("ci", "--stack", "dev", "--junit", "found.xml").status == 1
        found = self.failures(project)
        assert found == {"pulumi-dra plan": 1, "pulumi-dra check --stack dev": 0}

    def test_invalid_input_is_a_failure_in_junit(self, project: Project) -> None:
        assert project.run("ci", "--stack", "nowhere", "--junit", "found.xml").status == 2
        found = self.failures(project)
        assert found == {"pulumi-dra plan": 1, "pulumi-dra check --stack nowhere": 1}

    def test_passing_run_has_no_failures_in_junit(self, project: Project) -> None:
        assert project.run("ci", "--stack", "dev", "--junit", "found.xml").status == 0
        assert set(self.failures(project).values()) == {0}


def test_configuration_selected_by_an_option_defines_fleets(project: Project) -> None:
    fleet = yaml.safe_load(STACK)["config"]["pulumi-dra:fleet"]
    project.write("fleets/gpu.yaml", yaml.safe_dump(fleet))
    project.write("rules/team.yaml", "fleets: {shared: ../fleets/gpu.yaml}\n")
    words = ("workloads", "--fleet", "shared", "--config", "rules/team.yaml")
    for command in ("plan", "check", "ci"):
        assert project.run(command, *words).status == 0


def test_shallow_clone_is_reported_with_its_fix(project: Project, tmp_path: Path) -> None:
    git(project.root, "init", "-q", "-b", "main")
    for message in ("one", "two"):
        project.write("note.txt", message)
        git(project.root, "add", "-A")
        git(project.root, "commit", "-q", "-m", message)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project.root}", str(clone))
    done = Project(clone).run("check", "--stack", "dev", "--diff", "HEAD~1")
    assert done.status == 2
    assert SHALLOW in done.err

    git(clone, "fetch", "-q", "--unshallow")

    assert Project(clone).run("check", "--stack", "dev", "--diff", "HEAD~1").status == 0


def test_lines_of_concurrent_commands_are_not_mixed(
    monkeypatch: pytest.MonkeyPatch, project: Project
) -> None:
    written: list[str] = []

    class Terminal:
        def write(self, text: str) -> None:
            written.append(text)

        def flush(self) -> None:
            """Nothing is buffered."""

    monkeypatch.chdir(project.root)
    monkeypatch.setattr(sys, "stderr", Terminal())
    ci._pulumi_dra("check", "workloads")
    assert written == ["running: pulumi-dra check workloads\n"]


def test_wrong_input_is_printed_once(project: Project) -> None:
    done = project.run("ci", "--stack", "deb", "--comment", "none")
    assert done.status == 2
    assert done.err.count('stack "deb" doesn\'t exist') == 1


def test_error_in_a_subfolder_names_the_projects_folder(project: Project) -> None:
    below = Project(project.root / "workloads")
    done = below.run("plan", "--stack", "dev")
    assert done.status == 2
    assert f"run the command in {project.root}," in done.err
