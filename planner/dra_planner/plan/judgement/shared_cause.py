"""A common cause for the uncertainty of several workloads: the scheduler doesn't follow the
packing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from dra_planner.model import Reason, WorkloadRef
from dra_planner.plan.judgement.simulated_counts import LEAVES_PODS
from dra_planner.simulation import SimulatedCounts
from dra_planner.wording import counted

_MOST_NAMED: Final = 4


class SharedCause(Struct, frozen=True, kw_only=True):
    """Workloads that are uncertain only because of the scheduler's choices, with a common message
    and fix.
    """

    workloads: tuple[WorkloadRef, ...]
    message: str
    fix: str


def shared_cause(
    reasons: Iterable[tuple[WorkloadRef, Iterable[Reason]]], found: SimulatedCounts | None
) -> SharedCause | None:
    """Return the common cause of several workloads, or None for fewer than two. Workloads with
    other reasons aren't included.
    """
    if found is None or found.counts is not None:
        return None
    fixes: dict[WorkloadRef, str] = {}
    for ref, given in reasons:
        known = tuple(given)
        if known and all(reason.code == LEAVES_PODS for reason in known):
            fixes[ref] = known[0].fix
    if len(fixes) < 2:
        return None
    strandings = [
        sum(each.pending.get(ref, 0) for ref in fixes)
        for each in found.at_maximum or found.at_packing
    ]
    pending = [pods for pods in strandings if pods]
    if not pending:
        return None
    least, most = min(pending), max(pending)
    pods = counted(most, "pod") if least == most else f"{least} to {counted(most, 'pod')}"
    where = "with every pool at its maximum" if found.at_maximum else "on the nodes in the packing"
    return SharedCause(
        workloads=tuple(fixes),
        message=f"{where}, the default scheduler doesn't find the best placement. In "
        f"{len(pending)} of {counted(len(found.orders), 'pod arrival order')}, it leaves "
        f"{pods} of {_some([str(ref) for ref in fixes])} pending",
        fix=next(iter(fixes.values())),
    )


def _some(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    shown = names if more <= 0 else [*names[:_MOST_NAMED], counted(more, "other workload")]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
