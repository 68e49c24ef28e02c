"""Findings as SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dra_command.checked import Checked
from dra_planner.errors import Diagnostic
from dra_policies.rules import RULES

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def check_sarif(checked: Checked) -> str:
    """Return a SARIF log with one run."""
    known = {rule.id for rule in RULES}
    rules: list[dict[str, Any]] = [
        {
            "id": rule.id,
            "shortDescription": {"text": rule.says},
            "fullDescription": {"text": rule.why},
            "help": {"text": rule.fix},
            "defaultConfiguration": {"level": "error" if rule.level == "mandatory" else "warning"},
        }
        for rule in RULES
    ]
    others = sorted({each.code for each in checked.diagnostics} - known)
    rules += [{"id": code, "shortDescription": {"text": code.replace("-", " ")}} for code in others]
    driver = {"name": "pulumi-dra", "version": version("pulumi-dra"), "rules": rules}
    position = {rule["id"]: index for index, rule in enumerate(rules)}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, position[each.code]) for each in checked.diagnostics],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def _result(each: Diagnostic, rule: int) -> dict[str, Any]:
    text = each.message + (f" ({each.fix})" if each.fix else "")
    result: dict[str, Any] = {
        "ruleId": each.code,
        "ruleIndex": rule,
        "level": each.severity,
        "message": {"text": text},
    }
    location: dict[str, Any] = {}
    if each.place.file:
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(each.place.file)}}
        if each.place.line:
            location["physicalLocation"]["region"] = {"startLine": each.place.line}
    if each.place.path:
        location["logicalLocations"] = [{"fullyQualifiedName": each.place.path, "kind": "member"}]
    if location:
        result["locations"] = [location]
    return result


def _uri(file: str) -> str:
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
