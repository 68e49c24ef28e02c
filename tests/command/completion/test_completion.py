"""`pulumi-dra completion`: the words that a real shell completes with the script."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest
from command_project import Project

from dra_policies.rules import RULES


def completed(project: Project, line: str) -> list[str]:
    """Return bash's completions for the last word of a line."""
    script = project.write("completion.bash", project.run("completion", "bash").out)
    words = [*line.split(" ")]
    code = f"""
source {shlex.quote(str(script))}
COMP_WORDS=({" ".join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}; COMP_LINE={shlex.quote(line)}
_shtab_pulumi_dra; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(
        ["bash", "--norc", "-c", code],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=False,
    )
    return sorted(set(done.stdout.split()))


def test_subcommands_are_completed(project: Project) -> None:
    assert {"plan", "check", "completion"} <= set(completed(project, "pulumi-dra "))


def test_options_of_a_subcommand_are_completed(project: Project) -> None:
    assert completed(project, "pulumi-dra check --base") == ["--baseline"]


def test_choices_are_completed(project: Project) -> None:
    assert completed(project, "pulumi-dra check --format s") == ["sarif"]


def test_rule_ids_are_completed(project: Project) -> None:
    assert completed(project, "pulumi-dra check --explain claim-f") == ["claim-fits-no-pool"]
    assert len(completed(project, "pulumi-dra check --select ")) == len(RULES)


def test_stacks_of_the_project_are_completed(project: Project) -> None:
    assert completed(project, "pulumi-dra plan --stack ") == ["dev"]


def test_files_are_completed(project: Project) -> None:
    assert "workloads" in completed(project, "pulumi-dra check work")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_their_script(project: Project, shell: str) -> None:
    program = shutil.which(shell)
    script = project.run("completion", shell).out
    assert "claim-fits-no-pool" in script
    if program is None:
        pytest.skip(f"{shell} is not here to read it")
    subprocess.run([program, "-n", str(project.write("script", script))], check=True)


def test_unknown_shell_is_wrong_input(project: Project) -> None:
    done = project.run("completion", "powershel")

    assert done.status == 2
    assert "bash" in done.err
