"""All rules over a stack, as the engine shows it: resource by resource, then the whole of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dra_policies.rules import CANNOT_BE_JUDGED, COULD_NOT_RUN, Finding, Rule, failure, run
from dra_policies.stack.clusters import Clusters, clusters_of
from dra_policies.stack.kubernetes_objects import is_kubernetes_object
from dra_policies.stack.releases import RELEASES
from dra_policies.stack.resource import Resource
from dra_policies.stack.session import Session
from dra_policies.stack.views import view_of_resource, view_of_stack


@dataclass(frozen=True, slots=True)
class Told:
    """A finding, and the rule under whose name it is told."""

    rule: Rule
    finding: Finding


class Judge:
    """Judges with some rules; keeps what it has seen of one stack."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rule for rule in rules if rule.is_on)
        self._session = Session()

    def of_resource(self, resource: Resource) -> tuple[Told, ...]:
        """Return what is wrong with a resource before it is created; never raises.

        What cannot be told yet may be told when more is known, so it is left to the end, as are rules that are off.
        """
        try:
            view = view_of_resource(resource, self._session.observe(resource))
            found = () if view is None else tuple(run(view, self._rules))
        except Exception as error:
            found = ((COULD_NOT_RUN, failure(error, resource.urn)),)
        told = tuple(
            _told(rule, finding) for rule, finding in found if finding.certain and urn_of(finding) in ("", resource.urn)
        )
        self._session.tell(resource.urn, ((entry.rule.id, entry.finding.message) for entry in told))
        return told

    def of_stack(self, resources: Sequence[Resource], asked: Sequence[Rule] = ()) -> tuple[Told, ...]:
        """Return what there is to say of the whole stack and was not said of its resources; never raises.

        `asked` are rules to ask instead of those that are on.
        """
        try:
            clusters = clusters_of(self._session.complete(resources))
            views = map(view_of_stack, clusters.groups)
            found = (
                *(each for view in views for each in run(view, asked or self._rules)),
                *_unplaced(clusters, asked or self._rules),
            )
        except Exception as error:
            found = ((COULD_NOT_RUN, failure(error)),)
        told = (_told(rule, finding) for rule, finding in found)
        return tuple(
            entry
            for entry in dict.fromkeys(told)
            if not self._session.was_told(entry.finding.urn, (entry.rule.id, entry.finding.message))
        )


def _unplaced(clusters: Clusters, rules: Sequence[Rule]) -> Iterator[tuple[Rule, Finding]]:
    """Yield the objects that have to do with devices, and may be of any cluster."""
    for each in clusters.unplaced if CANNOT_BE_JUDGED in rules else ():
        if each.type in RELEASES or is_kubernetes_object(each):
            message = f"{each.title(each.type.rpartition(':')[2])}: it is not known to which cluster it belongs"
            fix = "give it a provider whose kubeconfig comes from its cluster"
            yield CANNOT_BE_JUDGED, Finding(message=message, fix=fix, urn=each.urn, certain=False)


def urn_of(finding: Finding) -> str:
    """Return the resource that a finding is about: the one whose text it was read from, else the one it names."""
    return finding.place.file if finding.place.file.startswith("urn:pulumi:") else finding.urn


def _told(rule: Rule, finding: Finding) -> Told:
    """Name the rule: what a mandatory rule could not tell is told by an advisory one, since a rule has one level."""
    finding = replace(finding, urn=urn_of(finding))
    if finding.certain or rule.level == "advisory":
        return Told(rule, finding)
    return Told(CANNOT_BE_JUDGED, replace(finding, message=f"{rule.id}: {finding.message}"))
