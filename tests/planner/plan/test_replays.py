"""Plans of random fleets are created as objects and simulated.

If the plan *fits*, all pods are placed; if it *does not fit*, some pods stay pending.
REPLAYS=2000 sets the number of instances, and SINCE=N selects other instances.
"""

from __future__ import annotations

import os

import pytest
from random_instances import instance
from replays import replay

SINCE, INSTANCES = int(os.environ.get("SINCE", "0")), int(os.environ.get("REPLAYS", "40"))


@pytest.mark.long
def test_plans_and_simulated_runs_never_contradict_each_other():
    """With rules between pods, priorities and quotas, in seven pod arrival orders."""
    found = [replay(instance(seed)) for seed in range(SINCE, SINCE + INSTANCES)]
    assert {each.instance.seed: each.contradiction for each in found if each.contradiction} == {}
    verdicts = [each.plan.verdict for each in found]
    assert min(
        verdicts.count(verdict) for verdict in ("fits", "does-not-fit", "cannot-tell")
    ) * 20 >= len(verdicts)


def test_planning_an_instance_is_deterministic():
    assert replay(instance(7)) == replay(instance(7))
