"""The devices of each claim when the planned nodes are filled pod by pod, listed for every pod, so
the result grows with the number of pods.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from dra_planner.allocation import NodeState, Placement, open_offer, sight_of
from dra_planner.allocation.reasons.shares import Share, shares_of_pick
from dra_planner.errors import UnsupportedFeature
from dra_planner.model import AllocatedDevice, DemandLevel, Shape, WorkloadRef, generated_claim_name
from dra_planner.offers import Offer
from dra_planner.plan.judgement.claim_devices import GivenClaim, GivenDevice
from dra_planner.plan.model import Plan
from dra_planner.plan.nodes.packed_nodes import fill_pattern
from dra_planner.sizing import NodePattern

MOST_PODS = 100_000


def detail_claims(plan: Plan) -> tuple[GivenClaim, ...]:
    """Return the devices of every claim of the planned pods, node by node.

    Pods are named <workload>-<index>, nodes <pool>-<index>, generated claims <pod>-<claim>. Raises
    UnsupportedFeature for more than 100,000 pods.
    """
    if plan.judgement.is_observed:
        return plan.judgement.claims
    sizing = plan.judgement.sizing
    pods = sum(
        pattern.nodes * sum(count for _, count in pattern.pods) for pattern in sizing.patterns
    )
    if pods > MOST_PODS:
        raise UnsupportedFeature(
            f"--detail can't list devices for {pods:,} pods",
            fix="remove --detail, or plan for fewer pods",
        )
    return tuple(_Detail(plan).claims(sizing.patterns))


class _Detail:
    """Assigns names to pods as nodes are filled."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._offers: dict[str, Offer] = {offer.name: offer for offer in plan.offers}
        self._sight = sight_of(plan.demand.shapes, plan.demand.namespaces)
        self._shapes: dict[str, Shape] = {shape.id: shape for shape in plan.demand.shapes}
        self._index: Counter[WorkloadRef] = Counter()
        self._names = {shape.id: self._pod_names(shape, plan.level) for shape in plan.demand.shapes}

    def claims(self, patterns: Iterable[NodePattern]) -> Iterator[GivenClaim]:
        nodes: Counter[str] = Counter()
        for pattern in patterns:
            filled = list(fill_pattern(pattern, self._open(pattern.pool), self._shapes))
            for _ in range(pattern.nodes):
                node = f"{pattern.pool}-{nodes[pattern.pool]}"
                nodes[pattern.pool] += 1
                for shape, placement in filled:
                    yield from self._given(shape, placement, node, filled[-1][1].node)

    def _open(self, pool: str) -> NodeState:
        features = self._plan.judgement.features
        return open_offer(self._offers[pool], self._plan.classes, features, self._sight)

    def _given(
        self, shape: Shape, placement: Placement, node: str, full: NodeState
    ) -> Iterator[GivenClaim]:
        namespace, pod = next(self._names[shape.id])
        claims = {claim.name: claim for claim in shape.claims}
        home = placement.node.node.name
        for picks in placement.picks:
            name = (
                picks.shared.name
                if picks.shared is not None
                else generated_claim_name(pod, picks.name)
            )
            devices = tuple(
                _device(each, home, node, shares_of_pick(pick, claims.get(picks.name), full))
                for each, pick in zip(
                    placement.claims[picks.name].devices, picks.picks, strict=True
                )
            )
            yield GivenClaim(namespace=namespace, name=name, pod=pod, devices=devices)

    def _pod_names(self, shape: Shape, level: DemandLevel) -> Iterator[tuple[str, str]]:
        """Yield namespace and name of a shape's pods, with members in canonical order."""
        nodes = sum(pool.packing for pool in self._plan.pools)
        for member in sorted(shape.members, key=lambda each: (each.workload, each.pod_set)):
            ref = member.workload
            for _ in range(nodes if shape.per_node else member.figures.at(level) or 0):
                yield ref.namespace, ref.pod_name(self._index[ref])
                self._index[ref] += 1


def _device(
    device: AllocatedDevice, template: str, node: str, shares: tuple[Share, ...]
) -> GivenDevice:
    """Set the node's name, because predicted slices contain a placeholder."""
    pool = node if device.pool == template else device.pool
    return GivenDevice(
        request=device.request,
        node=node,
        driver=device.driver,
        pool=pool,
        device=device.device,
        shares=shares,
    )
