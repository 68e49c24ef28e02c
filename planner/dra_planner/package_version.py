"""The version of this package for tools that read semantic versions."""

from __future__ import annotations

import re
from typing import Final

_CANDIDATE: Final = re.compile(r"(a|b|rc)(\d+)$")
_NAMES: Final = {"a": "alpha", "b": "beta", "rc": "rc"}


def semantic_version(version: str) -> str:
    """Return a version of a Python package as a semantic version: 1.0.0rc1 → 1.0.0-rc.1.

    Pulumi, krew, and the tags of releases need this form (semver.org).
    """
    return _CANDIDATE.sub(lambda found: f"-{_NAMES[found[1]]}.{found[2]}", version)
