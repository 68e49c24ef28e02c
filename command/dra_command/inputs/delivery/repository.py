"""The repository of a file: its root, and whether a URL belongs to it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

from msgspec import Struct

from dra_command.inputs.delivery.local_source import NotRendered

_LAST_TWO: Final = re.compile(r"([^/:]+/[^/:]+?)(?:\.git)?/*$")


class Repository(Struct, frozen=True):
    """A root folder, and the names of its remotes as OWNER/NAME. Empty if the names are unknown."""

    root: Path
    remotes: frozenset[str] = frozenset()

    def require_own(self, url: str) -> None:
        """Raise NotRendered if a URL belongs to another repository. If the repository doesn't have
        remotes, every URL is treated as its own.
        """
        name = _LAST_TWO.search(url)
        if url and self.remotes and (name is None or name[1].lower() not in self.remotes):
            raise NotRendered(f"its source is in another repository, {url}")

    def path(self, written: str, below: Path | None = None) -> Path:
        """Return the existing path that is written relative to a folder (by default, the root).
        Raises NotRendered.
        """
        found = ((below or self.root) / written.lstrip("/")).resolve()
        if not found.is_relative_to(self.root):
            raise NotRendered(f"{written} is outside the repository")
        if not found.exists():
            raise NotRendered(f"{written} isn't in {self.root}")
        return found

    def folder(self, written: str) -> Path:
        """Return the existing folder at a path from the root. Raises NotRendered."""
        found = self.path(written)
        if not found.is_dir():
            raise NotRendered(f"{written} isn't a folder")
        return found


def repository_of(folder: Path) -> Repository:
    """Return the git repository that contains a folder. If there is no repository, the root is the
    current folder if it contains the folder.
    """
    real = folder.resolve()
    root = next((each for each in (real, *real.parents) if (each / ".git").exists()), None)
    if root is None:
        here = Path.cwd()
        return Repository(here if real.is_relative_to(here) else real)
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "remote", "-v"], capture_output=True, text=True, check=False
        )
    except OSError:
        return Repository(root)
    urls = [line.split()[1] for line in done.stdout.splitlines() if len(line.split()) > 1]
    return Repository(
        root, frozenset(name[1].lower() for url in urls if (name := _LAST_TWO.search(url)))
    )
