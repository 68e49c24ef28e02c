"""All rules, evaluated on a stack in the order in which the engine provides it: each resource, and
then the whole stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from dra_policies.configuration.exemptions import Excuse, excuse_for, without_effect
from dra_policies.configuration.resource_exemptions import beside_resource, names_of_resource
from dra_policies.rules import (
    CANNOT_BE_JUDGED,
    COULD_NOT_RUN,
    EXEMPTIONS,
    Finding,
    Rule,
    StackView,
    failure,
    run,
)
from dra_policies.stack.clusters import Clusters, clusters_of
from dra_policies.stack.engine_session import Session
from dra_policies.stack.forms.common_form import in_common_form
from dra_policies.stack.forms.inline_resources import declared_urn, with_inline_resources
from dra_policies.stack.forms.provider_words import in_words_of_provider
from dra_policies.stack.kubernetes_objects import is_kubernetes_object
from dra_policies.stack.planned_counts import counts_of_plan
from dra_policies.stack.releases import RELEASES
from dra_policies.stack.resource import Resource
from dra_policies.stack.views import view_of_resource, view_of_stack
from dra_policies.stack.wording import of_stack as in_words_of_stack
from dra_policies.unknown_values import has_unknown

_NO_THRESHOLDS: Mapping[str, float] = MappingProxyType({})


class ReportedFinding(Struct, frozen=True):
    """A finding and the rule under which it's reported."""

    rule: Rule
    finding: Finding


