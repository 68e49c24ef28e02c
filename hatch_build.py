"""Metadata that depends on the repository: the README without links into it, and the addresses of
the project.

Links to files of the repository lead nowhere on the page of the package, so only their text
remains. The addresses come from the environment of the workflow that builds the package, because a
fork has others.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"<picture>.*?</picture>\n\n", re.DOTALL)  # the text follows
_LINK_INTO_THE_REPOSITORY = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+:)[^)]*\)")


class PackagePage(MetadataHookInterface):
    """Fills in the fields `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README's text, without links that need the repository."""
        text = _PICTURE.sub("", (Path(self.root) / "README.md").read_text(encoding="utf-8"))
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": _LINK_INTO_THE_REPOSITORY.sub(r"\1", text),
        }
        metadata["urls"] = _addresses()


def _addresses() -> dict[str, str]:
    """Return the addresses of the repository that builds the package, none outside a workflow."""
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    if not server or not name:
        return {}
    home = f"{server}/{name}"
    return {
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Documentation": f"{home}/tree/main/docs",
        "Issues": f"{home}/issues",
        "Source": home,
    }
