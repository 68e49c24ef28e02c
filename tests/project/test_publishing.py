"""The krew plugin and the entries for SchemaStore are generated as for a release, and work."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner.package_version import semantic_version

ROOT = Path(__file__).parents[2]
HOME = "https://github.com/acme/pulumi-dra"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    words = [sys.executable, ROOT / "docs/publishing.py", "--home", HOME, "--to", folder]
    subprocess.run(words, check=True)
    return folder


def test_the_manifest_has_the_documented_fields(published: Path) -> None:
    manifest: dict[str, Any] = yaml.safe_load((published / "dra.yaml").read_text())
    assert manifest["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2"
    assert (manifest["kind"], manifest["metadata"]) == ("Plugin", {"name": "dra"})
    spec = manifest["spec"]
    assert re.fullmatch(r"v\d+\.\d+\.\d+(-rc\.\d+)?", spec["version"])
    assert (len(spec["shortDescription"]) <= 50, spec["homepage"]) == (True, HOME)
    (platform,) = spec["platforms"]
    archive = (published / "kubectl-dra.tar.gz").read_bytes()
    assert platform["sha256"] == hashlib.sha256(archive).hexdigest()
    assert platform["uri"] == f"{HOME}/releases/download/{spec['version']}/kubectl-dra.tar.gz"


def test_plugin_runs_the_released_package(published: Path, tmp_path: Path) -> None:
    with tarfile.open(published / "kubectl-dra.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    (tmp_path / "bin").mkdir()
    uvx = tmp_path / "bin/uvx"
    uvx.write_text('#!/bin/sh\necho "$@"\n')
    uvx.chmod(0o755)

    def run(path: str) -> subprocess.CompletedProcess[str]:
        words = [tmp_path / "kubectl-dra", "plan", "a b"]
        environment = {"PATH": path}
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

    assert (tmp_path / "LICENSE").is_file()
    done = run(f"{tmp_path / 'bin'}{os.pathsep}/bin")
    assert re.fullmatch(r"--from pulumi-dra==[\w.]+ kubectl-dra plan a b\n", done.stdout)
    without = run("/nonexistent")
    assert (without.returncode, "kubectl dra needs uv" in without.stderr) == (2, True)


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        ("stacks/prod.fleet.yaml", "fleet"),
        ("pulumi-dra.yaml", "configuration"),
        ("stacks/eks-dev.plan.json", "plan-file"),
    ],
)
def test_editors_find_the_schema_of_a_file(published: Path, file: str, schema: str) -> None:
    entries = json.loads((published / "schemastore.json").read_text())
    assert all(set(entry) == {"name", "description", "fileMatch", "url"} for entry in entries)
    name = Path(file).name
    (url,) = (
        entry["url"]
        for entry in entries
        if any(fnmatch(name, pattern) for pattern in entry["fileMatch"])
    )
    path = url.removeprefix("https://raw.githubusercontent.com/acme/pulumi-dra/main/")
    document = json.loads((ROOT / path).read_text(encoding="utf-8"))
    assert document["$id"] == f"urn:pulumi-dra:schema:{schema}:1"


@pytest.mark.parametrize(
    ("version", "semantic"),
    [("1.2.3", "1.2.3"), ("1.0.0rc1", "1.0.0-rc.1"), ("2.0.0b12", "2.0.0-beta.12")],
)
def test_tags_are_semantic_versions(version: str, semantic: str) -> None:
    assert semantic_version(version) == semantic


def test_release_notes_are_the_section_of_the_changelog(tmp_path: Path) -> None:
    words = [
        sys.executable,
        ROOT / "docs/publishing.py",
        "--notes",
        "--home",
        HOME,
        "--to",
        tmp_path,
    ]
    subprocess.run(words, check=True)

    notes = (tmp_path / "notes.md").read_text(encoding="utf-8")
    assert "### Added" in notes
    assert "## 1" not in notes.replace("### ", "")
    assert [link for link in re.findall(r"\]\(([^)]*)\)", notes) if not link.startswith(HOME)] == []
