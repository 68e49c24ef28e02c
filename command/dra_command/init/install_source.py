"""What pip installs in generated pipelines: a place that exists."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from dra_command.command_line.arguments import UsageError

_NAME: Final = "pulumi-dra"
_VERSION: Final = re.compile(r"\d+(\.\d+)*([a-z]+\d+)?")


def requirement_of(source: str) -> str:
    """Return what pip installs for a git URL with a ref, a wheel file or its URL, or a version in
    the index.

    Raises UsageError for anything else.
    """
    if source.startswith("git+"):
        if "@" not in source.rpartition("/")[2]:
            raise UsageError(
                "--install: the git URL has no ref", fix=f"add a commit: {source}@COMMIT"
            )
        return f"{_NAME} @ {source}"
    if source.startswith(("https://", "http://")):
        return f"{_NAME} @ {source}"
    if source.endswith(".whl"):
        return source
    if _VERSION.fullmatch(source):
        return f"{_NAME}=={source}"
    fix = (
        "write a git URL with a commit (git+https://HOST/REPOSITORY.git@COMMIT), a wheel file or "
        "its URL (the command `uv build` creates one in dist/), or a version in the package index "
        f"({version(_NAME)})"
    )
    raise UsageError(f"--install: {source} can't be installed", fix=fix)


def with_extras(requirement: str, extras: Sequence[str]) -> str:
    """Return a requirement of this package with extras."""
    listed = f"[{','.join(extras)}]"
    if requirement.startswith(_NAME):
        return f"{_NAME}{listed}{requirement.removeprefix(_NAME)}"
    return f"{requirement}{listed}"


def index_note(install: str) -> str:
    """Return a note if generated files install from the package index, but this installation came
    from a local file; "" otherwise.
    """
    if install or installed_from() != f"{_NAME}=={version(_NAME)}" or not _record():
        return ""
    return (
        f"generated files install {_NAME} {version(_NAME)} from the package index, because this "
        "installation came from a local folder. If the index doesn't have it, run the command "
        "again with --force and --install git+https://HOST/REPOSITORY.git@COMMIT or a wheel file"
    )


def installed_from() -> str:
    """Return what installs this version again: the git commit or URL that pip recorded, else the
    version in the index.

    An installation from a checkout is that of its commit, if the checkout has a remote repository.
    """
    record = _record()
    url, git = str(record.get("url", "")), record.get("vcs_info", {})
    if git.get("vcs") == "git":
        return f"{_NAME} @ git+{url}@{git['commit_id']}"
    if url.startswith("file:"):
        return _commit_of(Path(unquote(urlsplit(url).path))) or f"{_NAME}=={version(_NAME)}"
    return f"{_NAME} @ {url}" if url else f"{_NAME}=={version(_NAME)}"


def _record() -> dict[str, Any]:
    """Return what pip recorded of the source; empty if it was the index."""
    try:
        text = distribution(_NAME).read_text("direct_url.json")
        record: Any = json.loads(text) if text else {}
    except (PackageNotFoundError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _commit_of(folder: Path) -> str:
    """Return the requirement for a checkout's commit; "" if it has no commit or no HTTPS or SSH
    remote.
    """
    answers = []
    for words in (["remote", "get-url", "origin"], ["rev-parse", "HEAD"]):
        try:
            done = subprocess.run(
                ["git", "-C", str(folder), *words], capture_output=True, text=True, check=False
            )
        except OSError:
            return ""
        answers.append(done.stdout.strip())
    url, commit = answers
    return (
        f"{_NAME} @ git+{url}@{commit}" if commit and url.startswith(("https://", "ssh://")) else ""
    )
