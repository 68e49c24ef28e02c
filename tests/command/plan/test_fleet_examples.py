"""The example fleets are planned for their workloads as described in their headers, and don't
violate any rule.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from command_project import EXAMPLES, Project

FOLDERS = sorted(path.parent.name for path in EXAMPLES.glob("*/workload.yaml"))


def paths(folder: str) -> tuple[str, str, str]:
    return (
        str(EXAMPLES / folder / "workload.yaml"),
        "--fleet",
        str(EXAMPLES / folder / "fleet.yaml"),
    )


@pytest.mark.parametrize(
    ("folder", "nodes"), [("gpu-and-efa", 2), ("gpu-and-rdma", 2), ("shared-gpus", 2)]
)
def test_example_needs_the_nodes_in_its_header(project: Project, folder: str, nodes: int) -> None:
    answer = project.run("plan", *paths(folder), "--format", "json").json
    assert (answer["verdict"], answer["pools"][0]["count"]["packing"]) == ("fits", nodes)


@pytest.mark.parametrize("folder", FOLDERS)
def test_example_violates_no_rule(project: Project, folder: str) -> None:
    assert project.run("check", *paths(folder)).status == 0


@pytest.mark.parametrize("folder", FOLDERS)
def test_example_contains_the_command_to_plan_it(folder: str) -> None:
    command = (
        f"#   pulumi-dra plan examples/{folder}/workload.yaml --fleet examples/{folder}/fleet.yaml"
    )
    assert command in Path(EXAMPLES / folder / "fleet.yaml").read_text().splitlines()