class Judge:
    """Evaluates rules on one stack and remembers its resources.

    `excuses` are a configuration's exemptions. Only exemptions that are active on the date `today`
    apply. The evaluation reads exemptions inside objects itself. `thresholds` are the configured
    thresholds of rules.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        *,
        excuses: Sequence[Excuse] = (),
        thresholds: Mapping[str, float] = _NO_THRESHOLDS,
        today: date = date.min,
    ) -> None:
        self._rules = tuple(rule for rule in rules if rule.is_on)
        self._known = frozenset(rule.id for rule in rules)
        self._session = Session()
        self._excuses = tuple(excuses)
        self._thresholds = thresholds
        self._today = today

    def of_resource(self, resource: Resource) -> tuple[ReportedFinding, ...]:
        """Return the findings about a resource before it is created. Never raises.

        Findings that need unknown values wait for the whole stack, and so do disabled rules.
        """
        token = resource.type
        try:
            resource = in_common_form(resource)
            self._session.seen.add(resource)
            view = view_of_resource(resource, self._session.seen)
            found = () if view is None else tuple(_run(self._with_thresholds(view), self._rules))
            found = tuple(self._kept(found, (resource,), set()))
        except Exception as error:
            found = ((COULD_NOT_RUN, failure(error, resource.urn)),)
        findings = tuple(
            _in_words_of(_as_reported(rule, finding), token)
            for rule, finding in found
            if finding.certain and urn_of(finding) in ("", resource.urn)
        )
        self._session.remember(
            resource.urn, ((entry.rule.id, entry.finding.message) for entry in findings)
        )
        return findings

    def planned_counts(self, resource: Resource) -> dict[str, int]:
        """Return the planned counts of a pool that differ from its own, by the path of their
        property.
        """
        return counts_of_plan(resource, (*self._session.seen.all(), resource))

    def of_stack(
        self, resources: Sequence[Resource], rules: Sequence[Rule] = ()
    ) -> tuple[ReportedFinding, ...]:
        """Return the findings about the whole stack that weren't reported for its resources. Never
        raises.

        `rules` are the rules to run instead of the enabled rules.
        """
        try:
            common = with_inline_resources([in_common_form(each) for each in resources])
            found = tuple(self._of_stack(self._session.complete(common), rules))
        except Exception as error:
            found = ((COULD_NOT_RUN, failure(error)),)
        tokens = {each.urn: each.type for each in resources}
        findings = tuple(
            dict.fromkeys(
                _in_words_of(_as_reported(rule, finding), tokens.get(urn_of(finding), ""))
                for rule, finding in found
            )
        )
        reported = set(self._already_reported(findings))
        return tuple(entry for entry in findings if entry not in reported)

    def _already_reported(self, findings: Iterable[ReportedFinding]) -> Iterator[ReportedFinding]:
        """Yield the findings that were already reported for a resource, even with different
        wording.

        If the engine analyzes a resource early, its finding's message has less context, for example
        the plan's pool instead of the node group. Each early finding that isn't repeated
        corresponds to one finding of the same rule about the same resource.
        """
        by_rule: dict[tuple[str, str], list[ReportedFinding]] = {}
        for entry in findings:
            by_rule.setdefault((entry.finding.urn, entry.rule.id), []).append(entry)
        for (urn, rule), entries in by_rule.items():
            before = self._session.messages(urn, rule)
            reworded = before - {entry.finding.message for entry in entries}
            new = [entry for entry in entries if entry.finding.message not in before]
            yield from (entry for entry in entries if entry.finding.message in before)
            yield from new[: len(reworded)]

    def _of_stack(
        self, resources: Sequence[Resource], requested: Sequence[Rule]
    ) -> Iterator[tuple[Rule, Finding]]:
        clusters = clusters_of(resources)
        views = [self._with_thresholds(view_of_stack(group)) for group in clusters.groups]
        rules = requested or self._rules
        found = [
            *((rule, _at_declared(each)) for view in views for rule, each in _run(view, rules)),
            *_unplaced(clusters, rules),
        ]
        used = set[Excuse]()
        yield from self._kept(found, resources, used)
        if any(rule.id == EXEMPTIONS.id for rule in rules):
            yield from ((EXEMPTIONS, each) for each in self._of_exemptions(resources, views, used))

    def _with_thresholds(self, view: StackView) -> StackView:
        return replace(view, thresholds=self._thresholds, today=self._today)

    def _kept(
        self,
        found: Iterable[tuple[Rule, Finding]],
        resources: Iterable[Resource],
        used: set[Excuse],
    ) -> Iterator[tuple[Rule, Finding]]:
        """Yield the findings without an exemption. `used` collects the exemptions that cover the
        others.
        """
        found = tuple(found)
        by_urn = {each.urn: each for each in resources} if found else {}
        for rule, finding in found:
            resource = by_urn.get(urn_of(finding))
            names = [finding.about] if finding.about else []
            excuses = self._excuses
            if resource is not None:
                names += names_of_resource(resource)
                excuses += tuple(
                    each
                    for each in beside_resource(resource, self._known)
                    if isinstance(each, Excuse)
                )
            excuse = excuse_for(excuses, rule.id, names, self._today)
            if excuse is None:
                yield rule, finding
            else:
                used.add(excuse)

    def _of_exemptions(
        self, resources: Sequence[Resource], views: Sequence[StackView], used: set[Excuse]
    ) -> Iterator[Finding]:
        """Yield findings about exemptions. If the stack isn't fully known yet, none is reported as
        unused.
        """
        known = [resource for resource in resources if not has_unknown(resource.props.values)]
        beside = [each for resource in resources for each in beside_resource(resource, self._known)]
        yield from (each for each in beside if isinstance(each, Finding))
        urns = {resource.urn for resource in known}
        excuses = (each for each in beside if isinstance(each, Excuse))
        on_all = not any(
            view.unknowns or view.judgement_errors or view.doubtful_pools for view in views
        )
        yield from without_effect(
            (
                *self._excuses,
                *(each for each in excuses if each.urn in urns or each.is_over(self._today)),
            ),
            used,
            judged={rule.id for rule in self._rules if on_all or not rule.needs},
            names={name for each in known for name in names_of_resource(each)},
            today=self._today,
            reports_absent=False,
        )


def _at_declared(finding: Finding) -> Finding:
    """Return a finding at the resource that declares its subject."""
    urn = declared_urn(finding.urn)
    return finding if urn == finding.urn else replace(finding, urn=urn)


def _run(view: StackView, rules: Sequence[Rule]) -> Iterator[tuple[Rule, Finding]]:
    """Yield the findings of the rules. If the stack's plan wasn't made from a fleet file, the
    messages don't contain terms from fleet files.
    """
    for rule, finding in run(view, rules):
        yield rule, finding if view.record is not None else in_words_of_stack(finding)


def _unplaced(clusters: Clusters, rules: Sequence[Rule]) -> Iterator[tuple[Rule, Finding]]:
    """Yield objects related to devices whose cluster isn't known."""
    for each in clusters.unplaced if any(rule.id == CANNOT_BE_JUDGED.id for rule in rules) else ():
        if each.type in RELEASES or is_kubernetes_object(each):
            title = each.title(each.type.rpartition(":")[2])
            message = f"can't check {title}, because its cluster is unknown"
            fix = "use a provider with the cluster's kubeconfig for this object"
            yield CANNOT_BE_JUDGED, Finding(message=message, fix=fix, urn=each.urn, certain=False)


def urn_of(finding: Finding) -> str:
    """Return the resource of a finding: the source of the text, or otherwise the resource that the
    finding names.
    """
    return finding.place.file if finding.place.file.startswith("urn:pulumi:") else finding.urn


def _in_words_of(reported: ReportedFinding, token: str) -> ReportedFinding:
    return replace(reported, finding=in_words_of_provider(reported.finding, token))


def _as_reported(rule: Rule, finding: Finding) -> ReportedFinding:
    """Set the rule of a finding. If a mandatory rule depends on an unknown value, an advisory rule
    reports the finding, because each rule has only one level.
    """
    finding = replace(finding, urn=urn_of(finding))
    if finding.certain or rule.level == "advisory":
        return ReportedFinding(rule, finding)
    return ReportedFinding(
        CANNOT_BE_JUDGED,
        replace(finding, message=f"possible violation of {rule.id}: {finding.message}"),
    )
