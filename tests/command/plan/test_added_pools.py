"""plan --suggest: the pools that must be added to a fleet, as a file."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import yaml
from command_project import Project

from gpu_manifests import deployment, template

FLEET: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.34",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"max": 1}}],
}
LARGE = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0'
WORDS = ("plan", "app.yaml", "--fleet", "fleet.yaml", "--suggest", "add.yaml")


def given(project: Project, selector: str, replicas: int = 1, **fleet: Any) -> None:
    project.write("fleet.yaml", yaml.safe_dump({**FLEET, **fleet}))
    project.write("app.yaml", f"{template(selector=selector)}---\n{deployment(replicas=replicas)}")


def test_missing_pool_is_written_and_makes_everything_fit(project: Project) -> None:
    given(project, LARGE, 3)
    done = project.run(*WORDS)
    assert done.status == 1
    assert "wrote add.yaml: add " in done.err
    added = yaml.safe_load((project.root / "add.yaml").read_text())["pools"]
    project.write("fleet.yaml", yaml.safe_dump({**FLEET, "pools": [*FLEET["pools"], *added]}))
    assert project.run(*WORDS[:4]).status == 0
    for row in added:
        row["count"]["max"] -= 1
    project.write("fleet.yaml", yaml.safe_dump({**FLEET, "pools": [*FLEET["pools"], *added]}))
    assert project.run(*WORDS[:4]).status != 0


def test_cheaper_existing_pools_are_used_first(project: Project) -> None:
    """One of two pods is on the fleet's existing pool, whose maximum doesn't change."""
    given(project, "true", 2, pools=[{**FLEET["pools"][0], "pricePerHour": 0.01}])
    project.run(*WORDS)
    (row,) = yaml.safe_load((project.root / "add.yaml").read_text())["pools"]
    assert row["count"] == {"min": 0, "max": 1}


@pytest.mark.long
def test_quota_applies_to_added_pools(project: Project) -> None:
    given(project, "true", 2, quotas=[{"name": "G", "unit": "gpus", "limit": 1}])
    assert (
        " isn't written, because the workloads don't fit, even with additional pools of "
        "on-demand machine types in the region"
    ) in project.run(*WORDS).err
    assert not (project.root / "add.yaml").exists()


def test_nothing_is_added_if_everything_fits(project: Project) -> None:
    given(project, "true", pools=[{**FLEET["pools"][0], "count": {"max": 2}}])
    done = project.run(*WORDS)
    assert done.status == 0
    assert "add.yaml isn't written, because all workloads already fit" in done.err


def test_no_machine_type_helps(project: Project) -> None:
    given(project, 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Ti")) >= 0')
    done = project.run(*WORDS)
    assert done.status == 1
    assert (
        " isn't written, because the workloads don't fit, even with additional pools of "
        "on-demand machine types in the region" in done.err
    )


def test_wrong_uses_are_rejected(project: Project) -> None:
    given(project, LARGE)
    done = project.run("plan", "app.yaml", "--observed", "app.yaml", "--suggest", "add.yaml")
    assert (done.status, "--suggest can't be combined with --observed" in done.err) == (2, True)
    (project.root / "folder").mkdir()
    done = project.run(*WORDS[:5], "folder")
    assert done.status == 2


@pytest.mark.long
def test_pool_for_mig_devices_has_a_configuration(project: Project) -> None:
    selector = 'device.attributes["gpu.nvidia.com"].profile == "1g.10gb"'
    text = template(selector=selector).replace("Name: gpu.nvidia.com", "Name: mig.nvidia.com")
    project.write("fleet.yaml", yaml.safe_dump(FLEET))
    project.write("app.yaml", f"{text}---\n{deployment(replicas=2)}")
    done = project.run(*WORDS)
    assert "wrote add.yaml: add 1 × p5.4xlarge (mig: all-1g.10gb), USD " in done.err
    (row,) = yaml.safe_load((project.root / "add.yaml").read_text())["pools"]
    assert (row["machine"], row["mig"]) == ("p5.4xlarge", "all-1g.10gb")
    project.write("fleet.yaml", yaml.safe_dump({**FLEET, "pools": [*FLEET["pools"], row]}))
    assert project.run(*WORDS[:4]).status == 0


@pytest.mark.long
def test_only_the_missing_pool_is_added_to_costlier_pools(project: Project) -> None:
    """One pod lacks a pool, and the others keep theirs, although other machine types cost less."""
    dear = {"name": "h100", "machine": "p5.48xlarge", "count": {"max": 1}}
    selector = 'device.attributes["gpu.nvidia.com"].profile == "1g.10gb"'
    mig = template("mig", selector).replace("Name: gpu.nvidia.com", "Name: mig.nvidia.com")
    pods = (template("large", LARGE), mig, deployment("a", claim="large"), deployment(claim="mig"))
    project.write("fleet.yaml", yaml.safe_dump({**FLEET, "pools": [*FLEET["pools"], dear]}))
    project.write("app.yaml", "---\n".join(pods))
    done = project.run(*WORDS)
    (row,) = yaml.safe_load((project.root / "add.yaml").read_text())["pools"]
    assert row["mig"] == "all-1g.10gb", done.err


@pytest.mark.parametrize("spaces", [0, 2, 4])
def test_pools_can_be_appended_to_the_file(spaces: int, project: Project) -> None:
    given(project, LARGE)
    text = yaml.safe_dump({**FLEET, "pools": []}, sort_keys=False).replace(
        "pools: []\n", "pools:\n"
    )
    rows = textwrap.indent(yaml.safe_dump(FLEET["pools"]), " " * spaces)
    fleet = project.write("fleet.yaml", text + rows)
    project.run(*WORDS)
    _, _, added = (project.root / "add.yaml").read_text().partition("pools:\n")
    fleet.write_text(fleet.read_text() + added)
    assert project.run(*WORDS[:4]).status == 0
