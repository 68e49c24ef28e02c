"""Device requests of one pod of each workload, independent of the output format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from dra_planner.model import ClaimSpec, Demand, DeviceRequest, Shape, WorkloadRef


class Way(Struct, frozen=True):
    """A number of devices of a class. None: all devices of the class on a node."""

    device_class: str
    devices: int | None

    def __str__(self) -> str:
        return f"{'all' if self.devices is None else f'{self.devices} ×'} {self.device_class}"


class PodRequest(Struct, frozen=True):
    """One request of a claim. `ways` are the alternatives in order, and `shared` is set if other
    pods use the same claim.
    """

    claim: str
    request: str
    ways: tuple[Way, ...]
    shared: bool

    def __str__(self) -> str:
        return " or ".join(map(str, self.ways)) + (" (shared)" if self.shared else "")


class PodRequests(Struct, frozen=True):
    """The requests of each pod of one role, and the attributes for which its devices must have the
    same value.
    """

    role: str
    requests: tuple[PodRequest, ...]
    equal: tuple[str, ...]

    def __str__(self) -> str:
        same = ", ".join(name.rpartition("/")[2] for name in self.equal)
        return " and ".join(_summed(self.requests)) + (f", same {same}" if same else "")


def pod_requests(demand: Demand) -> Mapping[WorkloadRef, tuple[PodRequests, ...]]:
    """Return the requests of each workload with claims. If roles have different requests, each role
    has its own row.
    """
    by_workload: dict[WorkloadRef, dict[PodRequests, None]] = {}
    for shape in demand.shapes:
        requests = tuple(_requests(shape))
        equal = dict.fromkeys(
            constraint.match_attribute
            for claim in shape.claims
            for constraint in claim.spec.constraints
            if constraint.match_attribute
        )
        for member in shape.members if requests else ():
            row = PodRequests(member.pod_set, requests, tuple(equal))
            by_workload.setdefault(member.workload, {})[row] = None
    return {
        ref: tuple(sorted(rows, key=lambda each: each.role)) for ref, rows in by_workload.items()
    }


def requests_sentence(rows: Iterable[PodRequests]) -> str:
    """Return the requests of each pod in one line. Roles are named if their requests differ."""
    by_text: dict[str, list[str]] = {}
    for row in rows:
        by_text.setdefault(str(row), []).append(row.role)
    if len(by_text) == 1:
        return next(iter(by_text))
    return "; ".join(
        f"{', '.join(dict.fromkeys(roles))}: {text}" for text, roles in by_text.items()
    )


def _requests(shape: Shape) -> Iterator[PodRequest]:
    for claim in shape.claims:
        for request in _of(claim.spec):
            yield PodRequest(
                claim.name, request.name, tuple(_ways(request)), claim.shared is not None
            )


def _of(spec: ClaimSpec) -> tuple[DeviceRequest, ...]:
    return tuple(each for each in spec.requests if not (each.exactly and each.exactly.admin_access))


def _ways(request: DeviceRequest) -> Iterator[Way]:
    for each in request.alternatives:
        yield Way(each.device_class_name, None if each.allocation_mode == "All" else each.count)


def _summed(requests: Iterable[PodRequest]) -> Iterator[str]:
    """Yield requests. If several of a pod's own claims request the same class, their counts are
    added up.
    """
    sums: dict[str, int] = {}
    others: list[str] = []
    for each in requests:
        (way, *more) = each.ways
        if more or each.shared or way.devices is None:
            others.append(str(each))
        else:
            sums[way.device_class] = sums.get(way.device_class, 0) + way.devices
    yield from (str(Way(name, devices)) for name, devices in sums.items())
    yield from dict.fromkeys(others)
