"""`plan --fleet … --write FILE` saves a plan in a repository with any layout."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from command_project import STACK, Project

from dra_command.inputs.rendering import kustomize_build
from dra_planner.planfile import read_plan_file

FLEET = yaml.safe_dump(yaml.safe_load(STACK)["config"]["pulumi-dra:fleet"], sort_keys=False)
PLAN = ("plan", "workloads", "--fleet", "fleet.yaml")


@pytest.fixture
def repository(project: Project) -> Project:
    """A repository with a fleet and without stacks."""
    (project.root / "stacks/Pulumi.dev.yaml").unlink()
    project.write("fleet.yaml", FLEET)
    (project.root / "infra").mkdir()
    return project


def test_plan_of_a_fleet_is_saved_and_checked(repository: Project) -> None:
    file = "infra/gpus.plan.json"
    missing = repository.run(*PLAN, "--check", file)
    written = repository.run(*PLAN, "--write", file)
    current = repository.run(*PLAN, "--check", file)
    repository.write("fleet.yaml", FLEET.replace("max: 4", "max: 3"))
    stale = repository.run(*PLAN, "--check", file)

    command = f"pulumi-dra plan workloads --fleet fleet.yaml --write {file}"
    assert (missing.status, f"{file} doesn't exist; run `{command}`" in missing.err) == (1, True)
    assert (written.status, f"wrote {file}" in written.err) == (0, True)
    assert read_plan_file(Path(repository.root / file)).inputs.paths == ("workloads",)
    assert (current.status, f"{file} is current" in current.err) == (0, True)
    assert (stale.status, f"run `{command}`" in stale.err) == (1, True)


def test_plan_is_checked_at_its_saved_demand(repository: Project) -> None:
    repository.run(*PLAN, "--demand", "peak", "--write", "gpus.json")

    assert repository.run(*PLAN, "--check", "gpus.json").status == 0
    assert repository.run(*PLAN, "--demand", "steady", "--check", "gpus.json").status == 1
    repository.run(*PLAN, "--write", "gpus.json")
    assert read_plan_file(repository.root / "gpus.json").demand.level == "peak"


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        ("1.35", "1.36", ""),
        ("1.36", "1.36", ""),
        ("1.34", "1.36", "save and apply a plan for 1.35 first"),
        ("1.36", "1.35", "Cloud providers can't downgrade a cluster"),
    ],
)
def test_unsupported_version_step_is_reported(
    repository: Project, before: str, now: str, message: str
) -> None:
    fleet = yaml.safe_load(FLEET)
    repository.write("fleet.yaml", yaml.safe_dump({**fleet, "kubernetes": before}))
    repository.run(*PLAN, "--write", "gpus.json")
    repository.write("fleet.yaml", yaml.safe_dump({**fleet, "kubernetes": now}))

    done = repository.run(*PLAN, "--write", "gpus.json")

    assert (done.status, message in done.err) == (0, True), done.err
    assert ("warning: the saved plan was for" in done.err) is bool(message)


def test_report_compares_with_the_saved_file(repository: Project) -> None:
    repository.run(*PLAN, "--write", "gpus.json")
    done = repository.run(*PLAN, "--check", "gpus.json", "--format", "markdown")
    assert "No difference from the saved plan" in done.out or "no difference" in done.out


@pytest.mark.skipif(kustomize_build() is None, reason="needs kustomize or kubectl")
def test_kustomization_is_built_for_the_saved_plan(repository: Project) -> None:
    repository.write(
        "workloads/kustomization.yaml", "resources: [two-pods.yaml]\nnamespace: team-a\n"
    )
    for option in ("--write", "--check"):
        done = repository.run(*PLAN, option, "plan.json")
        assert done.status == 0, done.err
    workloads = read_plan_file(repository.root / "plan.json").workloads
    assert {each.namespace for each in workloads} == {"team-a"}


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("plan", "workloads", "--fleet", "fleet.yaml", "--write"), "--write needs --stack, or"),
        (("plan", "workloads", "--fleet", "fleet.yaml", "--check"), "--check needs --stack, or"),
        (("plan", "--stack", "dev", "--write", "a.json"), "so FILE isn't supported; remove a.json"),
        ((*PLAN, "--kubernetes", "1.36", "--write", "a.json"), "the fleet's settings"),
        ((*PLAN, "--write", "gone/a.json"), "gone/a.json can't be written"),
    ],
    ids=["write", "check", "stack", "version", "folder"],
)
def test_wrong_input_is_reported(words: tuple[str, ...], fault: str, repository: Project) -> None:
    done = repository.run(*words)
    assert (done.status, fault in done.err) == (2, True), done.err


def test_quiet_report_compares_with_the_saved_plan(project: Project) -> None:
    project.run("plan", "--stack", "dev", "--write")
    done = project.run("plan", "--stack", "dev", "--format", "markdown", "--quiet")
    assert "none saved" not in done.out
    assert "no difference" in done.out


@pytest.mark.parametrize("price", ["", "  pricePerHour: 2\n"], ids=["no price", "a price"])
def test_prices_of_the_fleet_are_named_as_their_source(price: str, repository: Project) -> None:
    text = FLEET.replace("machine: g6.2xlarge", "machine: p3.2xlarge")
    repository.write("fleet.yaml", text.replace("  count:", f"{price}  count:"))
    assert ("prices from the fleet" in repository.run(*PLAN).out) == bool(price)
