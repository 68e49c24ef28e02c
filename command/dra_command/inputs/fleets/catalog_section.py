"""The `catalog` section in a fleet file, which contains learned machine types."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dra_command.command_line.yaml_text import yaml_text

_KEY: Final = re.compile(r"^catalog:", re.MULTILINE)
_NEXT_KEY: Final = re.compile(r"^[A-Za-z]", re.MULTILINE)


def catalog_section(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as the YAML of a catalog file."""
    # The rows of a fleet are mappings with line numbers, which the YAML writer doesn't support.
    plain = json.loads(json.dumps(list(rows)))
    return yaml_text({"catalog": plain})


def replace_catalog(text: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a fleet's text after replacing or appending its catalog. All other lines stay
    unchanged.
    """
    key = _KEY.search(text)
    if key is None:
        return f"{text.rstrip()}\n{catalog_section(rows)}"
    following = _NEXT_KEY.search(text, key.end())
    end = following.start() if following is not None else len(text)
    return text[: key.start()] + catalog_section(rows) + text[end:]
