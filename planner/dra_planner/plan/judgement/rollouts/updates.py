"""The first pods of rollouts that must start pods before they delete any."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.errors import Place
from dra_planner.manifests.workloads.updates import POD_FIRST
from dra_planner.model import Demand, Figures, Member, NewFirst, Shape, WorkloadRef
from dra_planner.plan.judgement.judgement import Judgement


class Update(Struct, frozen=True):
    """The first pods of a workload's rollout, with their shapes and numbers."""

    workload: WorkloadRef
    place: Place
    start: NewFirst
    pods: tuple[tuple[Shape, Member, int], ...]

    @property
    def first_pods(self) -> int:
        return sum(number for _, _, number in self.pods)

    @property
    def is_ahead(self) -> bool:
        """Whether the workload isn't part of the request."""
        return any(member.ahead for _, member, _ in self.pods)

    def with_first_pods(self, demand: Demand, judgement: Judgement) -> Demand:
        """Return the evaluated part of a demand as peak demand, with the first pods."""
        more = {(member.workload, member.pod_set): pods for _, member, pods in self.pods}

        def figures(member: Member) -> Figures:
            floor, steady, ceiling, _ = member.figures
            pods = member.figures.at(judgement.level)
            added = more.get((member.workload, member.pod_set), 0)
            return Figures(floor, steady, ceiling, pods if pods is None else pods + added)

        shapes = tuple(
            replace(
                shape, members=tuple(replace(each, figures=figures(each)) for each in shape.members)
            )
            for shape in demand.shapes
        )
        return replace(demand, shapes=shapes, blocked=())


def find_updates(judgement: Judgement) -> Iterator[Update]:
    """Yield the updates of running pods that must start pods before they delete any. The pod sets
    of a workload are updated separately, unless their new pods must run at the same time.
    """
    found: dict[tuple[WorkloadRef, str], list[tuple[Shape, Member, NewFirst]]] = {}
    for shape in judgement.demand.shapes:
        for member in shape.members:
            start, pods = _start(member), member.figures.steady
            if start is not None and 0 < pods == member.figures.at(judgement.level):
                key = "" if start.together else member.pod_set
                found.setdefault((member.workload, key), []).append((shape, member, start))
    for (workload, _), parts in found.items():
        _, first, start = parts[0]
        new = tuple((shape, member, each.pods) for shape, member, each in parts)
        yield Update(workload, first.place, start, new)


def _start(member: Member) -> NewFirst | None:
    rollout = member.rollout
    if rollout is None:
        return member.new_first
    return POD_FIRST if rollout.surge and not (rollout.unavailable or rollout.kept) else None
