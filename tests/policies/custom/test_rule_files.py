"""Custom rules in `pulumi-dra.yaml`: wrong rules report place and reason, and test cases are
checked like rules.
"""

from __future__ import annotations

import pytest

from dra_planner.errors import PlannerError
from dra_policies.configuration.custom.rule_cases import run_cases
from dra_policies.configuration.reading import Configured, parse_configuration

RULE = """\
rules:
  no-spot:
    for: pool
    expression: pool.capacity != "spot"
    message: Spot isn't allowed
"""


def read(text: str) -> Configured:
    return parse_configuration(text, "pulumi-dra.yaml")


def faults(text: str) -> list[tuple[int, str, str, str]]:
    with pytest.raises(PlannerError) as caught:
        read(text)
    found = [caught.value, *caught.value.others]
    return [(each.place.line, each.place.path, each.message, each.fix) for each in found]


@pytest.mark.parametrize(
    ("expression", "message", "fix"),
    [
        (
            "pool.capacty != ''",
            "undefined field 'capacty' (column 1 of the expression",
            "use capacity",
        ),
        (
            "pol.name == 'a'",
            "undeclared reference to 'pol' (in container '') (column 1 of the expression",
            "use pool",
        ),
        (
            "workload.name == 'a'",
            "undeclared reference to 'workload' (in container '') (column 1 of the expression",
            "variables: plan",
        ),
        (
            "device.driver == 'a'",
            "undeclared reference to 'device' (in container '') (column 1 of the expression",
            "variables: plan",
        ),
        ("pool.nodes", "must evaluate to bool, not int (column 1 of the expression", ""),
        ("pool.nodes <", "Syntax error: mismatched input '<EOF>' (column", ""),
        (
            "pool.nodes == '3'",
            "found no matching overload for '_==_' applied to '(int, string)' (column 1 of the expression",
            "",
        ),
        (
            "true and false",
            "Syntax error: mismatched input 'and' (column 6 of the expression",
            "use true && false, because the operators are &&",
        ),
        ("pool.name.matches('[')", "invalid matches argument (column 19 of the expression", ""),
        ("(" * 300 + "true" + ")" * 300, "recursion limit", ""),
        ("true || " * 1500 + "true", "is longer than 10240 bytes", "split it"),
    ],
    ids=[
        "field",
        "variable",
        "other-subject",
        "device",
        "type",
        "syntax",
        "overload",
        "word",
        "regex",
        "deep",
        "long",
    ],
)
def test_a_wrong_expression_reports_its_place_reason_and_fix(
    expression: str, message: str, fix: str
) -> None:
    text = RULE.replace('pool.capacity != "spot"', f'"{expression}"')

    ((line, path, problem, advice),) = faults(text)

    assert (line, path) == (4, "rules.no-spot.expression")
    assert problem.startswith("invalid expression: ")
    assert message in problem
    assert advice.startswith(fix)


def test_the_position_counts_lines_of_a_block() -> None:
    text = RULE.replace(
        'pool.capacity != "spot"', "|\n      pool.nodes > 0 &&\n        pool.speed > 3"
    )

    assert (
        "undefined field 'speed' (line 2, column 3 of the expression, at `pool.speed > 3`)"
        in faults(text)[0][2]
    )


@pytest.mark.parametrize(
    ("old", "new", "path", "message"),
    [
        (
            "no-spot",
            "cost-above-ceiling",
            "rules.cost-above-ceiling",
            "is the ID of a built-in rule",
        ),
        ("no-spot", "No_Spot", "rules.No_Spot", "isn't a valid rule ID"),
        ("for: pool", "for: node", "rules.no-spot.for", "pool"),
        ("    message: Spot isn't allowed\n", "", "rules.no-spot.message", "missing"),
        ("    message", "    mesage: x\n    message", "rules.no-spot.mesage", "isn't a key"),
        ("    message", "    level: strict\n    message", "rules.no-spot.level", "mandatory"),
        (
            "    message",
            "    when: pool.x\n    message",
            "rules.no-spot.when",
            "undefined field 'x'",
        ),
        (
            "    message",
            "    messageExpression: '3'\n    message",
            "rules.no-spot.messageExpression",
            "string, not int",
        ),
    ],
    ids=["built-in", "id", "for", "missing", "unknown", "level", "when", "message-type"],
)
def test_a_wrong_key_reports_its_place(old: str, new: str, path: str, message: str) -> None:
    found = faults(RULE.replace(old, new))

    assert any(at == path and message in problem for _, at, problem, _ in found), found


