"""`python -m dra_sandbox`: invalid input, and the stacks that the demonstration refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from dra_sandbox.__main__ import main
from dra_sandbox.demo import refused_stack


def test_a_folder_without_a_project_is_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--project", str(tmp_path)]) == 2
    assert "Pulumi.yaml isn't in" in capsys.readouterr().err


def test_a_missing_stack_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: trial\nruntime: python\n")

    assert main(["demo", "--project", str(tmp_path), "--stack", "nowhere"]) == 2
    assert "stack nowhere" in capsys.readouterr().out


WRONG = {
    "charts without an API server": (["up", "--charts", "."], "--charts needs --control-plane"),
    "a version without an API server": (
        ["up", "--kubernetes", "1.36"],
        "--kubernetes needs --control-plane",
    ),
    "charts in a file": (
        ["up", "--control-plane", "--charts", "Pulumi.yaml"],
        "Pulumi.yaml isn't a folder",
    ),
    "an unknown version": (
        ["up", "--control-plane", "--kubernetes", "banana"],
        '"banana" isn\'t a Kubernetes',
    ),
    "a version that is too old": (
        ["up", "--control-plane", "--kubernetes", "1.33"],
        "1.33 isn't supported",
    ),
    "a file as the folder": (["down", "--folder", "Pulumi.yaml"], ""),
    "a file as the project": (
        ["up", "--folder", "Pulumi.yaml"],
        "Pulumi.yaml isn't a folder; use an empty or new folder",
    ),
    "a folder below a file": (["up", "--folder", "Pulumi.yaml/below"], "can't write to"),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_wrong_options_are_reported_before_anything_is_created(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    project = Path(__file__).parents[2] / "examples" / "platform-python"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Pulumi.yaml").touch()
    where = [] if "--folder" in words else ["--folder", "kept"]

    status = main([*words, *where, "--project", str(project)])

    assert status == (2 if message else 0)
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["Pulumi.yaml"]


@pytest.mark.parametrize("lines", ["-5", "0", "x"])
def test_the_number_of_log_lines_must_be_a_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["logs", f"--lines={lines}"])
    assert f"{lines} isn't a number of lines" in capsys.readouterr().err


def test_an_unwritable_cache_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("PATH", str(tmp_path))

    assert main(["tools"]) == 1
    assert "set XDG_CACHE_HOME" in capsys.readouterr().err


FLEET = """\
cloud: {cloud}
region: {region}
kubernetes: "1.36"
systemPool: {{machine: {system}}}
drivers: {{nvidia: {{version: 0.5.0}}}}
pools: [{{name: l4, machine: {machine}, count: {{max: 2}}}}]
"""
CLOUDS = {
    "eks": FLEET.format(cloud="eks", region="us-east-1", system="m7i.large", machine="g6.2xlarge"),
    "gke": FLEET.format(
        cloud="gke", region="us-central1", system="e2-standard-4", machine="g2-standard-8"
    ),
}
REFUSED = {
    "the fleet in the settings, and a stack that is too small": (
        "eks",
        False,
        True,
        "eks-too-small",
    ),
    "the fleet in a file, and a stack that is too small": ("eks", True, True, "eks-too-small"),
    "the fleet in a file, without a stack that is too small": ("eks", True, False, None),
    "a stack that is too small on another cloud": ("gke", True, True, None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_demo_uses_the_clouds_stack_that_is_too_small(tmp_path: Path, name: str) -> None:
    cloud, in_a_file, has_too_small, expected = REFUSED[name]
    stacks = tmp_path / "stacks"
    stacks.mkdir()
    (stacks / "dev.fleet.yaml").write_text(CLOUDS[cloud])
    inline = json.dumps(yaml.safe_load(CLOUDS[cloud]))
    fleet = "stacks/dev.fleet.yaml" if in_a_file else inline
    (stacks / "Pulumi.dev.yaml").write_text(f"config:\n  pulumi-dra:fleet: {fleet}\n")
    if has_too_small:
        (stacks / "Pulumi.eks-too-small.yaml").write_text("config: {}\n")

    assert refused_stack("dev", tmp_path) == expected
