"""`pulumi-dra rules`, and custom rules in `check`, in the policy pack, and in cel-python's
evaluator.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import celpy
import pytest
import yaml
from command_project import EXAMPLES, Project

from dra_policies.configuration.reading import read_configuration
from dra_policies.configuration.rule_settings import configured_rules
from dra_policies.rules import RULES
from dra_policies.stack.exported_state import resources_of_state
from dra_policies.stack_evaluation import Judge
from gpu_manifests import deployment, template

ROOT = EXAMPLES.parent
EXAMPLE_FILES = sorted((EXAMPLES / "rules").glob("*.yaml"))
NO_L4 = """\
rules:
  no-l4:
    for: pool
    expression: '!pool.gpu.contains("L4")'
    message: L4 isn't allowed
    fix: Use A10G.
"""
FLEET = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.35",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [{"name": "l4", "machine": "g6.xlarge", "count": 4}],
}
LABELED = """\
rules:
  team-label:
    for: workload
    expression: workload.labels[?"team"].orValue("") != ""
    message: the pods have no label "team"
"""


def labeled(team: str) -> str:
    """Return a Deployment whose pods have the label."""
    labels = f"metadata: {{labels: {{app: web, team: {team}}}}}"
    return template() + "---\n" + deployment().replace("metadata: {labels: {app: web}}", labels)


@pytest.mark.parametrize("file", EXAMPLE_FILES, ids=lambda file: file.stem)
def test_example_passes_its_own_cases(file: Path, project: Project) -> None:
    done = project.run("rules", "test", str(file), "--format", "json")

    assert (done.status, done.json["failed"], done.json["untested"]) == (0, 0, []), done.out
    assert {each["result"] for each in done.json["cases"]} >= {"pass", "fail"}


def test_at_least_ten_examples_exist() -> None:
    assert len(EXAMPLE_FILES) >= 10


# results of the examples on examples/eighty-gi with its fleet, computed by hand
REQUIRES_TEAM = 'required: workload.labels[?"team"].orValue("") != ""'
REQUIRES_OTHER = 'required: !pool.gpu.contains("L4"); pool.gpu is "NVIDIA L4"'
VERDICTS: dict[str, set[str]] = {
    "claims-specify-memory": {
        "ResourceClaimTemplate serve/any-gpu: a request for gpu.nvidia.com doesn't specify memory"
    },
    # 4 x 55.04 x 730
    "pool-cost-ceiling": {'pool "h100": at 4 nodes, the pool costs USD 160716 per month'},
    "team-label": {
        f'Deployment serve/chat: the pods have no label "team" ({REQUIRES_TEAM})',
        f'Deployment serve/vision: the pods have no label "team" ({REQUIRES_TEAM})',
    },
    "approved-classes": set(),
}


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the output of `check` with all example rules for examples/eighty-gi and its fleet."""
    project = Project(tmp_path_factory.mktemp("examples"))
    rules = [yaml.safe_load(file.read_text())["rules"] for file in EXAMPLE_FILES]
    merged = {id: rule for each in rules for id, rule in each.items()}
    project.write("pulumi-dra.yaml", yaml.safe_dump({"rules": merged}))
    workloads, fleet = str(EXAMPLES / "eighty-gi"), str(EXAMPLES / "eighty-gi/fleet.yaml")
    done = project.run(
        "check", workloads, "--fleet", fleet, "--config", "pulumi-dra.yaml", "--format", "json"
    )
    assert done.status == 1, done.err
    return done.json


def test_every_example_runs_in_check(checked: Any) -> None:
    ids = {id for file in EXAMPLE_FILES for id in yaml.safe_load(file.read_text())["rules"]}

    skipped = {each["rule"] for each in checked["skipped"]}
    assert ids - skipped <= set(checked["judged"])
    assert ids & skipped == {"admin-access-for-monitoring", "no-h100-in-dev"}  # their `when`
    assert "rule-could-not-run" not in {each["code"] for each in checked["diagnostics"]}


