"""Pods that don't fit any node now, but that run later or might run later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dra_planner.model import Reason, Shape, Verdict, worst
from dra_planner.sizing import WorkloadSize

_PLACED_LATER: Final = Reason(
    code="placed-later",
    message="no node has enough free capacity now, but the pods fit after other pods are deleted, "
    "replaced, or preempted",
)
_NO_PODS_YET: Final = Reason(
    code="no-pods-yet", message="the workload doesn't have pods now, so no pod stays pending"
)
_ONLY_WHERE_ADMITTED: Final = Reason(
    code="daemon-pods-where-admitted",
    message="the DaemonSet controller creates pods only for nodes that admit them, so no pod stays "
    "pending",
)
"""Source: kubernetes/kubernetes:pkg/controller/daemon/daemon_controller.go@v1.36.3
(NodeShouldRunDaemonPod).
"""


def reasons_to_run_later(
    shape: Shape, verdict: Verdict, shown: Iterable[Reason], sizes: Sequence[WorkloadSize]
) -> tuple[Reason, ...]:
    """Return why pods that don't fit any node now run later, or why it's unknown whether they do.
    Returns no reasons if the pods never run.

    `verdict` is the best verdict of all nodes, `shown` are the reasons of these nodes, and `sizes`
    are the results of the pods' workloads.
    """
    planned = worst(size.verdict for size in sizes) if sizes else verdict
    if verdict == "does-not-fit" and planned == "cannot-tell":
        reasons = tuple(dict.fromkeys(reason for size in sizes for reason in size.reasons))
        messages = {each.message for each in shown}
        return tuple(each for each in reasons if each.message not in messages) or reasons
    if verdict == "fits" or planned != "fits":
        return ()
    if shape.per_node:
        return (_ONLY_WHERE_ADMITTED,)
    if any(size.pending for size in sizes):
        return ()
    if all(size.placed > 0 for size in sizes):
        return (_PLACED_LATER,)
    return () if any(size.placed > 0 for size in sizes) else (_NO_PODS_YET,)
