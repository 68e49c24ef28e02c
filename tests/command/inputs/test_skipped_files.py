"""Folders contain more than manifests: other and unreadable files are reported once, and the
manifests are checked.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from command_project import Done, Project

from dra_command.inputs.skipped_files import may_be_patch, skip_reason
from dra_planner.sources import Source

GOOD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: main, image: i}]}\n"
)
CLAIM = """\
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: one}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: q}
spec:
  tolerations: [{operator: Exists}]
  resourceClaims: [{name: gpu, resourceClaimName: one}]
  containers: [{name: main, image: i, resources: {claims: [{name: gpu}]}}]
"""
BROKEN = "apiVersion: v1\nkind: Pod\n  metadata: {name: p\n"
HELM = "apiVersion: v1\nkind: Pod\nmetadata: {name: {{ .Values.name }}}\n"
CHART = "apiVersion: v2\nname: shop\nversion: 1.0.0\n"
DRIVER_VALUES = "nvidiaDriverRoot: /\nresources: {gpus: {enabled: true}}\n"
PATCH = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {template: {spec: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
"""
PLACEHOLDER = "apiVersion: v1\nkind: Namespace\nmetadata: {name: '${namespace}'}\n"
ENVIRONMENT = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: shell}\n"
    "spec: {containers: [{name: main, image: i, args: ['echo ${HOME} {{x}}'], env: [{name: A, "
    "value: '${B}'}]}]}\n"
)
SPARK = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: driver}\nspec: {containers: [{name: "
    "spark-kubernetes-driver}]}\n"
)
NO_IMAGE = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: main}]}\n"
POD_WITH = (
    "apiVersion: v1\nkind: Pod\nmetadata: {{name: q}}\nspec:\n  {}\n"
    "  containers: [{{name: main, image: i, args: ['echo']}}]\n"
)

