"""What can go wrong with a control plane, each with what to do about it."""

from __future__ import annotations

import errno
from pathlib import Path


class ControlPlaneError(Exception):
    """A control plane cannot be started, used or stopped; the message says why, and how to go
    on.
    """


class NotReady(ControlPlaneError):
    """A server ended, or was not ready in time; the message ends with what it wrote last."""


class PortTaken(ControlPlaneError):
    """Somebody else listens on a port that a server was given."""


def ended(component: str, log: Path, status: int | None, folder: Path) -> ControlPlaneError:
    """Return the error for a server that ended by itself, from what its log says."""
    said = tail(log)
    if "address already in use" in said:
        return PortTaken(f"{component}: another program uses its port:{said}")
    if "no space left on device" in said.lower():
        return disk_full(folder)
    return NotReady(f"{component} ended with exit status {status}; its log {log} ends with:{said}")


def disk_full(folder: Path) -> ControlPlaneError:
    """Return the error for a file system without room."""
    return ControlPlaneError(
        f"no space is left on the device of {folder}: free some, or set XDG_CACHE_HOME to a "
        "folder elsewhere"
    )


def unwritable(folder: Path, error: OSError) -> ControlPlaneError:
    """Return the error for a folder in which a file cannot be written."""
    if error.errno == errno.ENOSPC:
        return disk_full(folder)
    return ControlPlaneError(f"cannot write in {folder}: {error.strerror}")


def tail(log: Path, lines: int = 15) -> str:
    """Return the last lines of a log, each on a line of its own; empty where there is no log."""
    if not log.is_file():
        return ""
    return "".join(
        f"\n  {line}" for line in log.read_text("utf-8", "replace").splitlines()[-lines:]
    )
