"""The guards of a plan in every format: the effect, the person or tool that must act, and the
result without guards.
"""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from platforms import platform

from dra_command.pens.html.line_breaks import wrapped
from dra_command.plan_report.guards import comparison_table, guard_lines
from dra_command.plan_report.html.page import plan_html
from dra_command.plan_report.json.plan import plan_json
from dra_command.plan_report.markdown import StackPlan, plan_markdown
from dra_command.plan_report.obstacles import obstacles
from dra_command.plan_report.text import print_plan
from dra_planner.fleet import read_fleet
from dra_planner.model import Guards
from dra_planner.plan import Plan, PlanRequest, make_plan, plan_file
from dra_planner.plan.explanation.claims import explain_claim_of_plan
from dra_planner.plan.explanation.names import explainable_names
from dra_planner.plan.saved.settings import compare_settings
from dra_planner.planfile.guards import GuardsPart
from dra_planner.sources import Source
from dra_policies.rules import check_all, view_of


def plan_of(**changes: str) -> Plan:
    given = platform("aks", "medium", 2)
    fleet = read_fleet({**given.fleet, **changes})
    return make_plan(PlanRequest(sources=(Source("workloads.yaml", given.manifests),), fleet=fleet))


@pytest.fixture(scope="module")
def guided() -> Plan:
    return plan_of(placement="guided")


def test_text_lists_the_guards_and_the_result_without_them(guided: Plan) -> None:
    file = io.StringIO()
    print_plan(guided, file=file)
    first, *rest = file.getvalue().splitlines()
    assert first.endswith("with 3 guards")
    assert any(line.strip().startswith("without the guards, ") for line in rest)
    for kind in ("steer", "split", "spread"):
        (line,) = (each for each in rest if re.match(rf"[123] {kind} ", each))
        assert "pulumi up" in line
        assert re.search("pods? pending", line)


def test_text_names_the_option_that_lists_the_rules(guided: Plan) -> None:
    for detail in (False, True):
        file = io.StringIO()
        print_plan(guided, file=file, detail=detail)
        assert ("steering rules: --detail" in file.getvalue()) == (not detail)
        assert ("Steering rules" in file.getvalue()) == detail


def test_settings_compare_rules_by_pool(guided: Plan) -> None:
    with_guards = plan_file(guided)

    no_rules = with_guards.model_copy(update={"guards": GuardsPart.of(Guards())})

    found = compare_settings(no_rules, with_guards)

    rules = {each.path: each.after for each in found if each.path.startswith("guards.rules.")}
    for rule in guided.guards.rules:
        pool = f"{rule.pool} ({rule.spread})" if rule.spread else rule.pool
        text = rules[f"guards.rules.{pool}"]
        assert all(str(key) in text for key in rule.templates)
        assert all(str(ref) in text for ref, _ in rule.workloads)


def test_reason_names_the_guard_that_selects_nodes(guided: Plan) -> None:
    reasons = [
        reason
        for name in explainable_names(guided.judgement).claims
        for pool in explain_claim_of_plan(guided, name).pools
        for reason in pool.reasons
        if "pulumi-dra/pool=" in reason.message
    ]

    assert reasons
    for reason in reasons:
        assert "(a guard of the plan), but the node has" in reason.message
        assert reason.fix == ""


def test_markdown_and_html_have_the_same_guards(guided: Plan) -> None:
    for text in (plan_markdown([StackPlan("", guided)]), plan_html(guided)):
        assert (
            "Guards make the scheduler follow this plan" in text
            or "Guards make the scheduler follow the plan" in text
        )
        for line in guard_lines(guided):
            assert line.effect in text


