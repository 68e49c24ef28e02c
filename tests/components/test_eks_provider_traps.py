"""EKS pools that a cloud accepts and that fail later: images, strategies, Local Zones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dra_planner.clouds.eks import CLOUD
from pulumi_dra.eks import EksCluster, EksGpuPool
from pulumi_dra.inputs.reader import WrongInputs

POOL: dict[str, Any] = {
    "cluster_name": "dev",
    "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
    "subnet_ids": ["subnet-a"],
    "machine": "g7.12xlarge",
    "max_nodes": 1,
}
BOUGHT = {
    "capacity": "reservation",
    "reservation_id": "cr-0123456789abcdef0",
    "machine": "p5.48xlarge",
}
BLOCK = {**BOUGHT, "capacity": "capacity-block"}


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        pytest.param(
            {"release_version": "1.35.2-20260901"},
            "doesn't work with image version 20260901",
            id="g7 on an old image",
        ),
        pytest.param(
            {**BOUGHT, "update_strategy": "DEFAULT"}, "must be MINIMAL", id="surge in a reservation"
        ),
        pytest.param(
            {**BLOCK, "update_strategy": "DEFAULT"},
            "must be MINIMAL",
            id="surge in a Capacity Block",
        ),
        pytest.param({"image": "bottlerocket"}, "TOML settings", id="Bottlerocket"),
    ],
)
def test_inputs_that_fail_later_are_rejected(args: dict[str, Any], reason: str) -> None:
    with pytest.raises(WrongInputs, match=reason):
        EksGpuPool("gpu", {**POOL, **args})


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"release_version": "1.35.2-20260917"}, id="g7 on a new image"),
        pytest.param({"update_strategy": "DEFAULT"}, id="surge on demand"),
        pytest.param({**BOUGHT, "update_strategy": "MINIMAL"}, id="one by one in a reservation"),
    ],
)
def test_valid_inputs_are_declared(declare: Callable[..., Any], args: dict[str, Any]) -> None:
    assert declare(lambda: EksGpuPool("gpu", {**POOL, **args})).one("NodeGroup")


@pytest.mark.parametrize(
    ("zone", "fault", "is_local"),
    [
        ("us-east-1a", "", False),
        ("us-east-1-dfw-2a", "", True),
        ("us-west-2-lax-1b", "isn't in region us-east-1", True),
        ("us-east-1-dfw", "isn't a zone", False),
    ],
)
def test_local_zones_are_recognized(zone: str, fault: str, is_local: bool) -> None:
    assert fault in CLOUD.zone_fault(zone, "us-east-1")
    assert bool(fault) is bool(CLOUD.zone_fault(zone, "us-east-1"))
    assert CLOUD.is_local_zone(zone) is is_local


def test_local_zone_has_nodes_but_no_gateway_or_control_plane(
    declare: Callable[..., Any],
) -> None:
    zones = ["us-east-1a", "us-east-1b", "us-east-1-dfw-2a"]
    declared = declare(lambda: EksCluster("dev", {"kubernetes_version": "1.35", "zones": zones}))
    subnets = declared.all("Subnet")
    assert {each.inputs["availabilityZone"] for each in subnets} == set(zones)
    assert len(declared.all("NatGateway")) == 2
    assert len(declared.one("Cluster").inputs["vpcConfig"]["subnetIds"]) == 2
