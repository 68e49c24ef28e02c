"""Single changes to a pod, its claims, or the number of nodes, each of which removes one
obstacle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from math import inf
from typing import Literal, TypeVar, get_args

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation.extended_resource_claims import CLAIM_NAME
from dra_planner.allocation.node.selectors import node_matches, tolerates
from dra_planner.allocation.node.state import NodeState
from dra_planner.allocation.place import needs_of
from dra_planner.allocation.reasons.label_alternatives import instead_of_label
from dra_planner.allocation.reasons.nodes import (
    failing_requirements,
    is_of_volume,
    selector_of,
    toleration_text,
)
from dra_planner.allocation.reasons.selector_changes import (
    change_selector,
    class_corrections,
    is_conditional,
    selector_changes,
)
from dra_planner.model import (
    CelSelector,
    ClaimSpec,
    Container,
    DeviceRequest,
    DeviceToleration,
    ExactDeviceRequest,
    Node,
    PodSpec,
    Shape,
    Toleration,
)
from dra_planner.quantity import Quantity, amount_text, amount_text_at_most

EditKind = Literal[
    "tolerate",
    "add-node",
    "select-less",
    "tolerate-device",
    "compare-inclusive",
    "correct-value",
    "correct-class",
    "rename-capacity",
    "lower-count",
    "count-instead-of-all",
    "constrain-pairs",
    "drop-constraint",
    "drop-selector",
    "lower-capacity",
    "lower-resource",
    "drop-host-port",
    "drop-anti-affinity",
    "guard-class",
    "use-class",
    "other-pool",
]
MAX_REQUESTS = 32  # of a claim
_ATTRIBUTE = re.compile(r"""device\.attributes\[(?:"[^"]*"|'[^']*')\]\.\w+""")
PREFERENCE: tuple[EditKind, ...] = get_args(EditKind)
"""Edits from the least to the most intrusive."""
REMOVING: frozenset[EditKind] = frozenset(
    {"drop-constraint", "drop-selector", "drop-host-port", "drop-anti-affinity", "select-less"}
)
"""Edits that remove a requirement of the pod, although the pod's author might need it."""


class Edit(Struct, frozen=True):
    """One change, as text (`text`).

    `claim`, `request`, and `way` are positions in the shape (way -1: no alternatives), and `index`
    is a position in a list there. `name` is a resource, label, class, or the new amount of a
    selector, and `value` is the new amount of a resource.
    """

    kind: EditKind
    text: str
    claim: int = -1
    request: int = -1
    way: int = -1
    index: int = -1
    name: str = ""
    value: int = 0

    @property
    def is_conditional(self) -> bool:
        """True if the change only helps if less than the requested amount is enough."""
        return is_conditional(self.text)

    toleration: Toleration | DeviceToleration | None = None
    # in the selector at `index`: each condition, and its replacement
    conditions: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return self.text


def distance(edits: Sequence[Edit]) -> tuple[int, float]:
    """Return a sort key: the fewest changes first, and of these the ones that lower a requested
    amount least.
    """
    amounts = [
        Quantity.parse(each.name).as_float()
        for each in edits
        if each.kind == "correct-value" and each.name
    ]
    return len(edits), -min(amounts, default=inf)


# -- possible changes


def possible_edits(shape: Shape, node: NodeState, fresh: NodeState | None) -> Iterator[Edit]:
    """Yield every single change that removes one obstacle on this node, even if it isn't
    sufficient.
    """
    if fresh is not None:
        yield Edit("add-node", f"add one more node like {node.node.name}")
    yield from _pod_edits(shape, node)
    for number, claim in enumerate(shape.claims):
        for index, constraint in enumerate(claim.spec.constraints):
            name = constraint.match_attribute or constraint.distinct_attribute
            if pairs := _pairs(claim.spec, index):
                text = (
                    f"split each of the requests {' and '.join(pairs[1])} in claim "
                    f"{claim.name} into {pairs[0]} requests for one device each, and add a "
                    f"matchAttribute constraint on {name} for each group of split requests"
                )
                yield Edit("constrain-pairs", text, number, index=index, value=pairs[0])
            yield Edit(
                "drop-constraint",
                f"remove the constraint on {name} from claim {claim.name}",
                number,
                index=index,
            )
        for position, request in enumerate(claim.spec.requests):
            ways = [(-1, request.exactly)] if request.exactly else []
            ways += list(enumerate(request.first_available))
            for way, spec in ways:
                yield from _way_edits(
                    Edit("lower-count", "", number, position, way), spec, shape, node
                )


