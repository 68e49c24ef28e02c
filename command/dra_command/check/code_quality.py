"""Findings as a GitLab Code Quality report, which merge requests show in their changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from dra_command.findings.check_result import CheckResult
from dra_command.findings.fingerprints import numbered
from dra_command.findings.repository_paths import repository_path
from dra_planner.errors import Diagnostic, Severity

NO_FILE: Final = "pulumi-dra"
_SEVERITIES: Final[Mapping[Severity, str]] = {"error": "major", "warning": "minor", "note": "info"}


def check_code_quality(checked: CheckResult) -> str:
    """Return a JSON array with an object for each finding.

    Source: gitlabhq/gitlabhq:doc/ci/testing/code_quality.md@01eae35 (Implement a custom tool).
    """
    rows = [_row(each, digest, checked) for each, digest in numbered(checked.diagnostics)]
    return json.dumps(rows, indent=2, ensure_ascii=False)


def _row(each: Diagnostic, digest: str, checked: CheckResult) -> dict[str, object]:
    # GitLab merges findings with the same fingerprint, and a finding can occur in several stacks.
    unique = hashlib.sha256(f"{checked.stack}\0{digest}".encode()).hexdigest()[:32]
    # GitLab shows only findings with a file and a line.
    path = repository_path(each.place.file or checked.fleet_file) or NO_FILE
    return {
        "description": each.message + (f" ({each.fix})" if each.fix else ""),
        "check_name": each.code,
        "fingerprint": unique,
        "severity": _SEVERITIES[each.severity],
        "location": {"path": path, "lines": {"begin": each.place.line or 1}},
    }
