"""Captures of nodes in the form of `kubectl get -o json`, created from predictions. Unknown values
get the values of a real node.
"""

from __future__ import annotations

import json
import random
from typing import Any

from msgspec.structs import replace

from dra_planner import catalog, manifests
from dra_planner.catalog import Machine
from dra_planner.drivers import DriverNode, driver
from dra_planner.model import (
    AttributeValue,
    Device,
    DeviceCapacity,
    ResourceSlice,
    Unknown,
    Version,
)
from dra_planner.offers import observe_offers
from dra_planner.offers.learning import Learned, learn_machines
from dra_planner.plan import read_checked
from dra_planner.quantity import Quantity
from dra_planner.releases import features_of
from dra_planner.sources import Source

_INTS = (
    "numaNode",
    "numaNodeID",
    "mtu",
    "sriovVfs",
    "topology_x",
    "topology_y",
    "minor",
    "id",
    "socketID",
    "cpuID",
    "coreID",
    "cacheL3ID",
    "cardIndex",
    "renderIndex",
    "index",
    "topology4_id",
    "topology8_id",
)
_BOOLS = ("virtual", "ebpf", "sriov", "isSriovVf", "smtEnabled")
_VERSIONS = ("driverVersion", "cudaDriverVersion", "draDriverVersion")


def predicted(
    name: str, machine: Machine, options: dict[str, Any], node: str, mig: str = "none"
) -> tuple[ResourceSlice, ...]:
    member = driver(name)
    given = DriverNode(machine=machine, name=node, features=features_of(36), mig=mig)
    return member.slices(member.options.model_validate(options), given)


Values = dict[tuple[str, str], AttributeValue]


def as_captured(
    parts: tuple[ResourceSlice, ...], values: Values, seed: int
) -> list[dict[str, Any]]:
    """Return slices as a node publishes them. Every unknown value gets a value that is equal within
    its group.

    `values` contains the values of the node's other drivers, and the function adds the new values.
    """
    noise = random.Random(seed)

    def value(attribute: str, unknown: Unknown, device: Device) -> AttributeValue:
        key = attribute, unknown.group or device.name
        if key not in values:
            values[key] = _value(
                attribute, len({name for name in values if name[0] == attribute}), noise
            )
        return values[key]

    def real(device: Device) -> Device:
        attributes = {
            name: value(name, known, device) if isinstance(known, Unknown) else known
            for name, known in device.attributes.items()
        }
        capacity = {
            name: DeviceCapacity(Quantity.parse("16384Mi"), each.request_policy)
            if isinstance(each.value, Unknown)
            else each
            for name, each in device.capacity.items()
        }
        return replace(device, attributes=attributes, capacity=capacity)

    return [
        manifests.render_slice(replace(part, devices=tuple(map(real, part.devices))))
        for part in parts
    ]


def _value(attribute: str, number: int, noise: random.Random) -> AttributeValue:
    own = attribute.rpartition("/")[2]
    if own in _INTS:
        return number
    if own in _BOOLS:
        return False
    if own in _VERSIONS:
        return Version(f"580.{noise.randrange(200)}.{noise.randrange(20)}")
    address = f"{noise.randrange(1 << 16):04x}:{number:02x}:00.0"
    if own in ("pcieRoot", "pciRoot"):
        return f"pci0000:{number:02x}"
    if "pci" in own.lower() or own.endswith("Addr"):
        return address
    if own == "mac":
        return ":".join(f"{noise.randrange(256):02x}" for _ in range(6))
    words = [noise.randrange(1 << 32) for _ in range(4)]
    return f"{words[0]:08x}-{words[1] >> 16:04x}-{words[2] >> 16:04x}-{words[3] >> 16:04x}-{words[0]:08x}{number:04x}"


def node(name: str, machine: Machine, allocatable: dict[str, str]) -> dict[str, Any]:
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": machine.arch,
        "node.kubernetes.io/instance-type": machine.instance_type,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": allocatable, "allocatable": allocatable},
    }


def learned(objects: list[dict[str, Any]], cloud: str = "", machine: str = "") -> Learned:
    source = Source(
        "cluster.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    )
    features = features_of(36)
    snapshot = read_checked((source,), features)
    return learn_machines(
        observe_offers(snapshot, features), snapshot.classes, cloud=cloud, machine=machine
    )


def with_cpu_groups(document: dict[str, Any], sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return the fleet after it has learned, from a node of its pool, how many CPUs each NUMA node
    has.
    """
    machine = catalog.machine(document["cloud"], document["pools"][0]["machine"])
    devices = [
        {
            "name": f"cpudevnuma{index:03}",
            "allowMultipleAllocations": True,
            "attributes": {
                "resource.kubernetes.io/numaNode": {"int": index},
                "dra.cpu/numaNodeID": {"int": index},
                "dra.cpu/numCPUs": {"int": size},
            },
            "capacity": {"dra.cpu/cpu": {"value": str(size)}},
        }
        for index, size in enumerate(sizes)
    ]
    pool = {"name": "n0", "generation": 1, "resourceSliceCount": 1}
    part = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "n0-dra.cpu"},
        "spec": {"driver": "dra.cpu", "nodeName": "n0", "pool": pool, "devices": devices},
    }
    size = {"cpu": str(sum(sizes) - 2), "memory": "1900Gi", "pods": "100"}
    found = learned([node("n0", machine, size), part], document["cloud"])
    return {**document, "catalog": [dict(row) for row in found.rows]}
