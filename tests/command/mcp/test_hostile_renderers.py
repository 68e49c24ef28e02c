"""Hostile charts and kustomizations: the tools that render them for an agent can't access anything
outside the folder, can't start programs, and end in time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from command_project import Project

from dra_command.command_line.arguments import UsageError
from dra_command.inputs import renderer_process
from dra_command.inputs.renderer_process import isolate_renderers, run_limited
from dra_command.mcp.confinement import Confinement, NotAllowedHere
from dra_command.mcp.invocation import Invocation
from dra_sandbox.tools.helm import helm_at_hand

HELM = helm_at_hand()
needs_helm = pytest.mark.skipif(HELM is None, reason="needs helm (pulumi-dra sandbox tools --helm)")
needs_kustomize = pytest.mark.skipif(
    not (shutil.which("kustomize") or shutil.which("kubectl")), reason="needs kustomize or kubectl"
)
SECRET = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stolen}\n"
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
"""
CHART = "apiVersion: v2\nname: chat\nversion: 1.0.0\n"
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: chat}
spec:
  source: {path: chart, helm: {releaseName: "--post-renderer=PROGRAM"}}
"""


@pytest.fixture
def root(tmp_path: Path) -> Project:
    """A folder for agents, next to a secret that the folder's files must not be able to read."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/kustomization.yaml").write_text("resources: [secret.yaml]\n")
    (tmp_path / "outside/secret.yaml").write_text(SECRET)
    (tmp_path / "root").mkdir()
    return Project(tmp_path / "root")


@pytest.fixture
def site() -> Iterator[tuple[str, list[str]]]:
    """A web server on this machine, and the paths that were fetched from it."""
    fetched: list[str] = []

    class _Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fetched.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(CLAIM.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = HTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", fetched
    server.shutdown()
    server.server_close()


def rendered(root: Project, path: str) -> str:
    """Return the answer of an agent's call about a folder, as text."""
    return str(Invocation(root.root.resolve()).answer("check", [path], {}))


KUSTOMIZATIONS = {
    "a base": "resources: [claim.yaml, SITE/base.yaml]\n",
    "a patch": "resources: [claim.yaml]\npatches: [{path: SITE/patch.yaml}]\n",
    "a schema": "resources: [claim.yaml]\nopenapi: {path: SITE/schema.json}\n",
    "a transformer": "resources: [claim.yaml]\ntransformers: [transformer.yaml]\n",
}
TRANSFORMER = """\
apiVersion: builtin
kind: PatchTransformer
metadata: {name: a}
path: SITE/patch.yaml
target: {kind: ResourceClaim}
"""


@needs_kustomize
@pytest.mark.parametrize("case", KUSTOMIZATIONS)
def test_kustomization_downloads_nothing(
    case: str, root: Project, site: tuple[str, list[str]]
) -> None:
    address, fetched = site
    root.write("k/kustomization.yaml", KUSTOMIZATIONS[case].replace("SITE", address))
    root.write("k/transformer.yaml", TRANSFORMER.replace("SITE", address))
    root.write("k/claim.yaml", CLAIM)

    rendered(root, "./k")

    assert fetched == []


@needs_kustomize
@pytest.mark.parametrize(
    "text", ["resources: [../../outside]\n", "resources: [../link]\n", "bases: [a]\n"]
)
def test_base_outside_the_folder_is_not_built(text: str, root: Project) -> None:
    root.write("k/kustomization.yaml", text)
    root.write("k/a/kustomization.yaml", "components: [../../../outside]\n")
    (root.root / "link").symlink_to(root.root.parent / "outside")

    assert "stolen" not in rendered(root, "./k")


@needs_helm
@pytest.mark.parametrize("link", ["templates/secret.yaml", "files"])
def test_chart_with_a_link_out_of_the_folder_is_not_rendered(
    link: str, root: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(str(HELM)).parent}{os.pathsep}{os.environ['PATH']}")
    root.write("chart/Chart.yaml", CHART)
    template = '{{ range $name, $text := .Files.Glob "files/*" }}{{ $text | toString }}{{ end }}'
    root.write("chart/templates/all.yaml", template)
    target = root.root.parent / "outside" / ("secret.yaml" if "." in link else "")
    (root.root / "chart" / link).symlink_to(target)

    answer = rendered(root, "./chart")

    assert "stolen" not in answer
    assert "links to a file outside the folder that this server may read" in answer


@needs_helm
def test_release_name_cannot_start_a_program(
    root: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This is tested for an agent, and in a pipeline that plans another person's change."""
    monkeypatch.setenv("PATH", f"{Path(str(HELM)).parent}{os.pathsep}{os.environ['PATH']}")
    program = root.write("program", "#!/bin/sh\ntouch started\ncat\n")
    program.chmod(0o755)
    root.write("chart/Chart.yaml", CHART)
    root.write("chart/templates/claim.yaml", CLAIM)
    root.write("apps/chat.yaml", APPLICATION.replace("PROGRAM", str(program)))
    subprocess.run(["git", "init", "-q", str(root.root)], check=True)

    rendered(root, "./apps")
    root.run("check", "apps")

    assert not (root.root / "started").exists()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders of isolation, which don't exist before and after the test."""
    roots: list[Path] = []
    monkeypatch.setattr(renderer_process, "_roots", roots)
    return roots


def fake_helm(root: Project, script: str) -> list[str]:
    """Return the command of a tool that runs a script instead of rendering."""
    root.write("chart/Chart.yaml", CHART)
    root.write("bin/helm", f"#!/bin/sh\n{script}\n").chmod(0o755)
    return [str(root.root / "bin/helm"), "template", "--", "chat", str(root.root / "chart")]


def test_renderer_gets_neither_credentials_nor_programs(
    root: Project, alone: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "stolen")
    monkeypatch.setenv("KUBECONFIG", "/home/stolen")
    isolate_renderers(root.root)

    text = run_limited(fake_helm(root, "export -p; command -v git kubectl; exit 0"), "chart")

    assert "stolen" not in text
    assert "/git" not in text


LIMITS = {
    "time": ("while :; do :; done", {"SECONDS": 0.5}, "didn't finish within 0.5 s"),
    "output": ("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaa; done", {"MOST_BYTES": 1 << 20}, "1 MiB"),
}


@pytest.mark.parametrize("case", LIMITS)
def test_renderer_that_exceeds_its_limits_is_stopped(
    case: str, root: Project, alone: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    script, limits, message = LIMITS[case]
    for name, value in limits.items():
        monkeypatch.setattr(renderer_process, name, value)
    before = time.monotonic()

    with pytest.raises(UsageError, match=message):
        run_limited(fake_helm(root, f"({script}) & {script}"), "chart")

    assert time.monotonic() - before < 20


def test_values_outside_the_folder_are_not_read(
    root: Project, alone: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (root.root / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(root.root / "scratch"))
    isolate_renderers(root.root)
    secret = str(root.root.parent / "outside/secret.yaml")
    words = fake_helm(root, 'shift; while read line; do echo "$line"; done < "$2"')
    words[2:2] = ["--values", secret]
    with pytest.raises(UsageError, match="outside the folder that this server may read"):
        run_limited(words, "chart")


@pytest.mark.parametrize(
    "option", ["--post-renderer=/bin/sh", "--enable-helm", "--enable-alpha-plugins", "--kubeconfig"]
)
def test_options_that_start_programs_are_not_passed(option: str, tmp_path: Path) -> None:
    words: list[Any] = ["/bin/helm", "template", option, "--", "a", "b"]
    with pytest.raises(NotAllowedHere):
        Confinement(tmp_path)("subprocess.Popen", ("helm", words, None, None))
