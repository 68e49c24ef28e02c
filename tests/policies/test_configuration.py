"""The pack applies `pulumi-dra.yaml` and annotations in the same way as the command."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from pulumi_policy import EnforcementLevel

from dra_command.findings.evaluation import find_violations
from dra_command.findings.project_configuration import ProjectConfiguration
from dra_command.inputs.command_inputs import CommandInputs
from dra_planner.errors import PlannerError
from dra_planner.sources import Source
from dra_policies.configuration.exemptions import excuses_of
from dra_policies.configuration.project_configuration import VARIABLE, configuration_of_project
from dra_policies.configuration.reading import parse_configuration
from dra_policies.configuration.rule_settings import configured_rules
from dra_policies.pack import policies
from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge

TODAY = date(2026, 6, 1)
RULE = "pool-differs-from-plan"


def judge(text: str = "") -> Judge:
    configured = parse_configuration(text, "pulumi-dra.yaml")
    rules = configured_rules(RULES, configured.settings)
    return Judge(
        rules,
        excuses=excuses_of(configured),
        thresholds=configured.settings.thresholds,
        today=TODAY,
    )


def exempt(rule: str = RULE, object: str = "NodeGroup l4", **more: str) -> str:
    return yaml.safe_dump(
        {"exemptions": [{"rule": rule, "object": object, "reason": "agreed", **more}]}
    )


def broken_rules(judging: Judge, *stack: Resource) -> list[str]:
    early = [entry for each in stack for entry in judging.of_resource(each)]
    return [entry.rule.id for entry in (*early, *judging.of_stack(stack))]


@pytest.fixture
def larger(declare: SimpleNamespace) -> list[Resource]:
    """A stack whose pool is smaller than planned."""
    return [declare.record(), declare.node_group(counts=(2, 2, 3))]


def test_policies_have_the_configured_levels() -> None:
    configured = parse_configuration(
        "rules: {security-baseline: mandatory, driver-missing: disabled, pod-fits-no-system-pool: "
        "advisory}"
    )

    levels = {each.name: each.enforcement_level for each in policies(configured=configured)}

    assert levels["security-baseline"] == EnforcementLevel.MANDATORY
    assert levels["driver-missing"] == EnforcementLevel.DISABLED
    assert levels["pod-fits-no-system-pool"] == EnforcementLevel.ADVISORY


@pytest.mark.parametrize("object", ["NodeGroup l4", "NodeGroup *", "*", "urn:pulumi:dev::*::l4"])
def test_a_resource_is_exempt(larger: list[Resource], object: str) -> None:
    assert broken_rules(judge(), *larger) == [RULE]
    assert broken_rules(judge(exempt(object=object)), *larger) == []


def test_other_resources_are_not_exempt(larger: list[Resource]) -> None:
    assert broken_rules(judge(exempt(object="NodeGroup h100")), *larger) == [RULE]


def test_an_expired_exemption_has_no_effect(larger: list[Resource]) -> None:
    assert broken_rules(judge(exempt(expires="2026-05-31")), *larger) == [
        RULE,
        "exemption-without-effect",
    ]
    assert broken_rules(judge(exempt(expires="2026-06-01")), *larger) == []


def test_an_unused_exemption_is_reported(declare: SimpleNamespace) -> None:
    assert broken_rules(judge(exempt()), declare.record(), declare.node_group()) == [
        "exemption-without-effect"
    ]


def test_a_workload_of_the_plan_is_exempt_by_name(declare: SimpleNamespace) -> None:
    stack = [declare.record(manifests=declare.job(8)), declare.node_group(counts=(4, 4, 4))]
    assert broken_rules(judge(), *stack) == ["pool-maximum-too-small"]

    assert broken_rules(judge(exempt("pool-maximum-too-small", "Job default/train")), *stack) == []


def test_an_annotation_exempts_its_object(declare: SimpleNamespace) -> None:
    def annotated(annotation: str) -> list[Resource]:
        objects = declare.job_resources(2, devices=40)
        for each in objects:
            each.props.values["metadata"]["annotations"] = {"pulumi-dra/ignore": annotation}
        return [objects[0]]

    rule = "claim-asks-for-too-many-devices"
    assert rule in broken_rules(judge(), *annotated(""))
    assert rule not in broken_rules(judge(), *annotated(f"{rule} — tried on a driver of our own"))
    assert "exemption-without-effect" in broken_rules(judge(), *annotated("no-such-rule — why"))


SHARED: list[dict[str, Any]] = [
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "one", "namespace": "default"},
        "spec": {
            "devices": {
                "requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]
            }
        },
    },
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "tolerations": [{"operator": "Exists"}],
                    "resourceClaims": [{"name": "c", "resourceClaimName": "one"}],
                    "containers": [
                        {"name": "main", "image": "i", "resources": {"claims": [{"name": "c"}]}}
                    ],
                },
            },
        },
    },
]
IN_BOTH = "claim-shared-by-replicas"


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"rules: {{{IN_BOTH}: disabled}}",
        f"rules: {{{IN_BOTH}: mandatory}}",
        exempt(IN_BOTH, "Deployment default/web"),
        exempt(IN_BOTH, "Deployment default/web", expires="2026-01-01"),
        exempt("claim-without-container", "Deployment default/web"),
        exempt(IN_BOTH, "Deployment prod/*"),
    ],
    ids=[
        "none",
        "disabled",
        "mandatory",
        "exempt",
        "expired",
        "has no effect, because the rule finds nothing there",
        "another object",
    ],
)
def test_command_and_pack_report_the_same_findings(declare: SimpleNamespace, text: str) -> None:
    source = Source("web.yaml", yaml.safe_dump_all(SHARED))
    configuration = ProjectConfiguration(parse_configuration(text, "pulumi-dra.yaml"), TODAY)
    resources = [
        declare.resource(
            f"kubernetes:{each['apiVersion']}:{each['kind']}", each["metadata"]["name"], each
        )
        for each in SHARED
    ]

    of_command = [
        (each.code, each.severity)
        for each in find_violations(
            CommandInputs(sources=(source,), paths=("web.yaml",)), (), configuration
        ).diagnostics
        if each.severity != "note"
    ]
    of_pack = [
        (entry.rule.id, "error" if entry.rule.level == "mandatory" else "warning")
        for entry in judge(text).of_stack(resources)
        if entry.finding.certain and entry.rule.id != "plan-record-missing"
    ]

    assert sorted(of_command) == sorted(of_pack)


class TestWhereThePackLooks:
    def test_configuration_is_searched_upwards_from_pwd(self, tmp_path: Path) -> None:
        (tmp_path / "pulumi-dra.yaml").write_text("exclude: [a]\n")
        (tmp_path / "stacks").mkdir()

        assert configuration_of_project({"PWD": str(tmp_path / "stacks")}).settings.exclude == ["a"]

    def test_an_environment_variable_selects_another_file(self, tmp_path: Path) -> None:
        (tmp_path / "pulumi-dra.yaml").write_text("exclude: [a]\n")
        (tmp_path / "other.yaml").write_text("exclude: [b]\n")
        environment = {"PWD": str(tmp_path), VARIABLE: str(tmp_path / "other.yaml")}

        assert configuration_of_project(environment).settings.exclude == ["b"]

    def test_without_a_file_the_configuration_is_empty(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()

        assert configuration_of_project({"PWD": str(tmp_path)}).settings.rules == {}
        assert configuration_of_project({}).settings.rules == {}

    def test_a_missing_file_in_the_environment_variable_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(PlannerError, match="doesn't exist"):
            configuration_of_project({VARIABLE: str(tmp_path / "gone.yaml")})
