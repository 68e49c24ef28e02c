"""Fleets that several repositories share: by name in `pulumi-dra.yaml`, and by URL, for options and
stacks.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml
from command_project import STACK, Project

FLEET = yaml.safe_dump(yaml.safe_load(STACK)["config"]["pulumi-dra:fleet"])


@pytest.fixture
def shared(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A git URL of a repository with a fleet and a configuration that names it."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "fleet.yaml").write_text(FLEET)
    (folder / "pulumi-dra.yaml").write_text("fleets: {dev: fleet.yaml}\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "one"]):
        command = [
            "git",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "-C",
            str(folder),
            *words,
        ]
        subprocess.run(command, check=True)
    return f"git+file://{folder}@main"


@pytest.mark.parametrize("command", ["plan", "check"])
def test_fleet_is_found_by_name(project: Project, shared: str, command: str) -> None:
    project.write("pulumi-dra.yaml", f"extends: ['{shared}']\n")

    done = project.run(command, "workloads", "--fleet", "dev")

    assert (done.status, done.err) == (0, "")


def test_fleet_is_fetched_by_url(project: Project, shared: str) -> None:
    assert project.run("plan", "workloads", "--fleet", f"{shared}#fleet.yaml").status == 0


def test_unknown_fleet_name_is_reported(project: Project, shared: str) -> None:
    project.write("pulumi-dra.yaml", f"extends: ['{shared}']\n")
    done = project.run("plan", "workloads", "--fleet", "prod")
    assert done.status == 2
    assert '"prod" is neither a file nor a fleet in pulumi-dra.yaml' in done.err


def test_missing_fleet_file_is_reported(project: Project) -> None:
    done = project.run("plan", "workloads", "--fleet", "prod")
    assert (done.status, "prod doesn't exist" in done.err) == (2, True)


def test_error_reports_the_shared_file(project: Project, shared: str) -> None:
    folder = Path(shared.removeprefix("git+file://").removesuffix("@main"))
    (folder / "fleet.yaml").write_text(FLEET.replace("us-east-1", "mars-1"))
    subprocess.run(
        [
            "git",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "-C",
            str(folder),
            "commit",
            "-qam",
            "two",
        ],
        check=True,
    )
    done = project.run("plan", "workloads", "--fleet", f"{shared}#fleet.yaml")
    assert (done.status, f"{shared}#fleet.yaml" in done.err) == (2, True)


def test_stack_with_a_shared_fleet_saves_a_plan(project: Project, shared: str) -> None:
    settings = yaml.safe_load(STACK)
    settings["config"]["pulumi-dra:fleet"] = f"{shared}#fleet.yaml"
    project.write("stacks/Pulumi.dev.yaml", yaml.safe_dump(settings))

    assert project.run("plan", "--stack", "dev", "--write").status == 0
    assert project.run("plan", "--stack", "dev", "--check").status == 0
