"""The findings for a fault do not depend on how a stack is analysed.

In any order of resources, only as a whole, next to another stack, in a first preview, and in the
state that the engine exports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import pytest
import yaml
from msgspec.structs import replace
from seeded_stacks import HERE, Seeded, base, edited, findings_of, put, seeded

from dra_policies.rules import RULES
from dra_policies.stack.exported_state import resources_of_state
from dra_policies.stack.resource import NAMESPACE, Resource
from dra_policies.stack_evaluation import Judge
from dra_policies.unknown_values import UNKNOWN, Properties, as_list

Reported = set[tuple[str, str, str]]  # rule, level, object
ONE_OF_EACH = list({(row.base, row.rule): row for row in seeded()}.values())
NEIGHBOURS = {
    "raw-eks": "raw-gke",
    "raw-gke": "raw-eks",
    "karpenter": "raw-gke",
    "gke-inline": "raw-eks",
}

JUDGED = "stack-cannot-be-judged"
# Values from outputs of other resources, which are unknown until those resources are created.
OUTPUTS = (
    "encryptionConfig/provider/keyArn",
    "identity/userAssignedIdentities",
    "kubeconfig",
    "launchTemplate",
    "nodeConfig/serviceAccount",
    "nodeRoleArn",
    "principalId",
    "resourceGroupName",
    "roleArn",
    "subnetIds",
    "vpcConfig/subnetIds",
)
# Faults that only inputs show: GKE enables Private Google Access of a private cluster's subnet, so
# the output of a subnet that was created before the cluster can be outdated.
ONLY_IN_INPUTS = {"a subnet of private nodes without Private Google Access"}


def names(stack: Mapping[str, Resource]) -> Reported:
    return {(entry.rule, entry.level, entry.object) for entry in findings_of(stack)}


def at_the_end(stack: Mapping[str, Resource]) -> Reported:
    """Return the findings for an existing stack, such as an exported state, without earlier
    ones.
    """
    urns = {each.urn: name for name, each in stack.items()}
    entries = Judge(RULES).of_stack(list(stack.values()))
    return {(entry.rule.id, entry.rule.level, urns.get(entry.finding.urn, "")) for entry in entries}


def renamed(stack: Mapping[str, Resource], prefix: str) -> dict[str, Resource]:
    """Return a copy of a stack in which all names have a prefix."""

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


@cache
def known(fault: str) -> frozenset[tuple[str, str, str]]:
    """Return the findings for a seeded fault when all values are known."""
    (row,) = (each for each in ONE_OF_EACH if each.fault == fault)
    return frozenset(names(bad(row)))


@pytest.mark.parametrize(
    "row",
    [row for row in ONE_OF_EACH if row.fault not in ONLY_IN_INPUTS],
    ids=lambda row: row.fault,
)
def test_stack_check_without_resource_checks_finds_the_same(row: Seeded) -> None:
    assert at_the_end(bad(row)) == known(row.fault)


@pytest.mark.parametrize(
    "row", [row for row in ONE_OF_EACH if row.base in NEIGHBOURS], ids=lambda row: row.fault
)
def test_resource_order_does_not_change_findings(row: Seeded) -> None:
    """A plan still comes first, because another rule requires that."""
    assert names(dict(reversed(bad(row).items()))) == known(row.fault)


@pytest.mark.parametrize(
    "row", [row for row in ONE_OF_EACH if row.base in NEIGHBOURS], ids=lambda row: row.fault
)
def test_another_cluster_does_not_change_findings(row: Seeded) -> None:
    both = {**bad(row), **renamed(base(NEIGHBOURS[row.base]), "other")}
    assert names(both) == known(row.fault)


def first_preview(stack: Mapping[str, Resource]) -> dict[str, Resource]:
    """Return a stack as in its first preview: values that depend on resources to be created are
    unknown.
    """
    namespaces = {
        each.props.text("metadata.name"): each for each in stack.values() if each.type == NAMESPACE
    }
    there = {each.urn for each in stack.values()}
    seen: dict[str, Resource] = {}
    for short, each in stack.items():
        sources = {path: urns for path, urns in each.sources.items() if there.intersection(urns)}
        unknown = [path for path in OUTPUTS if each.props.has(path.replace("/", "."))] + [*sources]
        within = (
            namespaces.get(each.props.text("metadata.namespace"))
            if each.type != NAMESPACE
            else None
        )
        if within is not None:
            unknown.append("metadata/namespace")
            sources["metadata"] = (within.urn,)
        values = each.props.values
        for path in unknown:
            items = as_list(each.props.at(path.replace("/", ".")))
            if path == "networkInterfaces" and items is not None:
                # Of an interface, only the groups are outputs; a program writes its type.
                values = put(
                    values, [path], [{**each, "securityGroups": UNKNOWN} for each in items]
                )
                continue
            values = put(
                values, path.split("/"), UNKNOWN if items is None else [UNKNOWN] * len(items)
            )
        seen[short] = replace(each, props=Properties(values), sources=sources)
    return seen


@pytest.mark.parametrize("row", ONE_OF_EACH, ids=lambda row: row.fault)
def test_a_first_preview_reports_each_finding_or_a_doubt(row: Seeded) -> None:
    """Each finding is the same, or is named as one that can't be evaluated yet."""
    entries = findings_of(first_preview(bad(row)))
    early = {(entry.rule, entry.level, entry.object) for entry in entries}
    doubts = " ".join(entry.sentence for entry in entries if entry.rule == JUDGED)
    assert {entry for entry in early - known(row.fault) if entry[0] != JUDGED} == set()
    assert [
        entry
        for entry in known(row.fault) - early
        if entry[0] not in doubts and f'"{entry[2]}"' not in doubts
    ] == []


EXPORTED = HERE.parent / "exported"


@pytest.mark.parametrize("name", [file.stem for file in sorted(EXPORTED.glob("*.json"))])
def test_an_exported_state_has_the_same_findings(name: str) -> None:
    """The engine made the stack, on a simulated cloud, and exported it (conformance/previews)."""
    rows = {row.fault: row for row in seeded()}
    stack = base(name)
    for fault in yaml.safe_load((EXPORTED / "faults.yaml").read_text(encoding="utf-8"))[name]:
        stack = edited(stack, rows[fault].edit)
    state = resources_of_state((EXPORTED / f"{name}.json").read_text(encoding="utf-8"), name)
    assert at_the_end({each.name: each for each in state}) == names(stack)
