"""Changes applied to a pod and its claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from dra_planner.allocation.extended_resource_claims import CLAIM_NAME
from dra_planner.allocation.reasons.device_pairs import constrain_pairs
from dra_planner.allocation.reasons.edits import Edit
from dra_planner.allocation.reasons.selector_changes import change_selector
from dra_planner.allocation.reasons.split_claims import split_claim
from dra_planner.model import (
    CelSelector,
    ClaimSpec,
    Container,
    DeviceRequest,
    DeviceToleration,
    ExactDeviceRequest,
    PodSpec,
    Shape,
    Toleration,
)
from dra_planner.quantity import Quantity

Way = TypeVar("Way", bound=ExactDeviceRequest)
Item = TypeVar("Item")


def apply_edits(edits: Sequence[Edit], shape: Shape) -> Shape:
    """Return the shape with the edits applied. An additional node doesn't change the shape."""
    # changing lists from the end keeps earlier positions valid
    for edit in sorted(edits, key=lambda e: -e.index):
        shape = _apply(edit, shape)
    return replace(shape, id=f"{shape.id}+{hash(tuple(edits)):x}")


def _apply(edit: Edit, shape: Shape) -> Shape:
    pod = shape.pod
    match edit.kind:
        case "add-node" | "other-pool":
            return shape
        case "tolerate":
            assert isinstance(edit.toleration, Toleration)
            return replace(shape, pod=replace(pod, tolerations=(*pod.tolerations, edit.toleration)))
        case "select-less" if edit.name:
            kept = {key: value for key, value in pod.node_selector.items() if key != edit.name}
            return replace(shape, pod=replace(pod, node_selector=kept))
        case "select-less":
            return replace(shape, pod=replace(pod, node_affinity=None))
        case "lower-resource":
            return replace(shape, pod=_with_resource(shape, edit.name, edit.value))
        case "drop-host-port":
            containers = tuple(replace(c, ports=()) for c in pod.containers)
            sidecars = tuple(replace(c, ports=()) for c in pod.init_containers)
            return replace(shape, pod=replace(pod, containers=containers, init_containers=sidecars))
        case "drop-doubled-request":
            if edit.name:
                return replace(shape, pod=_with_resource(shape, edit.name, 0))
            own = tuple(claim for claim in shape.claims if claim.name != CLAIM_NAME)
            return replace(shape, claims=own)
        case "drop-anti-affinity":
            return replace(shape, pod=replace(pod, pod_anti_affinity=()))
        case "split-claim":
            claim = shape.claims[edit.claim]
            parts = tuple(
                replace(claim, name=f"{claim.name}-{number}", shared=None, spec=spec)
                for number, spec in enumerate(split_claim(claim.spec))
            )
            before, after = shape.claims[: edit.claim], shape.claims[edit.claim + 1 :]
            return replace(shape, claims=(*before, *parts, *after))
        case _:
            claim = shape.claims[edit.claim]
            changed = replace(claim, spec=_edit_claim(edit, claim.spec))
            return replace(
                shape,
                claims=(*shape.claims[: edit.claim], changed, *shape.claims[edit.claim + 1 :]),
            )


def _with_resource(shape: Shape, name: str, value: int) -> PodSpec:
    """Return the pod with a total request for a resource, all of it in its first container."""
    pod = shape.pod

    def without(container: Container) -> Container:
        requests = {n: a for n, a in container.requests.items() if n != name}
        limits = {n: a for n, a in container.limits.items() if n != name}
        return replace(container, requests=requests, limits=limits)

    containers = tuple(without(c) for c in pod.containers)
    if containers:
        first = replace(containers[0], requests={**containers[0].requests, name: value})
        containers = (first, *containers[1:])
    whole = {n: a for n, a in pod.pod_requests.items() if n != name}
    overhead = {n: a for n, a in pod.overhead.items() if n != name}
    init = tuple(without(c) for c in pod.init_containers)
    return replace(
        pod, containers=containers, init_containers=init, pod_requests=whole, overhead=overhead
    )


def _edit_claim(edit: Edit, spec: ClaimSpec) -> ClaimSpec:
    if edit.kind == "drop-constraint":
        return replace(spec, constraints=_without(spec.constraints, edit.index))
    if edit.kind == "correct-constraint":
        old = spec.constraints[edit.index]
        new = (
            replace(old, match_attribute=edit.name)
            if old.match_attribute
            else replace(old, distinct_attribute=edit.name)
        )
        at = edit.index
        return replace(spec, constraints=(*spec.constraints[:at], new, *spec.constraints[at + 1 :]))
    if edit.kind == "constrain-pairs":
        return constrain_pairs(spec, edit.index)
    request = spec.requests[edit.request]
    changed = _edit_request(edit, request)
    return replace(
        spec, requests=(*spec.requests[: edit.request], changed, *spec.requests[edit.request + 1 :])
    )


def _edit_request(edit: Edit, request: DeviceRequest) -> DeviceRequest:
    if edit.way < 0:
        assert request.exactly is not None
        return replace(request, exactly=_edit_way(edit, request.exactly))
    subs = request.first_available
    changed = _edit_way(edit, subs[edit.way])
    return replace(request, first_available=(*subs[: edit.way], changed, *subs[edit.way + 1 :]))


def _edit_way(edit: Edit, way: Way) -> Way:
    match edit.kind:
        case "lower-count":
            return replace(way, count=edit.value)
        case "count-instead-of-all":
            return replace(way, allocation_mode="ExactCount", count=1)
        case "compare-inclusive" | "correct-value" | "drop-selector":
            old = way.selectors[edit.index]
            new = replace(old, expression=change_selector(old.expression, edit.conditions))
            return replace(
                way, selectors=(*way.selectors[: edit.index], new, *way.selectors[edit.index + 1 :])
            )
        case "rename-capacity":
            renamed = dict(edit.conditions)
            return replace(way, capacity={renamed.get(n, n): q for n, q in way.capacity.items()})
        case "limit-capacity":
            limits = {name: Quantity.parse(text) for name, text in edit.conditions}
            return replace(way, capacity={**way.capacity, **limits})
        case "lower-capacity":
            return replace(way, capacity={n: q for n, q in way.capacity.items() if n != edit.name})
        case "tolerate-device":
            assert isinstance(edit.toleration, DeviceToleration)
            return replace(way, tolerations=(*way.tolerations, edit.toleration))
        case "use-class":
            return replace(way, device_class_name=edit.name)
        case "guard-class" | "correct-class":
            added = tuple(CelSelector(expression) for _, expression in edit.conditions)
            return replace(way, device_class_name=edit.name, selectors=(*added, *way.selectors))
        case _:
            raise AssertionError(f"{edit.kind} changes no request")


def _without(items: tuple[Item, ...], index: int) -> tuple[Item, ...]:
    return (*items[:index], *items[index + 1 :])
