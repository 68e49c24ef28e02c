"""Reads workloads of all kinds, known and unknown, with the scalers and runtimes that belong to
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.claims import parse_claim_spec
from dra_planner.manifests.parsing.fields import parse_meta
from dra_planner.manifests.schema import struct_of
from dra_planner.manifests.validation.violations import Violation
from dra_planner.manifests.workloads.kind_description import (
    Reading,
    UnknownPods,
    WorkloadKind,
    read_pod_sets,
)
from dra_planner.manifests.workloads.kinds import KINDS, WITHOUT_PODS
from dra_planner.manifests.workloads.scalers import read_bounds
from dra_planner.manifests.workloads.unknown_kinds import find_templates, read_unknown
from dra_planner.manifests.workloads.volume_zones import default_class
from dra_planner.model import Figures, ObjectMeta, PodSet, ResourceClaimTemplate, Workload

_BY_NAME: Final = {(kind.group, kind.kind): kind for kind in KINDS}
_DEEPEST: Final = 5


class ReadWorkload(Struct, frozen=True):
    """A workload, the claim templates that its controller creates, and its unknown pods."""

    workload: Workload
    templates: tuple[ResourceClaimTemplate, ...] = ()
    unresolved: tuple[UnknownPods, ...] = ()
    faults: tuple[Violation, ...] = ()
    known: bool = True
    uncounted: tuple[str, ...] = ()  # unknown facts about the number of pods


class WorkloadReader:
    """Reads the workloads in a set of objects.

    The set contains their scalers and referenced objects.
    """

    def __init__(self, objects: Iterable[KubernetesObject], minor: int) -> None:
        objects = list(objects)
        self._minor = minor
        self._bounds = read_bounds(objects)
        self._by_kind = {(item.kind, item.namespace, item.name): item for item in objects}
        self._by_name = {(item.kind, item.name): item for item in objects}
        self._by_name |= default_class(objects)

    def is_owned(self, item: KubernetesObject) -> bool:
        """Return True if another object of the set controls this one and therefore already counts
        its pods.
        """
        return any(
            isinstance(owner, Mapping)
            and owner.get("controller") is True
            and (str(owner.get("kind")), item.namespace, str(owner.get("name"))) in self._by_kind
            for owner in item.metadata.get("ownerReferences") or ()
        )

    def scales(self, item: KubernetesObject) -> bool:
        """Return True if a scaler scales an object of the set."""
        return any(key in self._by_kind for key in read_bounds([item]))

    def read(self, item: KubernetesObject) -> ReadWorkload | None:
        """Return the workload in an object, or None if it doesn't create pods itself."""
        kind = _BY_NAME.get((item.group, item.kind))
        if (item.group, item.kind) in WITHOUT_PODS or self.is_owned(item):
            return None
        if kind is None and not find_templates(item.data, item.place):
            return None
        reading = self._reading(item, kind, 0)
        if reading.kind.is_empty(reading.root):
            return None
        try:
            sets = read_pod_sets(reading)
        except (AttributeError, KeyError, TypeError, ValueError):
            # Kinds that the API server knows have already been decoded. The fields of other kinds
            # can have wrong types.
            sets = []
            reading.unresolved("one of its fields has an unexpected type", Figures.fixed(1))
        if not sets and not (reading.unknown or reading.faults or reading.generated):
            reading.unresolved(
                "the object doesn't describe a pod, and the objects that its controller creates "
                "are unknown",
                Figures.fixed(1),
            )
        meta = parse_meta(item.metadata, item.place)
        workload = Workload(
            kind=item.kind,
            api_version=item.api_version,
            meta=meta,
            pod_sets=tuple(sets),
            assumptions=tuple(reading.assumptions),
            place=item.place,
        )
        templates = tuple(
            ResourceClaimTemplate(
                meta=ObjectMeta(name=name, namespace=meta.namespace, place=item.place),
                spec=parse_claim_spec(spec, item.place),
            )
            for name, spec in reading.generated.items()
        )
        return ReadWorkload(
            workload,
            templates,
            tuple(reading.unknown),
            tuple(reading.faults),
            kind is not None,
            tuple(reading.uncounted),
        )

    def _reading(self, item: KubernetesObject, kind: WorkloadKind | None, depth: int) -> Reading:
        def lookup(name_of_kind: str, name: str) -> KubernetesObject | None:
            found = self._by_kind.get((name_of_kind, item.namespace, name))
            return found or self._by_name.get((name_of_kind, name))

        def nested(inner: KubernetesObject) -> list[PodSet]:
            if depth >= _DEEPEST:
                return []
            inside = self._reading(inner, _BY_NAME.get((inner.group, inner.kind)), depth + 1)
            sets = read_pod_sets(inside)
            reading.assumptions += inside.assumptions
            reading.unknown += inside.unknown
            reading.faults += inside.faults
            reading.generated |= inside.generated
            return sets

        reading = Reading(
            item,
            kind or WorkloadKind(group=item.group, kind=item.kind, read=read_unknown),
            scaler=self._bounds.get((item.kind, item.namespace, item.name)),
            lookup=lookup,
            nested=nested,
            minor=self._minor,
            checks_pods=struct_of(item.api_version, item.kind) is None,
        )
        return reading