# Files next to a valid one → (severity, rule, words) of all findings, and the exit status.
FOLDERS: dict[str, tuple[dict[str, str], list[tuple[str, str, str]], int]] = {
    "values": (
        {"values-prod.yaml": "replicas: 3\n"},
        [("note", "file-not-judged", "a chart's values file")],
        0,
    ),
    "files of other tools": (
        {"package.json": '{"name": "x"}', "compose.yaml": "services: {}\n"},
        [("note", "file-not-judged", "2 files are skipped (no manifest)")],
        0,
    ),
    "files of other tools with an API version or a kind": (
        {
            "index.yaml": "apiVersion: v1\nentries: {gpu: [{apiVersion: v2, name: gpu}]}\n",
            "dashboards.yaml": "apiVersion: 1\nproviders: [{name: default}]\n",
            "app.yaml": "apiVersion: 0.3.0\nkind: ksonnet.io/app\nname: app\n",
            "schema.yaml": "name: str()\napiVersion: str()\n",
            "collector.yaml": "kind: Deployment\nreplicaCount: 1\n",
        },
        [("note", "file-not-judged", "5 files are skipped (no manifest)")],
        0,
    ),
    "an object without a kind": (
        {"a.yaml": "apiVersion: v1\nmetadata: {name: a}\n"},
        [("error", "file-not-read", "kind isn't set")],
        2,
    ),
    "an object without an API version": (
        {"a.yaml": "kind: Deployment\nspec: {replicas: 1}\n"},
        [("error", "file-not-read", "apiVersion isn't set")],
        2,
    ),
    "an object whose kind isn't a name": (
        {"a.yaml": "apiVersion: v1\nkind: apps/Pod\nmetadata: {name: a}\n"},
        [("error", "version-not-served", 'no matches for kind "apps/Pod"')],
        1,
    ),
    "the default values of the driver's chart": (
        {"driver/Chart.yaml": CHART, "driver/values.yaml": DRIVER_VALUES},
        [("note", "file-not-judged", "2 files are skipped (part of the chart")],
        0,
    ),
    "values for the driver's chart": (
        {"values.yaml": DRIVER_VALUES},
        [("error", "value-refused", "gpuResourcesEnabledOverride")],
        1,
    ),
    "a YAML program with a resource named like a chart value": (
        {
            "Pulumi.yaml": "name: x\nruntime: yaml\nresources:\n  gpus: {type: "
            "'aws:eks:NodeGroup', properties: {}}\n"
        },
        [("note", "file-not-judged", "no manifest")],
        0,
    ),
    "a chart is one finding": (
        {
            "shop/Chart.yaml": CHART,
            "shop/values.yaml": "replicas: 1\n",
            "shop/templates/a.yaml": HELM,
            "shop/templates/b.yaml": HELM,
        },
        [("note", "file-not-judged", "4 files are skipped (part of the chart")],
        0,
    ),
    "braces in an argument of a manifest next to a chart": (
        {"shop/Chart.yaml": CHART, "shop/tests/shell.yaml": ENVIRONMENT},
        [("note", "file-not-judged", "1 file is skipped (part of the chart")],
        0,
    ),
    "alternatives of one object in different folders": (
        {
            "other/a.yaml": GOOD.replace("image: i", "image: j"),
            "other/b.yaml": GOOD.replace("image: i", "image: k"),
        },
        [("note", "duplicate-object", 'define 1 object in "all/other" differently')],
        0,
    ),
    "values that contain manifests": (
        {"values.yaml": "extra:\n  - apiVersion: v1\n    kind: Pod\n"},
        [("note", "file-not-judged", "no manifest")],
        0,
    ),
    "a patch that a kustomization names": (
        {"kustomization.yaml": "patches: [{path: gpu.yaml}]\n", "gpu.yaml": PATCH},
        [("note", "file-not-judged", "part of the kustomization")],
        0,
    ),
    "a patch next to a kustomization": (
        {"kustomization.yaml": "resources: [good.yaml]\n", "gpu.yaml": PATCH},
        [("note", "file-not-judged", "part of the kustomization")],
        0,
    ),
    "a workload without its selector next to a kustomization": (
        {
            "kustomization.yaml": "resources: [good.yaml]\n",
            "base.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: "
            "{template: {metadata: {labels: {a: b}}, spec: {containers: [{name: m, image: i}]}}}\n",
        },
        [("note", "file-not-judged", "part of the kustomization")],
        0,
    ),
    "a namespace that a kustomization names": (
        {
            "kustomization.yaml": "namespace: ml\nresources: [good.yaml]\n",
            "ns.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: _}\n",
        },
        [("note", "file-not-judged", "part of the kustomization")],
        0,
    ),
    "a namespace in a component that other kustomizations include": (
        {
            "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\n"
            "kind: Component\nresources: [ns.yaml]\n",
            "c/ns.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: _}\n",
        },
        [("note", "file-not-judged", "part of the kustomization")],
        0,
    ),
    "a kubeconfig": (
        {
            "a.yaml": "apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\n"
            "current-context: here\n"
        },
        [("note", "file-not-judged", "a kubeconfig")],
        0,
    ),
    "an object of an unknown kind with a similar name": (
        {"a.yaml": "apiVersion: v1\nkind: Config\nmetadata: {name: c}\n"},
        [("error", "version-not-served", "Config")],
        1,
    ),
    "values of another driver's chart": (
        {
            "values.yaml": "image: {repository: registry.k8s.io/dra-driver-google/"
            "dra-driver-google-tpu}\nkubeletPlugin: {tolerations: []}\n"
            "selectorLabelsOverride: {}\n"
        },
        [("note", "file-not-judged", "a chart's values file")],
        0,
    ),
    "an incomplete workload without a kustomization": (
        {"gpu.yaml": PATCH},
        [
            ("error", "required-value", "spec.selector"),
            ("error", "invalid-value", "labels"),
            ("error", "required-value", "image"),
        ],
        1,
    ),
    "a template of another tool": (
        {"a.yaml": HELM},
        [("note", "file-not-judged", "1 file is skipped (a template)")],
        0,
    ),
    "a placeholder as a name": (
        {"a.yaml": PLACEHOLDER},
        [("note", "file-not-judged", "a template")],
        0,
    ),
    "a namespace that an operator fills in": (
        {"a.yaml": GOOD.replace("{name: p}", '{name: p, namespace: "FILLED BY THE OPERATOR"}')},
        [("note", "file-not-judged", "a template")],
        0,
    ),
    "a placeholder in the alias of a field": (
        {"a.yaml": POD_WITH.format("serviceAccount: '${ACCOUNT}'")},
        [("note", "file-not-judged", "a template")],
        0,
    ),
    "a placeholder in a reference": (
        {"a.yaml": POD_WITH.format("priorityClassName: $(PRIORITY)")},
        [("note", "file-not-judged", "a template")],
        0,
    ),
    "a placeholder with spaces": (
        {"a.yaml": POD_WITH.format("runtimeClassName: <your runtime class>")},
        [("note", "file-not-judged", "a template")],
        0,
    ),
    "a placeholder for a number": (
        {"a.yaml": POD_WITH.format("terminationGracePeriodSeconds: '${SECONDS:-30}'")},
        [("note", "file-not-judged", "a template")],
        0,
    ),
    "an invalid reference next to a placeholder in a command": (
        {"a.yaml": POD_WITH.format("priorityClassName: My_Class").replace("echo", "${ECHO}")},
        [("error", "invalid-value", "priorityClassName")],
        1,
    ),
    "an assertion of a test": (
        {
            "a.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    spark-version: "
            "($SPARK_VERSION)\n"
        },
        [("note", "file-not-judged", "a template")],
        0,
    ),
    "a kubeadm patch": (
        {"a.yaml": NO_IMAGE.replace("{name: p}", "{name: kube-scheduler}")},
        [("note", "file-not-judged", "a kubeadm patch")],
        0,
    ),
    "a shell variable": ({"a.yaml": ENVIRONMENT}, [], 0),
    "a Spark pod template": ({"a.yaml": SPARK}, [("note", "file-not-judged", "Spark")], 0),
    "a pod template without containers": (
        {
            "driver-pod-template.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: d}\nspec: "
            "{nodeSelector: {a: b}}\n"
        },
        [("note", "file-not-judged", "Spark")],
        0,
    ),
    "a pod without containers": (
        {
            "driver.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: d}\nspec: {nodeSelector: "
            "{a: b}}\n"
        },
        [("error", "required-value", "spec.containers")],
        1,
    ),
    "a pod without an image": ({"a.yaml": NO_IMAGE}, [("error", "required-value", "image")], 1),
    "a file that isn't YAML": (
        {"a.yaml": BROKEN},
        [("error", "file-not-read", "can't be read as YAML")],
        2,
    ),
    "a kind without its version": (
        {"a.yaml": "kind: Pod\nmetadata: {name: p}\n"},
        [("error", "file-not-read", "apiVersion isn't set")],
        2,
    ),
}


