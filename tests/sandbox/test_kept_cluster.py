"""A stack whose cluster is a real control plane: its nodes, its objects, and taking it down whatever has died."""

from __future__ import annotations

import io
import os
import signal
from pathlib import Path

import pytest
from rich.console import Console

from dra_sandbox.control_plane import ApiServer, ControlPlaneError, Settings, start, stop
from dra_sandbox.control_plane.plane import read_plane
from dra_sandbox.control_plane.processes import running
from dra_sandbox.kept_cluster import open_cluster
from dra_sandbox.kept_stacks import KeptStacks
from dra_sandbox.tools.kubernetes import find_binaries

ROOT = Path(__file__).parents[2]
MINOR = 36


def names(server: ApiServer, path: str) -> set[str]:
    return {each["metadata"]["name"] for each in server.listed(path)[0]}


@pytest.mark.engine
@pytest.mark.control_plane
def test_the_cluster_of_a_stack_has_the_nodes_of_its_plan_and_goes_with_it(tmp_path: Path) -> None:
    said, kept = io.StringIO(), tmp_path / "kept"
    stacks = KeptStacks(ROOT, kept, Console(file=said, width=120), f"1.{MINOR}")

    assert stacks.up("eks-dev", on_control_plane=True), said.getvalue()

    plane = read_plane(kept / "control-planes" / "eks-dev")
    server = ApiServer.of(plane)
    assert {"h100-0", "h100-1", "system-0", "system-1"} == names(server, "/api/v1/nodes")
    assert "large-gpu" in names(server, "/apis/resource.k8s.io/v1/deviceclasses")
    assert "nvidia-dra-driver" in names(server, "/api/v1/namespaces")
    assert f"export KUBECONFIG={plane.kubeconfig}" in said.getvalue()

    os.kill(running(plane.folder)["etcd"].pid, signal.SIGKILL)
    stacks.status()
    assert "etcd no longer runs" in said.getvalue()
    assert stacks.down(None), said.getvalue()
    assert not running(plane.folder)
    assert not kept.exists()


@pytest.mark.control_plane
def test_another_minor_or_a_process_that_has_ended_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "plane"
    start(folder, Settings(MINOR, scheduling=False), find_binaries(MINOR))
    try:
        with pytest.raises(ControlPlaneError, match=r"is of 1\.36 and the stack asks for 1\.35"):
            open_cluster(folder, 35)
        os.kill(running(folder)["kube-apiserver"].pid, signal.SIGKILL)
        with pytest.raises(ControlPlaneError, match=r"kube-apiserver of .* no longer runs: run `pulumi-dra sandbox"):
            open_cluster(folder, MINOR)
    finally:
        stop(folder)
