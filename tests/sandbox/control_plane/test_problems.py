"""Errors when a control plane can't start: what is wrong, and how to fix it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from dra_sandbox.control_plane import ControlPlaneError, Settings, lifetime
from dra_sandbox.control_plane.lifetime import start
from dra_sandbox.control_plane.plane import read_plane
from dra_sandbox.control_plane.problems import PortTaken, disk_full, ended
from dra_sandbox.control_plane.processes import end, running
from dra_sandbox.tools import ToolUnavailable
from dra_sandbox.tools.kubernetes import BINARIES, Binaries, find_binaries, kubernetes


def command(folder: Path, name: str, output: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{output}'\n")
    path.chmod(0o755)
    return path


def all_of(folder: Path, version: str) -> Path:
    for name in BINARIES:
        command(folder, name, f"Kubernetes {version}")
    return folder


def test_binaries_of_a_folder_are_used(tmp_path: Path) -> None:
    folder = all_of(tmp_path / "mine", "v1.36.1")

    found = find_binaries(36, folder)

    assert found.version == "1.36.1"
    assert {path.parent for path in found.paths.values()} == {folder}


def test_a_folder_with_a_missing_binary_is_rejected(tmp_path: Path) -> None:
    folder = all_of(tmp_path / "mine", "v1.36.1")
    (folder / "kube-scheduler").unlink()

    with pytest.raises(
        ToolUnavailable,
        match="doesn't contain the executable kube-scheduler; add it to the "
        "folder, or remove --binaries",
    ):
        find_binaries(36, folder)


def test_a_folder_with_another_minor_version_is_rejected(tmp_path: Path) -> None:
    folder = all_of(tmp_path / "mine", "v1.35.4")

    with pytest.raises(
        ToolUnavailable, match=r"has version 1\.35\.4, but kube-apiserver 1\.36 is needed"
    ):
        find_binaries(36, folder)


@pytest.mark.control_plane
def test_binaries_on_path_are_used_if_the_minor_version_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = all_of(tmp_path / "path", "v1.29.3")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/bin{os.pathsep}/usr/bin")

    assert find_binaries(29).paths["kube-scheduler"] == folder / "kube-scheduler"
    with pytest.raises(ToolUnavailable, match=r"1\.30 isn't on PATH and can't be built, because"):
        find_binaries(30)


@pytest.mark.parametrize("minor", [34, 35, 36, 37])
def test_the_modules_pin_the_minor_version_of_their_folder(minor: int) -> None:
    assert kubernetes("kube-scheduler", minor).version.startswith(f"1.{minor}.")


def test_a_port_in_use_is_recognized_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "etcd.log"
    log.write_text("listen tcp 127.0.0.1:2379: bind: address already in use\n")

    assert isinstance(ended("etcd", log, 1, tmp_path), PortTaken)


def test_a_full_disk_is_recognized_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "etcd.log"
    log.write_text("write etcd/member/wal/0.tmp: no space left on device\n")

    assert str(ended("etcd", log, 1, tmp_path)) == str(disk_full(tmp_path))


@pytest.mark.parametrize("left", ["{", "{}", json.dumps({"format": 0})])
def test_a_folder_of_another_version_must_be_taken_down(tmp_path: Path, left: str) -> None:
    (tmp_path / "control-plane.json").write_text(left)
    (tmp_path / "tokens.csv").write_text("token,name,name,group\n")

    with pytest.raises(
        ControlPlaneError,
        match=r"remains from another sandbox version or an interrupted run .*run `pulumi-dra sandbox down`",
    ):
        read_plane(tmp_path)


def test_a_folder_without_a_control_plane_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ControlPlaneError, match="doesn't contain a control plane"):
        read_plane(tmp_path)


def test_a_binary_that_cannot_run_is_reported(tmp_path: Path) -> None:
    text = tmp_path / "etcd"
    text.write_text("not a program")
    text.chmod(0o755)
    broken = Binaries("1.36.3", dict.fromkeys(BINARIES, text))

    with pytest.raises(ControlPlaneError, match=f"cannot start {text}: Exec format error"):
        start(tmp_path / "plane", Settings(36), broken)


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ControlPlaneError, match=r"can't write to .*/file/plane: Not a directory"):
        start(tmp_path / "file" / "plane", Settings(36), Binaries("1.36.3", {}))


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[str, str], subprocess.Popen[bytes]]]:
    """Start a process with a component's name and an option with a path in a folder."""
    found: list[subprocess.Popen[bytes]] = []

    def start_one(name: str, folder: str) -> subprocess.Popen[bytes]:
        script = tmp_path / name
        if not script.exists():
            script.symlink_to(sys.executable)
        sleep = "import time; time.sleep(60)"
        found.append(
            subprocess.Popen([str(script), "-c", sleep, f"--data-dir={tmp_path / folder}/data"])
        )
        return found[-1]

    yield start_one
    for each in found:
        each.kill()
        each.wait()


def test_only_processes_of_the_folder_are_stopped(
    tmp_path: Path, started: Callable[[str, str], subprocess.Popen[bytes]]
) -> None:
    """A process is ended if its program is a component and an option has a path in the folder."""
    ours, theirs = started("etcd", "mine"), started("etcd", "other")
    assert {name: each.pid for name, each in running(tmp_path / "mine").items()} == {
        "etcd": ours.pid
    }

    end(tmp_path / "mine")

    assert not psutil.pid_exists(ours.pid)
    assert theirs.poll() is None


def test_a_slow_process_does_not_prevent_stopping_the_others(
    tmp_path: Path,
    started: Callable[[str, str], subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = [started(name, "mine") for name in ("etcd", "kube-apiserver", "kube-scheduler")]
    waited: list[int] = []
    real = psutil.Process.wait

    def slow(process: psutil.Process, timeout: float | None = None) -> int | None:
        waited.append(process.pid)
        if len(waited) == 1:
            raise psutil.TimeoutExpired(timeout, process.pid)
        return real(process, timeout)

    monkeypatch.setattr(psutil.Process, "wait", slow)
    end(tmp_path / "mine")

    assert waited[0] == ours[2].pid
    assert not any(psutil.pid_exists(each.pid) and each.poll() is None for each in ours)


def test_another_port_is_chosen_if_a_port_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If another process takes etcd's port after it was chosen, other ports are chosen; the third
    time, there is an error.
    """
    etcd = command(
        tmp_path / "bin", "etcd", "listen tcp 127.0.0.1:2379: bind: address already in use"
    )
    etcd.write_text(etcd.read_text() + "exit 1\n")
    server = command(tmp_path / "bin", "kube-apiserver", "")
    server.write_text("#!/bin/sh\nexec sleep 3\n")
    binaries = Binaries("1.36.3", {"etcd": etcd, "kube-apiserver": server})
    chosen: list[list[int]] = []
    real = lifetime._free_ports
    monkeypatch.setattr(
        lifetime, "_free_ports", lambda count: chosen.append(real(count)) or chosen[-1]
    )

    with pytest.raises(PortTaken, match="etcd: another program uses its port:"):
        start(tmp_path / "plane", Settings(36, scheduling=False), binaries)

    assert len(chosen) == 3
    assert not running(tmp_path / "plane")


def test_a_full_disk_is_reported_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = shutil.disk_usage(tmp_path)._replace(free=10 * 2**20)
    monkeypatch.setattr(lifetime.shutil, "disk_usage", lambda _folder: full)

    with pytest.raises(
        ControlPlaneError, match=r"is full; free some space, or set XDG_CACHE_HOME to a folder"
    ):
        start(tmp_path / "plane", Settings(36), Binaries("1.36.3", {}))
