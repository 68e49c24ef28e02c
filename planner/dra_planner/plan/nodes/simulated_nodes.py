"""Nodes and their contents after a simulation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dra_planner.model import ObjectKey, WorkloadRef
from dra_planner.plan.model import Plan
from dra_planner.plan.nodes.content import NodeContent

if TYPE_CHECKING:  # only the simulation needs this module
    from dra_planner.simulation import SimulationOutcome


def simulated_contents(
    plan: Plan, outcome: SimulationOutcome
) -> Iterator[tuple[str, NodeContent, int]]:
    """Yield every node of a simulation with its pool."""
    cluster = outcome.cluster
    contents = [NodeContent(stage.state) for stage in cluster.stage_of]
    shared: dict[ObjectKey, WorkloadRef] = {}
    owners = {pod.meta.key: pod.owner for offer in plan.offers for pod in offer.pods}
    for name, placed in cluster.pods.items():
        shape = placed.pod.kind.shape
        refs = [member.workload for member in shape.members] if shape is not None else []
        ref = owners.get(name) or _workload_of(name, refs)
        contents[placed.node].add(ref)
        for got in placed.picks:
            contents[placed.node].hold(got.picks, ref, got.name)
        for key in placed.shared:
            shared.setdefault(key, ref)
    for key, ref in shared.items():
        claim = cluster.claims.get(key)
        if claim is not None and len(claim.nodes) == 1:
            content = contents[claim.nodes[0]]
            content.hold(content.state.picks_of(claim.allocation.devices), ref, str(key))
    for node, content in zip(outcome.nodes, contents, strict=True):
        yield _pool_of(node.meta.name, plan), content, 1


def _pool_of(node: str, plan: Plan) -> str:
    """Return the pool of a simulated node, named <pool>-<index>.

    An observed node is its own pool, unless `groups` contains it.
    """
    if node in plan.judgement.groups:
        return plan.judgement.groups[node]
    return node if plan.fleet is None else node.rpartition("-")[0]


def _workload_of(pod: ObjectKey, refs: Iterable[WorkloadRef]) -> WorkloadRef:
    """Return the workload of the pod with that name, or the pod itself if it has none."""
    for ref in sorted(refs, key=lambda each: -len(each.name)):
        index = pod.name.removeprefix(f"{ref.name}-")
        is_its = (
            pod.name == ref.name if ref.kind == "Pod" else index != pod.name and index.isdecimal()
        )
        if is_its and pod.namespace == ref.namespace:
            return ref
    return WorkloadRef("Pod", pod.namespace, pod.name)
