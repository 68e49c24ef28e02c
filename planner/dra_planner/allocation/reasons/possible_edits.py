"""All single changes that could remove an obstacle on a node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from msgspec.structs import replace

from dra_planner.allocation.extended_resource_claims import CLAIM_NAME
from dra_planner.allocation.node.conditions import condition_reason
from dra_planner.allocation.node.selectors import node_matches, tolerates
from dra_planner.allocation.node.state import NodeState
from dra_planner.allocation.place import needs_of
from dra_planner.allocation.reasons.absent_names import sibling_attributes, similar_attribute
from dra_planner.allocation.reasons.device_pairs import instead_text, pairs_text
from dra_planner.allocation.reasons.doubled_requests import (
    without_doubled_requests,
    without_plugin_resource,
)
from dra_planner.allocation.reasons.edits import Edit
from dra_planner.allocation.reasons.label_alternatives import instead_of_label
from dra_planner.allocation.reasons.nodes import (
    failing_requirements,
    is_of_volume,
    selector_of,
    toleration_text,
)
from dra_planner.allocation.reasons.request_text import limit_capacity_text
from dra_planner.allocation.reasons.selector_changes import (
    class_corrections,
    is_for_mig,
    selector_changes,
)
from dra_planner.allocation.reasons.selector_error_text import request_place
from dra_planner.allocation.reasons.split_claims import split_text
from dra_planner.allocation.search.constraints import lookup_attribute
from dra_planner.model import (
    DeviceClass,
    DeviceToleration,
    ExactDeviceRequest,
    Node,
    PodSpec,
    Shape,
    Toleration,
)
from dra_planner.quantity import Quantity, amount_text, amount_text_at_most

_ATTRIBUTE = re.compile(r"""device\.attributes\[(?:"[^"]*"|'[^']*')\]\.\w+""")


def possible_edits(shape: Shape, node: NodeState, fresh: NodeState | None) -> Iterator[Edit]:
    """Yield every single change that removes one obstacle on this node, even if it isn't
    sufficient.
    """
    if fresh is not None:
        yield Edit("add-node", f"add one more node like {node.node.name}")
    yield from _pod_edits(shape, node)
    if text := without_doubled_requests(shape, node.template):
        yield Edit("drop-doubled-request", text)
    for number, claim in enumerate(shape.claims):
        if text := split_text(claim.name, claim.spec):
            yield Edit("split-claim", text, number)
        for index, constraint in enumerate(claim.spec.constraints):
            yield from _constraint_corrections(
                Edit("correct-constraint", "", number), index, shape, node
            )
            name = constraint.match_attribute or constraint.distinct_attribute
            if text := pairs_text(claim.name, claim.spec, index):
                yield Edit("constrain-pairs", text, number, index=index)
            yield Edit(
                "drop-constraint",
                f'remove the constraint on {name} from claim "{claim.name}"',
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


def _constraint_corrections(at: Edit, index: int, shape: Shape, node: NodeState) -> Iterator[Edit]:
    """Yield the constraint with a published attribute instead of a similar name that no device
    publishes.
    """
    claim = shape.claims[at.claim]
    constraint = claim.spec.constraints[index]
    name = constraint.match_attribute or constraint.distinct_attribute or ""
    devices = [each for each in node.template.candidates if each.bit & node.template.searched]
    if any(lookup_attribute(each, name) is not None for each in devices):
        for other in sibling_attributes(name, devices) if constraint.match_attribute else ():
            yield replace(at, text=instead_text(other, name, claim.name), index=index, name=other)
        return
    if similar := similar_attribute(name, devices):
        text = instead_text(similar, name, claim.name)
        yield replace(at, text=text, index=index, name=similar)


def _selected_otherwise(text: str, keys: Iterable[str], shape: Shape, node: Node) -> str:
    """Return the text with a selection that replaces the labels that the node lacks."""
    missing = (key for key in keys if key not in node.meta.labels)
    instead = next(filter(None, (instead_of_label(key, shape) for key in missing)), "")
    return f"{text}, and {instead}" if instead else text


def toleration_edits(pod: PodSpec, node: Node) -> Iterator[Edit]:
    """Yield an edit for each taint that keeps a pod off the node, except problems of the node."""
    for taint in node.taints:
        if condition_reason(taint) is not None:
            continue  # pods that tolerate the problem of a node don't run there
        if taint.effect != "PreferNoSchedule" and not any(
            tolerates(t, taint) for t in pod.tolerations
        ):
            toleration = Toleration(
                taint.key, "Equal" if taint.value else "Exists", taint.value, taint.effect
            )
            text = f"add to the pod's tolerations: {toleration_text(taint)}"
            yield Edit("tolerate", text, toleration=toleration)


def _pod_edits(shape: Shape, node: NodeState) -> Iterator[Edit]:
    pod, own = shape.pod, node.node
    yield from toleration_edits(pod, own)
    for key, value in pod.node_selector.items():
        if own.meta.labels.get(key) != value and not is_of_volume(pod, key):
            text = f"remove {key}={value} from {selector_of(pod, key)}"
            yield Edit("select-less", _selected_otherwise(text, [key], shape, own), name=key)
    if pod.node_affinity is not None and not node_matches(pod.node_affinity, own):
        text = "remove the pod's required node affinity"
        keys = [each.key for each in failing_requirements(pod, own)]
        yield Edit("select-less", _selected_otherwise(text, keys, shape, own))
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
        if amount > left and (text := without_plugin_resource(name, shape, node.template)):
            yield Edit("drop-doubled-request", text, name=name)
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
            text=f"set count: 1 instead of allocationMode: All in {where}",
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
                is_conditional=change.is_conditional,
            )
    yield from _class_corrections(at, spec, node)
    published = {name for each in node.template.candidates for name in each.device.capacity}
    for name, amount in spec.capacity.items():
        for near in get_close_matches(name, sorted(published - {name, *spec.capacity}), 1):
            text = f'request the capacity "{near}" instead of "{name}" in {where}'
            yield replace(
                at, kind="rename-capacity", text=text, name=name, conditions=((name, near),)
            )
        if (most := _largest(name, node)) is not None and most < amount:
            text = limit_capacity_text(name, most, amount, where)
            at_most = ((name, str(most)),)
            yield replace(at, kind="limit-capacity", text=text, name=name, conditions=at_most)
        text = (
            f"request less {name} than {amount} in {where}"
            if name in published
            else f"remove the request for {name} from {where}, because no device publishes it"
        )
        yield replace(at, kind="lower-capacity", text=text, name=name)
    yield from _tolerations(at, spec, where, node)
    yield from _guards(at, spec, node)
    for name in sorted(node.template.classes):
        if name != spec.device_class_name:
            gives_up_mig = _replaces_mig(spec, name, node)
            only_if = "if a whole GPU is acceptable, " if gives_up_mig else ""
            text = f"{only_if}use DeviceClass {name} in {where}"
            yield replace(at, kind="use-class", text=text, name=name, is_conditional=gives_up_mig)


