"""Findings as JUnit XML: a test case for each finding, one for each rule without findings, and
skipped ones with the reason.
"""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

from dra_command.findings.check_result import CheckResult
from dra_command.findings.evaluation import MISSING_INPUT
from dra_command.findings.repository_paths import repository_path
from dra_command.pens.visible_text import xml_text
from dra_planner.errors import Diagnostic
from dra_policies.rules import RULES

_NAME = "pulumi-dra check"


def check_junit(checked: CheckResult) -> str:
    """Return an XML document. Errors are failures, and other findings are output of passing test
    cases.
    """
    by_code: dict[str, list[Diagnostic]] = {}
    for each in checked.diagnostics:
        by_code.setdefault(each.code, []).append(each)
    # otherwise, rules that check only the resources of a program would be most of a pipeline's test
    # cases
    reasons = {
        each.rule: each.reason for each in checked.skipped if each.reason != MISSING_INPUT["stack"]
    }
    known = [
        rule.id
        for rule in RULES
        if rule.id in checked.judged or rule.id in reasons or rule.id in by_code
    ]
    custom = [id for id in (*checked.judged, *reasons) if id not in known]
    codes = list(dict.fromkeys((*known, *custom, *by_code)))
    failures = sum(each.severity == "error" for each in checked.diagnostics)
    skipped = [code for code in codes if code in reasons and code not in by_code]
    tests = sum(len(by_code.get(code, ())) or 1 for code in codes)
    totals = {
        "tests": str(tests),
        "failures": str(failures),
        "errors": "0",
        "skipped": str(len(skipped)),
    }
    root = ElementTree.Element("testsuites", {"name": _NAME, **totals})
    suite = ElementTree.SubElement(root, "testsuite", {"name": _NAME, **totals})
    for code in codes:
        found = by_code.get(code)
        if found:
            _cases(suite, code, found)
            continue
        case = ElementTree.SubElement(suite, "testcase", {"classname": "pulumi-dra", "name": code})
        if code in reasons:
            ElementTree.SubElement(case, "skipped", {"message": reasons[code]})
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(
        root, encoding="unicode"
    )


def _cases(suite: ElementTree.Element, code: str, found: list[Diagnostic]) -> None:
    """Add a case for each finding of a rule. Every case has a unique name."""
    seen = Counter[str]()
    for each in found:
        place = each.place
        where = f"{place.file}:{place.line}" if place.line else place.file
        name = xml_text(f"{code} {where}".rstrip())
        seen[name] += 1
        name += f" ({seen[name]})" if seen[name] > 1 else ""
        attributes = {"classname": "pulumi-dra", "name": name}
        if place.file:
            attributes["file"] = xml_text(repository_path(place.file))
        if place.line:
            attributes["line"] = str(place.line)
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if each.severity == "error":
            failure = ElementTree.SubElement(
                case, "failure", {"message": xml_text(each.message), "type": code}
            )
            failure.text = xml_text(str(each))
        else:
            ElementTree.SubElement(case, "system-out").text = xml_text(str(each))
