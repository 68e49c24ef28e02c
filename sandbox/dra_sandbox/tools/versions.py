"""Parse and compare version numbers in the output of tools."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence

Version = tuple[int, ...]

_NUMBERS = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def parse_version(text: str) -> Version | None:
    """Return the first version number in `text` as (major, minor, patch). A missing patch is 0.

    Return None if there is no version number.
    """
    found = _NUMBERS.search(text)
    return tuple(int(part or 0) for part in found.groups()) if found else None


def printed_version(command: Sequence[str]) -> Version | None:
    """Return the version that `command` prints, or None if the command fails or doesn't
    print one.
    """
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_version(answer.stdout)
