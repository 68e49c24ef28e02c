"""Instances of the sizing benchmark: `pack(shapes, pools, pods, seed)`, which must not change.
`digest` shows whether they have changed.

Machines, prices, and requests are invented for the benchmark. Every random value comes from one
`random.Random(seed)`, in the order of the code, so a change of that order creates another
benchmark.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

from msgspec import NODEFAULT, Struct, structs
from msgspec.structs import replace

from dra_planner.model import (
    CelSelector,
    ClaimSpec,
    Container,
    CounterConsumption,
    CounterSet,
    Demand,
    Device,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    ExactDeviceRequest,
    Figures,
    Member,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    PodSpec,
    Requirement,
    ResourceSlice,
    Shape,
    ShapeClaim,
    Taint,
    Toleration,
    WorkloadRef,
)
from dra_planner.offers import Offer
from dra_planner.quantity import Quantity

INSTANCES = Path(__file__).parent / "instances.csv"
GIB, MIB = 2**30, 2**20
GPU_DRIVER, NIC_DRIVER = "gpu.nvidia.com", "nic.example.com"
ROOT = "resource.kubernetes.io/pcieRoot"
ZONE = "topology.kubernetes.io/zone"
TAINT = Taint("gpu", "present")


class Machine(NamedTuple):
    """GPUs, NICs (one to a PCIe root), vCPU, GiB, price per hour."""

    name: str
    gpus: int
    nics: int
    cpu: int
    gib: int
    usd: str

    @property
    def model(self) -> str:
        """The GPU's model, or empty without GPUs."""
        return self.name.split("x")[0].upper() if self.gpus else ""


_A100X8 = Machine("a100x8", 8, 4, 96, 1360, "32.0")
_H100X8 = Machine("h100x8", 8, 4, 208, 1872, "60")
_L4X4 = Machine("l4x4", 4, 0, 48, 192, "4.00")
_M64 = Machine("m64", 0, 0, 64, 256, "3.07")
_R48 = Machine("r48", 0, 0, 48, 384, "3.02")
FIVE = (_A100X8, _H100X8, _L4X4, _M64, _R48)
MACHINES = (
    _A100X8,
    _H100X8,
    Machine("l4x1", 1, 0, 8, 32, "0.80"),
    _L4X4,
    Machine("m16", 0, 0, 16, 64, "0.77"),
    _M64,
    Machine("c32", 0, 0, 32, 64, "1.36"),
    _R48,
    Machine("a100x1", 1, 0, 12, 170, "4.1"),
    Machine("t4x4", 4, 0, 48, 192, "2.35"),
    Machine("h100x1", 1, 0, 26, 234, "8"),
    Machine("a100x4", 4, 2, 48, 680, "16.2"),
    Machine("a100x2", 2, 0, 24, 340, "8.2"),
    Machine("h100x4", 4, 2, 104, 936, "31"),
    Machine("l4x2", 2, 0, 24, 96, "1.70"),
    Machine("l4x8", 8, 0, 96, 384, "8.00"),
    Machine("t4x1", 1, 0, 8, 30, "0.55"),
    Machine("c96", 0, 0, 96, 192, "4.08"),
    Machine("r16", 0, 0, 16, 128, "1.01"),
    Machine("m128", 0, 0, 128, 512, "6.14"),
)
MIG = {  # profile: slices of compute, slices of memory, starts
    "1g.10gb": (1, 1, range(7)),
    "1g.20gb": (1, 2, range(0, 8, 2)),
    "2g.20gb": (2, 2, range(0, 6, 2)),
    "3g.40gb": (3, 4, (0, 4)),
    "4g.40gb": (4, 4, (0,)),
    "7g.80gb": (7, 8, (0,)),
}
MODELS = ((), ("A100", "H100"), ("H100",), ("A100",), ("L4",), ("L4", "T4", "A100"))
CLASSES = {
    "gpu": DeviceClass(
        meta=ObjectMeta(name="gpu"),
        selectors=(
            CelSelector(
                f'device.driver == "{GPU_DRIVER}" && device.attributes["{GPU_DRIVER}"].type == '
                '"gpu"'
            ),
        ),
    ),
    "mig": DeviceClass(
        meta=ObjectMeta(name="mig"),
        selectors=(
            CelSelector(
                f'device.driver == "{GPU_DRIVER}" && device.attributes["{GPU_DRIVER}"].type == '
                '"mig"'
            ),
        ),
    ),
    "nic": DeviceClass(
        meta=ObjectMeta(name="nic"), selectors=(CelSelector(f'device.driver == "{NIC_DRIVER}"'),)
    ),
}
MINOR = 36


def pack(shapes: int, pools: int, pods: int, seed: int) -> tuple[Demand, tuple[Offer, ...]]:
    """Return this number of shapes with `pods` pods in total (at least one each), and this number
    of pools.
    """
    chance = random.Random(seed)
    machines = [(machine, "a", 0) for machine in FIVE] if pools == len(FIVE) else _in_zones(pools)
    names = {machine for machine, _, _ in machines}
    made = [_shape(number, names, pools != len(FIVE), chance) for number in range(shapes)]
    weights = [chance.lognormvariate(0, 1.5) for _ in made]
    counts = [max(1, round(pods * weight / sum(weights))) for weight in weights]
    demand = Demand(
        shapes=tuple(_member(shape, count) for shape, count in zip(made, counts, strict=True))
    )
    return demand, tuple(_offer(machine, zone, percent) for machine, zone, percent in machines)


