"""Rehearsals in every output format. `REWRITE_GOLDEN=1` updates the golden texts."""

from __future__ import annotations

import json
import os
from html import unescape
from pathlib import Path

import pytest
from made_up_rehearsals import outcome_of, plan_of, rehearsal, simulated
from msgspec.structs import replace

from dra_command.rehearse.contract import RehearseOutput
from dra_command.rehearse.html import rehearse_html
from dra_command.rehearse.json import rehearse_json
from dra_command.rehearse.markdown import rehearse_markdown
from dra_command.rehearse.summary import explanations, fixes, headline, verdict_of
from dra_command.rehearse.text import print_rehearsal
from dra_planner.fleet.changes import change_fleet, read_change
from dra_sandbox.rehearsal import OutcomeDifference, RehearsedWorkload
from gpu_manifests import deployment

GOLDEN = Path(__file__).parents[1] / "golden"


def compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_markdown_html_and_json_match_the_golden_files() -> None:
    found = rehearsal()
    compare("rehearsal.md", rehearse_markdown(found))
    page = rehearse_html(found)
    assert headline(found) in unescape(page)
    compare("rehearsal.html", page[page.index("<body") :])  # all reports share these styles
    compare("rehearsal.json", rehearse_json(found) + "\n")


def test_text_matches_the_golden_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    found = rehearsal()
    print_rehearsal(found)
    text = capsys.readouterr().out
    assert headline(found) in " ".join(text.split())
    compare("rehearsal.txt", text)


def test_rows_are_paragraphs_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    print_rehearsal(rehearsal())
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("Deployment default/batch")
    assert lines[at + 1].startswith("  pods: 4 · plan: 4 (a10g 4) · simulation: 4 (a10g 4)")
    assert max(map(len, lines)) <= 60


def test_quiet_omits_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    print_rehearsal(rehearsal(), quiet=True)
    text = capsys.readouterr().out
    assert "kube-scheduler: 0/4 nodes" in " ".join(text.split())
    assert "Scenario" not in text


def test_json_matches_the_contract() -> None:
    document = json.loads(rehearse_json(rehearsal()))
    assert RehearseOutput.model_validate(document).model_dump(mode="json") == document
    assert document["workloads"][0]["simulation"] == {
        "placed": 2,
        "placements": [{"pool": "l4", "pods": 2}],
    }
    assert document["scenarios"][0]["workloads"][1]["deviation"]["reason"] == "arrived-together"


def test_unexplained_difference_in_a_scenario_is_reported_first() -> None:
    found = rehearsal()
    (scenario,) = found.scenarios
    strange = replace(scenario.rows[1], deviation=OutcomeDifference("unexplained", "why"))
    odd = replace(found, scenarios=(replace(scenario, rows=(scenario.rows[0], strange)),))
    assert verdict_of(odd) == "cannot-tell"
    assert headline(odd) == "1 unexplained difference between plan, simulation, and scheduler."


def test_pods_left_pending_by_a_scenario_decide_the_verdict() -> None:
    found = rehearsal()
    placed = tuple(
        replace(row, wanted=row.outcome.placed, outcome=_placed(row.outcome)) for row in found.rows
    )
    calm = replace(found, rows=placed, scenarios=())
    assert (verdict_of(calm), headline(calm)) == ("fits", "All 6 pods were placed.")
    lost = replace(calm, scenarios=found.scenarios)
    assert verdict_of(lost) == "does-not-fit"
    assert headline(lost) == "All 6 pods were placed. After node-lost:l4-1: 2 pods pending."


def _placed(outcome: RehearsedWorkload) -> RehearsedWorkload:
    return replace(outcome, pods=tuple(pod for pod in outcome.pods if pod.node))


def test_fixtures_are_consistent() -> None:
    """In this plan, all pods fit except the last pod."""
    assert plan_of().workloads == ()
    assert outcome_of("web", pending=1, l4=2).placed == 2
    assert [each.placed for each in simulated(web={"l4": 2}).values()] == [2]


def test_fix_for_a_lost_node_plans_a_spare_node() -> None:
    found = rehearsal()
    (fix,) = [each for each in fixes(found) if "redundancy" in each]
    assert fix == (
        "to have spare nodes for this case, set `redundancy: {nodes: 1}` in the fleet, and plan "
        "again"
    )
    fleet = found.plan.fleet
    assert fleet is not None
    spare = change_fleet(fleet, [read_change("redundancy={nodes: 1}")])
    web = plan_of(deployment("web", 1)), plan_of(deployment("web", 1), fleet=spare)
    assert [sum(pool.nodes.desired for pool in each.pools) for each in web] == [1, 2]
    assert [*fixes(replace(found, plan=web[1]))] == []


def test_pods_with_the_same_reason_are_listed_together() -> None:
    found = rehearsal()
    (scenario,) = found.scenarios
    away = OutcomeDifference("no-controller")
    rows = tuple(
        replace(row, outcome=outcome_of(name), deviation=away)
        for row, name in zip(scenario.rows, ("a", "b", "c"), strict=True)
    )
    shown = dict(explanations(replace(found, scenarios=(replace(scenario, rows=rows),))))
    name = f"{scenario.scenario}, Deployment default/a, Deployment default/b, Deployment default/c"
    assert shown[name] == (away.message,)


def test_workloads_with_the_same_explanation_are_listed_together() -> None:
    found = rehearsal()
    rows = tuple(
        replace(found.rows[0], outcome=outcome_of(name), deviation=None) for name in ("a", "b")
    )
    other = replace(found.rows[0], outcome=outcome_of("c"), difference=None, deviation=None)
    refused = replace(other, outcome=replace(other.outcome, refused="no quota"))
    difference = found.rows[0].difference
    assert difference is not None
    assert [*explanations(replace(found, rows=(rows[0], refused, rows[1]), scenarios=()))] == [
        ("Deployment default/a, Deployment default/b", (difference.message,)),
        ("Deployment default/c", ("refused: no quota",)),
    ]
