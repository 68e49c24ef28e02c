"""A real control plane: it is ready in seconds, listens only on loopback, and leaves no process or
file, even if one of its processes was killed.
"""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from dra_sandbox.control_plane import (
    ApiServer,
    ControlPlane,
    ControlPlaneError,
    Settings,
    control_plane,
    start,
    stop,
)
from dra_sandbox.control_plane.plane import COMPONENTS, is_kept, read_plane
from dra_sandbox.control_plane.processes import running
from dra_sandbox.tools.kubernetes import Binaries, find_binaries

pytestmark = pytest.mark.control_plane
MINOR = 36


@pytest.fixture(scope="module")
def binaries() -> Binaries:
    return find_binaries(MINOR)


@pytest.fixture(scope="module")
def plane(binaries: Binaries) -> Iterator[ControlPlane]:
    with control_plane(Settings(MINOR), binaries) as started:
        yield started


def pod(name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "main", "image": "any"}]},
    }


def node(name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
    }


def test_a_pod_is_scheduled_and_runs(plane: ControlPlane) -> None:
    server = ApiServer.of(plane)

    server.create(node("one"))
    server.create(pod("first"))

    _, version = server.listed("/api/v1/pods")
    for _, seen in server.watch("/api/v1/pods", "0"):
        if seen.get("status", {}).get("phase") == "Running":
            break
    assert seen["spec"]["nodeName"] == "one"
    assert version


def test_a_deleted_pod_is_removed_immediately(plane: ControlPlane) -> None:
    server = ApiServer.of(plane)
    server.create(node("two"))
    server.create(
        {
            **pod("second"),
            "spec": {"nodeName": "two", "containers": [{"name": "main", "image": "any"}]},
        }
    )
    _, version = server.listed("/api/v1/pods")

    server.delete("/api/v1/namespaces/default/pods/second")

    gone = next(seen for event, seen in server.watch("/api/v1/pods", version) if event == "DELETED")
    assert gone["metadata"]["name"] == "second"


def test_all_components_listen_only_on_loopback(plane: ControlPlane) -> None:
    found = running(plane.folder)

    assert set(found) == set(COMPONENTS)
    addresses = {
        each.laddr.ip
        for process in found.values()
        for each in process.net_connections("inet")
        if each.status == psutil.CONN_LISTEN
    }
    assert addresses == {"127.0.0.1"}


def test_credentials_are_readable_only_by_their_owner(plane: ControlPlane) -> None:
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in plane.folder.iterdir()
        if path.is_file()
    }

    assert stat.S_IMODE(plane.folder.stat().st_mode) == 0o700
    assert {modes["tokens.csv"], modes["accounts.key"], modes["kubeconfig"]} == {0o600}
    assert plane.token not in repr(plane)


def test_requests_without_the_token_are_rejected(plane: ControlPlane) -> None:
    stranger = ApiServer(ApiServer.of(plane).connect)

    assert stranger.request("GET", "/api/v1/pods").status == 401


def test_two_control_planes_can_run_at_the_same_time(
    plane: ControlPlane, binaries: Binaries
) -> None:
    with control_plane(Settings(MINOR, scheduling=False), binaries) as other:
        ApiServer.of(other).create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "only-there"}}
        )

        assert set(running(other.folder)) == {"etcd", "kube-apiserver"}
        assert ApiServer.of(plane).request("GET", "/api/v1/namespaces/only-there").status == 404
    assert not other.folder.exists()
    assert not running(other.folder)


@pytest.mark.parametrize("killed", COMPONENTS)
def test_after_any_component_is_killed_the_others_are_stopped(
    killed: str, binaries: Binaries, tmp_path: Path
) -> None:
    folder = tmp_path / "plane"
    start(folder, Settings(MINOR), binaries)
    os.kill(running(folder)[killed].pid, signal.SIGKILL)

    stop(folder)

    assert not running(folder)
    assert not folder.exists()


def test_a_persistent_control_plane_is_read_from_its_folder(
    binaries: Binaries, tmp_path: Path
) -> None:
    folder = tmp_path / "plane"
    started = start(folder, Settings(MINOR, scheduling=False), binaries)
    try:
        assert is_kept(folder)
        assert read_plane(folder) == started
        with pytest.raises(
            ControlPlaneError,
            match="already contains a control plane; run `pulumi-dra sandbox down` first",
        ):
            start(folder, Settings(MINOR), binaries)
    finally:
        stop(folder)
    assert not is_kept(folder)


def test_a_server_that_exits_is_reported_with_its_output(
    binaries: Binaries, tmp_path: Path
) -> None:
    with pytest.raises(
        ControlPlaneError, match=r"(?s)kube-apiserver exited with status \d+.*NoSuchGate"
    ):
        start(tmp_path / "plane", Settings(MINOR, {"NoSuchGate": True}), binaries)

    assert not running(tmp_path / "plane")


def test_a_timeout_ends_the_wait(binaries: Binaries, tmp_path: Path) -> None:
    began = time.monotonic()

    with pytest.raises(ControlPlaneError, match="wasn't ready in time"):
        start(tmp_path / "plane", Settings(MINOR), binaries, within_seconds=0)

    assert time.monotonic() - began < 60
    assert not running(tmp_path / "plane")
