"""DeviceTaintRules add their taint to the devices that they select."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dra_planner.manifests.parsing.taint_rules import parse_taint_rule
from dra_planner.model import Device, DeviceTaint, Node, ObjectMeta, ResourceSlice
from dra_planner.offers import Offer, with_taint_rules

SLICE = ResourceSlice(
    name="s",
    driver="gpu.nvidia.com",
    pool="node-1",
    node_name="node-1",
    devices=(Device(name="gpu-0", taints=(DeviceTaint(key="own"),)), Device(name="gpu-1")),
)
PREDICTED = Offer(
    name="l4",
    origin="predicted",
    node=Node(meta=ObjectMeta(name="node-1"), allocatable={}),
    slices=(SLICE,),
    count_min=0,
    count_max=1,
)


def tainted(offer: Offer, **selector: str) -> list[str]:
    taint = {"key": "drain", "effect": "NoSchedule"}
    rule = parse_taint_rule(
        {"metadata": {"name": "r"}, "spec": {"deviceSelector": selector, "taint": taint}}
    )
    (made,) = with_taint_rules([offer], [rule])
    devices = [device for part in made.slices for device in part.devices]
    assert devices[0].taints[0].key == "own"
    return [device.name for device in devices if any(each.rule == "r" for each in device.taints)]


@pytest.mark.parametrize(
    ("selector", "devices"),
    [
        ({}, ["gpu-0", "gpu-1"]),
        ({"driver": "gpu.nvidia.com"}, ["gpu-0", "gpu-1"]),
        ({"driver": "other"}, []),
        ({"driver": "gpu.nvidia.com", "device": "gpu-1"}, ["gpu-1"]),
    ],
)
def test_rule_taints_devices_that_match_all_its_fields(
    selector: dict[str, str], devices: list[str]
) -> None:
    assert tainted(PREDICTED, **selector) == devices


def test_device_pool_is_known_only_for_existing_nodes() -> None:
    assert tainted(PREDICTED, pool="node-1") == []
    assert tainted(replace(PREDICTED, origin="observed"), pool="node-1") == ["gpu-0", "gpu-1"]


def test_offers_are_unchanged_without_rules() -> None:
    assert with_taint_rules([PREDICTED], []) == (PREDICTED,)
