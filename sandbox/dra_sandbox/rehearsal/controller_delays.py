"""Wait for delayed actions of the control plane: until quotas take effect, Jobs replace pods, and
the scheduler retries pods for which no event occurred.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final

from dra_sandbox.control_plane import ApiServer, NotReady

Json = dict[str, Any]

RETRY_SECONDS: Final = 345.0
"""Maximum time until the scheduler has retried every pending pod: every 30 s, it checks for pods
that have been pending for 5 minutes.

Source: kubernetes/kubernetes:pkg/scheduler/backend/queue/scheduling_queue.go @v1.36.3.
"""
_FIRST_BACKOFF_SECONDS: Final = 10.0
"""Time until a Job replaces its first lost pod. The time doubles for each additional pod.

Source: kubernetes/kubernetes:pkg/controller/job/job_controller.go @v1.36.3
(DefaultJobPodFailureBackOff).
"""
_MOST_BACKOFF_SECONDS: Final = 600.0
_JOBS: Final = "/apis/batch/v1/jobs"
_LOOK_EVERY_SECONDS: Final = 0.1
_REACHES_ALL_SECONDS: Final = 0.5


def wait_for_quotas(server: ApiServer, objects: Iterable[Json], within_seconds: float) -> None:
    """Return when the ResourceQuotas among the objects are enforced.

    Until the quota controller has counted once, the API server may not know the quotas, or rejects
    all objects. Raises NotReady after `within_seconds`, and Refused.
    """
    left = [each for each in objects if each["kind"] == "ResourceQuota"]
    until = time.monotonic() + within_seconds
    while left:
        left = [each for each in left if not _is_counted(server.call("GET", server.path(each)))]
        if not left:
            time.sleep(_REACHES_ALL_SECONDS)  # admission learns about objects with a delay
        elif time.monotonic() > until:
            names = ", ".join(each["metadata"]["name"] for each in left)
            raise NotReady(f"the quota controller didn't count these quotas in time: {names}")
        else:
            time.sleep(_LOOK_EVERY_SECONDS)


def _is_counted(quota: Json) -> bool:
    return set((quota.get("spec") or {}).get("hard") or {}) <= set(
        (quota.get("status") or {}).get("hard") or {}
    )


def seconds_to_replacement(server: ApiServer) -> float:
    """Return the maximum time until a Job replaces a lost pod, or 0 if no Job has lost one."""
    return max(map(_backoff, server.listed(_JOBS)[0]), default=0.0)


def _backoff(job: Json) -> float:
    spec, status = job["spec"], job.get("status") or {}
    lost = int(status.get("failed") or 0)
    is_complete = int(status.get("active") or 0) >= spec.get("parallelism", 1)
    has_ended = any(
        each["type"] in ("Complete", "Failed") for each in status.get("conditions") or ()
    )
    if not lost or is_complete or has_ended:
        return 0.0
    return float(min(_FIRST_BACKOFF_SECONDS * 2 ** (lost - 1), _MOST_BACKOFF_SECONDS))
