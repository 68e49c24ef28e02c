"""The help explains each subcommand, and starts quickly."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_project import Project, stack_state

from dra_command.command_line.examples import EXAMPLES
from dra_command.command_line.exit_status import Status
from dra_planner.documents.snapshot import GUARD_OWNERS, GUARD_POLICIES, VERIFIED_KINDS

ROOT = Path(__file__).parents[3]
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
    done = project.run("--help", COLUMNS="80")
    assert (done.status, done.err) == (0, "")
    assert all(f"    {name} " in done.out for name in EXAMPLES)
    assert "exit status" in done.out
    assert project.run(COLUMNS="80").out == done.out
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "catalog",
            "arguments are required: {machines,gpus,mig,drivers,releases,outdated,add}; see",
        ),
        ("completion", "arguments are required: {bash,zsh,fish}; see"),
    ],
)
def test_missing_argument_is_reported_with_its_choices(
    command: str, message: str, project: Project
) -> None:
    assert message in project.run(command).err


def test_help_omits_unsupported_options(project: Project) -> None:
    """`suggest` doesn't support stacks, and `init` and `catalog` don't have a verdict."""
    assert "--stack" not in project.run("suggest", "--help").out
    assert not [
        name
        for name in ("init", "catalog", "completion")
        if "fits" in project.run(name, "--help").out
    ]


@pytest.mark.parametrize("command", EXAMPLES)
def test_each_subcommand_shows_examples(command: str, project: Project) -> None:
    done = project.run(command, "--help", COLUMNS="80")
    assert done.status == 0
    assert f"pulumi-dra {command}" in done.out
    assert "examples:" in done.out
    assert [line for line in done.out.splitlines() if len(line) > 80] == []


def test_prose_is_wrapped_on_a_narrow_terminal(project: Project) -> None:
    for command in ((), ("check",), ("migrate",)):
        lines = project.run(*command, "--help", COLUMNS="60").out.splitlines()
        prose = [line for line in lines if not line.startswith("    ") and line[-1:] not in "},\\"]
        assert max(map(len, prose)) <= 60
        assert "  3  cannot tell (--allow-unknown makes it 0)" in lines or command == ("migrate",)


@pytest.mark.parametrize("command", ["", *EXAMPLES])
def test_exit_statuses_are_wrapped_on_a_very_narrow_terminal(
    command: str, project: Project
) -> None:
    out = project.run(*command.split(), "--help", COLUMNS="40").out
    lines = out.partition("exit status:\n")[2].partition("\n\n")[0].splitlines()
    assert lines
    assert [line for line in lines if len(line) > 40] == []
    assert all(re.match("  [0-9]  [a-z]| {5}[^ ]", line) for line in lines)


def test_paragraphs_are_filled_on_a_narrow_terminal(project: Project) -> None:
    """Lines that were too long left a short line each."""
    out = project.run("portfolio", "--help", COLUMNS="60").out
    _, _, paragraph = out.partition("--sample 10%\n\n")
    assert paragraph.partition("\n\n")[0].splitlines() == [
        "Results are cached, so you can continue an interrupted run,",
        "and unchanged cells aren't recomputed. To use a Dask",
        "cluster, set --scheduler tcp://HOST:8786",
        "(docs/portfolio.md).",
    ]


@pytest.mark.parametrize("command", EXAMPLES)
def test_wrapped_commands_are_the_same_in_a_shell(command: str, project: Project) -> None:
    commands: list[list[list[str]]] = []
    for columns in (60, 100):
        out = project.run(command, "--help", COLUMNS=str(columns)).out
        examples = out.partition("\nexamples:\n")[2].partition("\n\n")[0]
        lines = examples.replace("\\\n", "").splitlines()
        commands.append([shlex.split(line) for line in lines if line.startswith("    ")])
        wide = [line for line in examples.splitlines() if len(line) > columns]
        assert [line for line in wide if '"' not in line and "~/" not in line] == []
    assert commands[0] == commands[1] != []


@pytest.mark.parametrize("columns", ["62", "75"])
def test_text_that_continues_an_exit_status_follows_it(columns: str, project: Project) -> None:
    _, _, statuses = project.run("verify", "--help", COLUMNS=columns).out.partition(
        "exit status:\n"
    )
    assert statuses.splitlines()[:5] == [
        "  0  matches the plan",
        "  1  differs, or planned pods are pending",
        "  2  invalid input",
        "  3  no node to compare (0 with",
        "     --allow-unknown)",
    ]


@pytest.mark.parametrize("command", EXAMPLES)
def test_usage_is_wrapped_on_a_very_narrow_terminal(command: str, project: Project) -> None:
    usage, _, _ = project.run(command, "--help", COLUMNS="40").out.partition("\n\n")
    lines = usage.splitlines()
    assert [line for line in lines if len(line) > 40] == []
    assert all(line.startswith(" " * 7) for line in lines[1:])


def test_mutually_exclusive_options_are_wrapped(project: Project) -> None:
    """Each option is listed once and not split, but argparse would leave them on one line."""
    usage, _, _ = project.run("explain", "--help", COLUMNS="80").out.partition("\n\n")
    group = (
        "[--claim NAMESPACE/NAME | --pod NAMESPACE/NAME | --finding RULE|FILE:LINE | --message TEXT"
    )
    assert group in " ".join(usage.split())


@pytest.mark.parametrize("columns", ["60", "120"])
def test_snapshot_command_can_be_pasted(columns: str, project: Project) -> None:
    project.write("bin/kubectl", '#!/bin/sh\necho kubectl "$@"\n').chmod(0o755)
    text = project.run("verify", "--help", COLUMNS=columns).out
    pasted = text[text.index("    kubectl get") : text.index("    pulumi-dra verify --observed")]
    path = f"{project.root / 'bin'}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["sh", "-c", pasted], cwd=project.root, env={"PATH": path}, check=True)
    kinds = ",".join((*VERIFIED_KINDS, *GUARD_OWNERS, *GUARD_POLICIES))
    assert (project.root / "cluster.json").read_text(
        encoding="utf-8"
    ) == f"kubectl get {kinds} -A -o json\n"


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


TERRAFORM_PLAN = {
    "format_version": "1.2",
    "planned_values": {
        "root_module": {
            "resources": [
                {
                    "address": "google_container_cluster.ml",
                    "type": "google_container_cluster",
                    "values": {
                        "name": "ml",
                        "location": "us-central1",
                        "min_master_version": "1.35",
                    },
                },
                {
                    "address": "google_container_node_pool.l4",
                    "type": "google_container_node_pool",
                    "values": {
                        "name": "l4",
                        "node_count": 1,
                        "node_config": [{"machine_type": "g2-standard-8"}],
                    },
                },
            ]
        }
    },
}


def examples() -> list[str]:
    """Return the lines that help shows after `examples:`, as a shell reads them."""
    lines = [
        line.strip()
        for text in EXAMPLES.values()
        for line in text.replace("\\\n", " ").splitlines()
    ]
    return [line for line in lines if line.startswith(("pulumi-dra ", "helm ", "kustomize "))]


def is_quick(line: str) -> bool:
    """Return whether this test runs an example: those that start servers run in the tests of the
    sandbox.
    """
    return not {"sandbox", "rehearse", "mcp"} & set(line.split())


def commit(folder: Path) -> None:
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "all"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(
            ["git", "-C", str(folder), *identity, *words], check=True, capture_output=True
        )


@pytest.mark.long
@pytest.mark.parametrize("line", list(filter(is_quick, examples())))
def test_examples_work_when_copied(line: str, project: Project) -> None:
    """They run in a copy of this project with a git repository; files contain the output of other
    programs.
    """
    for folder in ("stacks", "examples", "docs"):
        shutil.copytree(ROOT / folder, project.root / folder, dirs_exist_ok=True)
    shutil.copy(ROOT / "README.md", project.root)
    project.write("cluster.json", SNAPSHOT)
    project.write("state.json", json.dumps(stack_state()))
    project.write("plan.json", json.dumps(TERRAFORM_PLAN))
    project.write("fleet.yaml", FLEET)
    pods = (ROOT / "examples" / "workloads" / "two-pods.yaml").read_text(encoding="utf-8")
    project.write(".kube/config", "kind: Config\n")
    project.write("bin/kubectl", "#!/bin/sh\ncat cluster.json\n").chmod(0o755)
    if "catalog add" in line:
        nodes = project.run("slices", "--stack", "eks-dev", "--nodes")
        project.write("cluster.json", nodes.out)
    project.write("larger.yaml", FLEET)
    if "diff" in line:
        commit(project.root)
        subprocess.run(["git", "tag", "v1"], cwd=project.root, check=True)
        subprocess.run(
            ["git", "update-ref", "refs/remotes/origin/main", "HEAD"], cwd=project.root, check=True
        )
    (ours,) = [part for part in line.split("|") if part.strip().startswith("pulumi-dra ")]
    _, *words = shlex.split(ours.partition(" > ")[0].replace("~", str(project.root)))
    done = project.run(
        *words, stdin=pods, PATH=f"{project.root / 'bin'}{os.pathsep}{os.environ['PATH']}"
    )
    assert done.status in (Status.FITS, Status.BROKEN, Status.CANNOT_TELL), done.err
    expected = (
        "wrote ",
        "nothing to rewrite",
        "note: ",
        "fix.yaml: not written",
        "stacks/eks-dev.plan.json is current",
        "all conditions: ",
        "all required changes: ",
        "running: pulumi-dra ",
    )
    assert not done.err or done.err.startswith(expected)


def test_help_has_many_examples() -> None:
    assert len(examples()) > 20


def test_version_is_printed(project: Project) -> None:
    assert project.run("--version").out.startswith("pulumi-dra ")


def test_help_loads_no_large_packages(project: Project) -> None:
    code = (
        "import sys; from dra_command.__main__ import main; main(['plan', '--help']);"
        "print(sorted({'pydantic', 'lark', 'yaml', 'rich', 'highspy', 'pulumi'} & "
        "set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project.root, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
