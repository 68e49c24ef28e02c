"""The findings that prevent pods from running, or from being replaced by a rollout, by the step
of a pod's lifecycle that fails.

A rule with one of these IDs is mandatory, and a plan with one of these findings doesn't fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

Stage = Literal["created", "scheduled", "started", "replaced"]

STAGES: Final[Mapping[str, Stage]] = MappingProxyType(
    {
        "object-is-refused": "created",
        "admission-policy-denies": "created",
        "claim-exceeds-quota": "created",
        "claim-asks-for-too-many-devices": "scheduled",
        "claim-fits-no-pool": "scheduled",
        "pool-maximum-too-small": "scheduled",
        "pod-fits-no-system-pool": "scheduled",
        "pod-cannot-be-scheduled": "scheduled",
        "queue-admits-no-pod": "scheduled",
        "driver-config-refused": "started",
        "request-not-in-claim": "started",
        "memory-limit-too-small": "started",
        "rollout-cannot-finish": "replaced",
    }
)
"""IDs of findings, which are also IDs of rules."""
