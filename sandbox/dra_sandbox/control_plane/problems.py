"""Errors of a control plane, each with a fix."""

from __future__ import annotations

import errno
from pathlib import Path


class ControlPlaneError(Exception):
    """A control plane can't be started, used, or stopped. The message contains the reason and a
    fix.
    """


class NotReady(ControlPlaneError):
    """A server exited, or wasn't ready in time. The message ends with its last output."""


class PortTaken(ControlPlaneError):
    """Another process listens on a port of a server."""


def ended(component: str, log: Path, status: int | None, folder: Path) -> ControlPlaneError:
    """Return the error for a server that exited by itself, based on its log."""
    ending = tail(log)
    if "address already in use" in ending:
        return PortTaken(f"{component}: another program uses its port:{ending}")
    if "no space left on device" in ending.lower():
        return disk_full(folder)
    return NotReady(f"{component} exited with status {status}; its log {log} ends with:{ending}")


def disk_full(folder: Path) -> ControlPlaneError:
    """Return the error for a full file system."""
    return ControlPlaneError(
        f"the disk that contains {folder} is full; free some space, or set XDG_CACHE_HOME to a "
        "folder on another disk"
    )


def unwritable(folder: Path, error: OSError) -> ControlPlaneError:
    """Return the error for a folder that isn't writable."""
    if error.errno == errno.ENOSPC:
        return disk_full(folder)
    return ControlPlaneError(f"can't write to {folder}: {error.strerror}")


def tail(log: Path, lines: int = 15) -> str:
    """Return the last lines of a log, or an empty text if the log doesn't exist."""
    if not log.is_file():
        return ""
    return "".join(
        f"\n  {line}" for line in log.read_text("utf-8", "replace").splitlines()[-lines:]
    )
