"""One sentence that summarizes all findings: how many there are, or what a result without findings
means.
"""

from __future__ import annotations

from collections import Counter

from dra_command.findings.check_result import CheckResult
from dra_command.findings.evaluation import MISSING_INPUT, NEVER_APPLIES
from dra_planner.wording import counted, named


def summary(checked: CheckResult) -> str:
    """Return the number of findings of each severity. Without findings, return what was checked."""
    numbers = counts(checked)
    return f"{numbers}{_uncounted(checked)}." if numbers else checked.passed or _passed(checked)


def counts(checked: CheckResult) -> str:
    """Return the number of findings of each severity, for example "1 error, 2 notes". "" if there
    are no findings.
    """
    by_severity = Counter(each.severity for each in checked.diagnostics)
    return ", ".join(
        counted(by_severity[name], name)
        for name in ("error", "warning", "note")
        if by_severity[name]
    )


def _passed(checked: CheckResult) -> str:
    workloads, judged = counted(checked.workloads, "workload"), counted(len(checked.judged), "rule")
    newest = " (the newest known; --kubernetes sets another version)" if checked.is_newest else ""
    parts = [f"No findings: {judged} on {workloads}, for Kubernetes {checked.kubernetes}{newest}"]
    for needs, what in (
        ("pools", "need --stack, --fleet, or --observed"),
        ("stack", "check resources in a Pulumi program, so only the policy pack runs them"),
    ):
        number = sum(each.reason == MISSING_INPUT[needs] for each in checked.skipped)
        parts += [f"{number} more {what}"] if number else []
    return "; ".join(parts) + f"{_uncounted(checked)}."


def _uncounted(checked: CheckResult) -> str:
    """Return the number of findings that are left out, and the rules that checked nothing, as the
    end of a sentence; "" for none.
    """
    parts = [f"{counted(len(checked.exempted), 'finding')} exempted"] if checked.exempted else []
    parts += [f"{counted(checked.known, 'finding')} known before"] if checked.known else []
    unused = [each.rule for each in checked.skipped if each.reason == NEVER_APPLIES]
    parts += [f"{named('rule', unused)} checked nothing, because {NEVER_APPLIES}"] if unused else []
    return "".join(f"; {each}" for each in parts)
