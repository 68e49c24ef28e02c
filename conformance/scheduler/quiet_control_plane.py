"""Wait until a control plane has completed all work on its pods, after any change."""

from __future__ import annotations

import time
from typing import Any, Final

from dra_sandbox.control_plane import ApiServer
from dra_sandbox.rehearsal.controller_delays import seconds_to_replacement
from dra_sandbox.rehearsal.scheduler_decisions import Decisions
from dra_sandbox.rehearsal.snapshot import PODS

Json = dict[str, Any]

BUDGETS: Final = "/apis/policy/v1/poddisruptionbudgets"
_OWNERS: Final = (
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/statefulsets",
    "/apis/apps/v1/daemonsets",
)
_WAIT: Final = 120.0
_LOOK_EVERY: Final = 0.25
_STILL: Final = 3  # number of consecutive checks without a change


def wait_until_quiet(server: ApiServer, decisions: Decisions) -> bool:
    """Return True when nothing changes anymore, or False after two minutes.

    The scheduler has then decided about every pod, no pod waits for preempted pods to end,
    controllers have processed their objects, and the status of every budget is up to date.
    """
    until, before, still = time.monotonic() + _WAIT, "", 0
    while still < _STILL and time.monotonic() < until:
        seen = _seen(server)
        if seen == before:
            still += 1
            time.sleep(_LOOK_EVERY)
            continue
        still = 0
        decisions.wait(lambda _pods: True, until - time.monotonic())
        before = _seen(server)
    return still >= _STILL


def _seen(server: ApiServer) -> str:
    """Return the state of the cluster. While an operation is known to be in progress, the state
    always differs from the previous state.
    """
    pods = [
        (
            each["metadata"]["name"],
            each["spec"].get("nodeName", ""),
            each["status"].get("nominatedNodeName", ""),
        )
        for each in server.listed(PODS)[0]
    ]
    is_moving = (
        any(room and not node for _, node, room in pods) or seconds_to_replacement(server) > 0
    )
    owners = [each for path in _OWNERS for each in server.listed(path)[0]]
    is_moving |= any(
        each["status"].get("observedGeneration", 0) < each["metadata"]["generation"]
        for each in owners
    )
    budgets = [each.get("status") for each in server.listed(BUDGETS)[0]]
    return repr((sorted(pods), budgets, time.monotonic() if is_moving else 0))
