"""`pulumi-dra init --stack` writes a project that the other commands read, and leaves a
repository's own files.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_project import STACK, Project

from cluster_descriptions import EKSCTL
from dra_command.init.requirements import add_requirement
from dra_planner.planfile import plan_path, read_plan_file

FLEET = yaml.safe_dump(yaml.safe_load(STACK)["config"]["pulumi-dra:fleet"], sort_keys=False)
GKE = """\
cloud: gke
region: us-central1
kubernetes: "1.35"
systemPool: {machine: e2-standard-4}
drivers: {nvidia: {version: 25.12.0}}
pools: [{name: l4, machine: g2-standard-8, count: {max: 2}}]
"""


def settings(project: Project, stack: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(
        (project.root / f"stacks/Pulumi.{stack}.yaml").read_text()
    )["config"]
    return found


@pytest.mark.parametrize(
    ("region", "extra", "config"),
    [
        ("us-east-1", "aws", {"aws:region": "us-east-1"}),
        (
            "us-central1",
            "gcp",
            {
                "gcp:region": "us-central1",
                "gcp:project": "SET-THIS",
                "pulumi-dra:securityGroup": "SET-THIS",
            },
        ),
        ("eastus", "azure", {"azure-native:location": "eastus"}),
    ],
    ids=["eks", "gke", "aks"],
)
def test_region_creates_a_project_with_a_current_plan(
    region: str, extra: str, config: dict[str, str], tmp_path: Path
) -> None:
    project = Project(tmp_path)
    done = project.run("init", "--stack", "prod", "--region", region)

    assert (done.status, done.err) == (0, "")
    assert "Fits: 1 workload on 1 GPU node" in done.out
    assert f"pulumi-dra[{extra},policy]" in (project.root / "requirements.txt").read_text()
    assert settings(project, "prod") == {
        **config,
        "pulumi-dra:workloads": ["workloads"],
        "pulumi-dra:fleet": "stacks/prod.fleet.yaml",
    }
    assert read_plan_file(plan_path("prod", project.root)).verdict == "fits"
    assert project.run("plan", "--stack", "prod", "--check").status == 0
    assert project.run("check", "--stack", "prod").status == 0


def test_fleet_file_is_referenced_inside_and_copied_outside_the_project(
    project: Project, tmp_path: Path
) -> None:
    text = f"# ours\n{FLEET}"
    project.write("fleets/gpus.yaml", text)
    inside = project.run(
        "init", "--stack", "a", "--from", "fleets/gpus.yaml", "--workloads", "workloads"
    )
    assert inside.status == 0, inside.err
    assert settings(project, "a")["pulumi-dra:fleet"] == "fleets/gpus.yaml"

    words = (
        "init",
        "platform",
        "--stack",
        "b",
        "--fleet",
        "fleets/gpus.yaml",
        "--workloads",
        "workloads",
    )
    outside = project.run(*words)
    assert outside.status == 0, outside.err
    platform = Project(project.root / "platform")
    assert (platform.root / "stacks/b.fleet.yaml").read_text() == text
    assert settings(platform, "b")["pulumi-dra:workloads"] == ["../workloads"]
    assert platform.run("plan", "--stack", "b", "--check").status == 0


def test_second_stack_is_added_without_changing_other_files(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("requirements.txt", "requests\n")
    project.write(".gitignore", "*.log\n")
    project.write("eks.yaml", FLEET)
    project.write("gke.yaml", GKE)
    assert project.run("init", "--stack", "prod", "--from", "eks.yaml").status == 0
    added = project.run("init", "--stack", "dev", "--from", "gke.yaml")

    assert added.status == 0, added.err
    assert "look at stacks/Pulumi.dev.yaml: set gcp:project" in added.out
    assert "wrote __main__.py" not in added.out
    assert (project.root / ".gitignore").read_text() == "*.log\n"
    first, ours = (project.root / "requirements.txt").read_text().splitlines()
    assert (first, "[aws,policy,gcp]" in ours) == ("requests", True)
    assert project.run("plan", "--stack", "prod", "--check").status == 0
    assert project.run("plan", "--stack", "dev", "--check").status == 0


COMMIT = "git+https://github.com/acme/pulumi-dra.git@0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), f"pulumi-dra[aws,policy,gcp] @ {COMMIT}\n"),
        (("--install", "1.0.0"), "pulumi-dra[aws,policy,gcp]==1.0.0\n"),
    ],
    ids=["the project's source", "another source"],
)
def test_second_stack_installs_from_one_source(
    tmp_path: Path, options: tuple[str, ...], expected: str
) -> None:
    project = Project(tmp_path)
    project.write("eks.yaml", FLEET)
    project.write("gke.yaml", GKE)
    project.run("init", "--stack", "prod", "--from", "eks.yaml", "--install", COMMIT)
    done = project.run("init", "--stack", "dev", "--from", "gke.yaml", *options)
    assert (project.root / "requirements.txt").read_text() == expected
    assert "requirements.txt: generated files install" not in done.out


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "pulumi-dra[gcp,policy]==2\n"),
        ("pulumi-dra-tools==1\n", "pulumi-dra-tools==1\npulumi-dra[gcp,policy]==2\n"),
        ("pulumi_dra >= 1  # ours\nrequests\n", "pulumi_dra[gcp,policy] >= 1  # ours\nrequests\n"),
        ("pulumi-dra[ gcp , policy ]==1\n", "pulumi-dra[ gcp , policy ]==1\n"),
        (
            "dist/pulumi_dra-1.0-py3-none-any.whl[aws]\n",
            "dist/pulumi_dra-1.0-py3-none-any.whl[aws,gcp,policy]\n",
        ),
    ],
    ids=["none", "another package", "without extras", "the same extras", "a wheel file"],
)
def test_existing_requirement_gets_extras(before: str, after: str) -> None:
    added = add_requirement(before, "pulumi-dra==2", ("gcp", "policy"), replaces=False)
    assert added == after


def test_differing_files_are_reported_and_nothing_is_written(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("__main__.py", "print('mine')\n")
    project.write("fleet.yaml", FLEET)
    done = project.run("init", "--stack", "prod", "--from", "fleet.yaml")
    assert done.status == 2
    assert "__main__.py already exists" in done.err
    assert sorted(each.name for each in project.root.iterdir()) == ["__main__.py", "fleet.yaml"]
    assert project.run("init", "--stack", "prod", "--from", "fleet.yaml", "--force").status == 0


def test_workloads_that_do_not_fit_are_planned_and_reported(project: Project) -> None:
    project.write("many.yaml", (project.root / "workloads/two-pods.yaml").read_text())
    project.write("fleet.yaml", FLEET.replace("max: 4", "max: 0"))
    done = project.run(
        "init", "new", "--stack", "prod", "--from", "fleet.yaml", "--workloads", "workloads"
    )
    assert done.status == 0, done.err
    assert "\nDoes not fit: " in done.out
    assert "pulumi-dra plan --stack prod    # reasons and fixes" in done.out


def test_ci_files_are_in_the_root_of_the_repository(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (tmp_path / ".git").mkdir()
    project.write("fleet.yaml", FLEET)
    for kind in ("github", "gitlab"):
        assert (
            project.run(
                "init", f"in/{kind}", "--stack", kind, "--from", "fleet.yaml", "--ci", kind
            ).status
            == 0
        )
    workflow = yaml.safe_load(
        (tmp_path / ".github/workflows/pulumi-dra-in-github-github.yml").read_text()
    )
    assert workflow["defaults"]["run"]["working-directory"] == "in/github"
    (job,) = yaml.safe_load(
        (tmp_path / "pulumi-dra-in-gitlab-gitlab.gitlab-ci.yml").read_text()
    ).values()
    assert job["script"][0] == "cd in/gitlab"
    assert job["artifacts"]["reports"]["junit"] == "in/gitlab/pulumi-dra.xml"


@pytest.mark.parametrize("name", ["a/b", "a b", "x" * 101, "../up"])
def test_names_that_pulumi_rejects_are_wrong_input(name: str, tmp_path: Path) -> None:
    done = Project(tmp_path).run("init", "new", f"--stack={name}", "--region", "us-east-1")
    assert done.status == 2
    assert "use at most 100 letters, digits, hyphens, underscores, and periods" in done.err
    assert not (tmp_path / "new").exists()


def test_fleet_file_without_a_stack_gets_a_fix(project: Project) -> None:
    project.write("fleet.yaml", FLEET)
    done = project.run("init", "new", "--from", "fleet.yaml")
    assert done.status == 2
    assert (
        "if it's Terraform code, pass the output of `terraform show -json`. If it's a fleet file, "
        "add --stack NAME" in done.err
    )
    assert project.run("init", "new", "--from", "fleet.yaml", "--stack", "prod").status == 0
    assert json.loads((project.root / "new/stacks/prod.plan.json").read_text())["verdict"] == "fits"


def test_fleets_of_several_folders_have_their_own_workflows(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (tmp_path / ".git").mkdir()
    for name in ("one", "two"):
        assert project.run("init", name, "--region", "us-east-1", "--quiet").out == ""
    names = {each.name for each in (tmp_path / ".github/workflows").iterdir()}
    assert names == {"pulumi-dra-one.yml", "pulumi-dra-two.yml"}

    again = project.run("init", "new/../one", "--region", "us-east-1")

    assert again.status == 2
    assert "pulumi-dra-one.yml" in again.err
    assert "already exist" in again.err
    assert not (tmp_path / "new").exists()


def test_workflow_outside_a_repository_gets_a_note(tmp_path: Path) -> None:
    project = Project(tmp_path)
    note = (
        "GitHub reads CI workflows only from the root of a repository, but gpus isn't in a "
        "git repository; move the workflow to your repository's root"
    )
    done = project.run("init", "gpus", "--region", "us-east-1")
    assert note in done.out
    assert (tmp_path / "gpus/.github/workflows/pulumi-dra.yml").is_file()
    (tmp_path / ".git").mkdir()

    done = project.run("init", "gpus", "--region", "us-east-1", "--force")

    assert note not in done.out
    assert (tmp_path / ".github/workflows/pulumi-dra-gpus.yml").is_file()


def test_fleet_of_a_local_installation_gets_a_note_about_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "dra_command.init.install_source.index_note", lambda install: "" if install else "N"
    )
    (tmp_path / ".git").mkdir()
    project = Project(tmp_path)
    words = ("init", "one", "--region", "us-east-1")
    assert "look at .github/workflows/pulumi-dra-one.yml: N\n" in project.run(*words).out
    assert ": N" not in project.run(*words, "--force", "--install", "1.0.0").out


def test_second_stack_keeps_the_changed_workloads(tmp_path: Path) -> None:
    project = Project(tmp_path)
    words = ("init", "gpus", "--region", "us-east-1", "--stack")
    assert project.run(*words, "prod").status == 0
    sample = tmp_path / "gpus/workloads/first-claim.yaml"
    changed = sample.read_text().replace("replicas: 1", "replicas: 3")
    sample.write_text(changed)

    done = project.run(*words, "dev")

    assert (done.status, done.err) == (0, "")
    assert sample.read_text() == changed
    assert "\nFits: " in done.out


def test_gitlab_job_is_printed_with_its_include_line(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    project = Project(tmp_path)
    done = project.run("init", "gpus", "--region", "us-east-1", "--ci", "gitlab")
    name = "pulumi-dra-gpus.gitlab-ci.yml"
    assert f"look at {name}: add to .gitlab-ci.yml: include: [{{local: {name}}}]\n" in done.out


def test_name_of_an_existing_cluster_is_kept_with_import_steps(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("eks.yaml", EKSCTL)
    done = project.run("init", "--stack", "prod", "--from", "eks.yaml")

    assert done.status == 0, done.err
    (cluster,) = [
        each["metadata"]["name"]
        for each in yaml.safe_load_all(EKSCTL)
        if each["kind"] == "ClusterConfig"
    ]
    assert settings(project, "prod")["pulumi-dra:platform"] == {"cluster": {"clusterName": cluster}}
    note = f"look at stacks/Pulumi.prod.yaml: the stack manages a cluster named {cluster}"
    assert note in done.out
    assert "import it before the first `pulumi up` (docs/operations/existing.md)" in done.out
    current = project.run("plan", "--stack", "prod", "--check", "--fail-on", "stale")
    assert current.status == 0, current.err


def test_second_stack_uses_the_workloads_of_the_first(project: Project) -> None:
    words = ("--region", "us-east-1", "--workloads", "workloads")
    assert project.run("init", ".", "--stack", "prod", *words).status == 0
    before = sorted(each.name for each in (project.root / "workloads").iterdir())

    done = project.run("init", ".", "--stack", "eu", "--region", "eu-west-1")

    assert (done.status, done.err) == (0, "")
    assert "workloads: workloads (to use others, add --workloads PATH)" in done.out
    assert sorted(each.name for each in (project.root / "workloads").iterdir()) == before
    assert settings(project, "eu")["pulumi-dra:workloads"] == ["workloads"]
    assert project.run("plan", "--stack", "prod", "--check").status == 0


def test_stacks_with_different_workloads_need_a_choice(project: Project) -> None:
    for name in ("one", "two"):
        project.write(f"{name}/pod.yaml", (project.root / "workloads/two-pods.yaml").read_text())
        words = ("--region", "us-east-1", "--workloads", name)
        assert project.run("init", ".", "--stack", name, *words).status == 0

    done = project.run("init", ".", "--stack", "eu", "--region", "eu-west-1")

    assert done.status == 2
    assert "different workloads; use --workloads PATH, for example --workloads one" in done.err
    words = ("--region", "eu-west-1", "--workloads", "one")
    assert project.run("init", ".", "--stack", "eu", *words).status == 0


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1"])
def test_region_that_differs_from_the_file_is_an_error(region: str, tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("fleet.yaml", FLEET)
    stated = yaml.safe_load(FLEET)["region"]

    done = project.run("init", "--stack", "prod", "--from", "fleet.yaml", "--region", region)

    assert done.status == (0 if region == stated else 2)
    if region != stated:
        assert f"--region {region} differs from the region {stated} in fleet.yaml" in done.err
        fix = "remove --region, or copy the file, change its region, and pass the copy to --from"
        assert fix in done.err
        assert project.run("init", "--stack", "prod", "--from", "fleet.yaml").status == 0


def test_error_explains_why_no_machine_type_fits(tmp_path: Path) -> None:
    project = Project(tmp_path)
    assert project.run("init", "sample", "--region", "us-east-1").status == 0
    sample = (tmp_path / "sample/workloads/first-claim.yaml").read_text()
    project.write("work.yaml", sample.partition("      tolerations:")[0])

    done = project.run("init", "new", "--region", "us-east-1", "--workloads", "work.yaml")

    assert done.status == 2
    assert "has the taint nvidia.com/gpu=present:NoSchedule" in done.err
    assert "add to the pod's tolerations: {key: nvidia.com/gpu" in done.err
    assert "for all reasons, run `pulumi-dra suggest" in done.err
    every = project.run("suggest", "work.yaml", "--region", "us-east-1")
    assert "has the taint nvidia.com/gpu=present:NoSchedule" in every.err


def test_suggested_commands_after_a_misfit_work(project: Project) -> None:
    project.write("fleet.yaml", FLEET.replace("max: 4", "max: 0"))
    words = ("--from", "fleet.yaml", "--workloads", "workloads")
    done = project.run("init", "new", "--stack", "prod", *words)
    assert "\nDoes not fit: " in done.out
    assert "pulumi up" not in done.out
    assert "pulumi-dra plan --stack prod --write    # after you apply a fix" in done.out


class TestOptionsOfTheWorkflow:
    def workflow(self, project: Project, *words: str) -> dict[str, Any]:
        done = project.run("init", "--only-ci", "--stack", "dev", "--force", *words)
        assert done.status == 0, done.err
        found: dict[str, Any] = yaml.safe_load(
            (project.root / ".github/workflows/pulumi-dra-dev.yml").read_text()
        )
        return found

    def steps(self, project: Project, *words: str) -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = self.workflow(project, *words)["jobs"]["plan"]["steps"]
        return steps

    def test_workflow_has_defaults(self, project: Project) -> None:
        checkout, *_, run = self.steps(project)
        assert "with" not in checkout
        assert run["run"] == "pulumi-dra ci --stack dev --name dev"

    def test_diff_checks_out_the_whole_history(self, project: Project) -> None:
        checkout, *_, run = self.steps(project, "--diff", "origin/main")
        assert checkout["with"] == {"fetch-depth": 0}
        assert run["run"] == "pulumi-dra ci --stack dev --diff origin/main --name dev"

    def test_baseline_is_passed_on(self, project: Project) -> None:
        *_, run = self.steps(project, "--baseline", "known.json")
        assert run["run"] == "pulumi-dra ci --stack dev --baseline known.json --name dev"

    def test_sarif_is_uploaded(self, project: Project) -> None:
        workflow = self.workflow(project, "--sarif")
        *_, run, upload = workflow["jobs"]["plan"]["steps"]
        assert run["run"] == "pulumi-dra ci --stack dev --sarif pulumi-dra.sarif --name dev"
        assert upload["with"] == {"sarif_file": "pulumi-dra.sarif"}
        assert workflow["permissions"]["security-events"] == "write"

    @pytest.mark.parametrize(
        ("words", "error", "better"),
        [
            (
                ("--ci", "gitlab", "--sarif"),
                "Code Quality report; use --ci github, or remove --sarif",
                ("--ci", "gitlab"),
            ),
            (
                ("--ci", "none", "--diff", "main"),
                "--diff needs a CI workflow; remove --ci none, or remove --diff",
                ("--diff", "main"),
            ),
        ],
    )
    def test_options_without_effect_in_a_workflow_are_rejected(
        self, words: tuple[str, ...], error: str, better: tuple[str, ...], project: Project
    ) -> None:
        done = project.run("init", "--only-ci", "--stack", "dev", *words)
        assert done.status == 2
        assert error in done.err
        assert project.run("init", "--only-ci", "--stack", "dev", *better).status == 0

    def test_duplicate_workflow_for_a_stack_is_noted(self, project: Project) -> None:
        project.write("stacks/Pulumi.prod.yaml", STACK)
        self.workflow(project)
        done = project.run("init", "--only-ci", "--stack", "dev,prod")
        note = (
            "also checks dev, so each pull request gets two comments; delete one of the workflows"
        )
        assert note in done.out
        (project.root / ".github/workflows/pulumi-dra-dev.yml").unlink()
        again = project.run("init", "--only-ci", "--stack", "dev,prod", "--force")
        assert (again.status, note in again.out) == (0, False)

    def test_workflow_of_another_stack_is_noted(self, project: Project) -> None:
        assert project.run("init", "--only-ci", "--stack", "dev").status == 0
        region = ("--region", "us-east-1")
        done = project.run("init", "--stack", "prod", *region, "--workloads", "workloads")
        note = (
            ".github/workflows/pulumi-dra-dev.yml checks dev, so each pull request gets two "
            "comments; for a single comment, delete both workflows, and run `pulumi-dra init . "
            "--only-ci --stack dev,prod`"
        )
        assert note in done.out
        for file in (project.root / ".github/workflows").iterdir():
            file.unlink()
        again = project.run("init", ".", "--only-ci", "--stack", "dev,prod")
        assert (again.status, "two comments" in again.out) == (0, False)

    def test_workflows_of_several_stacks_are_noted_once(self, project: Project) -> None:
        for name in ("dev", "prod"):
            project.write(f"stacks/Pulumi.{name}.yaml", STACK)
            assert project.run("init", "--only-ci", "--stack", name).status == 0
        region = ("--region", "us-east-1")
        done = project.run("init", "--stack", "test", *region, "--workloads", "workloads")
        note = (
            ".github/workflows/pulumi-dra-dev.yml checks dev and "
            ".github/workflows/pulumi-dra-prod.yml checks prod, so each pull request gets 3 "
            "comments; for a single comment, delete these 3 workflows, and run `pulumi-dra init . "
            "--only-ci --stack dev,prod,test`"
        )
        assert note in done.out
        assert done.out.count("for a single comment") == 1

    def test_folder_outside_a_repository_is_named(self, project: Project) -> None:
        done = project.run("init", "--only-ci", "--stack", "dev")
        assert "but the current folder isn't in a git repository; move the workflow" in done.out

    def test_stack_named_twice_is_written_once(self, project: Project) -> None:
        assert project.run("init", "--only-ci", "--stack", "dev,dev").status == 0
        (file,) = (project.root / ".github/workflows").iterdir()
        assert file.name == "pulumi-dra-dev.yml"

    def test_missing_baseline_gets_the_command_that_writes_it(self, project: Project) -> None:
        words = ("--only-ci", "--stack", "dev", "--baseline", "known.json", "--force")
        done = project.run("init", *words)
        command = ("ci", "--stack", "dev", "--write-baseline", "known.json")
        assert f"run `{shlex.join(('pulumi-dra', *command))}` in ." in done.out
        assert project.run(*command).status == 0
        assert "known.json doesn't exist" not in project.run("init", *words).out


class TestAWorkflowForASharedFleet:
    """Given a configuration that names a shared fleet, when `init` writes only the workflow."""

    WORDS = ("init", "--only-ci", "--ci", "gitlab", "--workloads", "workloads", "--fleet")

    @pytest.fixture
    def shared(self, project: Project) -> Project:
        project.write("fleets/gpus.yaml", FLEET)
        project.write("pulumi-dra.yaml", "fleets: {prod: fleets/gpus.yaml}\n")
        return project

    def test_workflow_uses_the_name_of_the_fleet(self, shared: Project) -> None:
        done = shared.run(*self.WORDS, "prod", "--baseline", "known.json")
        assert done.status == 0, done.err
        text = "".join(each.read_text() for each in shared.root.glob("*.gitlab-ci.yml"))
        command = "pulumi-dra ci workloads --fleet prod"
        assert command in text
        assert f"{command} --write-baseline known.json" in done.out
        assert shared.run(*shlex.split(command)[1:]).status == 0

    def test_unknown_name_is_rejected(self, shared: Project) -> None:
        assert 'did you mean "prod"?' in shared.run(*self.WORDS, "prd").err
        (shared.root / "pulumi-dra.yaml").unlink()
        done = shared.run(*self.WORDS, "prod")
        assert (done.status, "prod doesn't exist" in done.err) == (2, True)


@pytest.mark.parametrize(("place", "is_shared"), [("fleet.yaml", False), ("new/fleet.yaml", True)])
def test_only_a_fleet_in_the_project_is_shared(tmp_path: Path, place: str, is_shared: bool) -> None:
    project = Project(tmp_path)
    assert project.run("init", "sample", "--region", "us-east-1").status == 0
    project.write(place, (tmp_path / "sample/fleet.yaml").read_text())

    done = project.run("init", "new", "--stack", "prod", "--from", place)

    assert done.status == 0, done.err
    assert ("every stack that uses it" in done.out + done.err) is is_shared


def test_missing_mig_support_is_reported_before_failing_selectors(tmp_path: Path) -> None:
    project = Project(tmp_path)
    assert project.run("init", "sample", "--region", "us-east-1").status == 0
    sample = (tmp_path / "sample/workloads/first-claim.yaml").read_text()
    project.write("work.yaml", sample.replace("gpu.nvidia.com", "mig.nvidia.com"))

    done = project.run(
        "init", "new", "--region", "us-central1", "--workloads", "work.yaml", "--kubernetes", "1.36"
    )

    assert done.status == 2
    assert "GKE doesn't support MIG with DRA" in done.err
    assert "pulumi-dra suggest work.yaml --region us-central1 --kubernetes 1.36" in done.err
