"""A stream of YAML documents, split at lines that begin with three hyphens. Like kubectl, it's
split before any document is parsed.

Source of the behavior: kubernetes/apimachinery:pkg/util/yaml/decoder.go@v0.32.0 (YAMLReader).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_SEPARATOR: Final = re.compile(r"\n---[^\n]*")


def split_stream(text: str) -> Iterator[tuple[str, str]]:
    """Yield the documents in a YAML text, each with the separator that precedes it ("" for the
    first).
    """
    text = f"\n{text}"
    separator, start = "", 1
    for match in _SEPARATOR.finditer(text):
        begin, end = match.start() + 1, match.end() + 1
        yield text[start:begin], separator
        separator, start = text[begin:end], end
    yield text[start:], separator
