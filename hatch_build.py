"""The README as the page of the package: links to files of the repository lead nowhere there, and are text alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"<picture>.*?</picture>\n\n", re.DOTALL)  # the text follows
_LINK_INTO_THE_REPOSITORY = re.compile(r"(?<!!)\[([^\]]+)\]\((?![a-z]+:)[^)]*\)")


class PackagePage(MetadataHookInterface):
    """Fills in the field `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README's text, without links that need the repository."""
        text = _PICTURE.sub("", (Path(self.root) / "README.md").read_text(encoding="utf-8"))
        metadata["readme"] = {"content-type": "text/markdown", "text": _LINK_INTO_THE_REPOSITORY.sub(r"\1", text)}
