"""Kustomizations that no tool builds. If their changes affect a plan, the verdict is *cannot
tell*.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from command_project import Project
from kustomized_objects import REPLICAS, WORKLOAD

SERVE = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: serve, namespace: ml}\n"
IMAGE = f"{SERVE}spec: {{template: {{spec: {{containers: [{{name: main, image: 'app:2'}}]}}}}}}\n"
SELECTS = f"{SERVE}spec: {{template: {{spec: {{nodeSelector: {{zone: a}}}}}}}}\n"
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {type: NodePort}\n"


@pytest.fixture
def base(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    project.write("k/base/kustomization.yaml", "resources: [all.yaml]\n")
    project.write("k/base/all.yaml", WORKLOAD)
    return project


@pytest.mark.parametrize(
    "command",
    [
        ("plan",),
        ("check",),
        ("explain", "--pod", "ml/serve"),
        ("explain", "--claim", "ml/serve-0-gpu"),
        ("explain", "--pool", "l4"),
    ],
)
def test_each_command_cannot_tell(base: Project, command: tuple[str, ...]) -> None:
    base.write("k/prod/kustomization.yaml", "resources: [../base]\npatches: [{path: p.yaml}]\n")
    base.write("k/prod/p.yaml", REPLICAS)

    done = base.run(command[0], "k", *command[1:], "--stack", "dev")

    text = " ".join(done.out.split())
    assert done.status == 3, done.out + done.err
    assert "Kustomization k/prod: the kustomization isn't built" in text
    assert "its changes (replicas of Deployment serve) aren't in the plan" in text
    assert "run `kustomize build k/prod | pulumi-dra plan -`" in text


@pytest.mark.parametrize(
    ("kustomization", "patch", "change"),
    [
        ("patches: [{path: p.yaml}]", SELECTS, "nodeSelector.zone of Deployment serve"),
        ("patchesStrategicMerge: [p.yaml]", REPLICAS, "replicas of Deployment serve"),
        (
            "patches: [{target: {kind: Deployment}, path: p.yaml}]",
            "- {op: add, path: /spec/template/spec/tolerations/-, value: {operator: Exists}}\n",
            "tolerations of Deployment",
        ),
        (
            "patches: [{patch: '[{op: replace, path: /spec/replicas, value: 9}]'}]",
            "",
            "replicas of workloads",
        ),
        ("patches: [{path: missing.yaml}]", "", "the patch missing.yaml"),
        ("replicas: [{name: serve, count: 9}]", "", "replicas of serve"),
        ("helmCharts: [{name: gpu}]", "", "helmCharts"),
        ("commonLabels: {kueue.x-k8s.io/queue-name: q}", "", "the label of a queue"),
        (
            "replacements: [{targets: [{fieldPaths: [spec.replicas]}]}]",
            "",
            "a replacement of spec.replicas",
        ),
        ("components: [../many]", REPLICAS, "replicas of Deployment serve"),
        ("bases: [../../elsewhere]", "", "the manifests of ../../elsewhere"),
        ("bases: [gone.yaml]", "", "the manifests of gone.yaml"),
    ],
)
def test_changes_that_affect_pods_are_reported(
    base: Project, kustomization: str, patch: str, change: str
) -> None:
    base.write("k/prod/kustomization.yaml", f"resources: [../base]\n{kustomization}\n")
    base.write("k/prod/p.yaml", patch)
    base.write("k/many/kustomization.yaml", "kind: Component\npatches: [{path: ../prod/p.yaml}]\n")

    done = base.run("plan", "k", "--stack", "dev")

    assert done.status == 3, done.out
    assert f"({change}) aren't in the plan" in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("kustomization", "patch"),
    [
        ("images: [{name: app, newTag: '2'}]", ""),
        ("namePrefix: prod-\ncommonLabels: {team: ml}", ""),
        ("configMapGenerator: [{name: c, literals: [a=b]}]", ""),
        ("patches: [{path: p.yaml}]", IMAGE),
        ("patches: [{path: p.yaml}]", SERVICE),
        (
            "patches: [{target: {kind: Deployment}, path: p.yaml}]",
            "- {op: replace, path: /spec/template/spec/containers/0/image, value: 'app:2'}\n",
        ),
    ],
)
def test_irrelevant_changes_do_not_affect_the_verdict(
    base: Project, kustomization: str, patch: str
) -> None:
    base.write("k/prod/kustomization.yaml", f"resources: [../base]\n{kustomization}\n")
    if patch:
        base.write("k/prod/p.yaml", patch)

    done = base.run("plan", "k", "--stack", "dev")

    assert done.status == 0, done.out


def test_base_of_two_overlays_is_planned_once_and_reported(base: Project) -> None:
    for name in ("dev", "prod"):
        base.write(f"k/{name}/kustomization.yaml", f"resources: [../base]\nnamePrefix: {name}-\n")

    done = base.run("plan", "k", "--stack", "dev")

    assert done.status == 3
    assert "(k/base in 2 kustomizations)" in " ".join(done.out.split())


def test_check_without_pools_has_a_note(base: Project) -> None:
    base.write("k/prod/kustomization.yaml", "resources: [../base]\npatches: [{path: p.yaml}]\n")
    base.write("k/prod/p.yaml", REPLICAS)

    done = base.run("check", "k")

    text = " ".join(done.out.split())
    assert done.status == 0
    assert "its changes (replicas of Deployment serve) aren't checked" in text


def test_saved_plan_uses_the_files_and_cannot_tell(project: Project) -> None:
    project.write("workloads/base/kustomization.yaml", "resources: [all.yaml]\n")
    project.write("workloads/base/all.yaml", WORKLOAD)
    project.write(
        "workloads/prod/kustomization.yaml",
        "resources: [../base]\nreplicas: [{name: serve, count: 9}]\n",
    )

    done = project.run("plan", "--stack", "dev", "--write")

    assert done.status == 3
    assert "a saved plan uses the files without changes" in " ".join(done.out.split())


KLOG = (
    'E1128 19:00:00.0 9 run.go:72] "command failed" err=<\n'
    "\tFailed to read k/base/a.yaml:\n\tkind should be Kustomization\n >\n"
)


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        (KLOG, "k/base: Failed to read k/base/a.yaml: kind should be Kustomization"),
        (
            "Warning: old\nError: no matches for a patch\n\n",
            "k/base: Error: no matches for a patch",
        ),
        ("", "k/base: exit status 1"),
    ],
    ids=["several lines", "one line", "nothing"],
)
@pytest.mark.parametrize("command", ["plan", "check", "ci"])
def test_kustomization_that_the_tool_rejects_cannot_be_decided(
    base: Project, tmp_path: Path, command: str, printed: str, reason: str
) -> None:
    """Given a kustomization without changes that kubectl rejects, when a command reads it, then the
    verdict is *cannot tell*, with kubectl's reason.
    """
    tool = tmp_path / "empty" / "kubectl"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nprintf '%s' '{printed}' >&2\nexit 1\n", encoding="utf-8")
    tool.chmod(0o755)

    done = base.run(command, "k", "--stack", "dev", COLUMNS="500")

    assert done.status == 3, done.out + done.err
    if command != "ci":
        assert f"kubectl kustomize can't render {reason}, so its manifests" in done.out


def test_kustomization_that_is_a_list_cannot_be_decided(base: Project) -> None:
    base.write("k/base/kustomization.yaml", "- all.yaml\n")

    done = base.run("plan", "k", "--stack", "dev", COLUMNS="500")

    assert done.status == 3
    assert "k/base/kustomization.yaml isn't a mapping" in done.out