def _tolerations(at: Edit, spec: ExactDeviceRequest, where: str, node: NodeState) -> Iterator[Edit]:
    """Yield an edit for each taint of a device that the request doesn't tolerate."""
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


def _replaces_mig(spec: ExactDeviceRequest, name: str, node: NodeState) -> bool:
    """Return whether a class for whole GPUs replaces one for MIG devices."""
    of_mig = {
        each: any(is_for_mig(selector.expression) for selector in own.selectors)
        for each, own in node.template.classes.items()
        if each in (name, spec.device_class_name)
    }
    return of_mig.get(spec.device_class_name, False) and not of_mig[name]


def _largest(name: str, node: NodeState) -> Quantity | None:
    """Return the largest amount of a capacity on one device, or None if no amount is known."""
    values = (each.device.capacity.get(name) for each in node.template.candidates)
    amounts = [each.value for each in values if each and isinstance(each.value, Quantity)]
    return max(amounts, default=None)


def _guards(at: Edit, spec: ExactDeviceRequest, node: NodeState) -> Iterator[Edit]:
    own = node.template.classes.get(spec.device_class_name)
    if own is None:
        return
    for position in range(len(own.selectors)):
        for name in sorted(node.template.classes.keys() - {spec.device_class_name}):
            yield from guard_edits(at, own, position, name)


def guard_edits(at: Edit, own: DeviceClass, position: int, name: str) -> Iterator[Edit]:
    """Yield an edit that makes a selector of a class check first whether a device has the
    attributes, so that the class doesn't fail on other classes' devices.

    To try it, the request uses the class `name` with the guarded selectors.
    """
    expression = own.selectors[position].expression
    read = dict.fromkeys(_ATTRIBUTE.findall(expression))
    guards = [f"has({each})" for each in read if f"has({each})" not in expression]
    if not guards:
        return
    guarded = " && ".join([*guards, f"({expression})"])
    conditions = tuple(
        (each.expression, guarded if number == position else each.expression)
        for number, each in enumerate(own.selectors)
    )
    text = f"begin the selector of DeviceClass {own.name} with `{' && '.join(guards)} &&`"
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
                    is_conditional=correction.change.is_conditional,
                    conditions=conditions,
                )


def count_text(shape: Shape, at: Edit, requested: int, value: int) -> str:
    devices = "1 device" if value == 1 else f"{value} devices"
    return f"request {devices} instead of {requested} in {_where(shape, at)}"


def _where(shape: Shape, at: Edit) -> str:
    claim = shape.claims[at.claim]
    if claim.name == CLAIM_NAME:
        return "the pod's extended resources"
    request = claim.spec.requests[at.request]
    sub = f"/{request.first_available[at.way].name}" if at.way >= 0 else ""
    return request_place(shape, at.claim, f"{request.name}{sub}")
