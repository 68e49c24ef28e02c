"""Pods that the scheduler can't distinguish, including pods that are already on nodes."""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation.node.pod_rules import PodView
from dra_planner.model import ObjectKey, PodSpec, Shape
from dra_planner.simulation.cluster.pod_requests import (
    CpuMemory,
    PodAmounts,
    requested,
    requested_for_score,
)


class PodKind(Struct, frozen=True, eq=False):
    """Pods with the same shape and owner.

    `shape` is None for existing pods, which never move. `siblings` is equal for pods that the
    scheduler spreads by default, such as the pods of one ReplicaSet or StatefulSet. `shared_claims`
    are the claims that they share with other pods, each once.
    """

    number: int
    spec: PodSpec
    view: PodView
    shape: Shape | None
    siblings: Hashable
    amounts: PodAmounts
    shared_claims: tuple[ObjectKey, ...] = ()

    @property
    def requested(self) -> CpuMemory:
        return self.amounts.requested

    @property
    def scored(self) -> CpuMemory:
        return self.amounts.scored


class Kinds:
    """Assigns a number to each kind. Equal pods have the same kind."""

    def __init__(self) -> None:
        self.all: list[PodKind] = []
        self._known: dict[Hashable, PodKind] = {}

    def of_shape(self, shape: Shape, siblings: Hashable = None) -> PodKind:
        """Return the kind of pods of a shape."""
        return self._kind(
            ("shape", shape.id, siblings), shape.pod, PodView.of(shape), shape, siblings
        )

    def of_bound(self, spec: PodSpec, view: PodView, siblings: Hashable = None) -> PodKind:
        """Return the kind of pods that are already on nodes, independent of the node."""
        spec = replace(spec, node_name="") if spec.node_name else spec
        key = (
            "bound",
            spec,
            tuple(sorted(view.labels.items())),
            view.namespace,
            siblings,
            requested_for_score(spec),
        )
        return self._kind(key, spec, view, None, siblings)

    def _kind(
        self, key: Hashable, spec: PodSpec, view: PodView, shape: Shape | None, siblings: Hashable
    ) -> PodKind:
        kind = self._known.get(key)
        if kind is None:
            amounts = PodAmounts(requested(spec), requested_for_score(spec))
            claims = shape.claims if shape is not None else ()
            shared = tuple(dict.fromkeys(each.shared for each in claims if each.shared is not None))
            kind = PodKind(len(self.all), spec, view, shape, siblings, amounts, shared)
            self._known[key] = kind
            self.all.append(kind)
        return kind