@pytest.mark.parametrize("name", VERDICTS)
def test_example_finds_the_faults(name: str, checked: Any) -> None:
    assert {each["message"] for each in checked["diagnostics"] if each["code"] == name} == VERDICTS[
        name
    ]


def plain_variables(document: Any) -> Any:
    return celpy.json_to_cel(document)


def test_cel_python_agrees_if_it_supports_the_expression() -> None:
    """cel-python parses both; its evaluator lacks optionals and list functions, and gets many cases
    wrong.
    """
    compared = 0
    for file in EXAMPLE_FILES:
        for rule in read_configuration(str(file)).settings.custom_rules.values():
            for case in rule.tests:
                if case.expect not in ("pass", "fail"):
                    continue
                environment = celpy.Environment()
                try:
                    program = environment.program(environment.compile(rule.expression))
                    answer = program.evaluate(
                        {name: plain_variables(value) for name, value in case.given.items()}
                    )
                except (celpy.CELParseError, celpy.CELEvalError):
                    continue
                assert bool(answer) == (case.expect == "pass"), (file, case.name)
                compared += 1
    assert compared >= 10


class TestCheck:
    def test_custom_rule_needs_pools(self, project: Project) -> None:
        project.write("pulumi-dra.yaml", NO_L4)

        without = project.run("check", "workloads", "--format", "json")
        with_pools = project.run("check", "--stack", "dev", "--format", "json")

        assert without.status == 0
        assert {
            "rule": "no-l4",
            "why": "needs --stack, --fleet, or --observed",
        } in without.json["skipped"]
        assert with_pools.status == 1
        (found,) = [each for each in with_pools.json["diagnostics"] if each["code"] == "no-l4"]
        assert (found["severity"], found["message"], found["fix"]) == (
            "error", f'pool "l4": L4 isn\'t allowed ({REQUIRES_OTHER})', "Use A10G.",
        )  # fmt: skip

    def test_finding_has_the_line_of_its_object(self, project: Project) -> None:
        project.write("pulumi-dra.yaml", LABELED)

        (found, *_) = project.run("check", "workloads", "--format", "json").json["diagnostics"]

        assert found["code"] == "team-label"
        assert found["file"].startswith("workloads/")
        assert found["line"] > 0

    @pytest.mark.parametrize("given", [(), ("--fleet", "fleet.yaml")], ids=["manifests", "fleet"])
    def test_labels_of_pods_are_read_from_the_manifest(
        self, project: Project, given: tuple[str, ...]
    ) -> None:
        project.write("pulumi-dra.yaml", LABELED)
        project.write("app.yaml", labeled("search"))
        project.write("fleet.yaml", yaml.safe_dump(FLEET))

        done = project.run("check", "app.yaml", *given, "--format", "json")

        assert "team-label" in done.json["judged"]
        assert "team-label" not in {each["code"] for each in done.json["diagnostics"]}

    def test_rule_about_a_workload_keeps_its_verdict(self, project: Project) -> None:
        # given: one workload with an exempted misfit, and one with an unknown class
        project.write("app.yaml", labeled("search"))
        project.write("fleet.yaml", yaml.safe_dump(FLEET))
        unknown = template("other").replace("Name: gpu.nvidia.com", "Name: gpu.example.com")
        large = template("large").replace("gpu.nvidia.com}", "gpu.nvidia.com, count: 2}")
        pods = [deployment("legacy", claim="large"), deployment("chat", 3, claim="other")]
        project.write("more.yaml", "---\n".join([large, unknown, *pods]))
        exempt = "exemptions: [{rule: claim-fits-no-pool, object: '*', reason: leaves soon}]\n"
        rule = (
            "rules:\n  few:\n    for: workload\n    expression: workload.replicas <= MOST\n"
            "    message: many replicas\n    level: advisory\n"
        )

        # when: an advisory rule of the project passes, or finds something in the second one
        statuses = []
        for most in ("9", "2"):
            project.write("pulumi-dra.yaml", exempt + rule.replace("MOST", most))
            statuses.append(project.run("check", "more.yaml", "--fleet", "fleet.yaml").status)

        # expect: the same verdict, cannot tell
        assert statuses == [3, 3]

    def test_levels_and_exemptions_apply(self, project: Project) -> None:
        project.write("pulumi-dra.yaml", LABELED + "    level: advisory\n")
        assert project.run("check", "workloads").status == 0
        exemption = 'exemptions: [{rule: team-label, object: "*", reason: old}]\n'
        project.write("pulumi-dra.yaml", LABELED + exemption)
        done = project.run("check", "workloads")
        assert (done.status, "exempted" in done.out) == (0, True)
        project.write(
            "pulumi-dra.yaml", 'exemptions: [{rule: team-labl, object: "*", reason: old}]\n'
        )
        assert 'rule "team-labl" doesn\'t exist' in project.run("check", "workloads").err

    def test_comment_in_a_manifest_exempts(self, project: Project) -> None:
        project.write("pulumi-dra.yaml", LABELED)
        file = next((project.root / "workloads").glob("*.yaml"))
        text = file.read_text()
        file.write_text(
            text.replace("\nspec:", "\nspec:  # pulumi-dra: ignore team-label — a shared tool")
        )

        done = project.run("check", "workloads")

        assert 'rule "team-label" doesn\'t exist' not in done.out
        assert "exempted" in done.out

    def test_failing_expression_gives_no_verdict(self, project: Project) -> None:
        project.write("pulumi-dra.yaml", LABELED.replace('[?"team"].orValue("")', '["team"]'))

        done = project.run("check", "workloads")

        assert done.status == 3
        assert (
            "the result is unknown, because the rule's expression fails: no such key: team"
            in " ".join(done.out.split())
        )

    def test_explain_prints_a_custom_rule(self, project: Project) -> None:
        project.write("pulumi-dra.yaml", NO_L4)

        done = project.run("check", "--explain", "no-l4")

        assert (done.status, done.out.splitlines()[0]) == (
            0, "no-l4 (mandatory; needs --stack, --fleet, or --observed)",
        )  # fmt: skip

    def test_wrong_rule_stops_with_its_place(self, project: Project) -> None:
        project.write("pulumi-dra.yaml", NO_L4.replace("pool.gpu", "pool.gpus"))

        done = project.run("check", "--stack", "dev")

        assert done.status == 2
        assert (
            "pulumi-dra.yaml:4 rules.no-l4.expression: invalid expression: undefined field 'gpus'"
            in done.err
        )


