"""Findings as SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dra_command.findings.check_result import CheckResult
from dra_command.findings.fingerprints import numbered
from dra_command.findings.repository_paths import repository_path
from dra_command.findings.sarif_log import SCHEMA, category_id
from dra_planner.errors import Diagnostic
from dra_policies.rules import RULES
from dra_policies.rules.rule import CLAIMS_PAGE

NO_FILE = "pulumi-dra"
_TAGS = ["kubernetes", "dynamic-resource-allocation"]
_MOST = 25_000  # maximum number of results per run that GitHub accepts


def check_sarif(checked: CheckResult) -> str:
    """Return a SARIF log with one run."""
    known = {rule.id for rule in RULES}
    rules: list[dict[str, Any]] = [
        {
            "id": rule.id,
            "shortDescription": {"text": rule.description},
            "fullDescription": {"text": rule.why},
            "help": {
                "text": rule.fix,
                "markdown": f"{rule.description}\n\n**Why:** {rule.why}\n\n**Fix:** {rule.fix}",
            },
            "helpUri": rule.url,
            "defaultConfiguration": {"level": "error" if rule.level == "mandatory" else "warning"},
            "properties": {"tags": _TAGS, "precision": "high"},
        }
        for rule in RULES
    ]
    others = sorted({each.code for each in checked.diagnostics} - known)
    rules += [_other(code) for code in others]
    driver = {"name": "pulumi-dra", "version": version("pulumi-dra"), "rules": rules}
    position = {rule["id"]: index for index, rule in enumerate(rules)}
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": _results(checked, position)[:_MOST],
    }
    if checked.stack:
        run["automationDetails"] = {"id": category_id(checked.stack)}
    if len(checked.diagnostics) > _MOST:
        left = {
            "level": "warning",
            "message": {"text": f"{len(checked.diagnostics) - _MOST} more findings omitted"},
        }
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [left]}]
    return json.dumps(
        {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False
    )


def _other(code: str) -> dict[str, Any]:
    """Return the description of a finding that doesn't come from a rule, but from reading objects
    or from planning.
    """
    title = code.replace("-", " ").capitalize()
    text = (
        f"{title}. Parsing or planning reports this problem, not a rule. Each result contains its "
        "fix."
    )
    return {
        "id": code,
        "shortDescription": {"text": title},
        "fullDescription": {"text": text},
        "help": {"text": text, "markdown": text},
        "helpUri": CLAIMS_PAGE,
        "properties": {"tags": _TAGS, "precision": "high"},
    }


def _results(checked: CheckResult, position: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the findings, each with a fingerprint that doesn't change when lines move. If the same
    fault occurs twice, the fingerprints contain a number.
    """
    results: list[dict[str, Any]] = []
    for each, digest in numbered(checked.diagnostics):
        result = _result(each, position[each.code], checked.fleet_file)
        result["partialFingerprints"] = {"pulumiDra/v1": digest}
        results.append(result)
    return results


def _result(each: Diagnostic, rule: int, fleet_file: str) -> dict[str, Any]:
    text = each.message + (f" ({each.fix})" if each.fix else "")
    result: dict[str, Any] = {
        "ruleId": each.code,
        "ruleIndex": rule,
        "level": each.severity,
        "message": {"text": text},
    }
    # A finding without a file belongs to the fleet file, because code scanning doesn't show
    # findings without a location.
    place: dict[str, Any] = {
        "artifactLocation": {"uri": _uri(each.place.file or fleet_file or NO_FILE)},
        "region": {"startLine": each.place.line or 1},
    }
    location: dict[str, Any] = {"physicalLocation": place}
    if each.place.path:
        location["logicalLocations"] = [{"fullyQualifiedName": each.place.path, "kind": "member"}]
    result["locations"] = [location]
    return result


def _uri(file: str) -> str:
    path = Path(repository_path(file))
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