def _selected_otherwise(text: str, keys: Iterable[str], pod: PodSpec, node: Node) -> str:
    """Return the text with the selection that replaces labels which the node lacks."""
    missing = (key for key in keys if key not in node.meta.labels)
    instead = next(filter(None, (instead_of_label(key, pod, node) for key in missing)), "")
    return f"{text}, and {instead}" if instead else text


def _pod_edits(shape: Shape, node: NodeState) -> Iterator[Edit]:
    pod, own = shape.pod, node.node
    for taint in own.taints:
        if taint.effect != "PreferNoSchedule" and not any(
            tolerates(t, taint) for t in pod.tolerations
        ):
            toleration = Toleration(
                taint.key, "Equal" if taint.value else "Exists", taint.value, taint.effect
            )
            text = f"add to the pod's tolerations: {toleration_text(taint)}"
            yield Edit("tolerate", text, toleration=toleration)
    for key, value in pod.node_selector.items():
        if own.meta.labels.get(key) != value and not is_of_volume(pod, key):
            text = f"remove {key}={value} from {selector_of(pod, key)}"
            yield Edit("select-less", _selected_otherwise(text, [key], pod, own), name=key)
    if pod.node_affinity is not None and not node_matches(pod.node_affinity, own):
        text = "remove the pod's required node affinity"
        keys = [each.key for each in failing_requirements(pod, own)]
        yield Edit("select-less", _selected_otherwise(text, keys, pod, own))
    needs = needs_of(shape, node.template)
    for name, amount in needs.requests.items():
        left = node.free(name)
        # The number of pods isn't requested by the pod, and 0 isn't a useful request.
        if amount > left > 0 and name != "pods":
            text = (
                f"lower the pod's request for {name} from {amount_text(name, amount)} to "
                f"{amount_text_at_most(name, left)}"
            )
            yield Edit("lower-resource", text, name=name, value=left)
    if needs.ports:
        yield Edit("drop-host-port", "remove the pod's host port")
    if pod.pod_anti_affinity:
        yield Edit("drop-anti-affinity", "remove the pod's required anti-affinity")


def _way_edits(at: Edit, spec: ExactDeviceRequest, shape: Shape, node: NodeState) -> Iterator[Edit]:
    where = _where(shape, at)
    if spec.allocation_mode == "All":
        yield replace(
            at,
            kind="count-instead-of-all",
            text=f"request one device instead of all in {where}",
            value=1,
        )
    elif spec.count > 1:
        yield replace(at, kind="lower-count", text=count_text(shape, at, spec.count, 1), value=1)
    if shape.claims[at.claim].name == CLAIM_NAME:
        # the claim is implicit, so the only possible change is the amount that the pod requests
        return
    for index, selector in enumerate(spec.selectors):
        for change in selector_changes(selector.expression, spec.device_class_name, node.template):
            text = f"{change.text} {'from' if change.kind == 'drop-selector' else 'in'} {where}"
            yield replace(
                at,
                kind=change.kind,
                text=text,
                index=index,
                conditions=change.parts,
                name=change.amount,
            )
    yield from _class_corrections(at, spec, node)
    published = {name for each in node.template.candidates for name in each.device.capacity}
    for name, amount in spec.capacity.items():
        for near in get_close_matches(name, sorted(published - {name, *spec.capacity}), 1):
            text = f"request the capacity {near} instead of {name} in {where}"
            yield replace(
                at, kind="rename-capacity", text=text, name=name, conditions=((name, near),)
            )
        text = (
            f"request less {name} than {amount} in {where}"
            if name in published
            else f"remove the request for {name}, which no device publishes, from {where}"
        )
        yield replace(at, kind="lower-capacity", text=text, name=name)
    # Only taints that keep a device from being allocated; others have no effect on the claim.
    taints = {
        t
        for c in node.template.candidates
        for t in c.device.taints
        if t.effect in ("NoSchedule", "NoExecute")
    }
    for taint in sorted(taints, key=str):
        if not any(tolerates(t, taint) for t in spec.tolerations):
            toleration = DeviceToleration(taint.key, "Equal", taint.value, taint.effect)
            text = f"tolerate the device taint {taint.key}={taint.value}:{taint.effect} in {where}"
            yield replace(at, kind="tolerate-device", text=text, toleration=toleration)
    yield from _guards(at, spec, node)
    for name in sorted(node.template.classes):
        if name != spec.device_class_name:
            yield replace(
                at, kind="use-class", text=f"use DeviceClass {name} in {where}", name=name
            )


