"""An amount of GPU memory that nodes have and Karpenter's table doesn't: no node is started for
it.
"""

from __future__ import annotations

import pytest
from driver_fleets import fleet, job, planned, request

from dra_planner.plan import Plan


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
    return [each.fix for each in plan.hindrances if "Karpenter counts" in each.message]


@pytest.mark.parametrize("amount", ["81559Mi", "81300Mi", "79.5Gi"])
def test_an_amount_between_both_is_answered_with_one_that_satisfies_both(amount: str) -> None:
    assert advice(plan_for(amount)) == [
        f'write quantity("81152Mi") instead of quantity("{amount}")'
    ]
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
        'write quantity("40320Mi") instead of quantity("40Gi")'
    ]
