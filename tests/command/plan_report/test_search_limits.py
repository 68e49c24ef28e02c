"""If a search ends at its limit, text and JSON report this."""

from __future__ import annotations

import json
from pathlib import Path

import yaml
from msgspec.structs import replace

from dra_command.plan_report.json.plan import plan_json
from dra_command.plan_report.simulation_sentences import simulation
from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

CASE = Path(__file__).parents[2] / "planner/simulation/rehearsals/m1-small-then-whole-node.yaml"


def planned(*, tried_all_fixes: bool) -> Plan:
    case = yaml.safe_load(CASE.read_text(encoding="utf-8"))
    sources = (Source("workloads", yaml.safe_dump_all(case["workloads"])),)
    made = make_plan(PlanRequest(sources=sources, fleet=read_fleet(case["fleet"])))
    return replace(made, judgement=replace(made.judgement, tried_all_fixes=tried_all_fixes))


def test_search_that_reached_its_limit_is_reported() -> None:
    ended = planned(tried_all_fixes=False)

    assert simulation(ended)[-1].startswith("The search for fixes reached its simulation limit")
    assert json.loads(plan_json(ended))["simulation"]["tried_all_fixes"] is False


def test_complete_search_is_not_reported() -> None:
    assert not any("ended" in each for each in simulation(planned(tried_all_fixes=True)))
