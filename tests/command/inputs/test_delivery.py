"""Argo CD Applications and Flux objects are replaced with the manifests that they deliver from
their own repository.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from command_project import Project

from dra_command.inputs.delivery import deliver
from dra_planner.sources import Source, read_sources
from dra_sandbox.tools.helm import helm_at_hand

HELM = shutil.which("helm") or helm_at_hand()
needs_helm = pytest.mark.skipif(HELM is None, reason="needs helm (pulumi-dra sandbox tools --helm)")
needs_kustomize = pytest.mark.skipif(
    not (shutil.which("kustomize") or shutil.which("kubectl")), reason="needs kustomize or kubectl"
)
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  containers: [{name: main, image: registry.example/chat:1}]
"""
CHART = {
    "charts/chat/Chart.yaml": "apiVersion: v2\nname: chat\nversion: 1.0.0\n",
    "charts/chat/values.yaml": "tag: none\nsize: small\n",
    "charts/chat/prod.yaml": "tag: from-file\nsize: medium\n",
    "charts/chat/templates/pod.yaml": """\
apiVersion: v1
kind: Pod
metadata: {name: "{{ .Release.Name }}", labels: {tag: "{{ .Values.tag }}", size: "{{ .Values.size }}"}}
spec: {containers: [{name: main, image: registry.example/chat}]}
""",
}


def application(source: str, name: str = "chat", namespace: str = "serve") -> str:
    return f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd}}
spec:
  destination: {{namespace: {namespace}}}
  source:
    repoURL: https://git.example/team/platform
{source}
"""


def flux(kind: str, spec: str, name: str = "chat") -> str:
    group = (
        "helm.toolkit.fluxcd.io/v2" if kind == "HelmRelease" else "kustomize.toolkit.fluxcd.io/v1"
    )
    return (
        f"apiVersion: {group}\nkind: {kind}\nmetadata: {{name: {name}, namespace: "
        f"flux-system}}\nspec:\n{spec}\n"
    )


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A git repository with a chart, a kustomization, and plain manifests; helm is on PATH if it is
    installed.
    """
    made = Project(tmp_path)
    for path, text in CHART.items():
        made.write(path, text)
    made.write("base/kustomization.yaml", "resources: [pod.yaml]\n")
    made.write("base/pod.yaml", POD.replace("NAME", "base"))
    made.write("overlays/prod/kustomization.yaml", "resources: [../../base]\nnamePrefix: prod-\n")
    made.write("plain/a.yaml", POD.replace("NAME", "a"))
    made.write("plain/deep/b.yaml", POD.replace("NAME", "b"))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)
    if HELM is not None:
        monkeypatch.setenv("PATH", f"{Path(HELM).parent}{os.pathsep}{os.environ['PATH']}")
    return made


def delivered(repository: Project, text: str) -> list[tuple[str, str, str]]:
    """Return the namespace, name, and labels of the pods that the objects in a file deliver.
    Nothing else remains in the file.
    """
    repository.write("apps/app.yaml", text)
    found = deliver(read_sources(["apps"]))
    assert found.notes == ()
    assert found.rest == ()
    pods = []
    for source in found.rendered:
        for item in filter(None, yaml.safe_load_all(source.text)):
            meta = item["metadata"]
            labels = " ".join(
                f"{key}={value}" for key, value in sorted(meta.get("labels", {}).items())
            )
            pods.append((meta.get("namespace") or source.namespace_at(1), meta["name"], labels))
    return pods


HELM_CASES = {
    "values for the chart": ("    path: charts/chat", "size=small tag=none"),
    "a values file below the chart": (
        "    path: charts/chat\n    helm: {valueFiles: [prod.yaml]}",
        "size=medium tag=from-file",
    ),
    "a values file from the root": (
        "    path: charts/chat\n    helm: {valueFiles: [/charts/chat/prod.yaml]}",
        "size=medium tag=from-file",
    ),
    "inline values after files": (
        "    path: charts/chat\n    helm: {valueFiles: [prod.yaml], values: 'size: large'}",
        "size=large tag=from-file",
    ),
    "a values object before values": (
        "    path: charts/chat\n    helm: {values: 'size: no', valuesObject: {size: huge}}",
        "size=huge tag=none",
    ),
    "parameters last": (
        (
            "    path: charts/chat\n    helm: {valuesObject: {size: no}, parameters: [{name: size, "
            "value: 'a,b'}]}"
        ),
        "size=a,b tag=none",
    ),
    "an optional missing values file": (
        "    path: charts/chat\n    helm: {valueFiles: [no.yaml], ignoreMissingValueFiles: true}",
        "size=small tag=none",
    ),
}


