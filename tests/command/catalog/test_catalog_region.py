"""`catalog machines --region`: the machine types of the cloud, and whether the region
offers them.
"""

from __future__ import annotations

import pytest
from command_project import Project


@pytest.mark.parametrize(
    ("region", "machine", "offered"),
    [
        ("us-east-1", "p5en.48xlarge", True),
        ("eu-west-1", "p5en.48xlarge", False),
        ("eu-west-1", "p4d.24xlarge", True),
    ],
)
def test_offered_column_depends_on_the_region(
    region: str, machine: str, offered: bool, project: Project
) -> None:
    done = project.run("catalog", "machines", machine, "--region", region, "--format", "json")
    (row,) = (each for each in done.json["machines"] if each["machine"] == machine)
    assert row["offered"] is offered


def test_only_machine_types_of_the_cloud_are_listed(project: Project) -> None:
    done = project.run("catalog", "machines", "--region", "us-central1", "--format", "json")
    assert {each["cloud"] for each in done.json["machines"]} == {"gke"}


def test_unknown_region_is_reported(project: Project) -> None:
    done = project.run("catalog", "machines", "--region", "eu-wset-1")
    assert (done.status, "did you mean eu-west-1?" in done.err) == (2, True)