def checked(project: Project, *words: str) -> Done:
    return project.run("check", *words, "--format", "json")


def diagnostics_of(done: Done) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = done.json["diagnostics"]
    return found


@pytest.mark.parametrize("name", FOLDERS)
def test_check_reports_skipped_files(project: Project, name: str) -> None:
    files, expected, status = FOLDERS[name]
    project.write("all/good.yaml", GOOD)
    for path, text in files.items():
        project.write(f"all/{path}", text)

    done = checked(project, "all")

    found = diagnostics_of(done)
    assert sorted((each["severity"], each["code"]) for each in found) == sorted(
        (severity, code) for severity, code, _ in expected
    )
    for _, code, words in expected:
        assert any(
            each["code"] == code and words in f"{each['path']} {each['message']}" for each in found
        )
    assert done.status == status


def notes_alone(name: str) -> bool:
    return all(severity == "note" for severity, _, _ in FOLDERS[name][1])


@pytest.mark.parametrize("name", [name for name in FOLDERS if notes_alone(name)])
def test_plan_skips_the_same_files(project: Project, name: str) -> None:
    files, expected, _ = FOLDERS[name]
    project.write("all/good.yaml", GOOD)
    for path, text in files.items():
        project.write(f"all/{path}", text)

    done = project.run("plan", "all", "--stack", "dev", "--format", "json")

    found = [
        each
        for each in diagnostics_of(done)
        if each["code"] in ("file-not-judged", "duplicate-object")
    ]
    assert done.status == 0
    assert len(found) == len(expected)
    for _, _, words in expected:
        assert any(words in f"{each['path']} {each['message']}" for each in found)
        assert "pulumi-dra check" not in "".join(each["fix"] for each in found)