@needs_helm
@pytest.mark.parametrize(("source", "labels"), HELM_CASES.values(), ids=HELM_CASES)
def test_application_renders_its_chart(source: str, labels: str, repository: Project) -> None:
    assert delivered(repository, application(source)) == [("serve", "chat", labels)]


@needs_helm
def test_values_may_come_from_another_source_of_the_application(repository: Project) -> None:
    text = application("    path: charts/chat").replace(
        "  source:\n", "  sources:\n  - ref: values\n    repoURL: x/y\n  -\n"
    )
    text = text.replace(
        "    path: charts/chat",
        "    path: charts/chat\n    helm: {valueFiles: [$values/charts/chat/prod.yaml]}",
    )
    assert delivered(repository, text) == [("serve", "chat", "size=medium tag=from-file")]


@needs_kustomize
@pytest.mark.parametrize(
    ("changes", "name"),
    [("", "prod-base"), ("\n    kustomize: {namePrefix: eu-, nameSuffix: -b}", "eu-prod-base-b")],
    ids=["unchanged", "changed"],
)
def test_application_builds_its_kustomization(changes: str, name: str, repository: Project) -> None:
    assert delivered(repository, application(f"    path: overlays/prod{changes}")) == [
        ("serve", name, "")
    ]


@needs_kustomize
def test_application_images_use_the_kustomize_format(repository: Project) -> None:
    source = (
        "    path: base\n    kustomize: {images: "
        "['registry.example/chat=other.example:5000/talk:2']}"
    )
    repository.write("app.yaml", application(source))
    (rendered,) = deliver(read_sources(["app.yaml"])).rendered
    assert (
        yaml.safe_load(rendered.text)["spec"]["containers"][0]["image"]
        == "other.example:5000/talk:2"
    )


def test_directory_recursion_follows_the_application(repository: Project) -> None:
    assert delivered(repository, application("    path: plain")) == [("serve", "a", "")]
    deep = application("    path: plain\n    directory: {recurse: true}")
    assert delivered(repository, deep) == [("serve", "a", ""), ("serve", "b", "")]


def test_app_of_apps_is_followed_and_files_are_read_once(
    repository: Project,
) -> None:
    repository.write("apps/plain.yaml", application("    path: plain", "plain"))
    repository.write("apps/root.yaml", application("    path: apps", "root", "argocd"))
    found = deliver(read_sources(["apps"]))
    assert [source.name for source in found.rendered if "Pod" in source.text] == [
        "plain (Application plain, rendered)"
    ]
    whole = deliver(read_sources(["."]))
    pods = [
        item["metadata"]["name"]
        for source in (*whole.rest, *whole.rendered)
        if "kind: Pod" in source.text and "{{" not in source.text
        for item in yaml.safe_load_all(source.text)
        if item
    ]
    assert sorted(pods) == ["a", "b", "base"]


@needs_helm
def test_flux_helm_release_renders_its_chart(repository: Project) -> None:
    metadata = "metadata: {name: sizes, namespace: flux-system}"
    repository.write(
        "values.yaml",
        f"apiVersion: v1\nkind: ConfigMap\n{metadata}\ndata: {{values.yaml: 'size: some'}}\n",
    )
    spec = """\
  targetNamespace: serve
  chart:
    spec: {chart: ./charts/chat, valuesFiles: [charts/chat/prod.yaml], sourceRef: {kind: GitRepository, name: all}}
  valuesFrom: [{kind: ConfigMap, name: sizes}]
  values: {tag: inline}
"""
    repository.write("release.yaml", flux("HelmRelease", spec))
    found = deliver(read_sources(["release.yaml", "values.yaml"]))
    (pod,) = (yaml.safe_load(each.text) for each in found.rendered)
    assert pod["metadata"] == {"name": "serve-chat", "labels": {"size": "some", "tag": "inline"}}
    assert [each.name for each in found.rest] == ["values.yaml"]


