"""Groups of a gang that start together at one level of a demand, and the demand reduced to some
groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.model import Demand, DemandLevel, Figures, Gang, GangPart, Shape, WorkloadRef

PodSetKey = tuple[WorkloadRef, str]


class GangGroups(Struct, frozen=True, eq=False):
    """A gang at one level: its number of equal groups, each group's pods by part, and the minimum
    to start a group.
    """

    gang: Gang
    count: int
    pods: tuple[tuple[GangPart, int], ...]  # the pods of one group
    least: int
    weight: tuple[int, ...]  # requests of its pods, devices first
    alike: object  # equal for gangs whose groups can't be distinguished

    @property
    def size(self) -> int:
        return sum(pods for _, pods in self.pods)

    def starting(self) -> Iterator[tuple[GangPart, int]]:
        """Yield the pods with which a group starts, filling the first parts first."""
        left = self.least
        for part, pods in self.pods:
            yield part, min(left, pods)
            left -= min(left, pods)


def find_groups(demand: Demand, gangs: Sequence[Gang], level: DemandLevel) -> list[GangGroups]:
    """Return the gangs that have a complete group at this level, without gangs whose number of pods
    is unlimited.
    """
    wanted: dict[PodSetKey, int | None] = {}
    shapes: dict[PodSetKey, Shape] = {}
    members = [(shape, member) for shape in demand.shapes for member in shape.members]
    for shape, member in members:
        key, pods = (member.workload, member.pod_set), member.figures.at(level)
        before = wanted.get(key, 0)
        wanted[key] = None if before is None or pods is None else before + pods
        shapes.setdefault(key, shape)
    found = []
    for gang in gangs:
        counts = [(part, wanted.get((part.workload, part.pod_set)) or 0) for part in gang.parts]
        count = min((pods // part.pods if part.pods else 1 for part, pods in counts), default=0)
        each = tuple((part, part.pods or pods) for part, pods in counts)
        size = sum(pods for _, pods in each)
        if count and size >= max(gang.least, 2):
            least = gang.least or size
            shape_pods = [
                (shapes[part.workload, part.pod_set], pods) for part, pods in each if pods
            ]
            alike = (
                least,
                tuple(sorted((shape.id, pods) for shape, pods in shape_pods)),
                bool(gang.held_by),
            )
            found.append(GangGroups(gang, count, each, least, _weight(shape_pods), alike))
    return found


def _weight(shape_pods: Sequence[tuple[Shape, int]]) -> tuple[int, ...]:
    devices = sum(
        pods
        * sum(
            request.exactly.count or 1 if request.exactly else 1 for request in claim.spec.requests
        )
        for shape, pods in shape_pods
        for claim in shape.claims
    )
    amounts = (
        sum(
            pods * int(each.requests.get(name, 0))
            for shape, pods in shape_pods
            for each in shape.pod.containers
        )
        for name in ("cpu", "memory")
    )
    return (devices, *amounts)


def with_pods(demand: Demand, pods: Mapping[PodSetKey, int], level: DemandLevel) -> Demand:
    """Return the demand with these numbers of pods for these pod sets at a level, and without
    blocked pods.
    """
    left = dict(pods)
    shapes = []
    for shape in demand.shapes:
        members = []
        for member in shape.members:
            key = (member.workload, member.pod_set)
            if key in left:
                taken = min(left[key], member.figures.at(level) or 0)
                left[key] -= taken
                member = replace(member, figures=Figures.fixed(taken))
            members.append(member)
        shapes.append(replace(shape, members=tuple(members)))
    blocked = tuple(
        each for each in demand.blocked if (each.member.workload, each.member.pod_set) not in pods
    )
    return replace(demand, shapes=tuple(shapes), blocked=blocked)
