"""The processes of a control plane.

The process table of the system is the only record of them. If any process is killed, the remaining
ones are found by the folder in their command line.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import psutil

from dra_sandbox.control_plane.plane import COMPONENTS
from dra_sandbox.control_plane.problems import ControlPlaneError, unwritable

KUBELET: Final = "dra_sandbox.control_plane.kubelet"
_DIE_WITH_PARENT: Final = 1  # prctl's PR_SET_PDEATHSIG
# time for the system to end a killed process before the next process is killed
_MOMENT_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 120.0
_children: Final[list[subprocess.Popen[bytes]]] = []
"""Started processes. They are kept because Python warns if a running child is garbage-collected."""


def spawn(command: Sequence[str], log: Path, *, outlives_us: bool) -> subprocess.Popen[bytes]:
    """Start a server that writes to `log`.

    If it must outlive this process, it gets its own session. Otherwise, the system ends it with
    this process, if the system supports that. Raises ControlPlaneError if it can't be started.
    """
    try:
        log.parent.mkdir(exist_ok=True)
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=None if outlives_us else _die_with_parent,
            )
        _children.append(process)
        return process
    except OSError as error:
        if error.filename in (str(log), str(log.parent)):
            raise unwritable(log.parent, error) from error
        raise ControlPlaneError(f"cannot start {command[0]}: {error.strerror}") from error


def running(folder: Path) -> dict[str, psutil.Process]:
    """Return the running processes of the control plane in `folder`, by component."""
    found: dict[str, psutil.Process] = {}
    for process in psutil.process_iter():
        component = _component(process, folder)
        if component:
            found[component] = process
    return found


def end(folder: Path) -> None:
    """Kill all processes of the control plane in `folder`, in reverse start order.

    They are killed because no data of a control plane is kept, and because an API server waits for
    its watchers before it shuts down. If one process exits slowly, the others are still killed. =>
    Raises ControlPlaneError if a process doesn't end.
    """
    until = time.monotonic() + _PATIENCE_SECONDS
    while found := running(folder):
        for component in sorted(found, key=COMPONENTS.index, reverse=True):
            _end(found[component])
        if time.monotonic() > until:
            names = ", ".join(f"{name} ({process.pid})" for name, process in found.items())
            raise ControlPlaneError(
                f"these processes in {folder} are still running {_PATIENCE_SECONDS:.0f} s "
                f"after a kill signal: {names}"
            )
    _children[:] = [process for process in _children if process.poll() is None]


def _component(process: psutil.Process, folder: Path) -> str:
    """Return the component that a process of the control plane in `folder` runs. Empty for other
    processes.
    """
    try:
        if process.uids().real != os.getuid() or process.status() == psutil.STATUS_ZOMBIE:
            return ""
        words = process.cmdline()
    except psutil.Error:
        return ""
    if not any(word.partition("=")[2].startswith(f"{folder}{os.sep}") for word in words):
        return ""
    name = "kubelet" if KUBELET in words else Path(words[0]).name
    return name if name in COMPONENTS else ""


def _end(process: psutil.Process) -> None:
    try:
        process.kill()
        process.wait(_MOMENT_SECONDS)
    except (psutil.NoSuchProcess, psutil.TimeoutExpired):
        return


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
