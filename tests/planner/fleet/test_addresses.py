"""Addresses that nodes use, compared with the tables that AWS, Google, and Microsoft publish."""

from __future__ import annotations

from typing import Any

import pytest

from dra_planner import catalog
from dra_planner.clouds import AllocatableSettings, cloud

WHOLE, PREFIXES = AllocatableSettings(), AllocatableSettings(prefix_delegation=True)


@pytest.mark.parametrize(
    ("settings", "interfaces", "each", "pods", "attached", "beside_them"),
    # p3dn.24xlarge and t3.small: interfaces attached, and secondary addresses or prefixes on them,
    # as the VPC CNI's documents list them for WARM_ENI_TARGET 1 and WARM_PREFIX_TARGET 1
    [
        (WHOLE, 3, 4, 0, 1, 3),
        (WHOLE, 3, 4, 5, 3, 9),
        (WHOLE, 3, 4, 9, 3, 9),
        (WHOLE, 15, 50, 0, 1, 49),
        (WHOLE, 15, 50, 3, 2, 98),
        (WHOLE, 15, 50, 95, 3, 147),
        (PREFIXES, 3, 4, 0, 1, 1 * 16),
        (PREFIXES, 3, 4, 5, 1, 2 * 16),
        (PREFIXES, 3, 4, 16, 1, 2 * 16),
        (PREFIXES, 3, 4, 17, 1, 3 * 16),
        (PREFIXES, 3, 4, 58, 2, 5 * 16),
    ],
)
def test_eks_node_uses_the_addresses_of_its_interfaces(
    settings: AllocatableSettings,
    interfaces: int,
    each: int,
    pods: int,
    attached: int,
    beside_them: int,
) -> None:
    machine = catalog.machine("eks", "g6.2xlarge")
    machine = type(machine)(
        **{**_fields(machine), "default_card_enis": interfaces, "ipv4_per_eni": each}
    )
    assert cloud("eks").subnet_addresses(machine, settings, pods) == attached + beside_them


def _fields(machine: catalog.Machine) -> dict[str, Any]:
    return {name: getattr(machine, name) for name in machine.__struct_fields__}


@pytest.mark.parametrize(
    ("pods", "length"),
    [
        (8, 28),
        (9, 27),
        (16, 27),
        (17, 26),
        (32, 26),
        (33, 25),
        (64, 25),
        (65, 24),
        (110, 24),
        (128, 24),
        (129, 23),
        (256, 23),
    ],
)
def test_gke_node_uses_the_documented_address_block(pods: int, length: int) -> None:
    assert cloud("gke").pod_range_addresses(AllocatableSettings(max_pods=pods)) == 2 ** (
        32 - length
    )


@pytest.mark.parametrize("name", ["gke", "aks"])
def test_separate_pod_range_uses_no_subnet_addresses(name: str) -> None:
    machine = catalog.machines(name)[0]
    taken = {
        cloud(name).subnet_addresses(machine, AllocatableSettings(), pods) for pods in (0, 1, 110)
    }
    assert (taken, cloud(name).pod_range_addresses(AllocatableSettings())) == ({1}, 256)


@pytest.mark.parametrize(
    ("name", "nodes", "taken"),
    [
        ("aks", [(253, None)], 0),
        ("aks", [(254, 30)], 257 * 256),
        ("gke", [(600, None), (421, None)], 0),
        ("gke", [(600, None), (422, None)], 1025 * 256),
        ("gke", [(600, 32), (600, 32)], 0),
        ("eks", [(10**6, None)], 0),
    ],
)
def test_pod_range_must_cover_all_nodes_and_a_surge_node(
    name: str, nodes: list[tuple[int, int | None]], taken: int
) -> None:
    place = cloud(name)
    problem = place.pods_range_fault(place.pods_range, nodes, 2)
    assert (
        (f" need {taken} addresses, but the pod range {place.pods_range}" in str(problem))
        if taken
        else problem is None
    )
