"""Create catalog rows that correct the prediction of a real node, ready for review."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from io import StringIO

from msgspec import Struct

from dra_planner import catalog, clouds
from dra_planner.catalog import Machine
from dra_planner.catalog.tables import read_table
from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia import GPU_DRIVER, Gpu
from dra_planner.errors import CatalogError
from dra_planner.model import Device
from dra_planner.offers.offer import Offer
from dra_planner.quantity import Quantity

_MIB = 1024 * 1024
_SOURCE = "resourceslice-dumps"
_ROOT = "resource.kubernetes.io/pcieRoot"
_OBSERVED = ("brand", "architecture", "cuda_compute_capability", "memory_mib")


class CatalogRow(Struct, frozen=True, order=True):
    """A line for `data/<table>.csv`, and its reason.

    Cells that a node doesn't show are empty. `replaces` is the first cell of the row that it
    replaces, or "" for a new row.
    """

    table: str
    line: str
    reason: str
    replaces: str = ""


def rows_to_add(observed: Iterable[Offer]) -> tuple[CatalogRow, ...]:
    """Return new or corrected catalog rows for the NVIDIA GPUs of observed nodes.

    They are sorted and unique: new or different GPUs, new machine types, and new PCIe places. Nodes
    of an unknown cloud provide only GPU rows.
    """
    rows: set[CatalogRow] = set()
    for offer in observed:
        devices = [
            device for each in offer.slices if each.driver == GPU_DRIVER for device in each.devices
        ]
        gpus = [device for device in devices if device.attributes.get("type") == "gpu"]
        for device in gpus:
            rows |= _gpu_rows(device)
        cloud = clouds.cloud_of_labels(offer.node.meta.labels)
        if not cloud or not offer.machine or not gpus:
            continue
        machine = _machine(cloud, offer.machine)
        if machine is None:
            rows.add(_machine_row(cloud, offer, gpus))
        if machine is None or all(place.pcie_root is None for place in catalog.gpu_places(machine)):
            rows |= _topology_rows(cloud, offer, gpus)
    return tuple(sorted(rows))


def _gpu_rows(device: Device) -> set[CatalogRow]:
    product = device.attributes.get("productName")
    if not isinstance(product, str):
        return set()
    memory = device.capacity["memory"].value if "memory" in device.capacity else None
    memory_mib = memory.value // _MIB if isinstance(memory, Quantity) else None
    facts: dict[str, str] = {
        "id": _gpu_id(product),
        "product_name": product,
        "brand": str(device.attributes.get("brand", "")),
        "architecture": str(device.attributes.get("architecture", "")),
        "cuda_compute_capability": str(device.attributes.get("cudaComputeCapability", "")),
        "memory_mib": str(memory_mib or ""),
        "virtual": "no",
        "mig_capable": "no",
        "compute_domains": "no",
        "confidence": "observed",
        "source": _SOURCE,
    }
    known = _known_gpu(product)
    if known is None:
        return {CatalogRow("gpus", _line("gpus", facts), f"{product} isn't in the catalog")}
    wrong = _disagreements(known, facts)
    if not wrong:
        return set()
    observed = {column: value for column, value in facts.items() if value and column in _OBSERVED}
    reason = f"{product}: the catalog has {', '.join(wrong)}"
    return {_changed_gpu(known, {**observed, "confidence": "observed"}, reason)}


def _known_gpu(product: str) -> Gpu | None:
    return next((gpu for gpu in nvidia.gpus() if gpu.product_name == product), None)


def _gpu_id(product: str) -> str:
    """Return the ID of a GPU from the catalog, or an ID made from its name."""
    known = _known_gpu(product)
    return (
        known.id
        if known
        else re.sub(r"[^a-z0-9]+", "-", product.lower().removeprefix("nvidia ")).strip("-")
    )


def _changed_gpu(known: Gpu, facts: Mapping[str, str], reason: str) -> CatalogRow:
    """Return a GPU's row with some changed cells, and with this source added."""
    before = next(row for row in read_table("gpus") if row["id"] == known.id)
    sources = " ".join(dict.fromkeys((*before["source"].split(), _SOURCE)))
    return CatalogRow(
        "gpus", _line("gpus", {**before, **facts, "source": sources}), reason, known.id
    )


