"""The per-user cache: what takes minutes to obtain is kept outside the checkout and shared by all
checkouts.

Standard library only, because the bootstrap runs before anything is installed.
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
    """The cache folder cannot be created or written; the message names the folder and the fix."""


def cache_folder() -> Path:
    """The folder `$XDG_CACHE_HOME/pulumi-dra`, or `~/.cache/pulumi-dra`; created when missing.

    Raises CacheUnusable when it cannot be created.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The base directory specification says that a relative path is to be ignored.
    folder = (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "pulumi-dra"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CacheUnusable(
            f"cannot create the cache folder {folder} ({error.strerror}): set XDG_CACHE_HOME to a "
            "folder you may write"
        ) from error
    return folder


@contextlib.contextmanager
def exclusive(name: str, on_wait: Callable[[], None] | None = None) -> Generator[None]:
    """Hold the lock `name` of the cache, so that two processes do not obtain one thing at once.

    Calls `on_wait` once when another process holds it. The system frees the lock when its holder
    dies.
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
    """Return `folder`, made by `fill` when it is not there yet.

    `fill` works in a temporary folder beside it, which takes the final name by one rename: an
    interrupted attempt leaves nothing that looks finished, and the next one sweeps away what it
    left.
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
