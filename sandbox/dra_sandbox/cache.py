"""The per-user cache for files that take minutes to obtain. All checkouts share it.

Uses only the standard library, because the bootstrap runs before anything is installed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path


class CacheUnusable(Exception):
    """The cache folder can't be created or written. The message names the folder and the fix."""


def cache_folder() -> Path:
    """Return the folder `$XDG_CACHE_HOME/pulumi-dra`, or `~/.cache/pulumi-dra`, and create it if
    necessary. Raises CacheUnusable if it can't be created.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    # According to the base directory specification, a relative path must be ignored.
    folder = (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "pulumi-dra"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CacheUnusable(
            f"can't create the cache folder {folder} ({error.strerror}); set XDG_CACHE_HOME to a "
            "writable folder"
        ) from error
    return folder


@contextlib.contextmanager
def exclusive(name: str, on_wait: Callable[[], None] | None = None) -> Generator[None]:
    """Hold the lock `name` of the cache, so that two processes don't obtain the same thing. Calls
    `on_wait` once if another process holds the lock. The system releases the lock when its process
    ends.
    """
    locks = cache_folder() / "locks"
    locks.mkdir(exist_ok=True)
    with open(locks / f"{name}.lock", "w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if on_wait is not None:
                on_wait()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def obtain(
    folder: Path, fill: Callable[[Path], None], on_wait: Callable[[], None] | None = None
) -> Path:
    """Return `folder`, and call `fill` to create it if it doesn't exist.

    `fill` writes to a temporary folder in the same parent folder, which is then renamed. An
    interrupted call leaves no incomplete result, and the next call deletes its temporary folder.
    """
    if folder.is_dir():
        return folder
    with exclusive(folder.name, on_wait):
        if folder.is_dir():
            return folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        for abandoned in folder.parent.glob(f".{folder.name}.*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            fill(staging)
            staging.chmod(0o755)
            staging.rename(folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return folder
