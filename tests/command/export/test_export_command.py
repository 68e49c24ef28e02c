"""`pulumi-dra export` prints files of other tools that `plan --fleet` reads."""

from __future__ import annotations

import json

import pytest
import yaml
from command_project import Project


@pytest.mark.parametrize("tool", ["karpenter", "terraform", "cluster-api", "eksctl"])
def test_exported_stack_can_be_planned_again(tool: str, project: Project) -> None:
    assert project.run("plan", "--stack", "dev", "--write").status == 0
    done = project.run("export", "--to", tool, "--stack", "dev")
    assert (done.status, done.err) == (0, "")
    project.write("exported.yaml", done.out)
    assert (
        project.run(
            "init", "again", "--from", "exported.yaml", "--region", "us-east-1", "--ci", "none"
        ).status
        == 0
    )
    pool = yaml.safe_load((project.root / "again/fleet.yaml").read_text())["pools"][0]
    # the nodes of the plan
    assert (pool["machine"], pool["count"]) == ("g6.2xlarge", {"min": 2, "max": 4})


def test_fleet_file_is_exported_without_a_plan(project: Project) -> None:
    project.stack()
    fleet = yaml.safe_load((project.root / "stacks/Pulumi.dev.yaml").read_text())["config"][
        "pulumi-dra:fleet"
    ]
    project.write("fleet.yaml", yaml.safe_dump(fleet))
    done = project.run("export", "--to", "terraform", "--fleet", "fleet.yaml", "--cluster", "ml")
    variables = json.loads(done.out)
    assert variables["name"] == "ml"
    assert variables["eks_managed_node_groups"]["l4"]["min_size"] == 0


def test_missing_fleet_is_reported_with_the_options(project: Project) -> None:
    done = project.run("export", "--to", "karpenter")
    assert done.status == 2
    assert "use --fleet FILE or --stack NAME" in done.err
    assert project.run("export", "--to", "karpenter", "--stack", "dev").status == 0
