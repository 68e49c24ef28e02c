"""The pod sets that reasons concern, for workloads with several pod sets, such as a launcher and
its workers.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.model import WorkloadRef
from dra_planner.plan.judgement.judgement import Judgement


def pod_sets_by_reason(
    judgement: Judgement, workload: WorkloadRef
) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the pod sets that don't fit any node, by the reason's message.

    Reasons that apply to all pod sets, and reasons of workloads with only one pod set, are omitted.
    """
    shapes = [
        (shape, member.pod_set)
        for shape in judgement.demand.shapes
        for member in shape.members
        if member.workload == workload
    ]
    blocked = [each for each in judgement.demand.blocked if each.member.workload == workload]
    names = {name for _, name in shapes} | {each.member.pod_set for each in blocked}
    if len(names) < 2:
        return {}
    found: dict[str, dict[str, None]] = {}
    for shape, name in shapes:
        answers = judgement.answers(shape)
        if all(each.verdict != "fits" for each in answers):
            for reason in (reason for answer in answers for reason in answer.reasons):
                found.setdefault(reason.message, {})[name] = None
    for each in blocked:
        found.setdefault(each.reason.message, {})[each.member.pod_set] = None
    return {message: tuple(sets) for message, sets in found.items() if len(sets) < len(names)}
