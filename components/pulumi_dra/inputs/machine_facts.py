"""Machine types that the tables don't have: the facts that a pool needs, from the user's own
catalog.
"""

from typing import NotRequired, TypedDict

from msgspec.structs import replace

from dra_planner import catalog
from dra_planner.catalog import Accelerator, Machine
from dra_planner.clouds import Cloud
from dra_planner.errors import CatalogError
from dra_planner.fleet import Fleet, LearnedMachine
from pulumi_dra.inputs.reader import InputReader

ARCHITECTURES = ("amd64", "arm64")
KINDS = ("gpu", "tpu", "neuron", "inference")


class MachineFacts(TypedDict):
    """A machine type that isn't in this package's tables."""

    arch: NotRequired[str]
    """CPU architecture: amd64 (default) or arm64."""
    accelerator_kind: NotRequired[str]
    """Kind of the accelerators: gpu, tpu, neuron, or inference. Default: no accelerators."""
    accelerator_vendor: NotRequired[str]
    """Vendor of the accelerators: nvidia, amd, …."""
    accelerator_model: NotRequired[str]
    """Accelerator model, as published by the driver."""
    accelerator_count: NotRequired[int]
    """Number of accelerators on a node."""
    accelerator_type: NotRequired[str]
    """GKE: Accelerator type that the node pool attaches."""


def planned_facts(fleet: Fleet, machine: str) -> MachineFacts | None:
    """Return the facts of a machine type that exists only in the fleet's catalog. None for all
    other machine types.
    """
    row = fleet.learned(machine)
    if row is None or known_machine(fleet.cloud, machine) is not None:
        return None
    learned = row.machine_type(fleet.cloud)
    facts: MachineFacts = {"arch": learned.arch}
    if (accelerator := learned.accelerator) is not None:
        facts |= {
            "accelerator_kind": accelerator.kind,
            "accelerator_vendor": accelerator.vendor,
            "accelerator_model": accelerator.model,
        }
        if accelerator.count:
            facts["accelerator_count"] = accelerator.count
        if accelerator.gke_type:
            facts["accelerator_type"] = accelerator.gke_type
    return facts


def read_machine(read: InputReader, cloud: Cloud, name: str) -> Machine | None:
    """Return a machine type from the tables, or one that is created from the facts in
    `machine_facts`. None if neither exists.
    """
    has_facts = read.has("machine_facts")
    facts = read.inside("machine_facts", read.block("machine_facts"), MachineFacts)
    known = known_machine(cloud.name, name)
    if known is not None or not (name and has_facts):
        return known
    arch = facts.choice("arch", ARCHITECTURES, "amd64")
    machine = LearnedMachine(machine=name, arch="arm64" if arch == "arm64" else "amd64")
    return replace(machine.machine_type(cloud.name), accelerator=_accelerator(facts))


def known_machine(cloud: str, name: str) -> Machine | None:
    """Return a machine type from the tables, or None if the tables don't contain it."""
    try:
        return catalog.machine(cloud, name)
    except CatalogError:
        return None


def _accelerator(facts: InputReader) -> Accelerator | None:
    if not facts.has("accelerator_kind"):
        return None
    vendor, model = facts.text("accelerator_vendor", ""), facts.text("accelerator_model", "")
    return Accelerator(
        kind=facts.choice("accelerator_kind", KINDS, KINDS[0]),
        vendor=vendor,
        model=model,
        count=facts.whole("accelerator_count", 1, least=1),
        gpu=(model or None) if vendor == "nvidia" else None,
        fraction=None,
        listed_memory_mib=None,
        nominal_memory_gb=None,
        gke_type=facts.text("accelerator_type", "") or None,
    )
