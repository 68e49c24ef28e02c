"""A snapshot of a cluster → what each of its nodes still offers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dra_planner.model import Node, ResourceClaim, ResourceSlice
from dra_planner.offers.model import Offer
from dra_planner.releases import Features

if TYPE_CHECKING:  # predicting needs no reader of manifests, and it takes long to import
    from dra_planner.manifests import BoundPod, Manifests

_INSTANCE_TYPE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


def observe_offers(manifests: Manifests, features: Features) -> tuple[Offer, ...]:
    """Return one offer per node of a snapshot, in its order, with the pods and claims that are there already.

    A node's slices are its own and those that name no single node; claims count on every node that sees the pool
    of one of their devices. Nodes that take no new pods are kept: `node.unschedulable` says so. Nothing is known
    of prices.
    """
    sentence = f"nodes, slices, pods and claims are those of the snapshot, judged by the rules of {features.version}"
    return tuple(_offer(node, manifests, sentence) for node in manifests.nodes)


def _offer(node: Node, manifests: Manifests, sentence: str) -> Offer:
    slices = tuple(each for each in manifests.slices if each.node_name in (None, node.name))
    pods = tuple(pod for pod in manifests.bound_pods if pod.node_name == node.name)
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
        claims=_claims_here(manifests.claims.values(), slices),
    )


def _claims_here(claims: Iterable[ResourceClaim], slices: tuple[ResourceSlice, ...]) -> tuple[ResourceClaim, ...]:
    pools = {(each.driver, each.pool) for each in slices}
    return tuple(
        claim
        for claim in claims
        if claim.allocation is not None
        and any((device.driver, device.pool) in pools for device in claim.allocation.devices)
    )


def _without_claims(pods: Iterable[BoundPod], manifests: Manifests) -> tuple[str, ...]:
    """Say which bound pods hold claims that the snapshot does not show: their devices seem free."""
    sentences: list[str] = []
    for pod in pods:
        for name in pod.claims.values():
            claim = manifests.claims.get(pod.meta.key._replace(name=name))
            if claim is None or claim.allocation is None:
                sentences.append(
                    f"pod {pod.meta.key} holds claim {name}, whose allocation the snapshot does not show: "
                    "its devices seem free"
                )
    return tuple(sentences)


def _label(node: Node, keys: tuple[str, ...]) -> str:
    return next((node.meta.labels[key] for key in keys if key in node.meta.labels), "")
