"""A stack that is kept between commands: planned, created, changed, and destroyed."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

import pytest
from rich.console import Console

from dra_sandbox.__main__ import main
from dra_sandbox.engine import Engine
from dra_sandbox.persistent_stacks import KeptStacks, StackRefused, chosen_stack, stacks_folder

PROGRAMS = Path(__file__).parent / "programs"


def project_in(folder: Path, step: str = "first") -> Path:
    project = folder / "project"
    if not project.exists():
        shutil.copytree(PROGRAMS / "aws", project)
        runtime = (
            f"runtime: {{name: python, options: {{toolchain: pip, virtualenv: {sys.prefix}}}}}\n"
        )
        (project / "Pulumi.yaml").write_text(f"name: trial\n{runtime}stackConfigDir: stacks\n")
        (project / "stacks").mkdir()
    (project / "stacks/Pulumi.dev.yaml").write_text(
        f"config:\n  aws:region: us-east-1\n  trial:step: {step}\n"
    )
    return project


@pytest.mark.engine
def test_a_stack_runs_until_it_is_taken_down(tmp_path: Path) -> None:
    output = io.StringIO()
    kept = tmp_path / "kept"
    stack = KeptStacks(project_in(tmp_path), kept, Console(file=output, width=120))

    assert stack.plan("dev")
    assert not kept.exists()  # a preview changes nothing

    assert stack.up("dev")
    assert "dev: up. It runs until `sandbox down`." in output.getvalue()
    output.truncate(0)
    assert stack.up("dev")
    assert "dev: nothing to do" in output.getvalue()

    project_in(tmp_path, "second")  # the settings of the project, not of the copy
    output.truncate(0)
    assert stack.plan("dev")
    assert "update" in output.getvalue() or "replace" in output.getvalue()

    assert stack.down(None)
    assert not kept.exists()
    output.truncate(0)
    assert stack.down(None)
    assert "No stack is running." in output.getvalue()


@pytest.mark.engine
def test_a_stack_that_fails_immediately_leaves_no_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = project_in(tmp_path)
    (project / "__main__.py").write_text(
        "import pulumi\nraise pulumi.RunError('there is no plan')\n"
    )
    kept = tmp_path / "kept"

    assert main(["up", "--project", str(project), "--folder", str(kept)]) == 1
    assert "error: there is no plan" in capsys.readouterr().out
    assert not kept.exists()


@pytest.mark.engine
def test_settings_that_another_backend_encrypted_can_be_planned(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    settings = project / "stacks/Pulumi.dev.yaml"
    secret = "  trial:token:\n    secure: v1:c2FsdA==:b3RoZXI=\n"
    settings.write_text(f"encryptionsalt: v1:b3RoZXI=:v1:a:b\n{settings.read_text()}{secret}")
    output = io.StringIO()

    assert KeptStacks(project, tmp_path / "kept", Console(file=output, width=120)).plan("dev")
    assert "encryptionsalt: v1:b3RoZXI=" in settings.read_text()  # the project's file is unchanged


def test_a_folder_with_other_files_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    stack = KeptStacks(project_in(tmp_path), tmp_path / "mine", Console(file=io.StringIO()))

    with pytest.raises(StackRefused, match="contains other files"):
        stack.up("dev")
    assert stack.down(None)  # no resources of the stack exist there
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_a_folder_of_another_project_is_rejected(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "rehearsal-of").write_text("/somewhere/else")
    stack = KeptStacks(project_in(tmp_path), kept, Console(file=io.StringIO()))

    with pytest.raises(StackRefused, match="already belongs to /somewhere/else"):
        stack.down(None)


def test_every_project_has_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, second = (
        stacks_folder(tmp_path / "a" / "platform"),
        stacks_folder(tmp_path / "b" / "platform"),
    )

    assert first != second
    assert first == stacks_folder(tmp_path / "a" / "platform")
    assert first.name.startswith("platform-")


def test_the_only_stack_needs_no_name(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    assert chosen_stack(project, "stacks", None) == "dev"
    with pytest.raises(StackRefused, match="stack prod isn't in the project; it has dev"):
        chosen_stack(project, "stacks", "prod")
    (project / "stacks/Pulumi.prod.yaml").touch()
    with pytest.raises(StackRefused, match="choose a stack with --stack; it has dev, prod"):
        chosen_stack(project, "stacks", None)


@pytest.mark.engine
def test_renewed_settings_keep_the_encryption_salt(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    settings = Engine(tmp_path / "work", project).settings_folder / "Pulumi.dev.yaml"
    settings.write_text(f"encryptionsalt: v1:abc\n{settings.read_text()}")
    (settings.parent / "Pulumi.gone.yaml").touch()

    project_in(tmp_path, "second")
    Engine(tmp_path / "work", project)

    assert "encryptionsalt: v1:abc" in settings.read_text()
    assert "step: second" in settings.read_text()
    assert not (settings.parent / "Pulumi.gone.yaml").exists()
