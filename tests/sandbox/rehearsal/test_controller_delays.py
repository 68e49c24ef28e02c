"""How long a rehearsal waits for the replacement of pods that a Job lost."""

from __future__ import annotations

from typing import Any, cast

import pytest

from dra_sandbox.control_plane import ApiServer
from dra_sandbox.rehearsal.controller_delays import seconds_to_replacement

Json = dict[str, Any]


class ListedObjects:
    """An API server that lists one Job and its pods. The states below last for moments on a real
    one.
    """

    def __init__(self, job: Json, pods: list[Json]) -> None:
        self._objects = {"jobs": [job], "pods": pods}

    def listed(self, path: str) -> tuple[list[Json], str]:
        return self._objects[path.rpartition("/")[2]], "1"


def job(spec: Json, status: Json) -> Json:
    return {"metadata": {"uid": "train"}, "spec": {"parallelism": 3, **spec}, "status": status}


def pod(**status: Any) -> Json:
    return {"metadata": {"ownerReferences": [{"uid": "train"}]}, "status": status}


def leaving() -> Json:
    found = pod(phase="Running")
    found["metadata"]["deletionTimestamp"] = "2026-11-28T19:00:00Z"
    return found


RUNNING = pod(phase="Running")


@pytest.mark.parametrize(
    ("spec", "status", "pods", "seconds"),
    [
        pytest.param({}, {"active": 3}, [RUNNING] * 3, 0, id="all pods run"),
        pytest.param({}, {"active": 2, "failed": 1}, [RUNNING] * 2, 10, id="one pod was lost"),
        pytest.param({}, {"active": 1, "failed": 2}, [RUNNING], 20, id="two pods were lost"),
        pytest.param({}, {"active": 3, "failed": 1}, [RUNNING] * 3, 0, id="the pod was replaced"),
        pytest.param(
            {}, {"active": 3}, [RUNNING] * 2, 10, id="the Job controller hasn't noticed the loss"
        ),
        pytest.param(
            {}, {"active": 3}, [RUNNING, RUNNING, leaving()], 10, id="the lost pod still exists"
        ),
        pytest.param(
            {},
            {"active": 2, "uncountedTerminatedPods": {"failed": ["a"]}},
            [RUNNING] * 2,
            10,
            id="the lost pod isn't counted yet",
        ),
        pytest.param({}, {"active": 1}, [RUNNING], 0, id="a quota rejects the other pods"),
        pytest.param(
            {"completions": 5},
            {"active": 1, "succeeded": 4, "failed": 1},
            [RUNNING, *[pod(phase="Succeeded")] * 4],
            0,
            id="the last pod runs",
        ),
        pytest.param(
            {},
            {"failed": 7, "conditions": [{"type": "Failed", "status": "True"}]},
            [],
            0,
            id="the Job gave up",
        ),
        pytest.param({"suspend": True}, {"failed": 1}, [], 0, id="the Job is suspended"),
    ],
)
def test_a_job_replaces_lost_pods_after_its_backoff(
    spec: Json, status: Json, pods: list[Json], seconds: float
) -> None:
    server = cast("ApiServer", ListedObjects(job(spec, status), pods))

    assert seconds_to_replacement(server) == seconds
