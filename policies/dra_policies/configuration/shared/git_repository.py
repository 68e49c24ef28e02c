"""Files of git repositories, fetched with the user's git: its credentials, proxies, and host keys
apply.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from dra_policies.configuration.shared.locations import GitFile, without_password
from dra_policies.configuration.shared.pinned_files import MOST_BYTES, keep, too_large

_COMMIT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_TIMEOUT_S: Final = 120
_ENVIRONMENT: Final = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "https:ssh:file"}


class GitError(Exception):
    """A repository, ref, or file that git can't fetch."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message, self.fix = message, fix


def read_git_file(file: GitFile, folder: Path) -> bytes:
    """Return a file at its ref. Files at a whole commit are kept in the folder. Raises GitError,
    DownloadError.
    """
    if not _COMMIT.fullmatch(file.ref):
        return _shown(file)
    name = hashlib.sha256(f"{file.url}\n{file.ref}\n{file.path}".encode()).hexdigest()
    path = folder / "git" / name
    with suppress(OSError):
        return path.read_bytes()
    content = _shown(file)
    keep(path, content)
    return content


def _shown(file: GitFile) -> bytes:
    repository = _fetched(file.url, file.ref)
    spec = f"FETCH_HEAD:{file.path}"
    size = _git(
        "-C", repository, "cat-file", "-s", spec, fix=f"use a file that exists at {file.ref}"
    )
    if int(size) > MOST_BYTES:
        raise too_large()
    return _git(
        "-C", repository, "cat-file", "blob", spec, fix="use the path of a file instead of a folder"
    )


@cache
def _fetched(url: str, ref: str) -> str:
    """Return a bare repository that contains one commit. It exists until this process ends."""
    holder = tempfile.TemporaryDirectory(prefix="pulumi-dra-")
    _KEPT.append(holder)
    _git("init", "--quiet", "--bare", holder.name, fix="install git")
    fix = "check the URL, the ref (a branch, tag, or full commit hash), and git's credentials"
    _git(
        "-C", holder.name, "fetch", "--quiet", "--depth", "1", "--no-tags", "--", url, ref, fix=fix
    )
    return holder.name


_KEPT: Final[list[tempfile.TemporaryDirectory[str]]] = []


def _git(*words: str, fix: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", *words],
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise GitError("git isn't installed", "install git") from None
    except OSError as error:
        raise GitError(f"can't start git: {error}", "use another file") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git didn't respond within {_TIMEOUT_S} seconds", fix) from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["git failed"]
        message = re.sub(
            r"[a-z+]+://\S+", lambda url: without_password(url[0]), lines[0].removeprefix("fatal: ")
        )
        raise GitError(message, fix)
    return done.stdout
