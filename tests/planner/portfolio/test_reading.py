"""A portfolio file: the errors in it, with their place and wording."""

from __future__ import annotations

import pytest
from portfolio_builders import document

from dra_planner.portfolio.reading import PortfolioError, read_portfolio

STACKS = "stacks:\n  - {fleet: a.yaml, workloads: [w]}\n"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("- a\n", "portfolio.yaml:1", "must be a mapping, not a list"),
        ("stacks: []\n", "portfolio.yaml:1 stacks", "at least 1 item"),
        (STACKS + "scenarioz: []\n", "portfolio.yaml:3 scenarioz", 'did you mean "scenarios"?'),
        (
            "stacks:\n  - {workloads: [w]}\n",
            "portfolio.yaml:2 stacks[0]",
            "set either stack or fleet",
        ),
        ("stacks:\n  - {fleet: a.yaml}\n", "portfolio.yaml:2 stacks[0]", "a fleet needs workloads"),
        (
            STACKS + "scenarios:\n  - {name: as-is}\n",
            "portfolio.yaml:4 scenarios[0].name",
            "without edits",
        ),
        (
            STACKS + "scenarios:\n  - {name: a}\n  - {name: a}\n",
            "portfolio.yaml:5 scenarios[1].name",
            "an earlier scenario",
        ),
        (
            STACKS + "scenarios:\n  - {name: a, replicas: -1}\n",
            "portfolio.yaml:4",
            "greater than or equal to 0",
        ),
        (
            STACKS + "scenarios:\n  - {name: a, kubernetes: 1.35}\n",
            "portfolio.yaml:4",
            "must be a string, not 1.35",
        ),
        (
            STACKS + "ask: {simulate: never}\n",
            "portfolio.yaml:3 ask.simulate",
            '"never" isn\'t "off" or a number',
        ),
        (
            STACKS + "ask: {simulate: true}\n",
            "portfolio.yaml:3 ask.simulate",
            'isn\'t "off" or a number',
        ),
        (
            STACKS + "ask: {simulate: [1]}\n",
            "portfolio.yaml:3 ask.simulate",
            'isn\'t "off" or a number',
        ),
        (
            STACKS + "ask: {risk: {spotLoss: 2}}\n",
            "portfolio.yaml:3 ask.risk.spotLoss",
            "less than or equal to 1",
        ),
        (
            STACKS + "ask: {risk: {scenarios: [b]}}\n",
            "portfolio.yaml:3 ask.risk.scenarios[0]",
            'scenario "b" isn\'t in the portfolio',
        ),
        (
            STACKS + "limits: {seconds: 0}\n",
            "portfolio.yaml:3 limits.seconds",
            "greater than or equal to 1",
        ),
    ],
)
def test_wrong_value_is_reported_with_its_place(text: str, place: str, message: str) -> None:
    with pytest.raises(PortfolioError) as caught:
        read_portfolio(document(text), file="portfolio.yaml")
    error = str(caught.value)
    assert error.startswith(place)
    assert message in error


def test_all_faults_are_reported_together() -> None:
    text = STACKS + "scenarios:\n  - {name: a, zonez: []}\nask: {demand: all}\n"
    with pytest.raises(PortfolioError) as caught:
        read_portfolio(document(text), file="portfolio.yaml")
    assert len(caught.value.others) == 1


def test_omitted_fields_have_defaults() -> None:
    read = read_portfolio(document(STACKS))
    assert [each.name for each in read.all_scenarios] == ["as-is"]
    assert not read.all_scenarios[0].edits_fleet
    assert read_portfolio(document(STACKS + "ask: {simulate: off}\n")).ask.simulate == "off"
    assert (read.ask.demand, read.limits.seconds) == ("steady", 120)
