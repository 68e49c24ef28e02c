"""Zones of a pod's volumes: which volumes follow the pod, and which zones their classes allow.

If a volume doesn't exist yet, and its class waits for the first pod, the volume is created in this
pod's zone. So it doesn't restrict the first pod, but only further pods.

Source: kubernetes/kubernetes:pkg/scheduler/framework/plugins/volumebinding/binder.go and
pkg/volume/util/storageclass.go (GetDefaultClass)@v1.36.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.clouds import VolumeDriver, cloud, names
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.fields import text_of
from dra_planner.model import VOLUME_AFFINITY, NodeSelector, NodeSelectorTerm, PodSpec, Requirement

Lookup = Callable[[str, str], KubernetesObject | None]
"""Returns an object by kind and name, in the namespace of the pods if it has one."""
STORAGE_CLASS: Final = "StorageClass"
NEEDS_DEFAULT_CLASS: Final = (STORAGE_CLASS, "")
"""A pod has this required object if it needs a default StorageClass that the manifests don't
contain.
"""
ZONE: Final = "topology.kubernetes.io/zone"
_SHARED: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})
_WAITS: Final = "WaitForFirstConsumer"
_DEFAULT: Final = "(default)"  # not a valid name, so it can't be the name of a class
_MARKS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


class NewVolume(Struct, frozen=True):
    """A volume that is created for a pod, with its name in messages.

    `spec` is the spec of its claim.
    """

    name: str
    spec: Mapping[str, Any]


def default_class(objects: Iterable[KubernetesObject]) -> dict[tuple[str, str], KubernetesObject]:
    """Return the default StorageClass of these objects, under the name used for lookups, or nothing
    if there is none. If there are several, the newest class is the default, and ties go to the
    first name.
    """
    marked = [
        each
        for each in objects
        if each.kind == "StorageClass"
        and any(_mapping(each.metadata.get("annotations")).get(mark) == "true" for mark in _MARKS)
    ]
    marked.sort(key=lambda each: each.name)
    marked.sort(key=lambda each: str(each.metadata.get("creationTimestamp") or ""), reverse=True)
    return {("StorageClass", _DEFAULT): marked[0]} if marked else {}


def needed_classes(volumes: Iterable[NewVolume], lookup: Lookup) -> tuple[tuple[str, str], ...]:
    """Return the StorageClasses of volumes that neither the manifests nor a cloud's new clusters
    contain, as kind and name, including `NEEDS_DEFAULT_CLASS`.
    """
    names = dict.fromkeys(
        _DEFAULT if name is None else text_of(name)
        for name in (
            each.spec.get("storageClassName") for each in volumes if not each.spec.get("volumeName")
        )
        if name != ""  # a volume that exists already
    )
    return tuple(
        NEEDS_DEFAULT_CLASS if name == _DEFAULT else (STORAGE_CLASS, name)
        for name in names
        if name not in _classes_of_clouds() and lookup(STORAGE_CLASS, name) is None
    )


def own_volumes(spec: Mapping[str, Any]) -> Iterator[NewVolume]:
    """Yield the volumes that are created for each pod, from a pod spec in API form."""
    for volume in _mappings(spec.get("volumes")):
        template = _mapping(_mapping(volume.get("ephemeral")).get("volumeClaimTemplate"))
        if template:
            yield NewVolume(text_of(volume.get("name")), _mapping(template.get("spec")))


def claimed_volumes(spec: Mapping[str, Any], namespace: str, lookup: Lookup) -> Iterator[NewVolume]:
    """Yield the volumes of the PersistentVolumeClaims in the manifests that are new, or whose
    PersistentVolume is also in the manifests.
    """
    for volume in _mappings(spec.get("volumes")):
        name = text_of(_mapping(volume.get("persistentVolumeClaim")).get("claimName"))
        claim = lookup("PersistentVolumeClaim", name) if name else None
        if claim is None or claim.namespace != namespace:
            continue
        spec = _mapping(claim.data.get("spec"))
        if _is_new(claim) or _existing(spec, lookup) is not None:
            yield NewVolume(name, spec)


def same_volumes(volume: str, claims: Iterable[str], lookup: Lookup) -> Iterator[NewVolume]:
    """Yield the volume of a StatefulSet's pods if the manifests contain the PersistentVolumes of
    all pods' claims, with the same zones.
    """
    given = [lookup("PersistentVolumeClaim", name) for name in claims]
    specs = [_mapping(each.data.get("spec")) for each in given if each is not None]
    found = {_existing(spec, lookup) for spec in specs}
    if (
        len(specs) == len(given)
        and None not in found
        and len({each.zones for each in found if each}) == 1
    ):
        yield NewVolume(volume, specs[0])


def _existing(spec: Mapping[str, Any], lookup: Lookup) -> _Class | None:
    """Return the zones of the PersistentVolume that a claim's spec names.

    Returns None if the manifests don't contain the volume, or if its node affinity isn't a list of
    zones.
    """
    name = text_of(spec.get("volumeName"))
    given = lookup("PersistentVolume", name) if name else None
    if given is None:
        return None
    affinity = _mapping(_mapping(given.data.get("spec")).get("nodeAffinity"))
    terms = _mappings(_mapping(affinity.get("required")).get("nodeSelectorTerms"))
    rules = [rule for term in terms for rule in _mappings(term.get("matchExpressions"))]
    keys = {ZONE, *(each.zone_key for each in _drivers())}
    if len(rules) != 1 or rules[0].get("key") not in keys or rules[0].get("operator") != "In":
        return None
    zones = tuple(sorted(map(text_of, rules[0].get("values") or ())))
    return _Class(f"{VOLUME_AFFINITY} {name}", zones, is_everywhere=True)


def _is_new(claim: KubernetesObject) -> bool:
    """Return whether a PersistentVolumeClaim doesn't have a volume yet."""
    return not (claim.metadata.get("uid") or _mapping(claim.data.get("spec")).get("volumeName"))


