"""`slices --nodes`: Nodes and DeviceClasses in addition to the slices."""

from __future__ import annotations

import yaml
from command_project import Project

from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source


def test_nodes_and_classes_come_before_the_slices(project: Project) -> None:
    documents = list(yaml.safe_load_all(project.run("slices", "--stack", "dev", "--nodes").out))

    names = [(each["kind"], each["metadata"]["name"]) for each in documents]
    assert names == [
        ("DeviceClass", "gpu.nvidia.com"),
        ("DeviceClass", "mig.nvidia.com"),
        ("Node", "l4-0"),
        ("Node", "system-0"),
        ("ResourceSlice", "00000-gpu.nvidia.com-l4-0"),
    ]


def test_predicted_nodes_can_be_planned_as_a_snapshot(project: Project) -> None:
    text = project.run("slices", "--stack", "dev", "--nodes").out
    project.write("cluster.yaml", text)

    assert read_checked([Source("cluster.yaml", text)], features_of(34)).diagnostics == ()
    planned = project.run(
        "plan",
        "workloads",
        "--observed",
        "cluster.yaml",
        "--kubernetes",
        "1.34",
        "--format",
        "json",
    )
    assert planned.json["verdict"] == "does-not-fit"  # two pods, and one node with one GPU
    assert [each["placed"] for each in planned.json["workloads"]] == [1, 0]


def test_single_pool_is_printed_without_system_nodes(project: Project) -> None:
    text = project.run("slices", "--stack", "dev", "--nodes", "--pool", "l4").out

    assert [
        each["metadata"]["name"] for each in yaml.safe_load_all(text) if each["kind"] == "Node"
    ] == ["l4-0"]


def test_nodes_need_a_fleet(project: Project) -> None:
    done = project.run("slices", "--machine", "g6.2xlarge", "--driver", "25.8.1", "--nodes")

    assert done.status == 2
    assert "--nodes needs a fleet" in done.err
