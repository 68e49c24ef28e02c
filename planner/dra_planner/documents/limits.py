"""Limits for reading hostile texts."""

from __future__ import annotations

from typing import Final

MAX_DEPTH: Final = 200
MAX_NODES: Final = 2_000_000  # of one document, aliases counted as often as they are used
MAX_DOCUMENTS: Final = 200_000
