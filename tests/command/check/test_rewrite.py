"""`check --rewrite`: older DRA objects are converted to v1, and printed or (on request) written to
the files.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from command_project import Project

OLD = """\
# what the server asks for
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: gpu}
spec:
  devices:
    requests:
    - name: gpu
      deviceClassName: gpu.nvidia.com
      count: 2
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}   # stays as it is
"""
NEW = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
OLD_LIST = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {
            "apiVersion": "resource.k8s.io/v1alpha2",
            "kind": "ResourceClass",
            "metadata": {"name": "gpu"},
            "driverName": "gpu.nvidia.com",
        },
        {
            "apiVersion": "resource.k8s.io/v1alpha2",
            "kind": "ResourceClaimParameters",
            "metadata": {"name": "big"},
        },
    ],
}
CLASSIC = """\
# of the first drivers
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClass
metadata: {name: gpu}   # its name
driverName: gpu.resource.nvidia.com
structuredParameters: true
"""
CLASSIC_NOW = """\
# of the first drivers
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}   # its name
spec:
  selectors:
    - cel:
        expression: device.driver == "gpu.nvidia.com"
"""
CHANGE = "ResourceClaim gpu: resource.k8s.io/v1beta1 → resource.k8s.io/v1"


@pytest.fixture
def folder(project: Project) -> Path:
    """Two manifests: one with an old version, and one with the current version."""
    project.write("manifests/new.yaml", NEW)
    return project.write("manifests/old.yaml", OLD).parent


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_only_rewritten_files_are_printed_and_none_changes(project: Project, folder: Path) -> None:
    before = contents(folder)
    done = project.run("check", "manifests", "--rewrite")
    assert (done.status, contents(folder)) == (0, before)
    claim, settings = yaml.safe_load_all(done.out)
    assert claim["apiVersion"] == "resource.k8s.io/v1"
    assert claim["spec"]["devices"]["requests"] == [
        {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}}
    ]
    assert settings["metadata"] == {"name": "settings"}
    assert "# what the server asks for" in done.out
    assert done.err == f"manifests/old.yaml:2: {CHANGE}\n"


def test_several_files_are_one_stream_with_their_names(project: Project, folder: Path) -> None:
    project.write("manifests/second.yaml", OLD.replace("name: gpu}", "name: other}"))
    out = project.run("check", "manifests", "--rewrite", "-q").out
    assert [line for line in out.splitlines() if line.startswith("# manifests")] == [
        "# manifests/old.yaml",
        "# manifests/second.yaml",
    ]
    names = [document["metadata"]["name"] for document in yaml.safe_load_all(out)]
    assert names == ["gpu", "settings", "other", "settings"]


def test_in_place_changes_older_files_and_prints_changes(project: Project, folder: Path) -> None:
    (folder / "old.yaml").chmod(0o640)
    printed = project.run("check", "manifests", "--rewrite").out
    done = project.run("check", "manifests", "--rewrite", "--in-place")
    assert (done.status, done.out) == (0, f"manifests/old.yaml:2: {CHANGE}\n")
    assert contents(folder) == {"new.yaml": NEW.encode(), "old.yaml": printed.encode()}
    assert (folder / "old.yaml").stat().st_mode & 0o777 == 0o640
    again = project.run("check", "manifests", "--rewrite", "--in-place")
    assert (again.status, again.out) == (0, "")
    assert "nothing to rewrite: no objects with an older DRA API version in 2 files" in again.err
    assert "version-not-served" not in project.run("check", "manifests").out


def test_link_is_preserved(project: Project, folder: Path) -> None:
    target = project.write("elsewhere/claim.yaml", OLD)
    (folder / "old.yaml").unlink()
    (folder / "old.yaml").symlink_to(target)
    assert project.run("check", "manifests", "--rewrite", "--in-place").status == 0
    assert (folder / "old.yaml").is_symlink()
    assert "resource.k8s.io/v1\n" in target.read_text(encoding="utf-8")


def test_rewrite_with_a_snapshot_is_rejected(project: Project) -> None:
    done = project.run("check", "--rewrite", "--observed", "snapshot.yaml")
    assert done.status == 2
    assert "--rewrite changes manifests, but --observed reads a snapshot" in done.err


def test_whole_standard_input_is_printed(project: Project) -> None:
    assert project.run("check", "-", "--rewrite", stdin=NEW).out == NEW
    assert "exactly:" in project.run("check", "-", "--rewrite", stdin=OLD).out


def test_json_is_preserved_and_unsupported_kinds_are_reported(project: Project) -> None:
    path = project.write("manifests/old.json", json.dumps(OLD_LIST))
    done = project.run("check", "manifests", "--rewrite", "--in-place")
    assert done.status == 1
    assert "ResourceClass gpu: resource.k8s.io/v1alpha2 → resource.k8s.io/v1" in done.out
    assert (
        "ResourceClaimParameters big: resource.k8s.io/v1alpha2 isn't changed: v1 doesn't have this kind"
        in done.err
    )
    assert "for example, by hand:\n    # the claim itself contains" in done.err
    first, second = json.loads(path.read_text(encoding="utf-8"))["items"]
    assert (first["kind"], first["apiVersion"]) == ("DeviceClass", "resource.k8s.io/v1")
    assert second == OLD_LIST["items"][1]


def test_comments_and_formatting_are_preserved_and_losses_reported(project: Project) -> None:
    project.write("manifests/class.yaml", CLASSIC)
    done = project.run("check", "manifests", "--rewrite")
    assert done.out == CLASSIC_NOW
    assert done.status == 0
    assert done.err == (
        "manifests/class.yaml:2: ResourceClass gpu: resource.k8s.io/v1alpha2 → "
        "resource.k8s.io/v1\n    the driver gpu.resource.nvidia.com is now called "
        "gpu.nvidia.com\n    structuredParameters is removed, because in v1, every driver "
        "publishes its devices as ResourceSlices\n"
    )


def test_taint_rule_is_rewritten_only_for_a_supporting_version(project: Project) -> None:
    rule = (
        "apiVersion: resource.k8s.io/v1alpha3\nkind: DeviceTaintRule\nmetadata: {name: r}\n"
        "spec: {deviceSelector: {driver: d.example}, taint: {key: a.example/b, effect: "
        "NoSchedule}}\n"
    )
    project.write("manifests/rule.yaml", rule)
    assert (
        "1.36 doesn't have DeviceTaintRule"
        in project.run("check", "manifests", "--rewrite", "--kubernetes", "1.36").err
    )
    assert (
        "resource.k8s.io/v1\n"
        in project.run("check", "manifests", "--rewrite", "--kubernetes", "1.37").out
    )


def test_finding_suggests_rewrite(project: Project, folder: Path) -> None:
    done = project.run("check", "manifests", "--format", "json")
    (found,) = [each for each in done.json["diagnostics"] if each["code"] == "version-not-served"]
    assert (found["file"], found["line"]) == ("manifests/old.yaml", 2)
    assert "pulumi-dra check --rewrite" in found["fix"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("manifests", "--in-place"), "--in-place needs --rewrite"),
        (("-", "--rewrite", "--in-place"), "--in-place can't change standard input"),
        (("manifests", "--rewrite", "--format", "sarif"), "--format sarif isn't supported"),
    ],
)
def test_invalid_combinations_are_wrong_input(
    words: tuple[str, ...], message: str, project: Project, folder: Path
) -> None:
    before = contents(folder)
    done = project.run("check", *words, stdin=OLD)
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert contents(folder) == before


def test_unreadable_file_prevents_all_changes(project: Project, folder: Path) -> None:
    project.write("manifests/z.yaml", "kind: Pod\nmetadata: {name: [}\n")
    before = contents(folder)
    done = project.run("check", "manifests", "--rewrite", "--in-place")
    assert done.status == 2
    assert "manifests/z.yaml:2" in done.err
    assert contents(folder) == before
