"""A running cluster compared with the planned nodes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dra_planner.fleet import read_fleet
from dra_planner.model import (
    CelSelector,
    Device,
    DeviceCapacity,
    DeviceClass,
    DeviceTaint,
    Node,
    ObjectMeta,
    Taint,
    Unknown,
    Version,
)
from dra_planner.offers import (
    Offer,
    predict_offers,
    rows_to_add,
    verify_classes,
    verify_driver,
    verify_offers,
)
from dra_planner.quantity import Quantity
from dra_planner.releases import features_of


def predict(*pools: dict[str, Any], minor: int = 34) -> tuple[Offer, ...]:
    fleet = read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": f"1.{minor}",
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "25.8.1"}},
            "pools": list(pools),
        }
    )
    return predict_offers(fleet, features_of(minor))


L4 = {"name": "l4", "machine": "g6.12xlarge", "count": {"min": 0, "max": 4}}
H100 = {"name": "h100", "machine": "p5.48xlarge", "count": {"min": 0, "max": 4}}


def real(offer: Offer, name: str = "ip-10-0-0-1") -> Offer:
    """The node that such a prediction describes: every unknown value filled in as a driver
    would.
    """
    values = {"driverVersion": Version("580.95.5"), "cudaDriverVersion": Version("13.0.0")}

    def fill(device: Device) -> Device:
        attributes = {
            key: values.get(key, value.group or f"{key}-{device.name}")
            if isinstance(value, Unknown)
            else value
            for key, value in device.attributes.items()
        }
        return replace(device, attributes=attributes)

    slices = tuple(
        replace(
            each, pool=name, node_name=name, devices=tuple(fill(device) for device in each.devices)
        )
        for each in offer.slices
    )
    labels = {
        **offer.node.meta.labels,
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/zone": "us-east-1a",
    }
    node = replace(offer.node, meta=replace(offer.node.meta, name=name, labels=labels))
    return replace(
        offer, name=name, origin="observed", node=node, slices=slices, count_min=1, count_max=1
    )


def change_node(offer: Offer, **changes: Any) -> Offer:
    node: Node = replace(offer.node, **changes)
    return replace(offer, node=node)


def change_device(offer: Offer, index: int, **changes: Any) -> Offer:
    (only,) = offer.slices
    devices = list(only.devices)
    devices[index] = replace(devices[index], **changes)
    return replace(offer, slices=(replace(only, devices=tuple(devices)),))


def difference(predicted: Offer, observed: Offer) -> tuple[str, str, str, str, str]:
    (one,) = verify_offers([predicted], [observed]).differences
    return one.aspect, one.subject, one.field, one.predicted, one.observed


@pytest.mark.parametrize("pool", [L4, H100])
def test_node_that_matches_the_prediction_has_no_difference(pool: dict[str, Any]) -> None:
    (offer,) = predict(pool)
    verification = verify_offers([offer], [real(offer), real(offer, "ip-10-0-0-2")])
    assert verification.holds
    assert verification.compared == {offer.name: ("ip-10-0-0-1", "ip-10-0-0-2")}


def test_nodes_are_matched_by_label_or_machine_type() -> None:
    l4, h100 = predict(L4, H100)
    unlabelled = real(l4)
    labels = {
        key: value for key, value in unlabelled.node.meta.labels.items() if key != "pulumi-dra/pool"
    }
    unlabelled = change_node(unlabelled, meta=replace(unlabelled.node.meta, labels=labels))
    stranger = replace(real(h100, "other"), machine="p4d.24xlarge")
    stranger = change_node(stranger, meta=replace(stranger.node.meta, labels={}))
    verification = verify_offers([l4, h100], [unlabelled, stranger])
    assert verification.compared == {"l4": ("ip-10-0-0-1",)}
    assert verification.pools_without_nodes == ("h100",)
    assert verification.nodes_without_pool == ("other",)
    assert [one.subject for one in verification.differences] == ["pulumi-dra/pool"]


def test_missing_device_is_counted() -> None:
    (offer,) = predict(L4)
    node = real(offer)
    (only,) = node.slices
    fewer = replace(node, slices=(replace(only, devices=only.devices[:3]),))
    assert difference(offer, fewer) == ("count", "gpu.nvidia.com", "gpu", "4", "3")


def test_driver_that_publishes_nothing_is_one_difference() -> None:
    (offer,) = predict(L4)
    assert difference(offer, replace(real(offer), slices=())) == (
        "driver",
        "gpu.nvidia.com",
        "",
        "4 devices",
        "",
    )


def test_attributes_and_capacities_are_compared_individually() -> None:
    (offer,) = predict(L4)
    node = real(offer)
    attributes = node.slices[0].devices[1].attributes
    other = change_device(node, 1, attributes={**attributes, "productName": "NVIDIA L40"})
    assert difference(offer, other) == (
        "attribute",
        "gpu-1",
        "productName",
        "NVIDIA L4",
        "NVIDIA L40",
    )
    more = change_device(node, 1, attributes={**attributes, "numaNode": 1})
    assert difference(offer, more) == ("attribute", "gpu-1", "numaNode", "", "1")
    smaller = change_device(node, 2, capacity={"memory": DeviceCapacity(Quantity.parse("22Gi"))})
    assert difference(offer, smaller) == ("capacity", "gpu-2", "memory", "23034Mi", "22Gi")


def test_values_predicted_to_be_equal_must_be_equal() -> None:
    (offer,) = predict(L4)
    node = real(offer)
    attributes = node.slices[0].devices[0].attributes
    mixed = change_device(node, 0, attributes={**attributes, "driverVersion": Version("570.1.0")})
    assert difference(offer, mixed)[:4] == (
        "attribute",
        "gpu.nvidia.com",
        "driverVersion",
        "one value (node)",
    )


def test_values_predicted_to_differ_must_differ() -> None:
    (offer,) = predict(H100)
    node = real(offer)
    attributes = node.slices[0].devices[0].attributes
    same = change_device(
        node, 0, attributes={**attributes, "resource.kubernetes.io/pcieRoot": "pci0000:55"}
    )
    assert difference(offer, same)[2:] == (
        "resource.kubernetes.io/pcieRoot",
        "8 different values",
        "7",
    )


def test_tainted_device_is_a_difference() -> None:
    (offer,) = predict(L4)
    sick = change_device(
        real(offer), 3, taints=(DeviceTaint(key="gpu.nvidia.com/xid", value="79"),)
    )
    assert difference(offer, sick) == (
        "device-taint",
        "gpu-3",
        "gpu.nvidia.com/xid",
        "",
        "gpu.nvidia.com/xid=79:NoSchedule",
    )


def test_properties_of_the_node_are_compared() -> None:
    (offer,) = predict(L4)
    node = real(offer)
    less = change_node(node, allocatable={**node.node.allocatable, "memory": 1})
    assert difference(offer, less)[:2] == ("allocatable", "memory")
    bare = change_node(node, taints=(*node.node.taints, Taint("team", "a")))
    assert difference(offer, bare) == ("taint", "team", "", "", "team=a:NoSchedule")


def test_more_nodes_than_the_maximum_are_a_difference() -> None:
    (offer,) = predict({**L4, "count": 1})
    (one,) = verify_offers([offer], [real(offer, "a"), real(offer, "b")]).differences
    assert (one.aspect, one.predicted, one.observed) == ("nodes", "1", "2")
    assert str(one) == "l4: nodes predicted 1, observed 2"


def test_known_node_needs_no_row() -> None:
    (offer,) = predict(L4)
    assert rows_to_add([real(offer)]) == ()


def test_unknown_gpu_prints_the_row_to_add() -> None:
    (offer,) = predict(L4)
    node = real(offer)
    attributes = {**node.slices[0].devices[0].attributes, "productName": "NVIDIA L4 Super"}
    (row,) = rows_to_add([change_device(node, 0, attributes=attributes)])
    assert row.table == "gpus"
    assert row.line.startswith("l4-super,NVIDIA L4 Super,Nvidia,Ada Lovelace,8.9.0,23034,")
    assert row.line.endswith(",observed,resourceslice-dumps,")


def test_different_fact_prints_the_row_to_change() -> None:
    (offer,) = predict(L4)
    node = change_device(
        real(offer), 0, capacity={"memory": DeviceCapacity(Quantity.parse("24Gi"))}
    )
    (row,) = rows_to_add([node])
    assert row.reason == "NVIDIA L4: the catalog has memory_mib 23034"
    assert row.line.startswith("l4,NVIDIA L4,Nvidia,Ada Lovelace,8.9.0,24576,")
    assert row.replaces == "l4"


def test_unknown_machine_type_prints_its_row_and_topology() -> None:
    (offer,) = predict(L4)
    rows = rows_to_add([replace(real(offer), machine="g9.12xlarge")])
    assert [row.table for row in rows] == ["gpu_topology"] * 4 + ["machines_eks"]
    assert rows[0].line == "eks,g9.12xlarge,0,,pci0000:37,,,observed,resourceslice-dumps"
    assert rows[-1].line.startswith("g9.12xlarge,g9,amd64,48,,gpu,nvidia,NVIDIA L4,4,l4,")


def test_interfaces_are_matched_by_properties_not_by_name() -> None:
    fleet = read_fleet(
        {
            "cloud": "gke",
            "region": "us-central1",
            "kubernetes": "1.36",
            "network": {"zones": ["us-central1-a"]},
            "systemPool": {"machine": "e2-standard-4"},
            "drivers": {"nvidia": {"version": "0.4.1"}, "dranet": True},
            "pools": [{"name": "h200", "machine": "a3-ultragpu-8g", "count": {"max": 1}}],
        }
    )
    (offer,) = predict_offers(fleet, features_of(36))
    node = real(offer)
    gpus, network = node.slices
    # the gVNIC comes first in order of names
    buses = ["91", "92", "98", "99", "c6", "c7", "cd", "ce", "05"]
    renamed = tuple(
        replace(
            device,
            name=f"pci-0000-{bus}-00-0",
            attributes={**device.attributes, "dra.net/type": "device"},
        )
        for device, bus in zip(network.devices, buses, strict=True)
    )
    node = replace(node, slices=(gpus, replace(network, devices=renamed)))
    assert verify_offers([offer], [node]).holds
    fewer = replace(node, slices=(gpus, replace(network, devices=renamed[1:])))
    assert difference(offer, fewer) == ("count", "dra.net", "rdma", "8", "7")


def test_planned_node_count_is_compared() -> None:
    (offer,) = predict(L4)
    nodes = [real(offer, "a"), real(offer, "b")]
    assert verify_offers([offer], nodes, {"l4": (2, 2)}).holds
    (one,) = verify_offers([offer], nodes, {"l4": (3, 3)}).differences
    assert (one.aspect, one.predicted, one.observed) == ("nodes", "3", "2")


def test_cordoned_node_is_reported_as_cordoned() -> None:
    (offer,) = predict(L4)
    node = real(offer)
    taint = Taint("node.kubernetes.io/unschedulable", "")
    cordoned = change_node(node, unschedulable=True, taints=(*node.node.taints, taint))
    assert difference(offer, cordoned) == ("cordoned", "", "", "", "cordoned")


def test_amounts_are_printed_in_common_units() -> None:
    (offer,) = predict(L4)
    node = real(offer)
    less = change_node(
        node, allocatable={**node.node.allocatable, "memory": 3 * 2**29, "cpu": 1500}
    )
    observed = {each.subject: each.observed for each in verify_offers([offer], [less]).differences}
    assert observed == {"memory": "1536Mi", "cpu": "1500m"}


def gpu_class(*selectors: str, extended: str | None = None) -> DeviceClass:
    return DeviceClass(
        meta=ObjectMeta(name="gpu.nvidia.com"),
        selectors=tuple(CelSelector(text) for text in selectors),
        extended_resource_name=extended,
    )


def test_classes_are_compared_with_the_planned_ones() -> None:
    planned = {"gpu.nvidia.com": gpu_class("device.driver ==  'gpu.nvidia.com'")}
    own = replace(gpu_class("true"), meta=ObjectMeta(name="own"))
    assert not list(
        verify_classes(
            planned, {"gpu.nvidia.com": gpu_class("device.driver == 'gpu.nvidia.com'"), "own": own}
        )
    )
    (gone,) = verify_classes(planned, {"own": own})
    assert (gone.aspect, gone.subject, gone.predicted, gone.observed) == (
        "class",
        "gpu.nvidia.com",
        "a DeviceClass",
        "",
    )
    changed = gpu_class("device.driver == 'gpu.nvidia.com'", extended="nvidia.com/gpu")
    (extended,) = verify_classes(planned, {"gpu.nvidia.com": changed})
    assert (extended.field, extended.predicted, extended.observed) == (
        "extendedResourceName",
        "",
        "nvidia.com/gpu",
    )


@pytest.mark.parametrize(
    ("chart", "observed"),
    [
        ("nvidia-dra-driver-gpu-25.8.1", []),
        ("nvidia-dra-driver-gpu-25.12.0", ["nvidia-dra-driver-gpu-25.12.0"]),
        ("dra-driver-nvidia-gpu-0.4.1", ["dra-driver-nvidia-gpu-0.4.1"]),
        ("nvidia-dra-driver-gpu-helper-1.0.0", []),
        ("", []),
    ],
)
def test_driver_version_is_compared_with_its_chart(chart: str, observed: list[str]) -> None:
    plugin = ObjectMeta(
        name="kubelet-plugin", namespace="dra", labels={"helm.sh/chart": chart} if chart else {}
    )
    found = list(verify_driver("25.8.1", [plugin, ObjectMeta(name="other")]))
    assert [each.observed for each in found] == observed
    assert all(each.predicted == "nvidia-dra-driver-gpu-25.8.1" for each in found)


def test_version_with_the_older_charts_name_is_recognized() -> None:
    """The chart of version 0.4.1 sets its label to nameOverride, and the components set
    nameOverride to the older chart's name.
    """
    plugin = ObjectMeta(
        name="kubelet-plugin",
        namespace="dra",
        labels={"helm.sh/chart": "nvidia-dra-driver-gpu-0.4.1"},
    )
    assert not list(verify_driver("0.4.1", [plugin]))
    (found,) = verify_driver("0.5.0", [plugin])
    assert (found.predicted, found.observed) == (
        "dra-driver-nvidia-gpu-0.5.0",
        "nvidia-dra-driver-gpu-0.4.1",
    )
