"""What pip installs in generated pipelines: a place that exists."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Final
from urllib.parse import urlsplit

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.installation import NAME, is_from_local_file

_VERSION: Final = re.compile(r"\d+(\.\d+)*([.+-]?[a-z0-9]+)*")


def requirement_of(source: str) -> str:
    """Return what pip installs for a git URL with a ref, a wheel file or its URL, or a version in
    the index.

    Raises UsageError for anything else.
    """
    if source.startswith("git+"):
        if "@" not in urlsplit(source.removeprefix("git+")).path:
            raise UsageError(
                "--install: the git URL doesn't have a ref", fix=f"add a commit: {source}@COMMIT"
            )
        return f"{NAME} @ {source}"
    if source.startswith(("https://", "http://")):
        return f"{NAME} @ {source}"
    if source.endswith(".whl"):
        return source
    if _VERSION.fullmatch(source):
        return f"{NAME}=={source}"
    fix = (
        "use a git URL with a commit (git+https://HOST/REPOSITORY.git@COMMIT), a wheel file or "
        "its URL (the command `uv build` creates one in dist/), or a version in the package index "
        f"({version(NAME)})"
    )
    raise UsageError(f"--install: {source} can't be installed", fix=fix)


def index_note(install: str) -> str:
    """Return a note if generated files install from the package index, but this installation came
    from a local file; "" otherwise.
    """
    if install or not is_from_local_file():
        return ""
    return (
        f"generated files install {NAME} {version(NAME)} from the package index, because this "
        f"installation came from a local folder or file. If the index doesn't have it, replace "
        f"{NAME}=={version(NAME)} in these files with git+https://HOST/REPOSITORY.git@COMMIT or a "
        "wheel file (in a new project: --install)"
    )
