"""Pools whose machine type comes only from the user's own catalog are built on every cloud."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pulumi.errors import InputPropertiesError
from test_planned_fleets_build import FLEETS
from test_unusual_fleets import platform

from dra_planner.clouds import cloud
from dra_planner.fleet import read_fleet

Declare = Callable[..., Any]
GPU = {
    "driver": "gpu.nvidia.com",
    "devices": [
        {
            "name": f"gpu-{index}",
            "attributes": {
                "type": {"string": "gpu"},
                "productName": {"string": "NVIDIA R200"},
                "uuid": {"unknown": "device"},
            },
            "capacity": {"memory": {"value": "288Gi"}},
        }
        for index in range(4)
    ],
}
NPU = {"driver": "npu.example.org", "devices": [{"name": "npu-0"}]}
SIZE = {"cpu": "96", "memory": "900Gi", "allocatable": {"cpu": "95", "memory": "880Gi"}}
MACHINES = {"aks": "Standard_ND4_R200_v7", "eks": "p8.24xlarge", "gke": "a9-ultragpu-4g"}
POOLS = {"aks": "AgentPool", "eks": "NodeGroup", "gke": "NodePool"}


def fleet(name: str, driver: Mapping[str, Any], **row: Any) -> dict[str, Any]:
    learned = {"machine": MACHINES[name], **SIZE, "drivers": [driver], **row}
    pool = {**FLEETS[name]["pools"][0], "machine": MACHINES[name], "name": "gpus"}
    return {**FLEETS[name], "pools": [pool], "catalog": [learned]}


@pytest.mark.parametrize("driver", [GPU, NPU], ids=["gpu", "npu"])
@pytest.mark.parametrize("name", sorted(FLEETS))
def test_pool_of_a_learned_machine_type_has_the_planned_taints(
    declare: Declare, name: str, driver: Mapping[str, Any]
) -> None:
    row = {"acceleratorType": "nvidia-r200"} if name == "gke" else {}
    document = fleet(name, driver, **row)

    declared = declare(lambda: platform(document))

    found = [
        each.inputs for each in declared.all(POOLS[name]) if MACHINES[name] in str(each.inputs)
    ]
    assert len(found) == 1
    planned = read_fleet(document)
    (pool,) = planned.pools
    taints = cloud(name).taints(planned.nodes_of(pool, planned.machine(pool.machine)))
    assert all(taint.key in str(found[0]) for taint in taints)
    assert ("nvidia-r200" in str(found[0])) is (name == "gke" and driver is GPU)


def test_gke_rejects_gpus_of_unknown_type(declare: Declare) -> None:
    with pytest.raises(InputPropertiesError, match="set acceleratorType in its catalog row"):
        declare(lambda: platform(fleet("gke", GPU)))
