"""What is told of a fault does not hang on how a stack is looked at: in any order, at its end alone, beside another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest
from seeded_stacks import Seeded, base, edited, seeded, told

from dra_policies.judge import Judge
from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource

Told = set[tuple[str, str, str]]  # rule, level, object
ONE_OF_EACH = list({(row.base, row.rule): row for row in seeded()}.values())
NEIGHBOURS = {"raw-eks": "raw-gke", "raw-gke": "raw-eks", "karpenter": "raw-gke", "gke-inline": "raw-eks"}


def names(stack: Mapping[str, Resource]) -> Told:
    return {(entry.rule, entry.level, entry.object) for entry in told(stack)}


def at_the_end(stack: Mapping[str, Resource]) -> Told:
    """Return what is told of a stack that is there, such as an exported state: nothing was told before."""
    urns = {each.urn: name for name, each in stack.items()}
    entries = Judge(RULES).of_stack(list(stack.values()))
    return {(entry.rule.id, entry.rule.level, urns.get(entry.finding.urn, "")) for entry in entries}


def renamed(stack: Mapping[str, Resource], prefix: str) -> dict[str, Resource]:
    """Return a stack with names of its own."""

    def own(urns: Iterable[str]) -> tuple[str, ...]:
        return tuple(f"{urn}-{prefix}" if urn else urn for urn in urns)

    return {
        f"{prefix}-{name}": replace(
            each,
            urn=f"{each.urn}-{prefix}",
            provider=own([each.provider])[0],
            sources={key: own(of) for key, of in each.sources.items()},
        )
        for name, each in stack.items()
    }


def bad(row: Seeded) -> dict[str, Resource]:
    return edited(base(row.base), row.edit)


@pytest.mark.parametrize("row", ONE_OF_EACH, ids=lambda row: row.fault)
def test_at_the_end_alone(row: Seeded) -> None:
    assert at_the_end(bad(row)) == names(bad(row))


@pytest.mark.parametrize("row", [row for row in ONE_OF_EACH if row.base in NEIGHBOURS], ids=lambda row: row.fault)
def test_in_any_order(row: Seeded) -> None:
    """But where there is a plan, which comes first: that it does is a rule of its own."""
    assert names(dict(reversed(bad(row).items()))) == names(bad(row))


@pytest.mark.parametrize("row", [row for row in ONE_OF_EACH if row.base in NEIGHBOURS], ids=lambda row: row.fault)
def test_beside_another_cluster(row: Seeded) -> None:
    both = {**bad(row), **renamed(base(NEIGHBOURS[row.base]), "other")}
    assert names(both) == names(bad(row))