@needs_kustomize
def test_flux_kustomization_builds_any_folder(
    repository: Project,
) -> None:
    source = "  sourceRef: {kind: GitRepository, name: all}\n  targetNamespace: serve\n"
    assert delivered(repository, flux("Kustomization", f"{source}  path: ./overlays/prod")) == [
        ("serve", "prod-base", "")
    ]
    found = delivered(
        repository, flux("Kustomization", f"{source}  path: ./plain\n  namePrefix: x-")
    )
    assert found == [("serve", "x-a", ""), ("serve", "x-b", "")]
    repository.write("plain/deep/b.yaml", POD.replace("NAME", "${who:=nobody}-${where}"))
    build = "  postBuild: {substitute: {where: here}}"
    found = delivered(
        repository,
        flux("Kustomization", f"  sourceRef: {{kind: GitRepository}}\n  path: plain\n{build}"),
    )
    assert found == [("", "a", ""), ("", "nobody-here", "")]


NOT_RENDERED = {
    "a chart of a registry": (application("    chart: chat"), "its chart chat is in a registry"),
    "a folder that isn't there": (application("    path: nowhere"), "nowhere isn't in"),
    "a folder outside": (application("    path: ../.."), "../.. is outside the repository"),
    "a values file outside": (
        application("    path: charts/chat\n    helm: {valueFiles: [../../../../../etc/passwd]}"),
        "outside the repository",
    ),
    "remote values": (
        application("    path: charts/chat\n    helm: {valueFiles: ['https://e.example/v.yaml']}"),
        "its values come from https:",
    ),
    "a plugin": (
        application("    path: plain\n    plugin: {name: x}"),
        "needs a plugin or Jsonnet",
    ),
    "a HelmRepository": (
        flux(
            "HelmRelease",
            "  chart: {spec: {chart: chat, sourceRef: {kind: HelmRepository, name: r}}}",
        ),
        "its chart chat is in a registry",
    ),
    "values in a Secret": (
        flux(
            "HelmRelease",
            "  chart: {spec: {chart: charts/chat, sourceRef: {kind: GitRepository}}}\n"
            "  valuesFrom: [{kind: Secret, name: s}]",
        ),
        "its values are in the Secret s",
    ),
    "an OCI source": (
        flux("Kustomization", "  sourceRef: {kind: OCIRepository}\n  path: ./"),
        "the source kind OCIRepository isn't supported",
    ),
    "no source": (flux("Kustomization", "  path: ./"), "it has no source"),
}


@pytest.mark.parametrize(("text", "reason"), NOT_RENDERED.values(), ids=NOT_RENDERED)
def test_object_with_external_manifests_is_kept_with_a_reason(
    text: str, reason: str, repository: Project
) -> None:
    found = deliver([Source("app.yaml", text)])
    assert (found.rest, found.rendered) == ((Source("app.yaml", text),), ())
    (note,) = found.notes
    assert reason in note.message
    assert (note.place.file, note.place.line) == ("app.yaml", 1)


def test_source_in_another_repository_is_not_read(repository: Project) -> None:
    remote = [
        "git",
        "-C",
        str(repository.root),
        "remote",
        "add",
        "origin",
        "git@git.example:team/other.git",
    ]
    subprocess.run(remote, check=True)
    (note,) = deliver([Source("app.yaml", application("    path: plain"))]).notes
    assert "its source is in another repository, https://git.example/team/platform" in note.message
    own = application("    path: plain").replace("team/platform", "team/other")
    assert deliver([Source("app.yaml", own)]).notes == ()


def test_without_the_tool_the_plan_cannot_tell_and_names_the_tool(
    repository: Project,
) -> None:
    repository.stack()
    repository.write("app.yaml", application("    path: charts/chat"))
    done = repository.run(
        "plan",
        "app.yaml",
        "--stack",
        "dev",
        PATH=str(repository.root / "none"),
        XDG_CACHE_HOME=str(repository.root / "none"),
    )
    assert done.status == 3
    assert "Application chat: helm isn't on PATH, so the chart wasn't rendered" in done.out


def test_plan_and_check_read_the_delivered_manifests(repository: Project) -> None:
    repository.stack()
    repository.write(
        "app.yaml", f"{POD.replace('NAME', 'beside')}---\n{application('    path: plain')}"
    )
    plan = repository.run(
        "plan", "app.yaml", "--stack", "dev", "--show-rendered", "--format", "json"
    )
    assert plan.status == 0, plan.err
    assert {(each["namespace"], each["name"]) for each in plan.json["workloads"]} == {
        ("default", "beside"),
        ("serve", "a"),
    }
    assert "# plain (Application chat, rendered)" in plan.err
    assert repository.run("check", "app.yaml", "--stack", "dev").status == 0
