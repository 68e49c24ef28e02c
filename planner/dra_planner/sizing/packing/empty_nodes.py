"""The empty nodes of pools: which pods they admit, one filling for all equal nodes, and rejection
reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from dra_planner.allocation import NodeState, Placement, Refusal, Undecided
from dra_planner.allocation.node.filters import HOSTNAME, reject_for_good
from dra_planner.allocation.node.pod_rules import Namespaces, PodView, Sight
from dra_planner.allocation.node.ports import host_ports
from dra_planner.model import Demand, DeviceClass, ResourceSlice, Shape
from dra_planner.offers import Offer, pod_requests
from dra_planner.releases import Features
from dra_planner.sizing.device_needs import DeviceNeeds
from dra_planner.sizing.doubts import DoubtfulPlace
from dra_planner.sizing.items import Item
from dra_planner.sizing.packing.filling import Filling, FillStage, FillStop


class Nodes(Struct, kw_only=True):
    """One empty node for each pool.

    Pools with equal nodes share the stage and its cached answers. If `is_generous` is True, the
    nodes have their maximum resources instead of conservative estimates.
    """

    offers: tuple[Offer, ...]
    classes: Mapping[str, DeviceClass]
    features: Features
    demand: Demand
    filling: Filling
    is_generous: bool
    empty: tuple[FillStage, ...] = ()
    device_needs: dict[object, DeviceNeeds] = {}  # cached results of `rows`
    _doubtful_place: DoubtfulPlace = field(default_factory=DoubtfulPlace)
    _opened: dict[int, NodeState] = {}
    _admitted: dict[str, dict[int, bool]] = {}  # cached results by shape, and then by pool
    # the same dictionaries, by the labels that they select
    _selected: dict[object, dict[int, bool]] = {}
    # whether every pool accepts pods with this selection
    _everywhere: dict[object, bool] = {}
    _sight: Sight = field(default_factory=Sight)

    @classmethod
    def of(
        cls,
        offers: Sequence[Offer],
        classes: Mapping[str, DeviceClass],
        features: Features,
        demand: Demand,
        *,
        is_generous: bool = False,
    ) -> Nodes:
        nodes = cls(
            offers=tuple(offers),
            classes=classes,
            features=features,
            demand=demand,
            filling=Filling(),
            is_generous=is_generous,
            _sight=_neighbours(demand),
        )
        stages: dict[int, FillStage] = {}
        for pool, kind in enumerate(group_kinds(offers)):
            if kind == pool:
                stages[pool] = nodes.filling.open(nodes.node(pool))
            else:
                stages[pool] = stages[kind]
        nodes.empty = tuple(stages[pool] for pool in range(len(offers)))
        return nodes

    def node(self, pool: int) -> NodeState:
        """Return an empty node of the pool, with its own name and labels."""
        found = self._opened.get(pool)
        if found is None:
            offer = self.offers[pool]
            states = self._doubtful_place.open(
                offer, self.classes, self.features, self.demand, self._sight
            )
            found = self._opened[pool] = states[self.is_generous]
        return found

    def admits(self, shape: Shape, pool: int) -> bool:
        """Return whether name, labels, and taints of the pool's nodes admit such pods."""
        admitted = self._admitted.get(shape.id)
        if admitted is None:
            admitted = self._admitted[shape.id] = self._selected.setdefault(_selection(shape), {})
        found = admitted.get(pool)
        if found is None:
            offer = self.offers[pool]
            found = (
                not self._doubtful_place.missing_label(shape, offer)
                and reject_for_good(shape.pod, offer.node) is None
            )
            admitted[pool] = found
        return found

    def needs(self, shape: Shape) -> object | None:
        """Return a key that is equal for shapes with equal node counts, or None if the shape is
        unique.

        The key excludes labels that no pod's rules use, and rules between pods that span nodes.
        """
        pod = shape.pod
        claims = tuple((claim.name, replace(claim.spec, config=())) for claim in shape.claims)
        if (
            any(claim.shared is not None for claim in shape.claims)
            or host_ports(pod)
            or pod.scheduling_gates
            or pod.zonal_volumes
            or self._sight.notices(PodView.of(shape))
        ):
            return None
        amounts = tuple(pod_requests(pod).items())
        # the shapes stay separate, because reasons name claims
        named = shape.namespace if claims else ""
        # the shapes stay separate, because reasons contain labels and taints
        where = None if self.is_admitted_everywhere(shape) else _selection(shape)
        return where, amounts, named, claims, pod.priority, pod.pod_group

    def is_admitted_everywhere(self, shape: Shape) -> bool:
        """Return whether the nodes of every pool admit such pods."""
        key = _selection(shape)
        if key not in self._everywhere:
            self._everywhere[key] = all(
                self.admits(shape, pool) for pool in range(len(self.offers))
            )
        return self._everywhere[key]

    @property
    def namespaces(self) -> Namespaces:
        """The labels of namespaces, by name."""
        return self._sight.namespaces

    def is_doubtful(self, item: Item, pool: int, stage: FillStage) -> bool:
        """Return whether the node might reject the item for reasons other than labels or
        resources.
        """
        offer = self.offers[pool]
        if offer.at_most or offer.unknown_labels:
            return True
        taken = self.filling.taken(item, stage.kind)
        if not taken.is_plain:
            return True
        answer = self.filling.refusal(item, stage)
        return isinstance(answer, Undecided) or (
            isinstance(answer, Refusal) and answer.kind == "error"
        )

    def stop(self, item: Item, pool: int, stage: FillStage) -> FillStop:
        """Return why a node of the pool in this state rejects the item."""
        stop = self.try_to_place(item, pool, stage)
        if stop is None:
            raise AssertionError(
                f"a node of pool {self.offers[pool].name} fits {item.id}, but was recorded as "
                "too small"
            )
        return stop

    def try_to_place(self, item: Item, pool: int, stage: FillStage) -> FillStop | None:
        """Place the item's pods on a node of the pool one by one. Return the obstacle, or None."""
        state, pods = stage.on(self.node(pool)), 0
        for part in item.parts:
            for _ in range(part.pods):
                answer = self._doubtful_place(part.shape, state)
                if not isinstance(answer, Placement):
                    return FillStop(answer, part.shape, pods)
                state, pods = answer.node, pods + 1
        return None


