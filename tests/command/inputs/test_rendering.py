"""helm and kustomize render the charts and kustomizations that the command line names."""

from __future__ import annotations

import os
import shutil

import pytest
from command_project import Project

from dra_sandbox.tools.helm import HELM as HELM_TOOL

KUSTOMIZATION = "resources: [claim.yaml]\nnamePrefix: prod-\n"
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu, namespace: default}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
"""
HELM = """\
#!/bin/sh
echo "$@" > words
cat rendered.yaml
"""


@pytest.mark.skipif(
    not (shutil.which("kustomize") or shutil.which("kubectl")), reason="needs kustomize or kubectl"
)
def test_kustomization_is_built_before_it_is_checked(project: Project) -> None:
    project.write("overlay/kustomization.yaml", KUSTOMIZATION)
    project.write("overlay/claim.yaml", CLAIM.replace("gpu.nvidia.com", "gpu.nvidia.comm"))

    done = project.run("check", "overlay", "--show-rendered")

    assert "prod-gpu" in done.err
    assert "prod-gpu" in done.out
    assert "overlay (rendered)" in done.out


@pytest.mark.skipif(
    not (shutil.which("kustomize") or shutil.which("kubectl")), reason="needs kustomize or kubectl"
)
def test_failing_kustomization_prints_the_tools_error(project: Project) -> None:
    project.write("overlay/kustomization.yaml", "resources: [missing.yaml]\n")

    done = project.run("check", "overlay")

    assert done.status == 2
    assert "missing.yaml" in done.err


def test_chart_is_rendered_with_its_values(project: Project) -> None:
    project.write("chart/Chart.yaml", "apiVersion: v2\nname: chat\nversion: 1.0.0\n")
    project.write("chart/templates/claim.yaml", "kind: {{ .Values.kind }}\n")
    project.write("prod.yaml", "kind: ResourceClaim\n")
    project.write("rendered.yaml", CLAIM)
    project.write("bin/helm", HELM).chmod(0o755)
    path = f"{project.root / 'bin'}{os.pathsep}{os.environ['PATH']}"

    done = project.run("check", "chart", "-f", "prod.yaml", "--set", "a=b", PATH=path)

    assert done.status == 0
    words = (project.root / "words").read_text().split()
    assert words == ["template", "--values", "prod.yaml", "--set", "a=b", "--", "chart", "chart"]


@pytest.mark.parametrize("command", ["check", "plan"])
def test_values_file_must_exist_even_without_helm(project: Project, command: str) -> None:
    project.write("chart/Chart.yaml", "apiVersion: v2\nname: chat\nversion: 1.0.0\n")
    project.write("chart/templates/claim.yaml", CLAIM)

    done = project.run(command, "chart", "-f", "prd.yaml", "--stack", "dev", PATH="/nowhere")

    assert done.status == 2
    assert "prd.yaml doesn't exist" in done.err


def test_chart_without_helm_is_reported_with_the_command_to_render_it(project: Project) -> None:
    project.write("chart/Chart.yaml", "apiVersion: v2\nname: chat\nversion: 1.0.0\n")
    project.write("chart/templates/claim.yaml", "kind: {{ .Values.kind }}\n")

    empty = str(project.root / "empty")

    done = project.run("check", "chart", PATH=empty, XDG_CACHE_HOME=empty)

    assert done.status == 2
    assert "helm template" in done.err


@pytest.mark.parametrize("command", ["plan", "check"])
def test_missing_helm_is_reported_with_the_command_to_build_it(
    project: Project, command: str
) -> None:
    project.write("chart/Chart.yaml", "apiVersion: v2\nname: chat\nversion: 1.0.0\n")
    project.write("chart/templates/claim.yaml", "kind: {{ .Values.kind }}\n")
    empty = str(project.root / "empty")

    done = project.run(command, "chart", "--stack", "dev", PATH=empty, XDG_CACHE_HOME=empty)

    assert done.status == 2
    assert (
        "install helm, build it with `pulumi-dra sandbox tools --helm`, or render the chart "
        "elsewhere: "
    ) in done.err
    assert f"helm template chart | pulumi-dra {command} -" in done.err


def test_built_helm_is_used_if_none_is_on_path(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(project.root / "cache"))
    project.write("chart/Chart.yaml", "apiVersion: v2\nname: chat\nversion: 1.0.0\n")
    project.write("chart/templates/claim.yaml", "kind: {{ .Values.kind }}\n")
    project.write("rendered.yaml", CLAIM)
    built = HELM_TOOL.binary
    built.parent.mkdir(parents=True)
    built.write_text(HELM.replace("cat ", f"{shutil.which('cat')} "))
    built.chmod(0o755)

    done = project.run("check", "chart", PATH=str(project.root / "empty"))

    assert done.status == 0
    assert "template" in (project.root / "words").read_text()


def test_values_without_a_chart_are_wrong_input(project: Project) -> None:
    project.write("claim.yaml", CLAIM)

    done = project.run("check", "claim.yaml", "-f", "prod.yaml")

    assert done.status == 2
    assert "Chart.yaml" in done.err


def test_fix_for_a_chart_that_renders_too_long_works(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dra_command.inputs.renderer_process.SECONDS", 0.2)
    project.write("chart/Chart.yaml", "apiVersion: v2\nname: chat\nversion: 1.0.0\n")
    project.write("bin/helm", "#!/bin/sh\nexec sleep 20\n").chmod(0o755)

    done = project.run(
        "check", "chart", PATH=f"{project.root / 'bin'}{os.pathsep}{os.environ['PATH']}"
    )

    assert done.status == 2
    assert "run helm template yourself: `helm template … | pulumi-dra plan -`" in done.err
    assert project.run("check", "-", stdin=CLAIM).status == 0
