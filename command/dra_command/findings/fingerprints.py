"""Fingerprints of findings that don't change when lines move, to compare two runs."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator

from dra_command.findings.active_findings import FITTING
from dra_planner.errors import Diagnostic


def fingerprint(finding: Diagnostic) -> str:
    """Return a digest of 32 hexadecimal digits for the rule, the file (relative to the current
    folder), the field, and the sentence, but not for the line.

    If a workload doesn't fit, the sentence lists all pools. The digest then contains the workload
    instead, so that a change to another pool doesn't make the finding a new one.
    """
    place = finding.place
    text = (finding.code in FITTING and finding.subject) or finding.message
    parts = (finding.code, _file(place.file), place.path, text)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def numbered(findings: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    """Yield every finding with its fingerprint. If findings are equal, their fingerprints contain a
    number, so that no two fingerprints are equal.
    """
    seen = Counter[str]()
    for each in findings:
        digest = fingerprint(each)
        seen[digest] += 1
        yield each, f"{digest}:{seen[digest]}"


def _file(name: str) -> str:
    if not name or name.startswith("<") or "::" in name:
        return name
    path = os.path.relpath(name) if os.path.isabs(name) else os.path.normpath(name)
    return path.replace(os.sep, "/")
