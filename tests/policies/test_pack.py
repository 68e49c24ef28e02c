"""The pack as the SDK calls it: levels, unknown values, crashes, and findings that are reported
only once.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pulumi_policy import (
    EnforcementLevel,
    PolicyCustomTimeouts,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    StackValidationArgs,
)
from pulumi_policy.proxy import UNKNOWN_OBJECT_VALUE, UNKNOWN_STRING_VALUE, unknown_checking_proxy

from dra_policies.pack import policies
from dra_policies.rules import RULES, Finding, Rule, StackView
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN

OPTIONS: dict[str, Any] = {
    "protect": False,
    "delete_before_replace": None,
    "aliases": [],
    "custom_timeouts": PolicyCustomTimeouts(0, 0, 0),
    "additional_secret_outputs": [],
}


def wire(value: Any) -> Any:
    """Return a value as the SDK deserializes it: numbers as floats, and unknown values as
    sentinels.
    """
    if value is UNKNOWN:
        return UNKNOWN_STRING_VALUE
    if isinstance(value, dict):
        return {key: wire(item) for key, item in value.items()}
    if isinstance(value, list):
        return [wire(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


class Host:
    """Calls the policies as the SDK's server does."""

    def __init__(self, rules: tuple[Rule, ...] = RULES) -> None:
        self.policies: list[Any] = policies(rules)

    def analyze(self, resource: Resource) -> list[tuple[str, str]]:
        args = ResourceValidationArgs(
            resource.type,
            unknown_checking_proxy(wire(resource.props.values)),
            resource.urn,
            resource.name,
            PolicyResourceOptions(ignore_changes=list(resource.ignore_changes), **OPTIONS),
            None,
        )
        return self._evaluate(args)

    def analyze_stack(self, *resources: Resource, outputs: bool = True) -> list[tuple[str, str]]:
        made = {
            resource.urn: PolicyResource(
                resource.type,
                unknown_checking_proxy(wire(resource.props.values) if outputs else {}),
                resource.urn,
                resource.name,
                PolicyResourceOptions(ignore_changes=list(resource.ignore_changes), **OPTIONS),
                None,
                None,
                [],
                {},
            )
            for resource in resources
        }
        for resource in resources:
            for key, urns in resource.sources.items():
                made[resource.urn].property_dependencies[key] = [
                    made[urn] for urn in urns if urn in made
                ]
        return self._evaluate(StackValidationArgs(list(made.values())))

    def _evaluate(self, args: Any) -> list[tuple[str, str]]:
        findings: list[tuple[str, str]] = []
        for policy in self.policies:
            policy.validate(
                args, lambda message, urn=None, name=policy.name: findings.append((name, message))
            )
        return findings


def names(findings: list[tuple[str, str]]) -> list[str]:
    return [name for name, _ in findings]


def test_each_rule_is_a_policy_with_its_level() -> None:
    made = policies()

    assert [policy.name for policy in made] == [rule.id for rule in RULES]
    for policy, rule in zip(made, RULES, strict=True):
        assert policy.enforcement_level == EnforcementLevel(
            rule.level if rule.is_on else "disabled"
        )
        assert policy.description == rule.description


def test_a_valid_stack_passes_by_resource_and_as_a_whole(declare: SimpleNamespace) -> None:
    host, stack = Host(), [declare.record(), declare.node_group()]

    assert [host.analyze(resource) for resource in stack] == [[], []]
    assert host.analyze_stack(*stack) == []


def test_a_pool_is_compared_before_it_is_created(declare: SimpleNamespace) -> None:
    host = Host()

    assert host.analyze(declare.record()) == []
    findings = host.analyze(declare.node_group(counts=(2, 2, 3)))

    assert names(findings) == ["pool-differs-from-plan"]


def test_resource_findings_are_not_repeated_for_the_stack(
    declare: SimpleNamespace,
) -> None:
    host, stack = Host(), [declare.record(), declare.node_group(counts=(2, 2, 3))]
    for resource in stack:
        host.analyze(resource)

    assert host.analyze_stack(*stack) == []
    assert names(Host().analyze_stack(*stack)) == ["pool-differs-from-plan"]


def test_the_same_finding_in_other_words_is_not_repeated(declare: SimpleNamespace) -> None:
    """The device plugin is analysed before the node group, so the pool of the plan is named."""
    host = Host()
    stack = [declare.record(), declare.release("nvidia-device-plugin"), declare.node_group()]
    findings = [each for resource in stack for each in host.analyze(resource)]

    assert names(findings) == ["device-plugin-on-dra-node"]
    assert 'pool "l4" in the plan' in findings[0][1]
    assert host.analyze_stack(*stack) == []
    ((_, message),) = Host().analyze_stack(*stack)
    assert 'node group "l4"' in message


def test_inputs_are_used_if_the_stack_has_no_outputs(declare: SimpleNamespace) -> None:
    """As in the first preview of a cluster, when the provider for its objects is not configured
    yet.
    """
    host, stack = (
        Host(),
        [declare.record(), declare.node_group(), declare.release("nvidia-device-plugin")],
    )
    for resource in stack[:2]:
        host.analyze(resource)
    findings = host.analyze(stack[2])

    assert names(findings) == ["device-plugin-on-dra-node"]
    assert host.analyze_stack(*stack, outputs=False) == []  # judged as before, and reported once
    assert names(Host().analyze_stack(*stack)) == ["device-plugin-on-dra-node"]


