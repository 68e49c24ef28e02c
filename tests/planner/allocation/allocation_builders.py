"""Small builders: a case sets the values that vary, and fixed defaults set the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from dra_planner.model import (
    CelSelector,
    ClaimSpec,
    Container,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceCapacity,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    DeviceTaint,
    ExactDeviceRequest,
    Figures,
    Member,
    Node,
    ObjectMeta,
    PodResourceClaim,
    PodSpec,
    ResourceSlice,
    Shape,
    ShapeClaim,
    Taint,
    WorkloadRef,
)
from dra_planner.quantity import Quantity

DRIVER = "gpu.nvidia.com"
GI = 2**30
CLASSES = {
    name: DeviceClass(
        meta=ObjectMeta(name=name), selectors=tuple(CelSelector(s) for s in selectors)
    )
    for name, selectors in {"any": (), "gpu": ('device.driver == "gpu.nvidia.com"',)}.items()
}


def quantities(amounts: Mapping[str, str | int]) -> dict[str, Quantity]:
    return {name: Quantity.parse(str(amount)) for name, amount in amounts.items()}


def node(
    name: str = "n1",
    *,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Taint] = (),
    **amounts: int,
) -> Node:
    allocatable = {"cpu": 64_000, "memory": 256 * GI, "pods": 110} | amounts
    own = {"kubernetes.io/hostname": name, **(labels or {})}
    return Node(
        meta=ObjectMeta(name=name, labels=own), allocatable=allocatable, taints=tuple(taints)
    )


def device(
    name: str,
    attributes: Mapping[str, Any] | None = None,
    *,
    capacity: Mapping[str, str | DeviceCapacity] | None = None,
    draws: Mapping[str, str | int] | None = None,
    taints: Sequence[DeviceTaint] = (),
    **more: Any,
) -> Device:
    """`draws` are counters of the set "set"."""
    capacities = {
        key: value if isinstance(value, DeviceCapacity) else DeviceCapacity(Quantity.parse(value))
        for key, value in (capacity or {}).items()
    }
    consumes = (CounterConsumption(counter_set="set", counters=quantities(draws)),) if draws else ()
    return Device(
        name=name,
        attributes=dict(attributes or {}),
        capacity=capacities,
        consumes_counters=consumes,
        taints=tuple(taints),
        **more,
    )


def slice_of(
    *devices: Device | str, name: str = "slice", pool: str = "n1", driver: str = DRIVER, **more: Any
) -> ResourceSlice:
    """Return a slice of node n1, unless the arguments select other nodes."""
    if not {"all_nodes", "node_selector", "per_device_node_selection", "node_name"} & more.keys():
        more["node_name"] = "n1"
    made = tuple(d if isinstance(d, Device) else device(d) for d in devices)
    return ResourceSlice(name=name, driver=driver, pool=pool, devices=made, **more)


def counters(
    count: int = 2,
    name: str = "counters",
    pool: str = "n1",
    driver: str = DRIVER,
    node_name: str = "n1",
    **amounts: str | int,
) -> ResourceSlice:
    """The counter set "set" of a pool with `count` slices."""
    sets = (CounterSet(name="set", counters=quantities(amounts)),)
    return ResourceSlice(
        name=name,
        driver=driver,
        pool=pool,
        node_name=node_name,
        slice_count=count,
        shared_counters=sets,
    )


def gpus(count: int, **attributes: Any) -> ResourceSlice:
    return slice_of(*(device(f"gpu-{i}", attributes) for i in range(count)))


def request(
    name: str = "r", *selectors: str, device_class: str = "any", count: int = 1, **more: Any
) -> DeviceRequest:
    if count == 0:
        more["allocation_mode"] = "All"
    exact = ExactDeviceRequest(
        device_class_name=device_class,
        selectors=tuple(CelSelector(s) for s in selectors),
        count=count or 1,
        **more,
    )
    return DeviceRequest(name=name, exactly=exact)


def first_of(name: str, *ways: tuple[str, int] | DeviceSubRequest) -> DeviceRequest:
    """Return a request with alternatives, each given as (class, count) or as an object. Their names
    are a, b, c, and so on.
    """
    subs = tuple(
        way
        if isinstance(way, DeviceSubRequest)
        else DeviceSubRequest(name="abcdefgh"[i], device_class_name=way[0], count=way[1])
        for i, way in enumerate(ways)
    )
    return DeviceRequest(name=name, first_available=subs)


def claim(
    *requests: DeviceRequest, match: str | None = None, distinct: str | None = None
) -> ClaimSpec:
    constraints = []
    if match:
        constraints.append(DeviceConstraint(match_attribute=match))
    if distinct:
        constraints.append(DeviceConstraint(distinct_attribute=distinct))
    return ClaimSpec(requests=requests, constraints=tuple(constraints))


def shape(
    *claims: ClaimSpec | ShapeClaim,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    pods: int = 1,
    requests: Mapping[str, int] | None = None,
    **pod: Any,
) -> Shape:
    """A shape whose claims are named c1, c2, … in its pods."""
    made = tuple(
        c if isinstance(c, ShapeClaim) else ShapeClaim(name=f"c{i}", spec=c)
        for i, c in enumerate(claims, 1)
    )
    entries = tuple(
        PodResourceClaim(name=c.name, resource_claim_name=c.shared.name)
        if c.shared
        else PodResourceClaim(name=c.name, resource_claim_template_name=c.name)
        for c in made
    )
    container = Container(
        name="main", requests={"cpu": 1000, "memory": 2 * GI} if requests is None else requests
    )
    spec = PodSpec(containers=(container,), resource_claims=entries, **pod)
    digest = hashlib.sha256(repr((namespace, labels, spec, made)).encode()).hexdigest()[:16]
    member = Member(
        workload=WorkloadRef("Pod", namespace, digest), pod_set="", figures=Figures.fixed(pods)
    )
    return Shape(
        id=digest,
        namespace=namespace,
        labels=dict(labels or {}),
        pod=spec,
        claims=made,
        members=(member,),
    )
