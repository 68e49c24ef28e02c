"""Number of pods at the same time: counts, limits of scalers, and the surge of rollouts."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Any

from msgspec import Struct

from dra_planner.model import Figures


class Bounds(Struct, frozen=True):
    """The limits of a scaler. `maximum` is None without a limit.

    With `off_at_zero`, the scaler ignores a workload without replicas. `held` is the number of
    replicas while it's paused, or -1 for the current number. `description` is a sentence about the
    scaler.
    """

    minimum: int
    maximum: int | None
    off_at_zero: bool = False
    held: int | None = None
    description: str = ""


class Surge(Struct, frozen=True):
    """Replicas that a rollout adds: `maxSurge`, a number or a percentage that is rounded up."""

    maximum: int | str = 0

    def of(self, replicas: int) -> int:
        """Return the number of additional replicas that a rollout can have at the same time.
        Source: kubernetes/apimachinery:pkg/util/intstr/intstr.go@v0.36.3
        (GetScaledValueFromIntOrPercent, roundUp).
        """
        text = str(self.maximum).strip()
        if text.endswith("%"):
            return ceil(Fraction(int(text[:-1] or 0) * replicas, 100))
        return int(text or 0)


NO_SURGE = Surge()


def share_of(amount: int | str, replicas: int) -> int:
    """Return a number, or a percentage of the replicas that is rounded down."""
    text = str(amount).strip()
    return int(text[:-1] or 0) * replicas // 100 if text.endswith("%") else int(text or 0)


def count_pods(
    replicas: int,
    *,
    pods_per_replica: int = 1,
    bounds: Bounds | None = None,
    surge: Surge = NO_SURGE,
    suspended: bool = False,
) -> Figures:
    """Return the four figures for a number of replicas with the same number of pods each."""
    floor = steady = replicas
    ceiling: int | None = replicas
    if bounds is not None:
        floor, ceiling = bounds.minimum, bounds.maximum
        steady = (
            max(replicas, floor)
            if ceiling is None
            else min(max(replicas, floor), max(ceiling, floor))
        )
        if replicas == 0 and bounds.off_at_zero:
            floor = steady = 0
        if bounds.held is not None:
            floor = steady = replicas if bounds.held < 0 else bounds.held
            ceiling = None if ceiling is None else max(ceiling, steady)
    if suspended:
        floor = steady = 0
    peak = None if ceiling is None else ceiling + (surge.of(ceiling) if ceiling else 0)
    times = pods_per_replica
    return Figures(
        floor * times,
        steady * times,
        None if ceiling is None else ceiling * times,
        None if peak is None else peak * times,
    )


def count_job_pods(spec: Mapping[str, Any]) -> int:
    """Return the number of pods of a Job that run at the same time: its parallelism (1 by default),
    but at most its completions.
    """
    parallelism = spec.get("parallelism")
    parallelism = 1 if parallelism is None else int(parallelism)
    completions = spec.get("completions")
    return parallelism if completions is None else min(parallelism, int(completions))