def test_a_preview_and_an_update_may_share_a_process(declare: SimpleNamespace) -> None:
    host = Host()
    host.analyze(declare.record())
    assert host.analyze(declare.node_group(counts=(2, 2, 3))) != []

    assert host.analyze(declare.node_group()) == []
    assert host.analyze_stack(declare.record(), declare.node_group()) == []


def test_a_removed_resource_is_ignored(declare: SimpleNamespace) -> None:
    host = Host()
    for resource in (
        declare.record(),
        declare.node_group(),
        declare.release("nvidia-device-plugin"),
    ):
        host.analyze(resource)

    assert host.analyze_stack(declare.record(), declare.node_group()) == []


UNKNOWNS: dict[str, dict[str, Any]] = {
    "the machine": {"instanceTypes": UNKNOWN},
    "one machine of the list": {"instanceTypes": [UNKNOWN]},
    "the counts": {"scalingConfig": UNKNOWN},
    "one count": {"scalingConfig": {"minSize": 2, "desiredSize": 2, "maxSize": UNKNOWN}},
    "the labels": {"labels": UNKNOWN},
    "the taints": {"taints": UNKNOWN},
    "the effect of a taint": {"taints": [{"key": "a", "value": "b", "effect": UNKNOWN}]},
    "the image": {"amiType": UNKNOWN},
}


@pytest.mark.parametrize("name", UNKNOWNS)
def test_an_unknown_value_never_disables_a_mandatory_rule(
    declare: SimpleNamespace, name: str
) -> None:
    """One property is unknown and another one breaks the plan: the rule must still report it."""
    broken = (
        {"labels": {"pulumi-dra/pool": "l4"}}
        if "labels" not in UNKNOWNS[name]
        else {"machine": "g6.48xlarge"}
    )
    host = Host()
    host.analyze(declare.record())

    findings = host.analyze(declare.node_group(**{**broken, **UNKNOWNS[name]}))

    if name == "the labels":  # without labels the row of the plan is unknown
        assert findings == []
    else:
        assert "pool-differs-from-plan" in names(findings)
    assert "stack-cannot-be-judged" in names(
        host.analyze_stack(declare.record(), declare.node_group(**UNKNOWNS[name]))
    )


def test_a_stack_of_unknown_values_causes_no_exception(declare: SimpleNamespace) -> None:
    types = [
        "aws:eks/nodeGroup:NodeGroup",
        "gcp:container/nodePool:NodePool",
        "pulumi-dra:index:CapacityPlan",
        "kubernetes:helm.sh/v3:Release",
        "kubernetes:apps/v1:DaemonSet",
        "kubernetes:core/v1:ResourceQuota",
        "kubernetes:resource.k8s.io/v1:ResourceClaim",
        "kubernetes:apps/v1:Deployment",
    ]
    keys = [
        "instanceTypes",
        "labels",
        "nodeConfig",
        "document",
        "chart",
        "values",
        "spec",
        "metadata",
    ]
    host = Host()
    stack = [declare.resource(token, token[-4:], dict.fromkeys(keys, UNKNOWN)) for token in types]

    findings = [
        entry for resource in stack for entry in host.analyze(resource)
    ] + host.analyze_stack(*stack)

    assert "rule-could-not-run" not in names(findings)
    assert set(names(findings)) <= {
        "stack-cannot-be-judged",
        "plan-record-missing",
        "claim-cannot-be-judged",
    }


def test_an_exception_in_a_rule_is_a_mandatory_finding(declare: SimpleNamespace) -> None:
    def check(view: StackView) -> Iterator[Finding]:
        raise ZeroDivisionError("division by zero")

    bad = Rule(id="bad", description="It divides.", why="", fix="", level="advisory", check=check)
    could_not_run = RULES[-1]
    host = Host((bad, could_not_run))

    ((name, message),) = host.analyze(declare.node_group())

    assert name == could_not_run.id == "rule-could-not-run"
    assert could_not_run.level == "mandatory"
    assert message.startswith("rule bad failed with ZeroDivisionError at test_pack.py:")
    assert names(host.analyze_stack(declare.node_group())) == ["rule-could-not-run"]


def test_an_exception_while_reading_the_stack_is_reported(
    declare: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> StackView:
        raise KeyError("surprise")

    monkeypatch.setattr("dra_policies.stack_evaluation.view_of_stack", broken)

    ((name, message),) = Host().analyze_stack(declare.node_group())

    assert name == "rule-could-not-run"
    assert message.startswith("reading the stack failed with KeyError")


def test_an_unknown_object_hides_its_properties(declare: SimpleNamespace) -> None:
    host = Host()
    host.analyze(declare.record())
    group = declare.node_group()
    args = ResourceValidationArgs(
        group.type,
        unknown_checking_proxy({**wire(group.props.values), "scalingConfig": UNKNOWN_OBJECT_VALUE}),
        group.urn,
        group.name,
        PolicyResourceOptions(ignore_changes=[], **OPTIONS),
        None,
    )

    assert host._evaluate(args) == []
    # only the outputs have the value
    assert set(names(host.analyze_stack(declare.record(), group))) == set()
    assert set(names(host.analyze_stack(declare.record(), group, outputs=False))) == {
        "stack-cannot-be-judged"
    }
