"""Parts of a demand, and the merging of equal parts into one shape."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims.pod_equality import shape_id
from dra_planner.manifests import Manifests
from dra_planner.model import DisruptionBudget, Member, PodSpec, Shape, ShapeClaim

NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"


class ShapePart(Struct, frozen=True):
    """Pods of one pod set with their claims, before equal parts are merged."""

    namespace: str
    labels: Mapping[str, str]
    pod: PodSpec
    claims: tuple[ShapeClaim, ...]
    member: Member
    per_node: bool


def merge_parts(parts: Iterable[ShapePart], visible: Collection[str]) -> dict[str, Shape]:
    """Return one shape for all parts that the scheduler can't distinguish, by ID.

    `visible` are the label keys with which selectors in the cluster can distinguish pods.
    """
    shapes: dict[str, Shape] = {}
    for part in parts:
        labels = {key: part.labels[key] for key in sorted(part.labels) if key in visible}
        name = shape_id(part.namespace, labels, part.pod, part.claims, part.per_node)
        shape = shapes.get(name)
        if shape is None:
            shapes[name] = Shape(
                id=name,
                namespace=part.namespace,
                labels=labels,
                pod=part.pod,
                claims=part.claims,
                members=(part.member,),
                per_node=part.per_node,
            )
        else:
            shapes[name] = replace(shape, members=(*shape.members, part.member))
    return shapes


def effective_budgets(
    manifests: Manifests, pods: Iterable[PodSpec]
) -> tuple[DisruptionBudget, ...]:
    """Return the budgets that can affect the result. A budget without a selector doesn't match any
    pod, and pods of one priority don't preempt each other.
    """
    if not manifests.budgets or len({pod.priority for pod in pods}) < 2:
        return ()
    return tuple(
        each for _, each in sorted(manifests.budgets.items()) if each.selector.requirements
    )


def namespace_labels(manifests: Manifests, parts: Iterable[ShapePart]) -> dict[str, dict[str, str]]:
    """Return the labels of all declared and used namespaces, including the label that contains the
    name.
    """
    given = {name: meta.labels for name, meta in manifests.namespaces.items()}
    used: dict[str, Mapping[str, str]] = {part.namespace: {} for part in parts}
    return {
        name: {**labels, NAMESPACE_NAME: name} for name, labels in sorted({**used, **given}.items())
    }
