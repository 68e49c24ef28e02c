"""Kustomizations below a folder: each kustomization that no other kustomization includes is built
once.
"""

from __future__ import annotations

import json
import shutil

import pytest
from command_project import Project
from kustomized_objects import REPLICAS, WORKLOAD

pytestmark = pytest.mark.skipif(
    not (shutil.which("kustomize") or shutil.which("kubectl")), reason="needs kustomize or kubectl"
)

PATCHED = "resources: [../base]\npatches: [{path: replicas.yaml}]\n"


@pytest.fixture
def base(project: Project) -> Project:
    project.write("k/base/kustomization.yaml", "resources: [all.yaml]\n")
    project.write("k/base/all.yaml", WORKLOAD)
    return project


def planned(project: Project, *paths: str) -> dict[str, int]:
    """Return the pods of each workload at the planned level."""
    done = project.run("plan", *paths, "--stack", "dev", "--format", "json")
    rows = json.loads(done.out)["workloads"]
    return {row["name"]: row["placed"] + row["pending"] for row in rows}


@pytest.mark.parametrize("command", ["plan", "check"])
def test_patch_of_an_overlay_decides_the_verdict(base: Project, command: str) -> None:
    base.write("k/prod/kustomization.yaml", PATCHED)
    base.write("k/prod/replicas.yaml", REPLICAS)

    done = base.run(command, "k", "--stack", "dev")

    assert done.status == 1
    words = " ".join(done.out.split())
    assert "of 50 pods pending" in words or "the pods' claims need 50" in words
    assert "is skipped" not in done.out


@pytest.mark.parametrize("command", ["plan", "check"])
def test_named_kustomization_file_is_built_like_its_folder(base: Project, command: str) -> None:
    base.write("k/prod/kustomization.yaml", PATCHED)
    base.write("k/prod/replicas.yaml", REPLICAS)

    folder = base.run(command, "k/prod", "--stack", "dev")
    file = base.run(command, "k/prod/kustomization.yaml", "--stack", "dev")

    assert (file.status, file.out) == (1, folder.out)


@pytest.mark.parametrize("command", ["plan", "check"])
def test_named_patch_is_not_a_manifest(base: Project, command: str) -> None:
    base.write("k/prod/kustomization.yaml", PATCHED)
    base.write("k/prod/replicas.yaml", REPLICAS)

    done = base.run(command, "k/prod/replicas.yaml", "--stack", "dev")

    assert done.status == 2
    assert "part of the kustomization" in " ".join(done.err.split())


@pytest.mark.parametrize("command", ["plan", "check"])
@pytest.mark.parametrize(
    ("file", "text", "fix"),
    [
        (
            "k/gpu/Kustomization",
            "resources: [../base]\npatches: [{path: patch.yaml}]\n",
            "run `kustomize build k/gpu | pulumi-dra check -`",
        ),
        (
            "k/gpu/gpus.yaml",
            "kind: Component\npatches: [{path: patch.yaml}]\n",
            "build the kustomization in k/gpu, and pass its output to `pulumi-dra check -`",
        ),
        (
            "k/prod/kustomization.yaml",
            "patches: [{path: ../gpu/patch.yaml}]\n",
            "run `kustomize build k/prod | pulumi-dra check -`",
        ),
        (
            "k/kustomization.yml",
            "kind: Component\npatchesStrategicMerge: [gpu/patch.yaml]\n",
            "run `kustomize build DIR | pulumi-dra check -`, where DIR is a kustomization that lists "
            "k in its components",
        ),
    ],
)
def test_patch_of_any_kustomization_is_not_a_manifest(
    base: Project, file: str, text: str, fix: str, command: str
) -> None:
    base.write(file, text)
    base.write("k/gpu/patch.yaml", REPLICAS)

    done = base.run(command, "k/gpu/patch.yaml", "--stack", "dev")

    assert done.status == 2
    answer = " ".join(done.err.split())
    assert "part of the kustomization" in answer
    assert fix.replace("dra check", f"dra {command}") in answer


def test_incomplete_workload_that_no_kustomization_names_is_an_error(base: Project) -> None:
    base.write("k/gpu/kustomization.yaml", "patches: [{path: other.yaml}]\n")
    base.write("k/own/patch.yaml", REPLICAS)

    assert base.run("check", "k/own/patch.yaml", "--stack", "dev").status == 1


def test_base_is_not_counted_in_addition_to_its_overlays(base: Project) -> None:
    for name in ("dev", "prod"):
        text = f"resources: [../base]\nnamePrefix: {name}-\n"
        base.write(f"k/{name}/kustomization.yaml", text)

    assert planned(base, "k") == {"dev-serve": 1, "prod-serve": 1}


