"""A stack whose cluster is a real control plane: its nodes, its objects, and its deletion even if
processes have died.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dra_sandbox.control_plane import ApiServer, ControlPlaneError, Settings, start, stop
from dra_sandbox.control_plane.plane import read_plane
from dra_sandbox.control_plane.processes import running
from dra_sandbox.persistent_cluster import open_cluster
from dra_sandbox.persistent_stacks import KeptStacks, StackRefused
from dra_sandbox.tools.helm import helm_at_hand
from dra_sandbox.tools.kubernetes import find_binaries

ROOT = Path(__file__).parents[2]
MINOR = 36
CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def names(server: ApiServer, path: str) -> set[str]:
    return {each["metadata"]["name"] for each in server.listed(path)[0]}


CHART = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: "{{ .Chart.Name }}-kubelet-plugin", namespace: "{{ .Release.Namespace }}"}
spec:
  selector: {matchLabels: {app: "{{ .Release.Name }}"}}
  template:
    metadata: {labels: {app: "{{ .Release.Name }}"}}
    spec:
      nodeSelector: {nvidia.com/gpu.dra: "true"}
      tolerations: [{operator: Exists}]
      containers: [{name: plugin, image: registry.example/plugin}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}", namespace: "{{ .Release.Namespace }}"}
data: {values: {{ .Values | toJson | quote }}}
"""
DEVICE_CLASS = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.nvidia.com"'}}]}
"""


def charts_in(folder: Path) -> Path:
    """Create minimal charts of the driver and the device plugin, whose pods run on the same nodes
    as those of the real charts.
    """
    for name, version, template in (
        ("nvidia-dra-driver-gpu", "25.8.1", f"{CHART}---\n{DEVICE_CLASS}"),
        ("nvidia-device-plugin", "0.17.4", CHART),
    ):
        templates = folder / f"{name}-{version}" / "templates"
        templates.mkdir(parents=True)
        (templates / "all.yaml").write_text(template)
        (templates.parent / "Chart.yaml").write_text(
            f"apiVersion: v2\nname: {name}\nversion: {version}\n"
        )
    return folder


def tables(server: ApiServer, path: str) -> list[list[Any]]:
    """Return the rows that `kubectl get` prints for a collection; the API server creates this
    table.
    """
    connection = server.connect(60)
    try:
        connection.request("GET", path, headers={**server.headers, "Accept": TABLE})
        return [row["cells"] for row in json.load(connection.getresponse())["rows"]]
    finally:
        connection.close()


@pytest.mark.engine
@pytest.mark.control_plane
def test_the_cluster_has_the_planned_nodes_and_is_deleted_with_its_stack(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    output, kept, helm = io.StringIO(), tmp_path / "kept", helm_at_hand()
    console = Console(file=output, width=120)
    stacks = KeptStacks(ROOT, kept, console, f"1.{MINOR}", helm, charts_in(tmp_path / "charts"))

    # also when a comparison fails
    request.addfinalizer(lambda: stop(kept / "control-planes" / "eks-dev"))
    assert stacks.up("eks-dev", on_control_plane=True), output.getvalue()

    plane = read_plane(kept / "control-planes" / "eks-dev")
    server = ApiServer.of(plane)
    assert {"h100-0", "h100-1", "system-0", "system-1"} == names(server, "/api/v1/nodes")
    assert "large-gpu" in names(server, CLASSES)
    assert "nvidia-dra-driver" in names(server, "/api/v1/namespaces")
    assert f"export KUBECONFIG={plane.kubeconfig}" in output.getvalue()
    check_nodes_and_slices(server, plane.kubeconfig)
    check_releases(server, output.getvalue(), with_helm=helm is not None)

    os.kill(running(plane.folder)["etcd"].pid, signal.SIGKILL)
    stacks.status()
    assert "no longer running: etcd" in output.getvalue()
    with pytest.raises(
        StackRefused,
        match=("etcd3 isn't a component of the control plane; use one of etcd, kube-apiserver, "),
    ):
        stacks.logs("eks-dev", "etcd3", 5)
    assert stacks.down(None), output.getvalue()
    assert not running(plane.folder)
    assert not kept.exists()


def check_nodes_and_slices(server: ApiServer, kubeconfig: Path) -> None:
    nodes = [row[:2] for row in tables(server, "/api/v1/nodes")]
    slices = [row[1:4] for row in tables(server, "/apis/resource.k8s.io/v1/resourceslices")]
    assert nodes == [[name, "Ready"] for name in ("h100-0", "h100-1", "system-0", "system-1")]
    assert slices == [[name, "gpu.nvidia.com", name] for name in ("h100-0", "h100-1")]
    if kubectl := shutil.which("kubectl"):
        words = [kubectl, "--kubeconfig", str(kubeconfig), "get", "nodes", "--no-headers"]
        shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert [line.split()[:2] for line in shown.splitlines()] == nodes


def check_releases(server: ApiServer, output: str, *, with_helm: bool) -> None:
    """With Helm, the chart's pods and class exist instead of the predicted ones; without Helm, the
    predicted ones exist.
    """
    daemons = {row[0] for row in tables(server, "/apis/apps/v1/daemonsets")}
    predicted = [
        name
        for name in names(server, "/api/v1/namespaces/kube-system/pods")
        if "kubelet-plugin" in name
    ]
    (driver,) = [
        each for each in server.listed(CLASSES)[0] if each["metadata"]["name"] == "gpu.nvidia.com"
    ]
    if with_helm:
        assert "release nvidia-dra-driver: Helm installed nvidia-dra-driver-gpu 25.8.1" in output
        assert "(1 ConfigMap, 1 DaemonSet, 1 DeviceClass); its DaemonSets have 2 pods" in output
        assert "nvidia-dra-driver-gpu-kubelet-plugin" in daemons
        assert driver["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "Helm"
        assert not predicted
    else:
        assert (
            "release nvidia-dra-driver is in the stack's state, but isn't installed, because Helm "
            "isn't installed"
        ) in output
        assert not daemons
        assert len(predicted) == 2


@pytest.mark.engine
@pytest.mark.control_plane
def test_another_version_or_an_exited_process_is_reported(
    tmp_path: Path,
) -> None:
    output, kept = io.StringIO(), tmp_path / "kept"
    folder = kept / "control-planes" / "eks-dev"
    start(folder, Settings(MINOR, scheduling=False), find_binaries(MINOR))
    try:
        with pytest.raises(ControlPlaneError, match=r"runs 1\.36, but the stack requests 1\.35"):
            open_cluster(folder, 35)
        os.kill(running(folder)["kube-apiserver"].pid, signal.SIGKILL)
        with pytest.raises(
            ControlPlaneError,
            match=r"no longer running in .*: kube-apiserver; run `pulumi-dra sandbox",
        ):
            open_cluster(folder, MINOR)

        # the state after an `up` that is killed before the engine knows the stack
        (kept / "rehearsal-of").write_text(str(ROOT))
        stacks = KeptStacks(ROOT, kept, Console(file=output, width=120))
        stacks.status()
        assert (
            "eks-dev: a control plane without a stack, left by an interrupted run."
            in output.getvalue()
        )
        assert stacks.down(None), output.getvalue()
        assert not running(folder)
        assert not kept.exists()
    finally:
        stop(folder)
