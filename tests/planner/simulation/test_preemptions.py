"""Pods that were preempted in small clusters with disruption budgets, on real schedulers and in the
simulation.

A file in `preemptions/` contains a cluster as reported by its API server, the new pods, and the
results of kube-scheduler and the disruption controller. `conformance/scheduler/preemptions.py`
records more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from preemption_comparison import counted_before, differences, read, simulated, simulator_of

from dra_planner.releases import RELEASES, parse_version

CASES = sorted((Path(__file__).parent / "preemptions").glob("*.yaml"))
Json = dict[str, Any]


def load(path: Path) -> Json:
    case: Json = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return case


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_simulation_produces_the_recorded_preemptions(path: Path) -> None:
    """The new pods are on the recorded nodes, each workload lost as many pods, and the other pods
    are where they were.
    """
    found, _ = differences(load(path))
    assert found == []


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_budgets_allow_as_many_disruptions_as_the_controller_reports(path: Path) -> None:
    """Compute the counts only from the specs, before new pods arrive."""
    counts = list(counted_before(load(path)))
    assert [(name, ours) for name, _, ours in counts] == [
        (name, theirs) for name, theirs, _ in counts
    ]


def test_the_recorded_clusters_depend_on_budgets() -> None:
    """All minor versions are recorded, most clusters lose pods, and without their budgets, some
    would lose other pods.
    """
    cases = [load(path) for path in CASES]
    assert len(cases) >= 20
    assert {parse_version(case["kubernetes"].rpartition(".")[0]) for case in cases} == set(RELEASES)
    assert sum(bool(case["became"]["victims"]) for case in cases) >= 12
    assert sum(_differs_without_budgets(case) for case in cases) >= 3


def _differs_without_budgets(case: Json) -> bool:
    bare = {
        **case,
        "cluster": [each for each in case["cluster"] if each["kind"] != "PodDisruptionBudget"],
    }
    with_budgets, without = (simulated(simulator_of(read(each)), each) for each in (case, bare))
    return (with_budgets.victims, with_budgets.running) != (without.victims, without.running)