def test_pack_has_the_same_findings(tmp_path: Path) -> None:
    (tmp_path / "pulumi-dra.yaml").write_text(NO_L4)
    configured = read_configuration(str(tmp_path / "pulumi-dra.yaml"))
    rules = configured_rules((*RULES, *configured.custom), configured.settings)
    resources = list(
        resources_of_state(
            (ROOT / "tests/policies/exported/raw-eks.json").read_text(), "state.json"
        )
    )

    reported = [
        each
        for each in Judge(rules, today=date(2026, 6, 1)).of_stack(resources)
        if each.rule.id == "no-l4"
    ]

    assert [each.finding.message for each in reported] == [
        f'pool "gpus": L4 isn\'t allowed ({REQUIRES_OTHER})'
    ]
    assert reported[0].finding.urn.endswith("::gpus")


class TestObjects:
    def test_known_fields_are_printed(self, project: Project) -> None:
        document = yaml.safe_load(project.run("rules", "objects", "--stack", "dev").out)

        assert document["plan"]["stack"] == "dev"
        (pool,) = document["plan"]["pools"]
        assert (pool["gpu"], pool["gpusPerNode"], pool["zoneCount"]) == ("NVIDIA L4", 1, 2)
        assert pool["hourlyCost"] == round(pool["nodes"] * pool["nodeHourlyCost"], 6)
        assert document["cost"]["monthly"] == pytest.approx(document["cost"]["hourly"] * 730)

    def test_unknown_fields_are_listed(self, project: Project) -> None:
        document = yaml.safe_load(project.run("rules", "objects", "--stack", "dev").out)
        assert "plan.pools[0].zones" in document["unknown"]
        assert "zones" not in document["plan"]["pools"][0]

    def test_fields_that_need_pools_are_omitted(self, project: Project) -> None:
        document = yaml.safe_load(project.run("rules", "objects", "workloads").out)

        assert document["cost"] == {}
        assert "verdict" not in document["plan"]
        assert document["plan"]["workloads"][0]["replicas"] > 0

    def test_printed_fields_can_be_pasted_into_a_case(self, project: Project) -> None:
        document = yaml.safe_load(project.run("rules", "objects", "--stack", "dev").out)
        rule = yaml.safe_load(NO_L4)
        given = {
            "pool": document["plan"]["pools"][0],
            "plan": document["plan"],
            "cost": document["cost"],
        }
        rule["rules"]["no-l4"]["tests"] = [{"name": "ours", "given": given, "expect": "fail"}]
        project.write("pulumi-dra.yaml", yaml.safe_dump(rule))

        assert project.run("rules", "test").status == 0


