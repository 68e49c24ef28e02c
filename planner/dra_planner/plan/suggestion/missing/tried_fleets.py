"""Fleets with one change, each tried with a pod on an empty node of the changed pool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from msgspec import Struct

from dra_planner.allocation import NodeState, Placement
from dra_planner.allocation.reasons.edits import Edit
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.model import Shape
from dra_planner.offers import predict_offers
from dra_planner.plan.demand.classes import fleet_classes
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.suggestion.device_sharing import SharingFleet, sharing_fleets
from dra_planner.sizing import DoubtfulPlace

MOST_PODS: Final = 64  # maximum number of pods to count on one node


class FleetChange(Struct, frozen=True, kw_only=True):
    """A fleet on which one pod of the shape fits, and its change as an imperative sentence.

    `edits` are additional changes of the pod's claims, which the sentence doesn't contain. If the
    change is only a new pool of whole GPUs, `machine` is its machine type in words, and `zone` its
    zone or "".
    """

    fleet: Fleet
    text: str
    machine: str = ""
    zone: str = ""
    edits: tuple[Edit, ...] = ()


class TriedFleet(NamedTuple):
    """A change, the number of such pods that a node of the changed pool holds, and the number of
    shapes without a pool of which it holds a pod.
    """

    change: FleetChange
    pods: int
    shapes: int

    @property
    def rank(self) -> tuple[int, int]:
        """The order of changes, from the worst to the best: a change for the pods of many shapes
        prevents contradictory changes.
        """
        return self.shapes, self.pods


_Opened = tuple[Fleet, NodeState, DoubtfulPlace]


class FleetTrials(Struct, frozen=True, eq=False):
    """A plan's fleet and the changed fleets, computed once for all pods."""

    judgement: Judgement
    fleet: Fleet
    opened: dict[str, _Opened | None] = {}
    shared: list[tuple[SharingFleet, ...]] = []
    held: dict[str, int] = {}
    displacing: dict[str, bool] = {}

    def change(
        self, shape: Shape, document: Mapping[str, Any], pool: str, text: str, most: int = 1
    ) -> TriedFleet | None:
        """Return the changed fleet if a node of the pool holds the pod.

        Also returns the number of such pods, at most `most`.
        """
        if text not in self.opened:
            self.opened[text] = self._open(document, pool)
        opened = self.opened[text]
        if opened is None:
            return None
        fleet, node, doubtful_place = opened
        if any(
            not isinstance(doubtful_place(other, node), Placement)
            for other in self.shapes_on(pool)
            if other is not shape
        ):
            return None  # workloads that currently run there would no longer fit
        pods = 0
        while pods < most and isinstance(answer := doubtful_place(shape, node), Placement):
            pods, node = pods + 1, answer.node
        if not pods:
            return None
        return TriedFleet(FleetChange(fleet=fleet, text=text), pods, self._held(text))

    def _held(self, text: str) -> int:
        """Return the number of shapes without a pool of which the changed pool's empty node holds a
        pod.
        """
        opened = self.opened[text]
        if text not in self.held and opened is not None:
            _, node, doubtful_place = opened
            self.held[text] = sum(
                isinstance(doubtful_place(shape, node), Placement) for shape in self._without_pool()
            )
        return self.held[text]

    def _without_pool(self) -> Iterator[Shape]:
        """Yield the shapes whose claims don't fit any pool of the unchanged fleet."""
        for shape in self.judgement.demand.shapes:
            answers = self.judgement.answers(shape)
            if shape.claims and all(answer.verdict == "does-not-fit" for answer in answers):
                yield shape

    def shapes_on(self, pool: str) -> Iterator[Shape]:
        """Yield the pods that fit a pool of the unchanged fleet."""
        for shape in self.judgement.demand.shapes:
            if any(
                answer.offer.name == pool and answer.verdict == "fits"
                for answer in self.judgement.answers(shape)
            ):
                yield shape

    def sharing(self) -> tuple[SharingFleet, ...]:
        """Return the fleets whose devices can be shared."""
        if not self.shared:
            self.shared.append(tuple(sharing_fleets(self.fleet)))
        return self.shared[0]

    def _open(self, document: Mapping[str, Any], name: str) -> _Opened | None:
        judgement = self.judgement
        try:
            fleet = read_fleet(document)
            alone = fleet.model_copy(update={"pools": [fleet.pool(name)]})
            is_same = fleet.kubernetes == self.fleet.kubernetes
            features = judgement.features if is_same else fleet.features
            (offer,) = predict_offers(alone, features)
        except PlannerError:  # the catalog doesn't contain the change, or the cloud rejects it
            return None
        classes = (
            judgement.classes
            if is_same
            else {**judgement.classes, **fleet_classes(fleet, features)}
        )
        doubtful_place = DoubtfulPlace()
        node, _ = doubtful_place.open(offer, classes, features, judgement.demand)
        return fleet, node, doubtful_place


@lru_cache(maxsize=2)
def trials_of(judgement: Judgement) -> FleetTrials | None:
    """Return the trials of a plan's fleet, or None for a plan on a snapshot."""
    return FleetTrials(judgement, judgement.fleet) if judgement.fleet is not None else None
