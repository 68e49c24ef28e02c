"""Findings as JUnit XML: one test case per rule, and one per kind of finding that is no rule's."""

from __future__ import annotations

from xml.etree import ElementTree

from dra_command.checked import Checked
from dra_planner.errors import Diagnostic
from dra_policies.rules import RULES


def check_junit(checked: Checked) -> str:
    """Return an XML document; errors are failures, other findings are output of their case."""
    by_code: dict[str, list[Diagnostic]] = {rule.id: [] for rule in RULES}
    for each in checked.diagnostics:
        by_code.setdefault(each.code, []).append(each)
    failures = sum(1 for found in by_code.values() if any(each.severity == "error" for each in found))
    totals = {"tests": str(len(by_code)), "failures": str(failures), "errors": "0", "skipped": "0"}
    root = ElementTree.Element("testsuites", {"name": "pulumi-dra check", **totals})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "pulumi-dra check", **totals})
    for code, found in by_code.items():
        case = ElementTree.SubElement(suite, "testcase", {"classname": "pulumi-dra", "name": code})
        errors = [each for each in found if each.severity == "error"]
        others = [each for each in found if each.severity != "error"]
        if errors:
            failure = ElementTree.SubElement(case, "failure", {"message": _clean(errors[0].message), "type": code})
            failure.text = _clean("\n".join(map(str, errors)))
        if others:
            ElementTree.SubElement(case, "system-out").text = _clean("\n".join(map(str, others)))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _clean(text: str) -> str:
    """Leave out what XML 1.0 cannot hold, whatever the escape."""
    return "".join(sign for sign in text if sign in "\t\n\r" or (sign >= " " and sign not in "\ufffe\uffff"))
