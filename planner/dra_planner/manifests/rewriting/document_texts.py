"""Split a source into its documents and the text before each document.

Joining the parts gives the source.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from dra_planner.documents.stream import split_stream

_SPACE: Final = re.compile(r"\s*")


def cut(text: str) -> list[tuple[str, str]]:
    """Return (text before the document, document) for every document.

    The source is a stream of JSON values, or YAML documents.
    """
    if text.lstrip().startswith("{"):
        try:
            return list(_json_values(text))
        except (json.JSONDecodeError, RecursionError):
            pass  # YAML that begins with a brace
    return [(separator, document) for document, separator in split_stream(text)]


def _json_values(text: str) -> Iterator[tuple[str, str]]:
    decoder, position = json.JSONDecoder(), 0
    while True:
        space = _SPACE.match(text, position)
        begin = space.end() if space is not None else position
        if begin == len(text):
            yield text[position:], ""
            return
        _, end = decoder.raw_decode(text, begin)
        yield text[position:begin], text[begin:end]
        position = end
