"""One workload in two plans, and how its changes affect the number of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from dra_planner.model import Verdict
from dra_planner.planfile import WorkloadRow
from dra_planner.wording import counted

RANK: Final[Mapping[Verdict, int]] = {"fits": 0, "cannot-tell": 1, "does-not-fit": 2}
_WORDS: Final[Mapping[Verdict, str]] = {
    "fits": "fits",
    "cannot-tell": "cannot tell",
    "does-not-fit": "does not fit",
}


class WorkloadDifference(Struct, frozen=True, kw_only=True):
    """One workload in both plans; None if a plan doesn't contain it."""

    kind: str
    namespace: str
    name: str
    before: WorkloadRow | None
    after: WorkloadRow | None
    pods_before: int | None
    pods_after: int | None
    verdict_before: Verdict | None
    verdict_after: Verdict | None

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def pools_before(self) -> tuple[str, ...]:
        """The pools of its pods in the older plan."""
        return () if self.before is None else tuple(row.pool for row in self.before.placements)

    @property
    def pools(self) -> tuple[str, ...]:
        """The pools of its pods in the newer plan."""
        return () if self.after is None else tuple(row.pool for row in self.after.placements)

    @property
    def is_worse(self) -> bool:
        """Whether the workload's verdict is worse than before, or the workload is new and doesn't
        fit.
        """
        before, after = self.verdict_before or "fits", self.verdict_after or "fits"
        return RANK[after] > RANK[before]

    @property
    def is_changed(self) -> bool:
        """Whether its pods, its verdict, or their placement differ."""
        if self.before is None or self.after is None:
            return True
        return (
            self.pods_before != self.pods_after
            or self.verdict_before != self.verdict_after
            or self.before.pending != self.after.pending
            or self.before.placements != self.after.placements
        )


def pod_causes(workloads: tuple[WorkloadDifference, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return, by pool, the workloads that are new, removed, or request a different number of
    pods.
    """
    return _by_pool(workloads, _cause)


def placing_causes(workloads: tuple[WorkloadDifference, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return, by pool, the workloads whose verdict, pending pods, or nodes differ."""
    return _by_pool(workloads, _placing_cause)


def _by_pool(
    workloads: tuple[WorkloadDifference, ...], cause_of: Callable[[WorkloadDifference], str]
) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for each in workloads:
        cause = cause_of(each)
        rows = [row for row in (each.before, each.after) if row is not None]
        for pool in (
            {placement.pool for row in rows for placement in row.placements} if cause else ()
        ):
            found.setdefault(pool, []).append(cause)
    return {pool: tuple(causes) for pool, causes in found.items()}


def _cause(workload: WorkloadDifference) -> str:
    """Return the change if the workload is new, removed, or requests a different number of pods."""
    if workload.before is None:
        return f"new: {workload}, {counted(workload.pods_after or 0, 'pod')}"
    if workload.after is None:
        return f"removed: {workload}"
    if workload.pods_before == workload.pods_after:
        return ""
    return f"{workload}: {_number(workload.pods_before)} → {_number(workload.pods_after)} pods"


def _placing_cause(workload: WorkloadDifference) -> str:
    """Return the change if a workload's pods have a different verdict, fit in a different number,
    or run elsewhere.
    """
    then, now = workload.verdict_before, workload.verdict_after
    if then is not None and now is not None and then != now:
        return f"{workload}: {_WORDS[then]} → {_WORDS[now]}"
    if workload.before is None or workload.after is None:
        return ""
    if workload.before.pending != workload.after.pending:
        return f"{workload}: {workload.before.pending} → {workload.after.pending} pending"
    is_moved = workload.before.placements != workload.after.placements
    return f"{workload}: placed on other nodes" if is_moved else ""


def _number(pods: int | None) -> str:
    return "unbounded" if pods is None else str(pods)
