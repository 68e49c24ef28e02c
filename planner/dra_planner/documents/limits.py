"""Limits for reading hostile texts."""

from __future__ import annotations

from typing import Final

MAX_DEPTH: Final = 200
# maximum values in one document; aliases count each time they are used
MAX_NODES: Final = 2_000_000
MAX_DOCUMENTS: Final = 200_000
