"""plan with a fleet and a snapshot: how many additional nodes."""

from __future__ import annotations

import json
from pathlib import Path

import yaml
from command_project import Project

REHEARSALS = Path(__file__).parents[2] / "planner" / "simulation" / "rehearsals"
WORDS = ("plan", "app.yaml", "--fleet", "fleet.yaml", "--observed", "cluster.yaml")


def given(project: Project, name: str) -> None:
    case = yaml.load((REHEARSALS / f"{name}.yaml").read_text(), yaml.CSafeLoader)
    objects = list(case["given"])
    for kind in case["nodes"]:
        for node in kind["names"]:
            objects += json.loads(json.dumps(kind["objects"]).replace("{node}", node))
    project.write("fleet.yaml", yaml.safe_dump(case["fleet"]))
    project.write("app.yaml", yaml.safe_dump_all(case["workloads"]))
    project.write("cluster.yaml", yaml.safe_dump_all(objects))


def test_report_prints_the_additional_nodes(project: Project) -> None:
    given(project, "m2-any-takes-h100")
    done = project.run(*WORDS)
    assert done.status == 0
    words = " ".join(done.out.split())
    assert "✓ Fits: all 2 workloads on 1 additional GPU node, USD 6.88 per hour more" in words
    assert "EKS us-east-1 · 4 observed nodes" in words
    assert "h100 p5.4xlarge 0–4 1 1 6.88" in words
    assert "1 additional node, USD 6.88 per hour more" in words


def test_json_contains_existing_and_desired_nodes(project: Project) -> None:
    given(project, "m2-any-takes-h100")
    answer = project.run(*WORDS, "--format", "json").json
    pools = {pool["name"]: (pool["existing"], pool["nodes"]["desired"]) for pool in answer["pools"]}
    assert pools == {"l4": (1, 1), "h100": (1, 2)}
    assert answer["cost"]["hourly"] == 6.88
    for words in (("--format", "markdown"), ("--format", "html"), ("--detail",)):
        assert project.run(*WORDS, *words).status == 0


def test_options_that_do_not_support_snapshots_are_rejected(project: Project) -> None:
    given(project, "m2-any-takes-h100")
    assert (
        "--constraints can't be combined with --observed"
        in project.run(*WORDS, "--constraints", "fix.yaml").err
    )
    done = project.run("plan", "--stack", "dev", "--observed", "cluster.yaml", "--write")
    assert "so --observed isn't supported" in done.err
    assert "remove --simulate off" in project.run(*WORDS, "--simulate", "off").err
    assert project.run("check", *WORDS[1:]).status == 2
