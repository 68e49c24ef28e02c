"""Number of pods in each domain of soft spread constraints, updated when pods are added and
removed.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_planner.allocation.node.filters import HOSTNAME
from dra_planner.allocation.node.template import Template
from dra_planner.model import Node
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.scheduler.pod_rules import PodRules, Spread, includes

Domains = dict[str | None, int]
"""Number of pods by value of the label. Nodes without the label count under None."""


class Census:
    """Counts pods by domain, for each constraint that spreads over domains other than nodes."""

    def __init__(self, kinds: Sequence[PodKind], rules: Sequence[PodRules]) -> None:
        self._kinds = kinds
        self._rules = rules
        self._counts: dict[int, list[Domains]] = {
            number: [{} for _ in own.soft_spread]
            for number, own in enumerate(rules)
            if own.soft_spread
        }
        # the counts that a pod of a kind on a node of a template changes, each with the label's
        # value
        self._changed: list[dict[Template, list[tuple[Domains, str | None]]]] = [{} for _ in kinds]
        self._watching: list[list[tuple[PodKind, PodRules, Spread, Domains]]] = [[] for _ in kinds]
        for number, counts in self._counts.items():
            for spread, domains in zip(rules[number].soft_spread, counts, strict=True):
                if spread.constraint.topology_key != HOSTNAME:
                    for watched in spread.kinds:
                        self._watching[watched].append(
                            (kinds[number], rules[number], spread, domains)
                        )

    def change(self, kind: PodKind, template: Template, by: int) -> None:
        """Count a pod of a kind that was added to a node or removed from it."""
        changed = self._changed[kind.number].get(template)
        if changed is None:
            changed = self._changed[kind.number][template] = self._counts_on(kind, template.node)
        for domains, value in changed:
            domains[value] = domains.get(value, 0) + by

    def _counts_on(self, kind: PodKind, node: Node) -> list[tuple[Domains, str | None]]:
        return [
            (domains, node.meta.labels.get(spread.constraint.topology_key))
            for owner, rules, spread, domains in self._watching[kind.number]
            if rules.counts_node(node) and includes(spread, owner, node)
        ]

    def of(self, kind: PodKind) -> Sequence[Domains]:
        """Return the counts for each soft constraint of a kind.

        The counts are empty for constraints that spread over nodes.
        """
        return self._counts[kind.number]