@pytest.mark.parametrize(
    "words", [["explain", "--claim", "default/p-x"], ["suggest", "--region", "us-east-1"]]
)
def test_other_commands_report_skipped_files_as_notes(project: Project, words: list[str]) -> None:
    project.write("all/good.yaml", GOOD)
    project.write("all/values.yaml", "replicas: 3\n")
    command, *options = words
    pools = ["--stack", "dev"] if command == "explain" else []

    done = project.run(command, "all", *pools, *options)

    assert "1 file is skipped (a chart's values file): all/values.yaml" in done.err


def test_skipped_files_do_not_make_a_saved_plan_stale(project: Project) -> None:
    project.write("workloads/values.yaml", "replicas: 3\n")
    assert project.run("plan", "--stack", "dev", "--write").status == 0
    assert project.run("plan", "--stack", "dev", "--check").status == 0
    project.write("workloads/values.yaml", "replicas: 4\n")
    assert project.run("plan", "--stack", "dev", "--check").status == 1


def test_explicitly_passed_file_is_read_as_a_manifest(project: Project) -> None:
    project.write("values.yaml", "replicas: 3\n")
    assert "apiVersion isn't set" in project.run("plan", "values.yaml", "--stack", "dev").err


ALONE = ["values", "a chart is one finding", "a placeholder as a name", "a file that isn't YAML"]


@pytest.mark.parametrize("name", ALONE)
def test_only_skipped_files_are_wrong_input(project: Project, name: str) -> None:
    for path, text in FOLDERS[name][0].items():
        project.write(f"all/{path}", text)

    assert checked(project, "all").status == 2


@pytest.mark.parametrize("command", ["plan", "check", "suggest"])
def test_explicitly_passed_template_is_wrong_input(project: Project, command: str) -> None:
    project.write("t.yaml", PLACEHOLDER)
    where = ["--region", "us-east-1"] if command == "suggest" else ["--stack", "dev"]

    done = project.run(command, "t.yaml", *where)

    assert done.status == 2
    assert "t.yaml is a template" in done.err


UNFINISHED = {
    "a Spark pod template": SPARK,
    "a kubeadm patch": NO_IMAGE.replace("{name: p}", "{name: kube-scheduler}"),
    "a kubeconfig": "apiVersion: v1\nkind: Config\nclusters: []\nusers: []\n",
}


@pytest.mark.parametrize("command", ["plan", "check"])
@pytest.mark.parametrize("what", UNFINISHED)
def test_explicitly_passed_part_of_another_tool_is_wrong_input(
    project: Project, what: str, command: str
) -> None:
    project.write("part.yaml", UNFINISHED[what])

    done = project.run(command, "part.yaml", "--stack", "dev")

    assert done.status == 2
    assert f"part.yaml is {what}, and doesn't contain a manifest" in done.err


