"""Compute the free resources of each node in a cluster's snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dra_planner.model import Node, ResourceClaim, ResourceSlice
from dra_planner.offers.offer import Offer
from dra_planner.releases import Features

if TYPE_CHECKING:  # predicting doesn't need the manifest reader, which takes long to import
    from dra_planner.manifests import BoundPod, Manifests

_INSTANCE_TYPE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


def observe_offers(manifests: Manifests, features: Features) -> tuple[Offer, ...]:
    """Return one offer per node of a snapshot, in its order, with existing pods and claims.

    A node's slices are its own slices, and slices for several nodes. Claims count on every node
    that can use the pool of one of their devices. Unschedulable nodes are included
    (`node.unschedulable`). Prices are unknown.
    """
    sentence = (
        "nodes, slices, pods, and claims come from the snapshot, and the plan evaluates them by "
        f"the rules of Kubernetes {features.version}"
    )
    there = _Contents(manifests)
    return tuple(_offer(node, manifests, there, sentence) for node in manifests.nodes)


class _Contents:
    """The contents of each node in a snapshot, computed once for all nodes, in the order of the
    snapshot.
    """

    def __init__(self, manifests: Manifests) -> None:
        self._slices: dict[str, list[tuple[int, ResourceSlice]]] = {}
        self._anywhere: list[tuple[int, ResourceSlice]] = []
        for number, each in enumerate(manifests.slices):
            where = (
                self._anywhere
                if each.node_name is None
                else self._slices.setdefault(each.node_name, [])
            )
            where.append((number, each))
        self._pods: dict[str, list[BoundPod]] = {}
        for pod in manifests.bound_pods:
            self._pods.setdefault(pod.node_name, []).append(pod)
        self._claims: dict[tuple[str, str], dict[int, ResourceClaim]] = {}
        for number, claim in enumerate(manifests.claims.values()):
            for device in claim.allocation.devices if claim.allocation is not None else ():
                self._claims.setdefault((device.driver, device.pool), {})[number] = claim

    def slices(self, node: str) -> tuple[ResourceSlice, ...]:
        """Return the slices of the node, and slices for several nodes."""
        own = self._slices.get(node, [])
        both = sorted((*own, *self._anywhere), key=lambda each: each[0]) if self._anywhere else own
        return tuple(each for _, each in both)

    def pods(self, node: str) -> tuple[BoundPod, ...]:
        """Return the pods that are bound to the node."""
        return tuple(self._pods.get(node, ()))

    def claims(self, slices: tuple[ResourceSlice, ...]) -> tuple[ResourceClaim, ...]:
        """Return the claims with devices in the pools of these slices."""
        found: dict[int, ResourceClaim] = {}
        for pool in {(each.driver, each.pool) for each in slices}:
            found |= self._claims.get(pool, {})
        return tuple(found[number] for number in sorted(found))


def _offer(node: Node, manifests: Manifests, there: _Contents, sentence: str) -> Offer:
    slices, pods = there.slices(node.name), there.pods(node.name)
    zone = _label(node, _ZONE)
    return Offer(
        name=node.name,
        origin="observed",
        node=node,
        slices=slices,
        count_min=1,
        count_max=1,
        machine=_label(node, _INSTANCE_TYPE),
        zones=(zone,) if zone else (),
        assumptions=(sentence, *_without_claims(pods, manifests)),
        pods=pods,
        claims=there.claims(slices),
    )


def _without_claims(pods: Iterable[BoundPod], manifests: Manifests) -> tuple[str, ...]:
    """Report bound pods whose claims aren't in the snapshot, because their devices appear to be
    free.
    """
    sentences: list[str] = []
    for pod in pods:
        for name in pod.claims.values():
            claim = manifests.claims.get(pod.meta.key._replace(name=name))
            if claim is None or claim.allocation is None:
                sentences.append(
                    f"pod {pod.meta.key} uses claim {name}, but the snapshot doesn't show its "
                    "allocation, so its devices count as free"
                )
    return tuple(sentences)


def _label(node: Node, keys: tuple[str, ...]) -> str:
    return next((node.meta.labels[key] for key in keys if key in node.meta.labels), "")
