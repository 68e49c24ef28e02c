"""`verify --kubeconfig`: the snapshot that kubectl creates."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from command_project import Project

from dra_planner.documents.snapshot import VERIFIED_KINDS

WORDS = ("verify", "--kubeconfig", "config", "--stack", "dev")
NODE = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n1, labels: {pulumi-dra/pool: l4, node.kubernetes.io/instance-type: g6.2xlarge}}
  status: {allocatable: {cpu: 7910m, memory: 30Gi, pods: "58"}}
"""


def with_kubectl(project: Project, script: str) -> str:
    """Add a kubectl next to the stack, and return a PATH that finds it first."""
    project.write("config", "kind: Config\n")
    project.write("bin/kubectl", f"#!/bin/sh\n{script}\n").chmod(0o755)
    return f"{project.root / 'bin'}{os.pathsep}{os.environ['PATH']}"


def test_cluster_is_read_with_one_command(project: Project) -> None:
    path = with_kubectl(project, 'echo "$@" > words; cat cluster.yaml')
    project.write("cluster.yaml", NODE)
    answer = project.run(*WORDS, "--context", "gpu", "--format", "json", PATH=path).json
    assert answer["compared"] == {"l4": ["n1"]}
    assert (project.root / "words").read_text().split() == [
        "--kubeconfig=config",
        "--context=gpu",
        "--request-timeout=60s",
        "get",
        ",".join(VERIFIED_KINDS),
        "--all-namespaces",
        "-o",
        "json",
    ]


def test_error_of_kubectl_is_printed_with_a_command_to_try(project: Project) -> None:
    fails = 'echo "E1121 noise" >&2; echo "error: context gpu does not exist" >&2; exit 1'
    path = with_kubectl(project, f"if [ -f there ]; then cat cluster.yaml; else {fails}; fi")
    project.write("cluster.yaml", NODE)
    done = project.run(*WORDS, PATH=path)
    assert done.status == 2
    assert "error: context gpu does not exist" in done.err
    tried = done.err.partition("; to find the cause, run `")[2].strip().strip("`")
    assert tried.startswith("kubectl --kubeconfig=config get nodes,")

    def follow() -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PATH": path}
        return subprocess.run(
            ["sh", "-c", tried],
            cwd=project.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    assert "error: context gpu does not exist" in follow().stderr
    project.write("there", "")
    assert (follow().returncode, follow().stdout) == (0, NODE)
    assert project.run(*WORDS, PATH=path).err == ""


def test_without_kubectl_a_snapshot_can_be_passed(project: Project, tmp_path: Path) -> None:
    project.write("config", "kind: Config\n")
    done = project.run(*WORDS, PATH=str(tmp_path / "empty"))
    assert done.status == 2
    assert "kubectl isn't on PATH" in done.err
    assert "--observed" in done.err


def test_incompatible_options_are_rejected(project: Project) -> None:
    assert "config doesn't exist" in project.run(*WORDS).err
    assert ". is a folder" in project.run("verify", "--kubeconfig", ".", "--stack", "dev").err
    project.write("config", "kind: Config\n")
    assert "`verify` needs a cluster" in project.run("verify", "--stack", "dev").err
    done = project.run("verify", "--observed", "cluster.yaml", "--context", "gpu", "--stack", "dev")
    assert "not allowed with" in done.err


def test_fix_for_an_unknown_context_works(project: Project) -> None:
    path = with_kubectl(
        project,
        'case "$*" in *get-contexts*) printf "prod\\ndev\\n";; '
        '*"--context=dev "*) cat cluster.yaml;; *) echo "error: no such context" >&2; exit 1;; esac',
    )
    project.write("cluster.yaml", NODE)

    wrong = project.run(*WORDS, "--context", "devv", PATH=path)
    right = project.run(*WORDS, "--context", "dev", PATH=path)
    other = project.run(*WORDS, "--context", "prod", PATH=path)

    assert (
        wrong.status,
        'have a context "devv"; use one of these contexts: prod, dev' in wrong.err,
    ) == (
        2,
        True,
    )
    assert right.err == ""
    assert "kubectl couldn't read the cluster: error: no such context" in other.err
