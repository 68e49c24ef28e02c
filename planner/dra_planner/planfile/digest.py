"""Convert equal data to the same text and the same digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def canonical(document: Mapping[str, Any]) -> str:
    """Return plain data on one line with sorted keys."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(document: Mapping[str, Any]) -> str:
    """Return `sha256:…` over the canonical text."""
    return "sha256:" + hashlib.sha256(canonical(document).encode()).hexdigest()
