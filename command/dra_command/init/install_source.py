"""The source that generated files install this package from."""

from __future__ import annotations

import os
import re
from importlib.metadata import version
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.installation import NAME, is_from_local_file
from dra_command.init.repository import repository_root

_VERSION: Final = re.compile(r"\d[a-z0-9.+-]*")


def requirement_of(source: str, folder: Path) -> str:
    """Return what pip installs in a folder for a git URL with a ref, a wheel file or its URL, or a
    version in the index. The path of a wheel file is relative to that folder.

    Raises UsageError for anything else.
    """
    if source.startswith("git+"):
        if "@" not in urlsplit(source.removeprefix("git+")).path:
            raise UsageError(
                "--install: the git URL doesn't contain a commit",
                fix=f"add a commit: {source}@COMMIT",
            )
        return f"{NAME} @ {source}"
    if source.startswith(("https://", "http://")):
        return f"{NAME} @ {source}"
    if source.endswith(".whl"):
        if not Path(source).is_file():
            raise UsageError(f"--install: {source} doesn't exist", fix=_fix())
        return _path_from(folder, source)
    if _VERSION.fullmatch(source):
        return f"{NAME}=={source}"
    raise UsageError(f"--install: {source} can't be installed", fix=_fix())


def _fix() -> str:
    return (
        "use a git URL with a commit (git+https://HOST/REPOSITORY.git@COMMIT), a wheel file "
        "or its URL (`uv build` creates a wheel file in dist/), or a version in the package "
        f"index ({version(NAME)})"
    )


def _path_from(folder: Path, file: str) -> str:
    return Path(os.path.relpath(Path(file).resolve(), folder.resolve())).as_posix()


def install_notes(install: str, folder: Path) -> tuple[str, ...]:
    """Return why a pipeline can't install from the source of generated files; empty if it can, as
    far as this machine knows.
    """
    if install.endswith(".whl") and "://" not in install:
        wheel = Path(install).resolve()
        if wheel.is_relative_to(repository_root(folder)):
            return ()
        return (
            f"generated files install {_path_from(folder, install)}, which is outside the "
            "repository, so a pipeline can't read it. Copy the wheel file into the repository, and "
            "replace its path in these files",
        )
    return tuple(filter(None, (index_note(install),)))


def index_note(install: str) -> str:
    """Return a note if generated files install from the package index, but this installation came
    from a local file; "" otherwise.
    """
    if install or not is_from_local_file():
        return ""
    return (
        f"generated files install {NAME} {version(NAME)} from the package index, because this "
        "installation came from a local folder or file. If the index doesn't contain this "
        f"version, replace {NAME}=={version(NAME)} in these files with "
        "git+https://HOST/REPOSITORY.git@COMMIT or a wheel file (in a new project: --install)"
    )
