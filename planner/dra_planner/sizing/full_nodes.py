"""Changes of pods with which a node runs more of them, because its devices aren't used up."""

from __future__ import annotations

from typing import Final

from dra_planner.allocation import NodeState, Placement, Refusal, place
from dra_planner.allocation.reasons.applied_edits import apply_edits
from dra_planner.allocation.reasons.edits import Edit
from dra_planner.model import Shape
from dra_planner.quantity import amount_text_at_most
from dra_planner.wording import counted

_MOST_PODS: Final = 16  # pods of one node that are tried
_COMPUTE: Final = frozenset({"cpu", "memory"})


def fix_of_full_node(refusal: Refusal, empty: NodeState) -> str:
    """Return the change with which an empty node runs more of a pod than until this refusal, or
    "".
    """
    misfit = refusal.misfit
    if misfit is None:
        return ""
    if misfit.filter == "host-port":
        return "remove the pods' host port"
    if misfit.filter == "anti-affinity":
        return "use preferred podAntiAffinity"
    if misfit.filter != "resources" or len(misfit.shortages) != 1:
        return ""
    ((name, requested, _),) = misfit.shortages
    return _smaller_request(name, requested, refusal.shape, empty) if name in _COMPUTE else ""


def _smaller_request(name: str, requested: int, shape: Shape, empty: NodeState) -> str:
    """Return the largest request with which an empty node runs as many pods as its devices allow,
    unless it's less than half of the current request.
    """
    without = apply_edits([Edit("lower-resource", "", name=name, value=0)], shape)
    pods = _pods_on(without, empty)
    if pods < 2:
        return ""
    value = empty.free(name) // pods
    lowered = apply_edits([Edit("lower-resource", "", name=name, value=value)], shape)
    if value * 2 < requested or _pods_on(lowered, empty) < pods:
        return ""
    amount = amount_text_at_most(name, value)
    return f"request at most {amount} per pod, so that a node runs {counted(pods, 'pod')}"


def _pods_on(shape: Shape, node: NodeState) -> int:
    pods = 0
    while pods < _MOST_PODS and isinstance(answer := place(shape, node), Placement):
        pods, node = pods + 1, answer.node
    return pods