def with_new_volumes(pod: PodSpec, volumes: Iterable[NewVolume], lookup: Lookup) -> PodSpec:
    """Return the pod without the volumes that are created in its zone, restricted to the zones of
    their classes. If several pods use the same volume, they follow it to the zone of the first
    pod.
    """
    for volume in volumes:
        found = _class_of(volume, lookup)
        if found is None:
            continue
        kept = tuple(each for each in pod.zonal_volumes if each != volume.name)
        pod = _restricted(replace(pod, zonal_volumes=kept), found)
    return pod


class _Class(Struct, frozen=True):
    """The allowed zones of new or existing volumes (empty: all zones), and the `source` of the
    zones in messages. Volumes with `is_everywhere` can be mounted in all these zones.
    """

    source: str
    zones: tuple[str, ...] = ()
    is_everywhere: bool = False


def _class_of(volume: NewVolume, lookup: Lookup) -> _Class | None:
    """Return the class of a volume, or None if the volume's zone is unknown until it's created."""
    if volume.spec.get("volumeName"):
        return _existing(volume.spec, lookup)
    name = volume.spec.get("storageClassName")
    given = lookup(STORAGE_CLASS, _DEFAULT if name is None else text_of(name))
    if name is None and given is None:
        return _Class("")  # the default classes of the clouds wait for the first pod
    drivers = _drivers()
    if given is None:
        driver = next((each for each in drivers if name in each.classes), None)
        if driver is None or (driver.zonal and name in driver.immediate):
            return None
        return _Class("", (), not driver.zonal)
    zones = tuple(sorted(_zones(given)))
    driver = next((d for d in drivers if d.provisioner == given.data.get("provisioner")), None)
    is_shared = not _SHARED.isdisjoint(volume.spec.get("accessModes") or ())
    is_everywhere = is_shared or len(zones) == 1 or (driver is not None and not driver.zonal)
    waits = given.data.get("volumeBindingMode") == _WAITS
    source = f"allowedTopologies of StorageClass {given.name}"
    return _Class(source, zones, is_everywhere) if waits or is_everywhere else None


@cache
def _classes_of_clouds() -> frozenset[str]:
    return frozenset(name for driver in _drivers() for name in driver.classes)


def _drivers() -> list[VolumeDriver]:
    return [driver for each in names() for driver in cloud(each).volume_drivers]


def _zones(given: KubernetesObject) -> Iterator[str]:
    keys = {ZONE, *(each.zone_key for each in _drivers())}
    for term in _mappings(given.data.get("allowedTopologies")):
        for expression in _mappings(term.get("matchLabelExpressions")):
            if expression.get("key") in keys:
                yield from map(text_of, expression.get("values") or ())


def _restricted(pod: PodSpec, found: _Class) -> PodSpec:
    if not found.zones:
        return pod
    if len(found.zones) == 1 and ZONE not in pod.node_selector:
        return replace(
            pod,
            node_selector={**pod.node_selector, ZONE: found.zones[0]},
            selected_by={**pod.selected_by, ZONE: found.source},
        )
    added = Requirement(ZONE, "In", found.zones)
    before = (NodeSelectorTerm(),) if pod.node_affinity is None else pod.node_affinity.terms
    terms = (
        replace(term, match_expressions=(*term.match_expressions, added))
        for term in before
        if pod.node_affinity is None or term.match_expressions or term.match_fields
    )
    return replace(pod, node_affinity=NodeSelector(tuple(terms)))


def _mapping(data: Any) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}


def _mappings(data: Any) -> list[Mapping[str, Any]]:
    return [each for each in data if isinstance(each, Mapping)] if isinstance(data, list) else []
