"""Objects that aren't in the plan although they might create pods, and pods on unknown nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_planner.claims.resolution import on_unknown_node
from dra_planner.manifests.manifests import UnreadObject
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.wording import counted


def find_unread_objects(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield each object whose possible pods aren't in the plan."""
    for each in situation.manifests.unread:
        yield Blocker(
            code="object-not-read",
            message=f"{each.title}: {each.reason}, so {each.missing} aren't in the plan",
            fix=each.instead,
            place=each.place,
            verdict="cannot-tell",
        )
    yield from _of_unclear_kinds(situation.manifests.unclear)


def _of_unclear_kinds(objects: Sequence[UnreadObject]) -> Iterator[Blocker]:
    """Yield one finding for the objects that might create pods beside the workloads."""
    if objects:
        first, others = objects[0], len(objects) - 1
        more = f". The same applies to {counted(others, 'more object')}" if others else ""
        yield Blocker(
            code="object-not-read",
            message=f"{first.title}: {first.reason}, so {first.missing} aren't in the plan{more}",
            fix=first.instead,
            place=first.place,
            verdict="fits",
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
