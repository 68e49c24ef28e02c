"""Scenarios on the real scheduler, and the notes about scenarios that can't be run."""

from __future__ import annotations

import pytest
from plans import deployment, plan_of, sources

from dra_sandbox.control_plane import Settings, control_plane
from dra_sandbox.rehearsal import (
    Comparison,
    RehearsalRequest,
    RehearsalScenario,
    ScenarioOutcome,
    UnknownSubject,
    rehearse,
)
from dra_sandbox.tools.kubernetes import find_binaries

MINOR = 36


@pytest.mark.parametrize(
    "text",
    ["rollout", "rollout:web", "scale-up", "node-lost", "node-lost:l4-0", "zone-lost:us-east-1a",
     "driver-upgraded:0.4.1", "arrival-order:random:7"],
)  # fmt: skip
def test_a_scenario_prints_as_it_was_written(text: str) -> None:
    assert str(RehearsalScenario.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flood", '"flood" isn\'t a scenario; use one of: rollout\\[:NAME\\], scale-up, '),
        ("zone-lost", '"zone-lost" isn\'t complete; use zone-lost:ZONE'),
        ("driver-upgraded:", "use driver-upgraded:VERSION"),
        ("scale-up:web", "use scale-up"),
    ],
)
def test_an_invalid_scenario_is_reported_with_the_syntax(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RehearsalScenario.parse(text)


def rehearsed(*scenarios: str, replicas: int = 6) -> Comparison:
    given = sources(deployment("web", replicas))
    request = RehearsalRequest(
        plan=plan_of(given),
        sources=given,
        scenarios=tuple(map(RehearsalScenario.parse, scenarios)),
        one_by_one=True,
    )
    with control_plane(Settings(MINOR), find_binaries(MINOR)) as plane:
        return rehearse(plane, request)


def counts(found: ScenarioOutcome) -> tuple[int, int, int]:
    (row,) = found.rows
    return row.before, row.outcome.placed, row.pending


@pytest.mark.control_plane
def test_scenarios_run_in_sequence_on_one_cluster() -> None:
    """Six pods with one GPU each: the plan has just enough nodes; a rollout surges, so one new pod
    may have to wait.
    """
    found = rehearsed(
        "rollout", "node-lost", "scale-up", "arrival-order:reversed", "driver-upgraded:0.4.1"
    )

    rollout, lost, grown, again, upgraded = found.scenarios
    assert [each.decided for each in found.scenarios] == [True] * 5
    assert not any(each.unexplained for each in found.scenarios)
    assert counts(rollout)[0] == 6
    nodes = sum(pool.nodes for pool in found.outcome.pools)
    assert lost.event.startswith("node ")
    assert counts(lost)[1] < 6
    assert (
        grown.event
        == "6 additional nodes with every pool at its maximum, and 1 workload at maximum replicas"
        or nodes != 3
    )
    assert counts(grown)[1:] == (6, 0)
    assert counts(again) == (6, 6, 0)
    assert counts(upgraded)[1:] == (6, 0)
    for each in found.scenarios:
        (row,) = each.rows
        assert row.deviation or row.simulated.placed == row.outcome.placed


@pytest.mark.control_plane
@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ("node-lost:other", 'node "other" doesn\'t exist; use one of '),
        ("zone-lost:mars", 'no node is in the zone "mars"; use one of us-east-1a'),
        ("rollout:other", 'workload "other" can\'t roll out; use one of web'),
        (
            "arrival-order:sideways",
            '"sideways" isn\'t a pod arrival order; use document, reversed, or random:N',
        ),
    ],
)
def test_a_missing_subject_is_reported_with_the_existing_ones(scenario: str, message: str) -> None:
    with pytest.raises(UnknownSubject, match=message):
        rehearsed(scenario, replicas=1)
