"""The modeline of generated fleets: the schema of the installed version, or no modeline."""

from __future__ import annotations

from email.message import Message
from pathlib import Path

import pytest
from command_project import Project

from dra_command.init.schema_comment import schema_comment
from dra_planner.fleet import read_fleet_file

COMMIT = "0123456789012345678901234567890123456789"
RAW = "https://raw.githubusercontent.com/acme/pulumi-dra"


def installed(monkeypatch: pytest.MonkeyPatch, requirement: str, source: str = "") -> None:
    message = Message()
    if source:
        message["Project-URL"] = f"Source, {source}"
    module = "dra_command.init.schema_comment"
    monkeypatch.setattr(f"{module}.installed_from", lambda: requirement)
    monkeypatch.setattr(f"{module}.metadata", lambda _: message)
    monkeypatch.setattr(f"{module}.version", lambda _: "0.1.0")


@pytest.mark.parametrize(
    ("requirement", "source", "folder"),
    [
        (
            f"pulumi-dra @ git+https://github.com/acme/pulumi-dra.git@{COMMIT}",
            "",
            f"{RAW}/{COMMIT}",
        ),
        ("pulumi-dra==0.1.0", "https://github.com/acme/pulumi-dra", f"{RAW}/v0.1.0"),
        (
            f"pulumi-dra @ git+https://gitlab.acme.io/a/b@{COMMIT}",
            "",
            f"https://gitlab.acme.io/a/b/-/raw/{COMMIT}",
        ),
        (f"pulumi-dra @ git+https://git.acme.io/a/b@{COMMIT}", "", ""),
        (f"pulumi-dra @ git+ssh://git@github.com/a/b@{COMMIT}", "", ""),
        ("pulumi-dra==0.1.0", "", ""),
    ],
)
def test_schema_matches_the_installed_version(
    requirement: str, source: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, requirement, source)
    line = f"# yaml-language-server: $schema={folder}/docs/schema/fleet.json\n" if folder else ""
    assert schema_comment("fleet") == line


@pytest.mark.parametrize("words", [(), ("--stack", "prod")])
def test_generated_fleet_starts_with_its_schema(
    words: tuple[str, ...], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(monkeypatch, "pulumi-dra==0.1.0", "https://github.com/acme/pulumi-dra")
    assert project.run("init", "new", "--region", "us-east-1", *words).status == 0
    file = project.root / ("new/stacks/prod.fleet.yaml" if words else "new/fleet.yaml")
    assert file.read_text().startswith(f"# yaml-language-server: $schema={RAW}/v0.1.0/docs/schema/")
    assert read_fleet_file(file).region == "us-east-1"
    assert (Path(__file__).parents[3] / "docs/schema/fleet.json").is_file()
