"""Features of a pool's machine type that the fleet pays for but doesn't use."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from dra_planner.catalog import Machine
from dra_planner.clouds import cloud
from dra_planner.drivers.dranet import DRIVER as DRANET
from dra_planner.drivers.nvidia import DRIVER as NVIDIA
from dra_planner.errors import PlannerError
from dra_planner.offers import node_price
from dra_planner.wording import counted

if TYPE_CHECKING:
    from dra_planner.fleet import Fleet, Pool


def unused_features(fleet: Fleet, pools: Collection[str]) -> tuple[str, ...]:
    """Return one sentence for each feature of each machine type of the named pools, in the order of
    the fleet.
    """
    sentences: dict[str, None] = {}
    for pool in (each for each in fleet.pools if each.name in pools):
        try:
            machine = fleet.machine(pool.machine)
        except PlannerError:
            continue
        price = node_price(fleet, pool)
        shown = f" (USD {price:.2f} per hour)" if price is not None else ""
        for feature in _features(fleet, pool, machine):
            sentences[f"{machine.name}{shown} has {feature}"] = None
    return tuple(sentences)


def _features(fleet: Fleet, pool: Pool, machine: Machine) -> Iterator[str]:
    # a fleet that sets the driver to false excludes the network on purpose
    if DRANET.name not in fleet.drivers.model_fields_set:
        yield from _network(fleet.cloud, machine)
    if machine.nvlink_nodes and not _has_compute_domains(fleet):
        yield (
            f"NVLink across {machine.nvlink_nodes} nodes, but the fleet doesn't enable compute "
            "domains, so pods on different nodes communicate over the network instead of NVLink"
        )


def _network(cloud_name: str, machine: Machine) -> Iterator[str]:
    tcp = "but pods use TCP. Set drivers.dranet to true, or to false if TCP is intended"
    if machine.efa_interfaces:
        yield f"{counted(machine.efa_interfaces, 'EFA interface')}, {tcp}"
    if machine.rdma_networks:
        yield f"{machine.rdma_networks} RDMA interfaces ({machine.network_performance}), {tcp}"
    if machine.has_infiniband:
        nics = f"{machine.nics} InfiniBand NICs" if (machine.nics or 0) > 1 else "InfiniBand NICs"
        needs = cloud(cloud_name).infiniband_needs
        yield f"{nics}, but pods use TCP. {needs}. Set drivers.dranet to false if TCP is intended"


def _has_compute_domains(fleet: Fleet) -> bool:
    nvidia = fleet.drivers.of(NVIDIA)
    return nvidia is not None and nvidia.compute_domains