def test_overlays_of_the_same_objects_are_one_note(base: Project) -> None:
    for name in ("dev", "prod"):
        text = f"resources: [../base]\ncommonAnnotations: {{stage: {name}}}\n"
        base.write(f"k/{name}/kustomization.yaml", text)

    done = base.run("check", "k", "--stack", "dev")

    assert done.out.count("duplicate-object") == 1
    assert done.status == 0


def test_files_outside_kustomizations_are_read(base: Project) -> None:
    base.write("k/other.yaml", WORKLOAD.replace("name: serve,", "name: other,").partition("---")[2])

    assert planned(base, "k") == {"other": 1, "serve": 1}


def test_component_is_not_built_by_itself(base: Project) -> None:
    text = "kind: Component\npatches: [{path: replicas.yaml}]\n"
    base.write("k/many/kustomization.yaml", f"apiVersion: kustomize.config.k8s.io/v1alpha1\n{text}")
    base.write("k/many/replicas.yaml", REPLICAS)
    base.write("k/prod/kustomization.yaml", "resources: [../base]\ncomponents: [../many]\n")

    assert planned(base, "k") == {"serve": 50}


def test_kustomization_with_a_remote_base_cannot_be_decided(base: Project) -> None:
    remote = "https://example.com/org/repo//deploy?ref=v1"
    base.write("k/base/kustomization.yaml", f"resources: [all.yaml, '{remote}']\n")

    done = base.run("check", "k", "--stack", "dev")

    text = " ".join(done.out.split())
    assert done.status == 3, text
    assert f"{remote} in k/base is another repository" in text
    assert f"its changes (the manifests of {remote}) aren't in the plan" in text
    assert planned(base, "k") == {"serve": 1}


def test_recursive_kustomization_does_not_hang(base: Project) -> None:
    base.write("k/a/kustomization.yaml", "resources: [../b]\n")
    base.write("k/b/kustomization.yaml", "resources: [../a]\n")

    assert planned(base, "k") == {"serve": 1}


def test_migrate_changes_the_files_of_a_kustomization(base: Project) -> None:
    base.write("k/base/all.yaml", WORKLOAD.partition("---")[2])

    done = base.run("migrate", "k", "--kubernetes", "1.36", "--format", "diff")

    assert "(rendered)" not in done.out + done.err


@pytest.mark.parametrize(
    "kustomization",
    [
        'resources: ["a\\0b", all.yaml]\n',
        'resources: [all.yaml]\npatches: [{path: "a\\0b"}]\n',
        "patches: 3\n",
    ],
    ids=["resource", "patch", "number"],
)
@pytest.mark.parametrize("command", ["plan", "check"])
def test_invalid_values_of_a_kustomization_cause_no_internal_error(
    base: Project, command: str, kustomization: str
) -> None:
    base.write("k/base/kustomization.yaml", kustomization)
    done = base.run(command, "k", "--stack", "dev")
    assert "internal error" not in done.err
    assert done.status in (0, 1, 3), done.err


@pytest.mark.parametrize("key", ["files: [one.txt]", "files: [key=one.txt]", "envs: [one.txt]"])
def test_missing_file_of_a_generator_is_named(project: Project, key: str) -> None:
    project.write(
        "k/kustomization.yaml", f"resources: [pod.yaml]\nsecretGenerator: [{{name: s, {key}}}]\n"
    )
    project.write(
        "k/pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n",
    )

    (note,) = project.run("check", "k", "--format", "json").json["diagnostics"]

    assert "(one.txt in k doesn't exist)" in note["message"]
    assert (
        note["fix"] == "add one.txt to k, or build the manifests on another machine and pass them"
    )


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (
            'E1129 16:07:19.704485    1025 run.go:72] "command failed" err="no such file \\"a\\""\n',
            'no such file "a"',
        ),
        (
            'E1129 16:07:19.704485    1025 run.go:72] "command failed" err=<\n\taccumulating: a\n\tb\n >\n',
            "accumulating: a b",
        ),
        ("Error: accumulating resources\n", "Error: accumulating resources"),
    ],
)
def test_log_prefix_of_a_tool_is_removed(
    project: Project, monkeypatch: pytest.MonkeyPatch, message: str, reason: str
) -> None:
    tool = project.root / "bin" / "kustomize"
    project.write("bin/kustomize", f"#!/bin/sh\ncat >&2 <<'END'\n{message}END\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    project.write("k/kustomization.yaml", "resources: [pod.yaml]\n")
    project.write(
        "k/pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n",
    )

    notes = project.run("check", "k", "--format", "json").json["diagnostics"]

    (note,) = [each for each in notes if each["code"] == "kustomization-not-built"]
    assert f"kustomize build can't render k: {reason}" in note["message"]
    assert note["fix"] == "fix this error, or build the manifests on another machine and pass them"
