"""Version numbers as tools print them, made comparable."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence

Version = tuple[int, ...]

_NUMBERS = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def parse_version(text: str) -> Version | None:
    """The first version number in `text` as (major, minor, patch); a missing patch is 0; None
    without a number.
    """
    found = _NUMBERS.search(text)
    return tuple(int(part or 0) for part in found.groups()) if found else None


def printed_version(command: Sequence[str]) -> Version | None:
    """The version that `command` prints, or None when it cannot be run, fails, or prints none."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_version(answer.stdout)