def test_binary_file_is_one_finding(project: Project) -> None:
    project.write("all/good.yaml", GOOD)
    (project.root / "all" / "bad.yaml").write_bytes(b"\xff\x00\xfe")

    (finding,) = diagnostics_of(checked(project, "all"))

    assert (finding["code"], finding["file"]) == ("file-not-read", "all/bad.yaml")


@pytest.mark.parametrize(
    "bad",
    [BROKEN, "kind: Pod\nmetadata: {name: x}\n", None],
    ids=["not YAML", "no apiVersion", "a link to nothing"],
)
def test_plan_continues_without_an_unreadable_file(project: Project, bad: str | None) -> None:
    project.write("all/good.yaml", GOOD)
    if bad is None:
        (project.root / "all" / "bad.yaml").symlink_to("nowhere.yaml")
    else:
        project.write("all/bad.yaml", bad)

    done = project.run("plan", "all", "--stack", "dev", "--format", "json")

    assert (done.status, done.json["verdict"]) == (2, "cannot-tell")
    (finding,) = diagnostics_of(done)
    assert (finding["code"], finding["file"]) == ("file-not-read", "all/bad.yaml")
    if bad is None:
        assert finding["fix"] == "remove the link, or create its target"


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "all"),
        ("check", "all"),
        ("check", "all", "--fail-on", "warning"),
        ("check", "all", "--fail-on", "never"),
        ("ci", "all"),
        ("ci", "all", "--fail-on", "never"),
        ("explain", "all", "--claim", "default/one"),
        ("explain", "all", "--pod", "default/p"),
        ("explain", "all", "--pool", "l4"),
        ("explain", "all", "--finding", "file-not-read"),
    ],
    ids=" ".join,
)
def test_no_option_accepts_an_unreadable_file(project: Project, words: tuple[str, ...]) -> None:
    project.write("all/good.yaml", GOOD + CLAIM)
    unknown = () if "--finding" in words else ("--allow-unknown",)
    line = (*words, "--stack", "dev", *unknown)
    if "--finding" not in words:
        assert project.run(*line).status == 0
    project.write("all/bad.yaml", BROKEN)

    assert project.run(*line).status == 2


def test_unreadable_file_in_the_baseline_does_not_fail_the_run(project: Project) -> None:
    project.write("all/good.yaml", GOOD)
    project.write("all/bad.yaml", BROKEN)
    words = ("all", "--stack", "dev")
    assert project.run("ci", *words, "--write-baseline", "known.json").status == 0
    assert project.run("ci", *words).status == 2
    assert project.run("ci", *words, "--baseline", "known.json").status == 0


@pytest.mark.parametrize("pattern", ["bad.yaml", "all/bad.yaml", "bad*", "./all/bad.yaml"])
def test_excluded_files_are_not_read(project: Project, pattern: str) -> None:
    project.write("all/good.yaml", GOOD)
    project.write("all/bad.yaml", BROKEN)

    done = checked(project, "all", "--exclude", pattern)

    assert (done.status, diagnostics_of(done)) == (0, [])


def test_whole_folder_can_be_excluded(project: Project) -> None:
    project.write("all/good.yaml", GOOD)
    project.write("all/charts/a/b.yaml", BROKEN)

    assert checked(project, "all", "--exclude", "charts").status == 0


def test_standard_input_has_the_given_name(project: Project) -> None:
    done = project.run("check", "-", "--stdin-name", "web.yaml", "--format", "json", stdin=NO_IMAGE)

    assert [each["file"] for each in diagnostics_of(done)] == ["web.yaml"]


def test_select_runs_only_one_rule(project: Project) -> None:
    project.write(
        "pod.yaml", GOOD.replace("image: i}", "image: i, resources: {requests: {cpu: 64}}}")
    )

    words = ("check", "pod.yaml", "--stack", "dev", "--format", "json", "--select")
    other = project.run(*words, "class-misspelt")
    selected = project.run(*words, "pod-fits-no-system-pool")

    assert (diagnostics_of(other), other.status) == ([], 0)
    assert ([each["code"] for each in diagnostics_of(selected)], selected.status) == (
        ["pod-fits-no-system-pool"],
        1,
    )