def test_html_compares_both_results_side_by_side(guided: Plan) -> None:
    """Expect the nodes of each pool, the price, and the pending pods, without guards and with
    them.
    """
    table = comparison_table(guided)
    assert table is not None
    assert guided.guarded is not None
    assert [row[0] for row in table.rows] == [
        *(f"nodes in {pool.name}" for pool in guided.guarded.given.pools),
        "nodes in all pools",
        "USD per hour",
        "pods pending",
    ]
    assert guided.cost is not None
    assert table.rows[-2][2] == f"USD {guided.cost.hourly_usd:,.2f}"
    assert table.rows[-1][2] == "none"
    html = plan_html(guided)
    assert "With and without guards" in html
    assert all(f">{wrapped(cell)}<" in html for row in table.rows for cell in row)


def test_json_lists_rules_pools_and_both_prices(guided: Plan) -> None:
    guards = json.loads(plan_json(guided))["guards"]
    assert sorted(each["kind"] for each in guards["guards"]) == sorted(guided.guards.kinds)
    assert sum(len(rule["workloads"]) + len(rule["templates"]) for rule in guards["rules"]) > 0
    assert [rule["spread"] for rule in guards["rules"]] == [
        rule.spread for rule in guided.guards.rules
    ]
    assert guards["split"] == {part.name: part.pool for part in guided.guards.parts}
    assert guards["free_pending"][0] <= guards["free_pending"][1]


def test_before_kubernetes_1_36_namespace_owners_apply_guards() -> None:
    lines = guard_lines(plan_of(placement="guided", kubernetes="1.35"))
    assert lines
    for line in lines:
        assert line.who_acts == ("pulumi up" if line.kind == "split" else "owners of ml")


def test_plan_without_guards_has_no_guards_key() -> None:
    given = platform("aks", "small", 3)
    plan = make_plan(
        PlanRequest(
            sources=(Source("workloads.yaml", given.manifests),), fleet=read_fleet(given.fleet)
        )
    )
    assert plan.cost is not None
    assert plan.cost.hourly_usd == plan.cost.bound_usd  # otherwise guards are offered as a fix
    assert "guards" not in json.loads(plan_json(plan))
    assert "guard" not in plan_markdown([StackPlan("", plan)])


@pytest.fixture(scope="module")
def free() -> Plan:
    return plan_of()


@pytest.mark.long
def test_pending_pods_are_one_finding_with_guards_as_the_fix(free: Plan, guided: Plan) -> None:
    """Expect the nodes and the price that a plan with guards then has."""
    assert free.verdict == "cannot-tell"
    (found,) = obstacles(free)
    workloads = [each for each in free.workloads if each.verdicts["steady"] != "fits"]
    assert len(workloads) > 1
    assert found.subject == f"{len(workloads)} workloads with one cause"
    ((message, fix),) = found.lines
    assert str(workloads[0].workload) in message
    assert fix.startswith(
        "set placement to guided in the fleet, which adds 3 guards (steer, split, and spread)"
    )
    assert guided.cost is not None
    nodes = sum(pool.nodes.desired for pool in guided.pools)
    assert f"on {nodes} nodes, USD {guided.cost.hourly_usd:,.2f} per hour" in fix


def test_pods_with_one_cause_are_reported_once(free: Plan) -> None:
    assert free.manifests is not None
    view = view_of(free.manifests, free.judgement.features, free, lambda: free.judgement)
    (found,) = (each for each in check_all(view) if each.code == "claim-cannot-be-judged")
    assert found.severity == "note"
    assert found.fix.startswith("set placement to guided in the fleet")


def test_proof_lists_its_scope_and_seeds(guided: Plan) -> None:
    file = io.StringIO()
    print_plan(guided, file=file)
    text = " ".join(file.getvalue().split())
    assert "all pods fit, as simulated for 7 pod arrival orders (seeds 1–4)" in text
    assert "also proved: maximum replicas, rollouts" in text
    assert (
        "to also prove that all pods fit after a node failure, set redundancy in the fleet" in text
    )
    assert json.loads(plan_json(guided))["guards"]["proved"] == {"ceiling": True, "peak": True}