def _selection(shape: Shape) -> object:
    """Return the fields of a pod that determine which nodes admit it."""
    pod = shape.pod
    keys = [
        each.topology_key
        for each in pod.topology_spread
        if each.when_unsatisfiable == "DoNotSchedule"
    ]
    keys += [term.topology_key for term in pod.pod_affinity]
    labels = tuple(sorted(pod.node_selector.items()))
    return pod.node_name, labels, pod.node_affinity, pod.tolerations, tuple(keys)


def _neighbours(demand: Demand) -> Sight:
    """Return the facts that pods' rules use on one node.

    These rules are only anti-affinity, because other rules span nodes.
    """
    watchers = dict.fromkeys(
        (PodView.of(shape), term)
        for shape in demand.shapes
        for term in shape.pod.pod_anti_affinity
        if term.topology_key == HOSTNAME
    )
    return Sight(tuple(watchers), dict(demand.namespaces))


def group_kinds(offers: Sequence[Offer]) -> tuple[int, ...]:
    """Return, for each offer, the position of the first one whose nodes have the same amounts,
    devices, and pods.

    Labels and taints can differ, because they determine whether a node admits a pod, but not what
    the pod needs.
    """
    found: dict[object, list[tuple[int, tuple[ResourceSlice, ...] | None]]] = {}
    kinds = []
    for index, offer in enumerate(offers):
        slices = _nameless(offer)
        known = found.setdefault(_key(offer), [])
        alike = [first for first, other in known if slices is not None and other == slices]
        kinds.append(alike[0] if alike else index)
        if not alike:
            known.append((index, slices))
    return tuple(kinds)


def _key(offer: Offer) -> object:
    """Return the parts of an offer that are cheap to compare."""
    return (
        _sorted(offer.node.allocatable),
        _sorted(offer.at_most),
        _sorted(offer.used),
        tuple((each.driver, len(each.devices)) for each in offer.slices),
    )


def _sorted(amounts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(amounts.items()))


def _nameless(offer: Offer) -> tuple[ResourceSlice, ...] | None:
    """Return the slices without the node's name, or None if the node is unique.

    A node is unique if it has pods or claims, or can use devices of other nodes.
    """
    name = offer.node.name
    if offer.pods or offer.claims or any(each.node_name != name for each in offer.slices):
        return None
    return tuple(
        replace(
            each, name=each.name.replace(name, ""), pool=each.pool.replace(name, ""), node_name=None
        )
        for each in offer.slices
    )
