"""Objects that aren't in the plan although they might create pods, and pods on unknown nodes."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.resolution import on_unknown_node
from dra_planner.manifests.manifests import UnreadObject
from dra_planner.model import Verdict
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.wording import counted


def find_unread_objects(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield each object whose possible pods aren't in the plan."""
    for each in situation.manifests.unread:
        yield _not_read(each, "cannot-tell")
    # one finding for all objects that might create pods in addition to the workloads
    if unclear := situation.manifests.unclear:
        others = len(unclear) - 1
        more = f". The same applies to {counted(others, 'more object')}" if others else ""
        yield _not_read(unclear[0], "fits", more)


def _not_read(item: UnreadObject, verdict: Verdict, more: str = "") -> Blocker:
    return Blocker(
        code="object-not-read",
        message=f"{item.title}: {item.reason}, so {item.missing} aren't in the plan{more}",
        fix=item.instead,
        place=item.place,
        verdict=verdict,
    )


def find_pods_on_unknown_nodes(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield each new pod whose manifest names a node that the plan doesn't contain."""
    known = {node.meta.name for node in situation.manifests.nodes}
    for pod in situation.manifests.bound_pods:
        if pod.exists or pod.node_name in known:
            continue
        reason = on_unknown_node(pod.spec)
        yield Blocker(
            code=reason.code,
            message=f"Pod {pod.meta.key}: {reason.message}",
            fix=reason.fix,
            place=pod.meta.place,
            verdict="cannot-tell",
        )
