"""The decisions of kube-scheduler 1.34, 1.35, and 1.36 in small clusters, compared with the
simulation.
"""

from __future__ import annotations

import pytest
from scenarios import CASES, Outcome, load, play

from dra_planner.releases import features_of, parse_version

VERDICTS = [
    pytest.param(path.stem, version, then, id=f"{path.stem}-{version}")
    for path in sorted(CASES.glob("*.yaml"))
    for then in load(path.stem)["then"]
    for version in then["kubernetes"]
]


@pytest.mark.parametrize(("name", "version", "then"), VERDICTS)
def test_simulation_agrees_with_the_scheduler(name, version, then):
    outcome = play(load(name), features_of(parse_version(version)))
    if "order_dependent" in then:
        _check_ranges(outcome, then)
        return
    assert dict(outcome.placed) == then["placed"]
    assert dict(outcome.pending) == then["pending"]
    for workload, expected in then.get("reasons", {}).items():
        wanted = expected if isinstance(expected, list) else [expected]
        assert outcome.reasons[workload] in wanted
    for workload, expected in then.get("nodes", {}).items():
        assert outcome.nodes[workload] == expected
    if "devices" in then:
        assert outcome.devices == sorted(then["devices"])


def _check_ranges(outcome: Outcome, then) -> None:
    for what in ("placed", "pending"):
        for workload, seen in then[what].items():
            low, high = (seen["min"], seen["max"]) if isinstance(seen, dict) else (seen, seen)
            assert low <= getattr(outcome, what)[workload] <= high


def test_every_scenario_is_tested():
    assert len(list(CASES.glob("*.yaml"))) == 86
    assert len(VERDICTS) == 248
