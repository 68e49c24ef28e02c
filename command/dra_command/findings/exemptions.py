"""Findings that the configuration or a text in their object exempts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from dra_command.findings.active_findings import ActiveFindings, RuleFinding
from dra_command.findings.check_result import ExemptedFinding
from dra_planner.errors import Diagnostic
from dra_planner.sources import Source
from dra_policies.configuration.exemptions import Excuse, excuse_for, excuses_of, without_effect
from dra_policies.configuration.manifest_objects import WrittenObjects
from dra_policies.configuration.reading import OF_READING, Configured
from dra_policies.rules import EXEMPTIONS, Finding, Rule


def apply_exemptions(
    rule_findings: Sequence[RuleFinding],
    read: Sequence[Diagnostic],
    sources: Iterable[Source],
    configured: Configured,
    judged: Sequence[Rule],
    today: date,
) -> ActiveFindings:
    """Return the findings that neither the configuration nor a comment next to the object
    exempts.
    """
    objects = WrittenObjects(sources, configured.known_rules)
    beside = tuple(objects.beside)
    excuses = (*excuses_of(configured), *(each for each in beside if isinstance(each, Excuse)))
    used, exempted = set[Excuse](), list[ExemptedFinding]()

    def is_excused(rule: str, found: Diagnostic, about: str = "") -> bool:
        names = tuple(filter(None, (objects.name_at(found.place), about)))
        excuse = excuse_for(excuses, rule, names, today)
        if excuse is not None:
            used.add(excuse)
            exempted.append(ExemptedFinding(found, excuse.reason, excuse.place))
        return excuse is not None

    kept_rule_findings = tuple(
        (rule, finding)
        for rule, finding in rule_findings
        if not is_excused(rule.id, rule.diagnostic(finding), finding.about)
    )
    kept_read = tuple(each for each in read if not is_excused(OF_READING, each))
    rule = next((each for each in judged if each.id == EXEMPTIONS.id), None)
    remarks: Iterator[Finding] = iter(())
    if rule is not None:
        wrong = (each for each in beside if isinstance(each, Finding))
        ids = {each.id for each in judged}
        reported: dict[str, set[str]] = {}
        for each, finding in kept_rule_findings:
            place = each.diagnostic(finding).place
            reported.setdefault(each.id, set()).add(finding.about or objects.name_at(place))
        stale = without_effect(
            excuses,
            used,
            judged=ids,
            names=objects.names,
            today=today,
            reports_absent=True,
            reported=reported,
        )
        remarks = (each for found in (wrong, stale) for each in found)
    return ActiveFindings(
        rule_findings=kept_rule_findings,
        read=kept_read,
        exempted=tuple(exempted),
        remarks=tuple(rule.diagnostic(each) for each in remarks) if rule is not None else (),
    )