def _disagreements(known: Gpu, facts: Mapping[str, str]) -> list[str]:
    wrong: list[str] = []
    for column in _OBSERVED[:-1]:
        value: str | None = getattr(known, column)
        if facts[column] and facts[column] != (value or ""):
            wrong.append(f"{column} {value or 'not sourced'}")
    accepted = {known.memory_mib, known.dynamic_mig_memory_mib}
    if facts["memory_mib"] and int(facts["memory_mib"]) not in accepted:
        wrong.append(f"memory_mib {known.memory_mib or 'not sourced'}")
    return wrong


def _machine_row(cloud: str, offer: Offer, gpus: list[Device]) -> CatalogRow:
    table = f"machines_{cloud}"
    product = str(gpus[0].attributes.get("productName", ""))
    vcpus = _vcpus(offer.node.allocatable.get("cpu", 0), cloud)
    label = clouds.cloud(cloud).accelerator_label
    facts = {
        "name": offer.machine,
        "family": re.split(r"[.-]", offer.machine)[0],
        "arch": offer.node.meta.labels.get("kubernetes.io/arch", ""),
        "vcpus": "" if vcpus is None else str(vcpus),
        "accelerator_kind": "gpu",
        "accelerator_vendor": "nvidia",
        "accelerator_model": product,
        "accelerator_count": str(len(gpus)),
        "gpu": _gpu_id(product),
        "gke_type": offer.node.meta.labels.get(label, ""),
        "bare_metal": "no",
        "confidence": "low",
        "source": _SOURCE,
        "note": "from a node's ResourceSlices, without the machine type's memory",
    }
    reason = f"{offer.machine} isn't in the catalog, so add its memory"
    return CatalogRow(table, _line(table, facts), reason)


def _vcpus(allocatable_milli: int, cloud: str) -> int | None:
    """Compute the vCPUs of a machine type from its kubelet's allocatable CPU and the cloud's
    reservation.
    """
    near = range(allocatable_milli // 1000, allocatable_milli // 1000 + 20)
    reserved = clouds.cloud(cloud).reserved_cpu_milli
    return next((cpus for cpus in near if cpus * 1000 - reserved(cpus) == allocatable_milli), None)


def _topology_rows(cloud: str, offer: Offer, gpus: list[Device]) -> set[CatalogRow]:
    ordered = sorted(gpus, key=lambda device: (len(device.name), device.name))
    roots = [device.attributes.get(_ROOT) for device in ordered]
    if not all(isinstance(root, str) for root in roots):
        return set()
    rows: set[CatalogRow] = set()
    for index, (device, root) in enumerate(zip(ordered, roots, strict=True)):
        numa = device.attributes.get("resource.kubernetes.io/numaNode")
        facts = {
            "cloud": cloud,
            "machine": offer.machine,
            "index": str(index),
            "pci_bus_id": str(device.attributes.get("resource.kubernetes.io/pciBusID", "")),
            "pcie_root": str(root),
            "numa_node": str(numa) if isinstance(numa, int) else "",
            "confidence": "observed",
            "source": _SOURCE,
        }
        reason = f"the PCIe positions of the GPUs on {offer.machine} aren't in the catalog"
        rows.add(CatalogRow("gpu_topology", _line("gpu_topology", facts), reason))
    return rows


def _machine(cloud: str, name: str) -> Machine | None:
    try:
        return catalog.machine(cloud, name)
    except CatalogError:
        return None


def _line(table: str, facts: Mapping[str, str]) -> str:
    """Return the facts as a CSV line in the order of the table's columns."""
    text = StringIO()
    csv.writer(text, lineterminator="").writerow(
        [facts.get(column, "") for column in read_table(table)[0]]
    )
    return text.getvalue()