def test_every_wrong_rule_is_reported() -> None:
    second = (
        RULE.removeprefix("rules:\n")
        .replace("no-spot", "second")
        .replace("pool.capacity", "pool.b")
    )
    text = RULE.replace("pool.capacity", "pool.a") + second

    assert [each[1] for each in faults(text)] == [
        "rules.no-spot.expression",
        "rules.second.expression",
    ]


@pytest.mark.parametrize(
    ("given", "message", "fix"),
    [
        ("{pool: {cpus: 3}}", 'pool doesn\'t have a field "cpus"', "use one of these fields: name"),
        (
            "{workload: {}}",
            'rules for pool don\'t have a variable "workload"',
            "use one of these variables: plan, cost, pool",
        ),
        ("{pool: {nodes: many}}", "pool.nodes must be an integer, not text", ""),
        ("{pool: {nodes: true}}", "pool.nodes must be an integer, not true or false", ""),
        ("{pool: {zones: a}}", "pool.zones must be a list, not text", ""),
        ("{pool: {labels: {a: 1}}}", "pool.labels.a must be a string, not a number", ""),
        ("{pool: [3]}", "pool must be a mapping of fields, not a list", ""),
        (
            "{plan: {pools: [{nam: a}]}}",
            'plan.pools[0] doesn\'t have a field "nam"',
            "use one of these fields: name",
        ),
        ("{pool: {nodes: 9223372036854775808}}", "more than 64 bits", ""),
    ],
)
def test_a_wrong_value_of_a_test_case_reports_its_place(given: str, message: str, fix: str) -> None:
    ((line, path, problem, advice),) = faults(
        f"{RULE}    tests:\n      - {{name: a, given: {given}, expect: pass}}\n"
    )

    assert (line, path) == (7, "rules.no-spot.tests[0].given")
    assert message in problem
    assert advice.startswith(fix)


def results(rule: str) -> list[tuple[str, str, bool]]:
    (custom,) = read(rule).settings.custom_rules.values()
    return [(each.answer.result, each.answer.message, each.is_met) for each in run_cases(custom)]


def test_a_test_case_without_a_value_cannot_be_decided() -> None:
    cases = """\
    tests:
      - {name: spot, given: {pool: {capacity: spot}}, expect: fail, message: Spot}
      - {name: other message, given: {pool: {capacity: spot}}, expect: fail, message: reserved}
      - {name: nothing given, expect: cannot-tell}
      - {name: wrong expectation, given: {pool: {capacity: spot}}, expect: pass}
"""
    assert results(RULE + cases) == [
        ("fail", "Spot isn't allowed", True),
        ("fail", "Spot isn't allowed", False),
        ("cannot-tell", "the result is unknown, because pool.capacity is unknown", True),
        ("fail", "Spot isn't allowed", False),
    ]


def test_an_unknown_value_that_does_not_affect_the_answer_is_ignored() -> None:
    rule = RULE.replace('pool.capacity != "spot"', "pool.nodes == 0 || pool.monthlyCost < 100.0")

    assert results(
        f"{rule}    tests: [{{name: empty, given: {{pool: {{nodes: 0}}}}, expect: pass}}]\n"
    )[0][2]


def test_a_failing_message_expression_falls_back_to_the_message() -> None:
    rule = RULE + "    messageExpression: '\"uses \" + pool.zones[7]'\n"
    case = "    tests: [{name: a, given: {pool: {capacity: spot, zones: []}}, expect: fail}]\n"

    assert results(rule + case) == [("fail", "Spot isn't allowed", True)]
