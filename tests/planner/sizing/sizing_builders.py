"""Small demands and pools: a case names what varies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec.structs import replace

from dra_planner.model import (
    Blocked,
    ClaimSpec,
    Container,
    CounterSet,
    Demand,
    DemandLevel,
    Device,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    Figures,
    Member,
    Node,
    ObjectKey,
    ObjectMeta,
    PodSpec,
    ResourceSlice,
    Shape,
    ShapeClaim,
    SharedLimit,
    Taint,
    WorkloadRef,
)
from dra_planner.offers import Offer
from dra_planner.releases import features_of
from dra_planner.sizing import Sizing, size_pools

GIB = 2**30
DRIVER = "gpu.nvidia.com"
FEATURES = features_of(34)
CLASSES = {"gpu": DeviceClass(meta=ObjectMeta(name="gpu"))}


def pool(
    name: str,
    *,
    gpus: int = 8,
    at_most: int = 10,
    at_least: int = 0,
    cpu: int = 64_000,
    memory_gib: int = 256,
    pods: int = 110,
    usd: str | None = "1",
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Taint] = (),
    devices: Sequence[Device] | None = None,
    counters: Sequence[CounterSet] = (),
) -> Offer:
    """A pool of equal nodes; GPUs carry their index as the attribute `root`, two to a root."""
    node_name = f"{name}-0"
    if devices is None:
        devices = [
            Device(name=f"gpu-{index}", attributes={"root": index // 2}) for index in range(gpus)
        ]
    slices: tuple[ResourceSlice, ...] = ()
    if devices:
        made = ResourceSlice(
            name="slice", driver=DRIVER, pool=node_name, node_name=node_name, devices=tuple(devices)
        )
        slices = (made,)
    if counters:
        apart = replace(
            made, name="counters", devices=(), shared_counters=tuple(counters), slice_count=2
        )
        slices = (replace(made, slice_count=2), apart)
    return Offer(
        name=name,
        origin="predicted",
        node=Node(
            meta=ObjectMeta(name=node_name, labels={"pool": name, **(labels or {})}),
            allocatable={"cpu": cpu, "memory": memory_gib * GIB, "pods": pods},
            taints=tuple(taints),
        ),
        slices=slices,
        count_min=at_least,
        count_max=at_most,
        hourly_usd=None if usd is None else Decimal(usd),
    )


def gpu_claim(count: int = 1, *, match: str | None = None, device_class: str = "gpu") -> ClaimSpec:
    request = DeviceRequest(
        name="gpu", exactly=ExactDeviceRequest(device_class_name=device_class, count=count)
    )
    constraints = (DeviceConstraint(match_attribute=match),) if match else ()
    return ClaimSpec(requests=(request,), constraints=constraints)


def ranked_claim(*counts: int) -> ClaimSpec:
    """Return a claim that gets the first available count among these alternatives."""
    ways = tuple(
        DeviceSubRequest(name=f"way-{count}", device_class_name="gpu", count=count)
        for count in counts
    )
    return ClaimSpec(requests=(DeviceRequest(name="gpu", first_available=ways),))


def workload(
    name: str,
    pods: int | Figures = 1,
    *claims: ClaimSpec,
    gpus: int = 0,
    cpu: int = 100,
    memory_gib: int = 1,
    shares: str = "",
    per_node: bool = False,
    **pod: object,
) -> Shape:
    """A Deployment whose pods each have their own `gpus` devices. `shares` is a claim that all of
    them share.
    """
    figures = pods if isinstance(pods, Figures) else Figures.fixed(pods)
    specs = [*claims, *([gpu_claim(gpus)] if gpus and not shares else [])]
    made = [ShapeClaim(name=f"claim-{index}", spec=spec) for index, spec in enumerate(specs)]
    if shares:
        made.append(
            ShapeClaim(
                name="shared", spec=gpu_claim(gpus or 1), shared=ObjectKey("default", shares)
            )
        )
    requests = {"cpu": cpu, "memory": memory_gib * GIB}
    kind = "DaemonSet" if per_node else "Deployment"
    return Shape(
        id=name,
        namespace="default",
        labels={"app": name},
        pod=PodSpec(containers=(Container(name="main", requests=requests),), **pod),  # type: ignore[arg-type]
        claims=tuple(made),
        members=(Member(workload=WorkloadRef(kind, "default", name), pod_set="", figures=figures),),
        per_node=per_node,
    )


def demand(*shapes: Shape, blocked: Sequence[Blocked] = ()) -> Demand:
    return Demand(shapes=tuple(sorted(shapes, key=lambda each: each.id)), blocked=tuple(blocked))


def size(
    pools: Sequence[Offer],
    *shapes: Shape,
    level: DemandLevel = "steady",
    minor: int = 34,
    limits: Sequence[SharedLimit] = (),
) -> Sizing:
    return size_pools(demand(*shapes), pools, CLASSES, features_of(minor), level, limits)


def counts(sizing: Sizing) -> dict[str, tuple[int, int]]:
    """Bound and plan of every pool."""
    return {each.name: (each.bound, each.plan) for each in sizing.pools}
