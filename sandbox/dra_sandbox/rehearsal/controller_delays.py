"""Wait for delayed actions of the control plane: until quotas take effect, Jobs replace pods, and
until the scheduler retries pods for which no event occurred.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from dra_sandbox.control_plane import ApiServer, NotReady
from dra_sandbox.rehearsal.snapshot import PODS

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

    Until the quota controller has counted once, the API server can still ignore the quotas or
    reject all objects. Raises NotReady after `within_seconds`, and Refused if the API server
    rejects a request.
    """
    left = [each for each in objects if each["kind"] == "ResourceQuota"]
    until = time.monotonic() + within_seconds
    while left:
        left = [each for each in left if not _is_counted(server.call("GET", server.path(each)))]
        if not left:
            time.sleep(_REACHES_ALL_SECONDS)  # the admission plugin receives changes with a delay
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
    """Return the maximum time until a Job replaces a lost pod, or 0 if no Job has lost a pod."""
    jobs = [each for each in server.listed(_JOBS)[0] if not _has_ended(each)]
    if not jobs:
        return 0.0
    living = Counter(
        owner["uid"]
        for pod in server.listed(PODS)[0]
        for owner in pod["metadata"].get("ownerReferences", ())
        if _is_living(pod)
    )
    return max(_backoff(job, living[job["metadata"]["uid"]]) for job in jobs)


def _backoff(job: Json, living: int) -> float:
    """Return the time until a Job with this number of living pods replaces its last lost pod."""
    spec, status = job["spec"], job.get("status") or {}
    wanted = spec.get("parallelism", 1)
    if "completions" in spec:
        wanted = min(wanted, spec["completions"] - int(status.get("succeeded") or 0))
    lost = int(status.get("failed") or 0)
    lost += len((status.get("uncountedTerminatedPods") or {}).get("failed") or ())
    if not lost and int(status.get("active") or 0) >= wanted:
        lost = 1  # if a pod is missing, the Job controller hasn't noticed the loss yet
    if not lost or living >= wanted:
        return 0.0
    return float(min(_FIRST_BACKOFF_SECONDS * 2 ** (lost - 1), _MOST_BACKOFF_SECONDS))


def _has_ended(job: Json) -> bool:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return bool(job["spec"].get("suspend")) or any(
        each["type"] in ("Complete", "Failed") for each in conditions
    )


def _is_living(pod: Json) -> bool:
    is_going = "deletionTimestamp" in pod["metadata"]
    return not is_going and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")
