"""DaemonSets whose namespaces don't have enough quota for a pod on each of their nodes. The nodes
are known after sizing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_planner.errors import Diagnostic
from dra_planner.model import PodQuotas
from dra_planner.plan.model import PlannedWorkload
from dra_planner.wording import counted


def find_full_quotas(
    quotas: PodQuotas, workloads: Iterable[PlannedWorkload]
) -> Iterator[Diagnostic]:
    """Yield an error for each DaemonSet that runs on more nodes than its quotas allow."""
    nodes = {each.workload: each.figures.steady for each in workloads}
    desired = {key: nodes.get(key[0], 0) for key in quotas.daemons}
    for key, known, room, (quota, resource) in quotas.daemon_rooms(desired):
        more = max(0, desired[key] - known)
        if more > room:
            yield Diagnostic(
                severity="error",
                code="quota-exceeded",
                message=f"{key[0]} needs a pod on each of {counted(known + more, 'node')}, but "
                f"ResourceQuota {quota} allows only {counted(known + room, 'pod')} "
                f"(its `{resource}` limit)",
                fix="raise the quota, or select fewer nodes in the DaemonSet",
            )
