"""Help teaches, and costs next to nothing."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_project import Project, stack_state

from dra_command.examples import EXAMPLES
from dra_command.status import Status

ROOT = Path(__file__).parents[2]
FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.34"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.8.1}}
pools:
  - {name: l4, machine: g6.2xlarge, count: {min: 0, max: 4}}
"""


def test_help_lists_every_subcommand(project: Project) -> None:
    done = project.run("--help")
    assert (done.status, done.err) == (0, "")
    assert all(f"    {name} " in done.out for name in EXAMPLES)
    assert "exit status" in done.out
    assert project.run().out == done.out


@pytest.mark.parametrize("command", EXAMPLES)
def test_each_subcommand_shows_examples(command: str, project: Project) -> None:
    done = project.run(command, "--help")
    assert done.status == 0
    assert f"pulumi-dra {command}" in done.out
    assert "examples:" in done.out


SNAPSHOT = """\
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels:
    pulumi-dra/pool: l4
    kubernetes.io/hostname: n1
    node.kubernetes.io/instance-type: g6.2xlarge
    eks.amazonaws.com/nodegroup: l4
    topology.kubernetes.io/region: us-east-1
status:
  allocatable: {cpu: 7910m, memory: 30Gi, pods: "58", ephemeral-storage: 180Gi}
  nodeInfo: {kubeletVersion: v1.34.2}
"""


def examples() -> list[str]:
    """The lines that help shows after `examples:`, as a shell would be given them."""
    lines = [line.strip() for text in EXAMPLES.values() for line in text.splitlines()]
    return [line for line in lines if line.startswith(("pulumi-dra ", "helm ", "kustomize "))]


def is_quick(line: str) -> bool:
    """Examples that start servers are run by the tests of the sandbox."""
    return not {"sandbox", "rehearse"} & set(line.split())


def commit(folder: Path) -> None:
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "all"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


@pytest.mark.parametrize("line", list(filter(is_quick, examples())))
def test_examples_work_when_copied(line: str, project: Project) -> None:
    """In a copy of this project, a repository; what other programs would pipe in is a file here."""
    for folder in ("stacks", "examples", "docs"):
        shutil.copytree(ROOT / folder, project.root / folder, dirs_exist_ok=True)
    shutil.copy(ROOT / "README.md", project.root)
    project.write("cluster.yaml", SNAPSHOT)
    project.write("state.json", json.dumps(stack_state()))
    project.write("fleet.yaml", FLEET)
    pods = (ROOT / "examples" / "workloads" / "two-pods.yaml").read_text(encoding="utf-8")
    project.write(".kube/config", "kind: Config\n")
    project.write("bin/kubectl", "#!/bin/sh\ncat cluster.yaml\n").chmod(0o755)
    if "--diff" in line:
        commit(project.root)
    (ours,) = [part for part in line.split("|") if part.strip().startswith("pulumi-dra ")]
    _, *words = shlex.split(ours.partition(" > ")[0].replace("~", str(project.root)), comments=True)
    done = project.run(*words, stdin=pods, PATH=f"{project.root / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert done.status in (Status.FITS, Status.BROKEN, Status.CANNOT_TELL), done.err
    said = (
        "wrote ",
        "nothing to rewrite",
        "fix.yaml: not written",
        "stacks/eks-dev.plan.json: is current",
        "why, term by term: ",
    )
    assert not done.err or done.err.startswith(said)


def test_there_are_examples_to_try() -> None:
    assert len(examples()) > 20


def test_the_version(project: Project) -> None:
    assert project.run("--version").out.startswith("pulumi-dra ")


def test_help_loads_nothing_heavy(project: Project) -> None:
    code = (
        "import sys; from dra_command.__main__ import main; main(['plan', '--help']);"
        "print(sorted({'pydantic', 'lark', 'yaml', 'rich', 'highspy', 'pulumi'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project.root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
