"""Amounts of GPU memory that nodes have but Karpenter's table doesn't: Karpenter starts no node for
them.
"""

from __future__ import annotations

import pytest
from driver_fleets import fleet, job, planned, request

from dra_planner import catalog
from dra_planner.catalog.tables import Row, read_table
from dra_planner.drivers import DriverNode, nvidia
from dra_planner.drivers.nvidia.options import NvidiaDriver
from dra_planner.plan import Plan
from dra_planner.quantity import Quantity
from dra_planner.releases import features_of


def plan_for(amount: str, autoscaler: str = "karpenter", machine: str = "p5.48xlarge") -> Plan:
    selector = f'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{amount}")) >= 0'
    pools = {
        **fleet("eks", machine, {"nvidia": {"version": "0.5.0"}}),
        "autoscaler": autoscaler,
    }
    pools["pools"][0] |= {"count": {"min": 1, "max": 2}, "zones": ["us-east-2a"]}
    return planned(
        pools, job(1, request("gpu", "gpu.nvidia.com", 1, selector), tolerates="nvidia.com/gpu")
    )


def advice(plan: Plan) -> list[str]:
    return [each.fix for each in plan.blockers if "Karpenter assumes" in each.message]


@pytest.mark.parametrize("amount", ["81559Mi", "81300Mi", "79.5Gi"])
def test_amount_between_both_limits_is_replaced_by_one_within_both(amount: str) -> None:
    assert advice(plan_for(amount)) == [f'use quantity("81152Mi") instead of quantity("{amount}")']
    followed = plan_for("81152Mi")
    assert advice(followed) == []
    assert followed.verdict == "fits"


@pytest.mark.parametrize(
    ("amount", "autoscaler"), [("79Gi", "karpenter"), ("80Gi", "karpenter"), ("81559Mi", "none")]
)
def test_other_amounts_and_other_autoscalers_need_no_advice(amount: str, autoscaler: str) -> None:
    assert advice(plan_for(amount, autoscaler)) == []


def test_a_plain_40gi_starts_no_a100_node() -> None:
    assert advice(plan_for("40Gi", machine="p4d.24xlarge")) == [
        'use quantity("40320Mi") instead of quantity("40Gi")'
    ]


@pytest.mark.parametrize("row", read_table("karpenter_memory"), ids=lambda row: str(row["machine"]))
def test_karpenter_amounts_equal_the_largest_mig_profile(row: Row) -> None:
    """Only with DynamicMIG does the driver publish them for a whole GPU."""
    machine = catalog.machine("eks", row["machine"])
    assert machine.accelerator is not None
    gpu = machine.accelerator.gpu
    profile = {
        each["memory_mib"]
        for each in read_table("mig_profiles")
        if each["gpu"] == gpu and each["profile"].startswith("7g.") and "+" not in each["profile"]
    }
    node = DriverNode(machine=machine, name="n", features=features_of(36))
    options = NvidiaDriver(version="0.5.0", feature_gates={"DynamicMIG": True})
    published = {
        str(device.capacity["memory"].value)
        for part in nvidia.DRIVER.slices(options, node)
        for device in part.devices
        if device.name.startswith("gpu-") and "mig" not in device.name
    }
    amount = Quantity.parse(f"{row['memory_mib']}Mi")
    assert row["memory_mib"] in profile or str(amount) in published
