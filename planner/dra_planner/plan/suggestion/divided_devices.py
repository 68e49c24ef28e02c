"""Settings and pools of suggested fleets for claims that need a part of a GPU.

These are driver settings that share GPUs by memory, and MIG configurations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.allocation import NodeState, Placement
from dra_planner.claims.manifest_claims import written_claims
from dra_planner.claims.requested_drivers import driver_of_request
from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia.devices import GPU_DRIVER
from dra_planner.errors import PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.manifests import Manifests
from dra_planner.model import Shape
from dra_planner.offers import predict_offers
from dra_planner.plan.model import Plan
from dra_planner.plan.reading import read_checked
from dra_planner.plan.suggestion.buyable_machines import buyable_machines
from dra_planner.plan.suggestion.device_sharing import first_minor_with_shares, is_dropped_part
from dra_planner.plan.suggestion.missing.tried_fleets import MOST_PODS
from dra_planner.plan.suggestion.suggestions import PoolType, SuggestRequest, sized_shapes
from dra_planner.releases import features_of, parse_version
from dra_planner.sizing import DoubtfulPlace

FleetOf = Callable[[PoolType], Mapping[str, Any]]

_SHARED: Final = "memory"


def with_shared_devices(request: SuggestRequest) -> SuggestRequest:
    """Return the request with driver settings that share GPUs by memory, if its claims request an
    amount of memory. The result has a Kubernetes version that supports shares, if the request
    allows a newer version. If the cloud doesn't support the settings, the request is unchanged.
    In this case, each claim gets a whole GPU, and the plan contains a warning.
    """
    minor = parse_version(request.kubernetes)
    manifests = read_checked(request.sources, features_of(minor))
    if request.may_upgrade and any(map(is_dropped_part, manifests.diagnostics)):
        minor = max(minor, first_minor_with_shares())
        manifests = read_checked(request.sources, features_of(minor))
    if _requested_capacities(manifests) != {_SHARED}:
        return request
    shared = replace(request, kubernetes=f"1.{minor}", consumable_shares=_SHARED)
    is_supported = any(True for _ in buyable_machines(shared, {}, priced=False))
    return shared if is_supported else request


def _requested_capacities(manifests: Manifests) -> set[str]:
    """Return the capacities of NVIDIA GPUs that claims of workloads request."""
    return {
        name.rpartition("/")[2]
        for claim in written_claims(manifests)
        for request in claim.spec.requests
        for way in request.alternatives
        if claim.users and driver_of_request(way, manifests.classes) == GPU_DRIVER
        for name in way.capacity
    }


def partitioned_pools(
    candidates: Iterable[PoolType], plan: Plan, fleet_of: FleetOf
) -> list[PoolType]:
    """Return candidates with MIG configurations for pods that don't fit nodes with whole GPUs.

    For each machine type and each kind of pods, a candidate has the configuration with which a node
    holds the most pods. If other configurations hold more kinds of pods on one node, they're
    candidates, too.

    `plan` is the plan on all candidates. `fleet_of` returns the document of a fleet with one pool.
    """
    shapes = [
        shape
        for shape in sized_shapes(plan)
        if shape.claims
        and all(answer.verdict == "does-not-fit" for answer in plan.judgement.answers(shape))
    ]
    found: list[PoolType] = []
    for candidate in candidates if shapes else ():
        opened = dict(_partitioned_nodes(candidate, plan, fleet_of))
        best = _best_configurations(shapes, opened)
        found += [
            replace(candidate, mig=mig, suffix="mig" if number == 1 else f"mig{number}")
            for number, mig in enumerate(best, 1)
        ]
    return found


_Opened = Mapping[str, tuple[NodeState, DoubtfulPlace]]


def _best_configurations(shapes: Sequence[Shape], opened: _Opened) -> tuple[str, ...]:
    """Return the configurations with which a node holds the most pods of a shape, followed by
    configurations that hold pods of more shapes than each configuration before them.
    """
    pods = {mig: [_pods_on(shape, *node) for shape in shapes] for mig, node in opened.items()}
    best: dict[str, set[int]] = {}
    for at in range(len(shapes)):
        mig = max((mig for mig in pods if pods[mig][at]), key=lambda mig: pods[mig][at], default="")
        if mig:
            best[mig] = _held(pods[mig])
    for mig, numbers in pods.items():
        held = _held(numbers)
        if held and not any(held <= other for other in best.values()):
            best[mig] = held
    return tuple(best)


def _held(pods: Sequence[int]) -> set[int]:
    return {at for at, number in enumerate(pods) if number}


def _pods_on(shape: Shape, node: NodeState, doubtful_place: DoubtfulPlace) -> int:
    pods = 0
    while pods < MOST_PODS and isinstance(answer := doubtful_place(shape, node), Placement):
        pods, node = pods + 1, answer.node
    return pods


def _partitioned_nodes(
    candidate: PoolType, plan: Plan, fleet_of: FleetOf
) -> Iterator[tuple[str, tuple[NodeState, DoubtfulPlace]]]:
    """Yield each MIG configuration of a machine type that the cloud supports, with an empty
    node.
    """
    for mig in _configurations(candidate):
        try:
            fleet = read_fleet(fleet_of(replace(candidate, mig=mig)))
            (offer,) = predict_offers(fleet, fleet.features)
        except PlannerError:  # the cloud or the driver doesn't support this configuration
            continue
        doubtful_place = DoubtfulPlace()
        judgement = plan.judgement
        node, _ = doubtful_place.open(
            offer, judgement.classes, judgement.features, judgement.demand
        )
        yield mig, (node, doubtful_place)


def _configurations(candidate: PoolType) -> Iterable[str]:
    accelerator = candidate.machine.accelerator
    if accelerator is None or accelerator.gpu is None or accelerator.fraction:
        return ()
    return nvidia.mig_layouts(nvidia.gpu(accelerator.gpu))
