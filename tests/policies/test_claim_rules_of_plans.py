"""Custom rules for claims in the pack, if the stack has only a plan: the claims of the plan."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dra_policies.configuration.reading import parse_configuration
from dra_policies.configuration.rule_settings import configured_rules
from dra_policies.rules import RULES
from dra_policies.stack_evaluation import Judge

RULE = """\
rules:
  approved-classes:
    for: claim
    level: mandatory
    expression: claim.requests.all(r, r.deviceClass == "{name}")
    message: This class isn't approved
"""


@pytest.mark.parametrize(("name", "found"), [("gpu.nvidia.com", []), ("zz", ["approved-classes"])])
def test_claims_of_a_plan_are_checked(
    declare: SimpleNamespace, name: str, found: list[str]
) -> None:
    configured = parse_configuration(RULE.format(name=name), "pulumi-dra.yaml")
    rules = (*configured_rules(RULES, configured.settings), *configured.custom)
    other = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}}
    namespace = declare.resource("kubernetes:core/v1:Namespace", "ml", other)
    stack = [declare.record(manifests=declare.job()), declare.node_group(), namespace]

    reported = {entry.rule.id for entry in Judge(rules).of_stack(stack)}

    assert sorted(reported & {"approved-classes"}) == found
