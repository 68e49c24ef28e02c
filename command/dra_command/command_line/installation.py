"""The source of this installation, for commands that install the package again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

NAME: Final = "pulumi-dra"


def extra_command(extra: str) -> str:
    """Return the command that adds an extra to this installation: from the index, or from the
    folder, file, or repository that pip recorded.
    """
    record = _record()
    url = str(record.get("url", ""))
    if url.startswith("file:"):
        is_editable = record.get("dir_info", {}).get("editable")
        return f'pip install {"-e " if is_editable else ""}"{_folder(url)}[{extra}]"'
    requirement = installed_from() if url else NAME
    return f'pip install "{with_extras(requirement, [extra])}"'


def with_extras(requirement: str, extras: Sequence[str]) -> str:
    """Return a requirement of this package with extras."""
    listed = f"[{','.join(extras)}]"
    if requirement.startswith(NAME):
        return f"{NAME}{listed}{requirement.removeprefix(NAME)}"
    return f"{requirement}{listed}"


def installed_from() -> str:
    """Return the requirement that installs this version again: the git commit or URL that pip
    recorded, or otherwise the version in the index.

    If the source is a checkout with a remote repository, the requirement contains the checked-out
    commit.
    """
    record = _record()
    url, git = str(record.get("url", "")), record.get("vcs_info", {})
    if git.get("vcs") == "git":
        return f"{NAME} @ git+{url}@{git['commit_id']}"
    if url.startswith("file:"):
        return _commit_of(_folder(url)) or f"{NAME}=={version(NAME)}"
    return f"{NAME} @ {url}" if url else f"{NAME}=={version(NAME)}"


def is_from_local_file() -> bool:
    """Return whether the source exists only on this machine, so that `installed_from` must name the
    index instead.
    """
    return bool(_record()) and installed_from() == f"{NAME}=={version(NAME)}"


def _folder(url: str) -> Path:
    return Path(unquote(urlsplit(url).path))


def _record() -> dict[str, Any]:
    """Return the source that pip recorded. Empty if the source is the index."""
    try:
        text = distribution(NAME).read_text("direct_url.json")
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
        f"{NAME} @ git+{url}@{commit}" if commit and url.startswith(("https://", "ssh://")) else ""
    )