def test_unknown_rule_gets_a_suggestion(project: Project) -> None:
    done = project.run("check", "workloads", "--select", "claim-fits-no-pol")

    assert done.status == 2
    assert 'use "claim-fits-no-pool"' in done.err


CHART_FILES = {
    "work/chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n",
    "work/chart/templates/d.yaml": "kind: Deployment\nspec: {{ .Values.spec }}\n",
}


@pytest.mark.parametrize("command", ["plan", "check"])
@pytest.mark.parametrize(("values", "status"), [("nvidia.com/gpu: 4\n", 3), ("web: true\n", 0)])
def test_chart_that_requests_devices_leaves_the_verdict_open(
    project: Project, command: str, values: str, status: int
) -> None:
    for name, text in CHART_FILES.items():
        project.write(name, text)
    project.write("work/chart/values.yaml", values)
    project.write(
        "work/pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: "
        "{containers: [{name: c, image: a}]}\n",
    )

    done = project.run(command, "work", "--stack", "dev")

    assert done.status == status, done.out
    assert ("Chart work/chart: it isn't rendered" in " ".join(done.out.split())) == (status == 3)


def test_first_placeholder_in_nested_fields_is_named(project: Project) -> None:
    containers = (
        "[{name: main, image: i, env: [{name: A, value: '${A}'}]}, {name: '${B}', image: i}]"
    )
    volume = "{name: v, persistentVolumeClaim: {claimName: '${C}'}}"
    project.write(
        "all/pod.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
        f"spec: {{containers: {containers}, volumes: [{volume}]}}\n",
    )
    project.write("all/good.yaml", GOOD)
    (note,) = diagnostics_of(project.run("check", "all", "--format", "json"))
    assert note["fix"] == "render the template first, or replace `${B}` with a value"


NAMING = {
    "next to its folder": ("over", "../patches/p.yaml"),
    "two levels below": ("overlays/prod", "../../patches/p.yaml"),
}


@pytest.mark.parametrize("spelling", ["from above", "in its folder", "absolute"])
@pytest.mark.parametrize("naming", NAMING)
def test_patch_of_another_folder_is_skipped_in_any_spelling(
    project: Project, monkeypatch: pytest.MonkeyPatch, naming: str, spelling: str
) -> None:
    folder, named = NAMING[naming]
    project.write(f"kk/{folder}/kustomization.yaml", f"patches: [{{path: {named}}}]\n")
    file = project.write("kk/patches/p.yaml", PATCH)
    (project.root / ".git").mkdir()
    monkeypatch.chdir(file.parent if spelling == "in its folder" else project.root)
    path = {"from above": "kk/patches/p.yaml", "in its folder": "p.yaml", "absolute": str(file)}

    reason = skip_reason(Source(path[spelling], PATCH))

    assert reason is not None
    assert (reason.what, os.path.realpath(reason.root)) == (
        "part of the kustomization",
        str(project.root / "kk" / folder),
    )


@pytest.mark.parametrize("has_repository", [True, False])
def test_folders_above_the_working_directory_are_searched_only_in_a_repository(
    project: Project, monkeypatch: pytest.MonkeyPatch, has_repository: bool
) -> None:
    project.write("kk/over/kustomization.yaml", "patches: [{path: ../patches/p.yaml}]\n")
    file = project.write("kk/patches/p.yaml", PATCH)
    if has_repository:
        (project.root / ".git").mkdir()
    monkeypatch.chdir(file.parent)

    assert (skip_reason(Source("p.yaml", PATCH)) is not None) == has_repository


def test_complete_pod_is_not_searched_for_in_kustomizations() -> None:
    assert not may_be_patch(GOOD)
    assert may_be_patch(NO_IMAGE)
    assert may_be_patch(PATCH)
