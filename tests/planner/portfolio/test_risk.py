"""Simulated risk compared with calculated risk, and intervals compared with published values."""

from __future__ import annotations

from math import comb

import pytest
from portfolio_builders import cells, deployment, future, portfolio

from dra_planner.portfolio.intervals import mean_interval, share_interval
from dra_planner.portfolio.risk import RiskAnswer

SPOT = """\
cloud: eks
region: us-east-1
kubernetes: "1.34"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.8.1}}
pools:
  - {name: l4, machine: g6.2xlarge, count: COUNT, capacity: CAPACITY, pricePerHour: 1}
"""


def risk_of(replicas: int, nodes: int, capacity: str = "spot", **risk: object) -> RiskAnswer:
    settings = portfolio(ask={"risk": {"draws": 200, **risk}})
    fleet = SPOT.replace("COUNT", str(nodes)).replace("CAPACITY", capacity)
    answer = cells(settings, deployment("web", replicas), fleet).risk(future(settings, "as-is"))
    assert isinstance(answer, RiskAnswer)
    return answer


def losing_more_than(spare: int, nodes: int, loss: float) -> float:
    """The probability that more nodes than the spare ones are lost: the binomial distribution."""
    return sum(
        comb(nodes, k) * loss**k * (1 - loss) ** (nodes - k) for k in range(spare + 1, nodes + 1)
    )


@pytest.mark.parametrize(("replicas", "nodes", "loss"), [(4, 4, 0.1), (4, 5, 0.2), (3, 6, 0.3)])
def test_probability_of_lost_spot_nodes_matches_the_formula(
    replicas: int, nodes: int, loss: float
) -> None:
    found = risk_of(replicas, nodes, spotLoss=loss, draws=400, seed=11)
    pending = losing_more_than(nodes - replicas, nodes, loss)
    four_deviations = 4 / found.draws**0.5
    assert (
        abs(found.pending.estimate - pending) <= four_deviations * (pending * (1 - pending)) ** 0.5
    )
    assert (
        abs(found.lost.estimate - nodes * loss)
        <= four_deviations * (nodes * loss * (1 - loss)) ** 0.5
    )
    assert found.unfinished == 0


def test_on_demand_nodes_are_not_lost() -> None:
    found = risk_of(4, 4, capacity="on-demand", spotLoss=1)
    assert (found.pending.estimate, found.lost.estimate, found.most_pods) == (0, 0, 0)


def test_losing_all_spot_nodes_leaves_every_pod_pending() -> None:
    found = risk_of(4, 4, spotLoss=1)
    assert (found.pending.estimate, found.pods.estimate, found.most_pods) == (1, 4, 4)


def test_same_seed_gives_the_same_answer() -> None:
    one, again, other = (risk_of(4, 4, spotLoss=0.3, seed=seed) for seed in (3, 3, 1_000))
    assert one == again
    assert one.pods != other.pods


@pytest.mark.parametrize(
    ("hits", "runs", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (1, 10, 0.0179, 0.4042),
        (5, 10, 0.2366, 0.7634),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_shares_have_wilson_intervals(hits: int, runs: int, low: float, high: float) -> None:
    """Values for 81 of 263: R. G. Newcombe, "Two-sided confidence intervals for the single
    proportion" (1998).
    """
    found = share_interval(hits, runs)
    assert found.low == pytest.approx(low, abs=1e-4)
    assert found.high == pytest.approx(high, abs=1e-4)


def test_means_have_normal_intervals() -> None:
    found = mean_interval([0, 2, 0, 2])
    half = 1.959964 * (4 / 3) ** 0.5 / 2
    assert (found.estimate, found.low, found.high) == (
        1,
        pytest.approx(max(0.0, 1 - half)),
        pytest.approx(1 + half),
    )