class TestCases:
    def test_failed_case_is_explained(self, project: Project) -> None:
        case = "    tests: [{name: an L4, given: {pool: {gpu: NVIDIA L4}}, expect: pass}]\n"
        project.write("pulumi-dra.yaml", NO_L4 + case)

        done = project.run("rules", "test")

        assert done.status == 1
        assert done.out == (
            "✘ no-l4: an L4\n    expected pass, got fail: L4 isn't allowed "
            f"({REQUIRES_OTHER}) (pulumi-dra.yaml)\n"
            "1 rule, 1 case, 1 failed.\n"
        )

    def test_rule_without_cases_is_reported(self, project: Project) -> None:
        project.write("pulumi-dra.yaml", NO_L4)
        done = project.run("rules", "test")
        assert (done.status, "no-l4 has no test cases" in done.out) == (0, True)
        assert "1 rule, 0 cases, 0 failed, 1 rule without test cases." in done.out
        assert project.run("rules", "test", "--require-tests").status == 1

    def test_rule_of_another_file_is_reported_with_it(self, project: Project) -> None:
        project.write("shared/rules.yaml", NO_L4)
        project.write("pulumi-dra.yaml", "extends: [shared/rules.yaml]\n")
        done = project.run("rules", "test")
        assert "no-l4 has no test cases (shared/rules.yaml)" in done.out

    def test_missing_file_is_reported(self, project: Project) -> None:
        assert "pulumi-dra.yaml" in project.run("rules", "test").err


class TestAConditionThatIsNeverTrue:
    """`when` that names other stacks: the rule checks nothing, which isn't a pass."""

    RULE = NO_L4.replace("    expression", '    when: plan.stack == "{}"\n    expression')
    WORDS = ("check", "--stack", "dev", "--fail-on", "never")

    @pytest.mark.parametrize(("stack", "applies"), [("dev", True), ("prod", False)])
    def test_text_reports_a_rule_that_checked_nothing(
        self, stack: str, applies: bool, project: Project
    ) -> None:
        project.write("pulumi-dra.yaml", self.RULE.format(stack))
        sentence = "rule no-l4 checked nothing, because `when` is false for every object"
        assert (sentence in project.run(*self.WORDS).out) is not applies

    @pytest.mark.parametrize(("stack", "skipped"), [("dev", 0), ("prod", 1)])
    def test_junit_skips_a_rule_that_checked_nothing(
        self, stack: str, skipped: int, project: Project
    ) -> None:
        project.write("pulumi-dra.yaml", self.RULE.format(stack))
        text = project.run(*self.WORDS, "--format", "junit").out
        assert text.count('<testcase classname="pulumi-dra" name="no-l4">\n      <skipped') == (
            skipped
        )