def _pairs(spec: ClaimSpec, index: int) -> tuple[int, tuple[str, ...]] | None:
    """Return the number of devices of each request in one constraint, and the names of the
    requests.

    None unless there are several requests for the same number of devices, which is more than one.
    """
    constraint = spec.constraints[index]
    tied = [
        each
        for each in spec.requests
        if not constraint.requests or each.name in constraint.requests
    ]
    ways = [each.exactly for each in tied]
    counts = {way.count for way in ways if way is not None and way.allocation_mode == "ExactCount"}
    if not constraint.match_attribute or len(tied) < 2 or None in ways or len(counts) != 1:
        return None
    (count,) = counts
    whole = len(spec.requests) + len(tied) * (count - 1) <= MAX_REQUESTS
    return (count, tuple(each.name for each in tied)) if count > 1 and whole else None


def _constrain_pairs(spec: ClaimSpec, index: int) -> ClaimSpec:
    """Return the claim with one request for each device, and one constraint for each
    group of them.
    """
    pairs = _pairs(spec, index)
    assert pairs is not None  # this edit is derived from it
    count, names = pairs
    parts = {name: tuple(f"{name}-{number}" for number in range(count)) for name in names}
    requests: list[DeviceRequest] = []
    for each in spec.requests:
        if each.exactly is None or each.name not in parts:
            requests.append(each)
            continue
        requests += [
            replace(each, name=part, exactly=replace(each.exactly, count=1))
            for part in parts[each.name]
        ]
    own = spec.constraints[index]
    groups = tuple(
        replace(own, requests=tuple(parts[name][number] for name in names))
        for number in range(count)
    )

    def renamed(listed: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(part for name in listed for part in parts.get(name, (name,)))

    others = tuple(
        replace(each, requests=renamed(each.requests)) for each in _without(spec.constraints, index)
    )
    config = tuple(replace(each, requests=renamed(each.requests)) for each in spec.config)
    return replace(spec, requests=tuple(requests), constraints=(*groups, *others), config=config)


def _guards(at: Edit, spec: ExactDeviceRequest, node: NodeState) -> Iterator[Edit]:
    """Yield the edit that a class first checks whether a device has the attributes, so that it
    doesn't fail on devices of other classes.
    """
    own = node.template.classes.get(spec.device_class_name)
    for position, selector in enumerate(own.selectors if own is not None else ()):
        read = dict.fromkeys(_ATTRIBUTE.findall(selector.expression))
        guards = [f"has({each})" for each in read if f"has({each})" not in selector.expression]
        if own is None or not guards:
            continue
        guarded = {position: " && ".join([*guards, f"({selector.expression})"])}
        conditions = tuple(
            (selector.expression, guarded.get(number, each.expression))
            for number, each in enumerate(own.selectors)
        )
        text = (
            f"begin the selector of DeviceClass {spec.device_class_name} with "
            f"`{' && '.join(guards)} &&`"
        )
        for name in sorted(node.template.classes):
            if name != spec.device_class_name:
                yield replace(at, kind="guard-class", text=text, name=name, conditions=conditions)


def _class_corrections(at: Edit, spec: ExactDeviceRequest, node: NodeState) -> Iterator[Edit]:
    """Yield corrections of a class's selectors. To try one, the request uses another class with the
    corrected selectors.
    """
    own = node.template.classes.get(spec.device_class_name)
    for correction in class_corrections(spec.device_class_name, node.template):
        before = (each.expression for each in own.selectors) if own is not None else ()
        conditions = tuple(zip(before, correction.expressions, strict=True))
        for name in sorted(node.template.classes):
            if name != spec.device_class_name:
                yield replace(
                    at,
                    kind="correct-class",
                    text=correction.change.text,
                    name=name,
                    conditions=conditions,
                )


def _where(shape: Shape, at: Edit) -> str:
    claim = shape.claims[at.claim]
    if claim.name == CLAIM_NAME:
        return "the pod's extended resources"
    request = claim.spec.requests[at.request]
    sub = f"/{request.first_available[at.way].name}" if at.way >= 0 else ""
    return f"request {request.name}{sub} of claim {claim.name}"


def count_text(shape: Shape, at: Edit, asked: int, value: int) -> str:
    devices = "1 device" if value == 1 else f"{value} devices"
    return f"request {devices} instead of {asked} in {_where(shape, at)}"


def way_of(shape: Shape, edit: Edit) -> ExactDeviceRequest:
    """Return the alternative of an edit."""
    request = shape.claims[edit.claim].spec.requests[edit.request]
    way = request.exactly if edit.way < 0 else request.first_available[edit.way]
    assert way is not None  # this edit is derived from it
    return way


# -- changing it


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
        case "drop-anti-affinity":
            return replace(shape, pod=replace(pod, pod_anti_affinity=()))
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
    if edit.kind == "constrain-pairs":
        return _constrain_pairs(spec, edit.index)
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


Way = TypeVar("Way", bound=ExactDeviceRequest)
Item = TypeVar("Item")


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