def digest(demand: Demand, offers: Sequence[Offer]) -> str:
    """Return the SHA-256 of the parts of an instance that the benchmark sets, without fields that
    have their default value.
    """
    lines = [
        _text_of((shape.id, shape.pod, shape.claims, shape.figures)) for shape in demand.shapes
    ]
    lines += [
        _text_of((o.name, o.node, o.slices, o.hourly_usd, o.count_min, o.count_max)) for o in offers
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _text_of(value: object) -> str:
    if isinstance(value, Struct):
        given = [(each, getattr(value, each.name)) for each in structs.fields(value)]
        fields = [
            f"{each.name}={_text_of(its)}" for each, its in given if its not in _defaults(each)
        ]
        return f"{type(value).__name__}({', '.join(fields)})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_text_of(its)}' for key, its in sorted(value.items()))}}}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_text_of, value))})"
    return repr(value)


def _defaults(field: structs.FieldInfo) -> list[object]:
    if field.default_factory is not NODEFAULT:
        return [field.default_factory()]
    return [] if field.default is NODEFAULT else [field.default]


@cache
def frozen() -> dict[str, str]:
    """Return the published SHA-256 of every instance, by name: `pack SHAPES POOLS PODS SEED`, and
    the names of other instances.
    """
    lines = INSTANCES.read_text(encoding="utf-8").splitlines()
    return {line.rpartition(",")[0]: line.rpartition(",")[2] for line in lines[1:]}


def _in_zones(pools: int) -> list[tuple[Machine, str, int]]:
    return [
        (machine, zone, percent)
        for machine in MACHINES[: pools // 3]
        for zone, percent in (("a", 0), ("b", 3), ("c", 6))
    ]


def _shape(number: int, machines: set[Machine], zoned: bool, chance: random.Random) -> Shape:
    """Draw until a machine type fits the shape."""
    while True:
        zones = (
            tuple(sorted(chance.sample("abc", chance.choice((1, 2)))))
            if zoned and chance.random() < 0.2
            else ()
        )
        kind = chance.choices(("cpu", "gpu", "mig", "pair"), (4, 3, 2, 1))[0]
        models: tuple[str, ...] = ()
        claim: ClaimSpec | None = None
        gpus = 0
        if kind == "cpu":
            cpu = int(chance.choice((0.1, 0.25, 0.5, 1, 1.5, 2, 4, 8, 15)) * 1000)
            memory = int(chance.choice((0.25, 0.5, 1, 2, 4, 8, 16, 32, 60)) * GIB)
        elif kind == "gpu":
            gpus = chance.choices((1, 2, 4, 8), (5, 2, 2, 2))[0]
            models = chance.choice(MODELS)
            cpu = chance.choice((1, 2, 4, 6, 8, 11)) * 1000 * gpus
            memory = chance.choice((8, 12, 16, 32, 64, 128)) * GIB * gpus
            claim = ClaimSpec(requests=(_request("gpu", "gpu", gpus, _of_models(models)),))
        elif kind == "mig":
            profile = chance.choices(tuple(MIG), (4, 1, 3, 3, 1, 1))[0]
            slices = MIG[profile][0]
            models = ("A100", "H100")
            cpu = int(chance.choice((0.5, 1, 1.5, 3)) * 1000) * max(1, slices // 2)
            memory = chance.choice((2, 4, 8, 16)) * GIB * slices
            claim = ClaimSpec(
                requests=(
                    _request(
                        "mig", "mig", 1, f'device.attributes["{GPU_DRIVER}"].profile == "{profile}"'
                    ),
                )
            )
        else:
            gpus = chance.choice((1, 2, 4))
            cpu = chance.choice((4, 8, 12)) * 1000 * gpus
            memory = chance.choice((32, 64, 120)) * GIB * gpus
            claim = _pairs(gpus)
        if any(_takes(machine, kind, gpus, models, cpu, memory) for machine in machines):
            return _pod(number, cpu, memory, claim, zones)


def _takes(
    machine: Machine, kind: str, gpus: int, models: tuple[str, ...], cpu: int, memory: int
) -> bool:
    free_cpu, free_memory = _allocatable(machine)
    if cpu > free_cpu or memory > free_memory:
        return False
    if kind == "cpu":
        return not machine.gpus
    if kind == "pair":
        return machine.nics >= gpus
    return machine.gpus >= gpus and bool(machine.gpus) and (not models or machine.model in models)


def _allocatable(machine: Machine) -> tuple[int, int]:
    return machine.cpu * 980 - 100, machine.gib * GIB * 94 // 100 - 500 * MIB


def _request(name: str, device_class: str, count: int, expression: str = "") -> DeviceRequest:
    selectors = (CelSelector(expression),) if expression else ()
    exactly = ExactDeviceRequest(device_class_name=device_class, count=count, selectors=selectors)
    return DeviceRequest(name=name, exactly=exactly)


def _of_models(models: tuple[str, ...]) -> str:
    return " || ".join(f'device.attributes["{GPU_DRIVER}"].model == "{model}"' for model in models)


def _pairs(count: int) -> ClaimSpec:
    """GPUs and NICs, each pair below one PCIe root."""
    requests = [_request(f"{kind}-{i}", kind, 1) for i in range(count) for kind in ("gpu", "nic")]
    constraints = [
        DeviceConstraint(requests=(f"gpu-{i}", f"nic-{i}"), match_attribute=ROOT)
        for i in range(count)
    ]
    return ClaimSpec(requests=tuple(requests), constraints=tuple(constraints))


def _pod(
    number: int, cpu: int, memory: int, claim: ClaimSpec | None, zones: tuple[str, ...]
) -> Shape:
    terms = (NodeSelectorTerm((Requirement(ZONE, "In", zones),)),)
    tolerations = (Toleration(key=TAINT.key, operator="Exists"),) if claim is not None else ()
    return Shape(
        id=f"shape-{number:04}",
        namespace="default",
        labels={"app": f"shape-{number:04}"},
        pod=PodSpec(
            containers=(Container(name="main", requests={"cpu": cpu, "memory": memory}),),
            tolerations=tolerations,
            node_affinity=NodeSelector(terms) if zones else None,
        ),
        claims=(ShapeClaim(name="claim", spec=claim),) if claim is not None else (),
        members=(),
    )


def _member(shape: Shape, count: int) -> Shape:
    ref = WorkloadRef("Deployment", "default", shape.id)
    return replace(shape, members=(Member(workload=ref, pod_set="", figures=Figures.fixed(count)),))


def _offer(machine: Machine, zone: str, percent: int) -> Offer:
    name = f"{machine.name}-{zone}"
    cpu, memory = _allocatable(machine)
    return Offer(
        name=name,
        origin="predicted",
        node=Node(
            meta=ObjectMeta(name=f"{name}-0", labels={ZONE: zone}),
            allocatable={"cpu": cpu, "memory": memory, "pods": 110},
            taints=(TAINT,) if machine.gpus else (),
        ),
        slices=tuple(_slices(machine, f"{name}-0")),
        count_min=0,
        count_max=10**9,
        hourly_usd=Decimal(machine.usd) * (100 + percent) / 100,
        zones=(zone,),
    )


def _slices(machine: Machine, node: str) -> list[ResourceSlice]:
    if not machine.gpus:
        return []
    partitioned = machine.model in ("A100", "H100")
    count = 2 if partitioned else 1
    devices = [device for gpu in range(machine.gpus) for device in _gpu(machine, gpu, partitioned)]
    made = [
        ResourceSlice(
            name=f"{node}-gpus",
            driver=GPU_DRIVER,
            pool=node,
            node_name=node,
            slice_count=count,
            devices=tuple(devices),
        )
    ]
    if partitioned:
        sets = tuple(
            CounterSet(name=f"gpu-{gpu}", counters=_counters(range(8), 7))
            for gpu in range(machine.gpus)
        )
        made.append(replace(made[0], name=f"{node}-counters", devices=(), shared_counters=sets))
    if machine.nics:
        nics = tuple(
            Device(name=f"nic-{nic}", attributes={ROOT: f"root-{nic}"})
            for nic in range(machine.nics)
        )
        made.append(
            ResourceSlice(
                name=f"{node}-nics", driver=NIC_DRIVER, pool=node, node_name=node, devices=nics
            )
        )
    return made


def _gpu(machine: Machine, gpu: int, partitioned: bool) -> list[Device]:
    """One GPU, with its partitions if it has any. GPUs are distributed evenly over PCIe roots."""
    root = {ROOT: f"root-{gpu * machine.nics // machine.gpus}"} if machine.nics else {}
    attributes = {"type": "gpu", "model": machine.model, **root}
    if not partitioned:
        return [Device(name=f"gpu-{gpu}", attributes=attributes)]
    draws = (CounterConsumption(counter_set=f"gpu-{gpu}", counters=_counters(range(8), 7)),)
    made = [Device(name=f"gpu-{gpu}", attributes=attributes, consumes_counters=draws)]
    for profile, (compute, memory, starts) in MIG.items():
        for start in starts:
            draws = (
                CounterConsumption(
                    counter_set=f"gpu-{gpu}",
                    counters=_counters(range(start, start + memory), compute),
                ),
            )
            made.append(
                Device(
                    name=f"gpu-{gpu}-mig-{profile.replace('.', '-')}-{start}",
                    attributes={"type": "mig", "model": machine.model, "profile": profile, **root},
                    consumes_counters=draws,
                )
            )
    return made


def _counters(memory: range, compute: int) -> dict[str, Quantity]:
    counters = {f"memory-slice-{at}": Quantity.from_int(1) for at in memory}
    return {"compute": Quantity.from_int(compute), **counters}
