"""One step of a migration on the real scheduler: old and new pods run together, on pools of both
kinds.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from dra_planner.fleet import read_fleet
from dra_planner.migration import plan_steps
from dra_planner.sources import Source
from dra_sandbox.control_plane import Settings, control_plane
from dra_sandbox.rehearsal import rehearse_steps
from dra_sandbox.tools.kubernetes import find_binaries

FLEET: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.36",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "devicePlugin": {"version": "0.20.0"},
    "pools": [
        {"name": "l4", "machine": "g6.12xlarge", "count": {"max": 4}, "allocation": "device-plugin"}
    ],
}
CHAT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: ml}
spec:
  replicas: 3
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers: [{name: main, image: example/main:1, resources: {limits: {nvidia.com/gpu: 1}}}]
"""


@pytest.mark.control_plane
def test_old_and_new_pods_run_together_on_both_kinds_of_pools() -> None:
    settings = Settings(36, tolerates_extended_resources=True)
    _, move, _ = plan_steps([Source("chat.yaml", CHAT)], read_fleet(FLEET)).steps
    start = partial(control_plane, settings, find_binaries(36))

    (found,) = rehearse_steps(start, [move])

    assert move.is_safe
    assert (found.placed, found.pending, found.decided) == (6, 0, True)
    pools = {pool.name: pool.nodes for pool in found.rehearsals[0].outcome.pools}
    assert set(pools) >= {"l4", "l4-dra"}
