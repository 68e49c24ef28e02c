"""TRACE: a real cluster's pods on its kinds of machines: `python tests/bench/bench_trace.py FOLDER
[TIMES]`.

FOLDER contains `openb_node_list_gpu_node.csv` and pod lists (`openb_pod_list_default.csv`,
`…_gpuspec33.csv`) from Alibaba's gpu-v2023 data. This data is only for research and study, so it
isn't part of this project. Download it from alibaba/clusterdata. Shares of a GPU (`gpu_milli`) are
capacity of a device that several claims share. Prices are invented.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bench_sizing import head, measure
from pack_instances import CLASSES, GPU_DRIVER, MIB, digest

from dra_planner.model import (
    CelSelector,
    ClaimSpec,
    Container,
    Demand,
    Device,
    DeviceCapacity,
    DeviceRequest,
    ExactDeviceRequest,
    Figures,
    Member,
    Node,
    ObjectMeta,
    PodSpec,
    ResourceSlice,
    Shape,
    ShapeClaim,
    WorkloadRef,
)
from dra_planner.offers import Offer
from dra_planner.quantity import Quantity

NODES = "openb_node_list_gpu_node.csv"
PODS = "openb_pod_list_*.csv"
USD = {
    "T4": "0.4",
    "P100": "1.0",
    "V100M16": "2.0",
    "V100M32": "2.5",
    "A10": "0.9",
    "G1": "0.5",
    "G2": "1.5",
    "G3": "3",
}
USD_OF_CPU, USD_OF_GIB = Decimal("0.03"), Decimal("0.004")
WHOLE = 1000  # gpu_milli of a GPU
GAP = 0.005
AIM = 10.0  # CPU seconds


def machines(path: Path) -> tuple[Offer, ...]:
    """Return a pool for each kind of node, with the requested number of nodes."""
    with path.open(encoding="utf-8", newline="") as rows:
        kinds = {
            (int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpu"]), row["model"])
            for row in csv.DictReader(rows)
        }
    return tuple(_offer(at, *kind) for at, kind in enumerate(sorted(kinds)))


def _offer(number: int, cpu: int, memory: int, gpus: int, model: str) -> Offer:
    name = f"{model.lower() or 'none'}x{gpus}-{number:02}"
    milli = {"milli": DeviceCapacity(Quantity.from_int(WHOLE))}
    attributes = {"type": "gpu", "model": model}
    devices = tuple(
        Device(
            name=f"gpu-{at}", attributes=attributes, capacity=milli, allow_multiple_allocations=True
        )
        for at in range(gpus)
    )
    part = ResourceSlice(
        name=f"{name}-gpus", driver=GPU_DRIVER, pool=name, node_name=name, devices=devices
    )
    price = (
        Decimal(USD.get(model, "3")) * gpus + USD_OF_CPU * cpu / 1000 + USD_OF_GIB * memory / 1024
    )
    return Offer(
        name=name,
        origin="predicted",
        node=Node(
            meta=ObjectMeta(name=name),
            allocatable={"cpu": cpu, "memory": memory * MIB, "pods": 110},
        ),
        slices=(part,) if gpus else (),
        count_min=0,
        count_max=10**9,
        hourly_usd=price.quantize(Decimal("0.0001")),
    )


def pods(path: Path, times: int) -> Demand:
    """Return the pods as shapes, each with its number of pods."""
    with path.open(encoding="utf-8", newline="") as rows:
        counts = Counter(
            (
                int(row["cpu_milli"]),
                int(row["memory_mib"]),
                int(row["num_gpu"]),
                int(row["gpu_milli"]),
                row["gpu_spec"],
            )
            for row in csv.DictReader(rows)
        )
    made = (_shape(at, kind, counts[kind] * times) for at, kind in enumerate(sorted(counts)))
    return Demand(shapes=tuple(made))


def _shape(number: int, kind: tuple[int, int, int, int, str], count: int) -> Shape:
    cpu, memory, gpus, milli, models = kind
    name = f"shape-{number:04}"
    member = Member(
        workload=WorkloadRef("Job", "default", name), pod_set="", figures=Figures.fixed(count)
    )
    return Shape(
        id=name,
        namespace="default",
        labels={},
        pod=PodSpec(
            containers=(Container(name="main", requests={"cpu": cpu, "memory": memory * MIB}),)
        ),
        claims=tuple(_claims(gpus, milli, models)),
        members=(member,),
    )


def _claims(gpus: int, milli: int, models: str) -> Iterator[ShapeClaim]:
    if gpus:
        any_of = " || ".join(
            f'device.attributes["{GPU_DRIVER}"].model == "{model}"'
            for model in models.split("|")
            if model
        )
        exactly = ExactDeviceRequest(
            device_class_name="gpu",
            count=gpus,
            selectors=(CelSelector(any_of),) if any_of else (),
            capacity={"milli": Quantity.from_int(milli or WHOLE)},
        )
        yield ShapeClaim(
            name="claim", spec=ClaimSpec(requests=(DeviceRequest(name="gpu", exactly=exactly),))
        )


def main(folder: Path | None, times: int) -> int:
    """Print a row for each list of pods. Return 2 if the data is missing."""
    if folder is None:
        print(
            f"TRACE: no data given; run `{sys.argv[0]} FOLDER` with a folder that contains "
            f"{NODES} and {PODS} of Alibaba's gpu-v2023 data"
        )
        return 0
    lists = sorted(folder.glob(PODS)) if folder.is_dir() else []
    if not lists or not (folder / NODES).is_file():
        print(f"TRACE: {folder} doesn't contain {NODES} and {PODS}", file=sys.stderr)
        return 2
    offers = machines(folder / NODES)
    head(f"TRACE × {times}, gap allowed {GAP:.1%}", "")
    for path in lists:
        demand = pods(path, times)
        found = measure(demand, offers, CLASSES, GAP)
        print(
            f"{path.stem.removeprefix('openb_pod_list_'):>36}{found['seconds']:9.2f}{AIM:7.2f}{found['calls']:10,}"
            f"{found['mib']:7.0f}{found['gap']:9.2%}{'':7}  {digest(demand, offers)[:16]}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main(Path(given[0]) if given else None, int(given[1]) if len(given) > 1 else 1))
