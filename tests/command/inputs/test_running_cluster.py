"""--context: a running cluster (a kubectl context) instead of a snapshot file."""

from __future__ import annotations

import os

import pytest
import yaml
from command_project import EXAMPLES, Project

from dra_planner.documents.snapshot import SNAPSHOT_KINDS

CLUSTER = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: n1
    labels: {node.kubernetes.io/instance-type: g6.2xlarge, topology.kubernetes.io/region: us-east-1,
             topology.kubernetes.io/zone: us-east-1a, eks.amazonaws.com/nodegroup: l4}
  status: {allocatable: {cpu: 7910m, memory: 30Gi, pods: "58"}, nodeInfo: {kubeletVersion: v1.35.2}}
"""


@pytest.fixture
def path(project: Project) -> str:
    """Return a PATH with a kubectl that prints the cluster and records its arguments."""
    project.write("cluster.yaml", CLUSTER)
    script = '#!/bin/sh\necho "$@" > words\ncat cluster.yaml\n'
    project.write("bin/kubectl", script).chmod(0o755)
    return f"{project.root / 'bin'}{os.pathsep}{os.environ['PATH']}"


def test_plan_reads_a_context_like_a_snapshot(project: Project, path: str) -> None:
    workloads = str(EXAMPLES / "workloads")
    file = project.run("plan", workloads, "--observed", "cluster.yaml", "--kubernetes", "1.35")

    live = project.run("plan", workloads, "--context", "gpu", "--kubernetes", "1.35", PATH=path)

    assert live.status == file.status
    assert live.out.replace("context:gpu", "cluster.yaml") == file.out
    words = (project.root / "words").read_text().split()
    assert words[:4] == ["--context=gpu", "--request-timeout=60s", "get", ",".join(SNAPSHOT_KINDS)]


def test_init_reads_the_cluster_of_a_context(project: Project, path: str) -> None:
    done = project.run("init", "gpus", "--context", "gpu", "--kubernetes", "1.35", PATH=path)

    assert done.status == 0
    assert (
        yaml.safe_load((project.root / "gpus/fleet.yaml").read_text())["pools"][0]["machine"]
        == "g6.2xlarge"
    )


@pytest.mark.parametrize(
    ("words", "source"),
    [
        (("--context", "gpu"), "kubectl context gpu"),
        (("--context", "gpu", "--kubeconfig", "config"), "kubectl context gpu"),
        (("--kubeconfig", "config"), "the current context of config"),
        (("--observed", "cluster.yaml"), "cluster.yaml"),
    ],
)
def test_fleet_names_the_cluster_that_init_reads(
    words: tuple[str, ...], source: str, project: Project, path: str
) -> None:
    project.write("config", "kind: Config\n")

    done = project.run("init", "gpus", *words, "--kubernetes", "1.35", PATH=path)

    assert done.status == 0
    fleet = (project.root / "gpus/fleet.yaml").read_text()
    assert fleet.startswith(f"# Source: the nodes of {source}.\n")


def test_kubeconfig_without_a_context_uses_its_current_one(project: Project, path: str) -> None:
    project.write("config", "kind: Config\n")
    workloads = str(EXAMPLES / "workloads")

    project.run("plan", workloads, "--kubeconfig", "config", "--kubernetes", "1.35", PATH=path)

    assert (project.root / "words").read_text().split()[:2] == [
        "--kubeconfig=config",
        "--request-timeout=60s",
    ]


@pytest.mark.parametrize("command", ["plan", "check", "explain", "init", "migrate"])
def test_role_lists_objects_read_only(command: str, project: Project) -> None:
    role = yaml.safe_load(project.run(command, "--role").out)

    assert role["kind"] == "ClusterRole"
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"get", "list"}
    listed = {each for rule in role["rules"] for each in rule["resources"]}
    assert set(SNAPSHOT_KINDS) <= listed
    assert "secrets" not in listed
