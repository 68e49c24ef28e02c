"""Notes on drivers: the affected claims, and the reasons and fixes for drivers other than
NVIDIA's.
"""

from __future__ import annotations

from typing import Any

import driver_fleets
import pytest
import yaml
from driver_fleets import fleet
from observed_drivers import (
    ROOT,
    device,
    device_class,
    device_request,
    node,
    on_one_node,
    planned,
    published,
    reasons,
    work,
)

from dra_planner.catalog.tables import read_table
from dra_planner.drivers.protocol.notes import driver_notes
from dra_planner.plan import Plan
from dra_planner.releases import features_of
from dra_policies.rules import check_all, view_of

_DRIVERS = sorted({row["driver"] for row in read_table("driver_notes")})


def notes(plan: Plan) -> list[str]:
    return [each.message for each in plan.blockers if each.code == "worth-knowing"]


@pytest.mark.parametrize("driver", _DRIVERS)
def test_claim_gets_only_the_driver_notes_that_apply(driver: str) -> None:
    plan = on_one_node(driver, [device("a", index=0)], work([device_request("one", driver)]))
    expected = [
        f"{driver}: {each.text}"
        for each in driver_notes(driver)
        if each.when == "requested" and each.holds_in(36, "")
    ]
    assert notes(plan) == expected


@pytest.mark.parametrize(
    "row",
    [row for row in read_table("driver_notes") if row["when"] == "reads"],
    ids=lambda row: row["name"],
)
def test_selector_gets_the_note_on_the_attribute_it_reads(row: dict[str, str]) -> None:
    driver, name = row["driver"], row["name"]
    reading = (
        f"has(device.attributes['{driver}'].{name}) || has(device.capacity['{driver}'].{name})"
    )
    plan = on_one_node(
        driver, [device("a", index=0)], work([device_request("one", driver, reading)])
    )
    assert f"{driver}: {row['note']}" in notes(plan)


@pytest.mark.parametrize("how", ["taint", "toleration"])
def test_chart_default_tolerations_are_noted_for_tainted_nodes(how: str) -> None:
    taints = ["accelerator"] if how == "taint" else []
    plan = on_one_node(
        "gpu.amd.com",
        [device("a")],
        work([device_request("one", "gpu.amd.com")], tolerates=how == "toleration"),
        *taints,
    )
    assert any("default tolerations" in each for each in notes(plan))


@pytest.mark.parametrize(
    ("cloud", "machine", "is_noted"),
    [("eks", "p5.48xlarge", True), ("gke", "a3-ultragpu-8g", False)],
)
def test_note_on_a_chart_is_only_for_the_cloud_that_uses_it(
    cloud: str, machine: str, is_noted: bool
) -> None:
    name = "efa.networking.k8s.aws" if cloud == "eks" else "mrdma.google.com"
    drivers = {"nvidia": {"version": "0.4.1"}, "dranet": True}
    manifests = yaml.safe_dump_all(work([device_request("nic", name)], tolerates=True))
    plan = driver_fleets.planned(fleet(cloud, machine, drivers), manifests)
    assert any("aws-dranet" in each for each in notes(plan)) == is_noted


def pair(match: str, *nics: dict[str, Any], pods: int = 1) -> Plan:
    return planned(
        [
            node("n0"),
            published(
                "gpu.amd.com",
                device("gpu-0", root="pci0000:10"),
                device("gpu-1", root="pci0000:80"),
            ),
            published("nics.example.com", *nics),
            device_class("gpu.amd.com"),
            device_class("nics.example.com"),
        ],
        work(
            [device_request("gpu", "gpu.amd.com"), device_request("nic", "nics.example.com")],
            match=match,
            pods=pods,
        ),
    )


def test_constraint_on_an_attribute_of_both_drivers_is_met() -> None:
    plan = pair(ROOT, device("nic", root="pci0000:80"))
    assert plan.verdict == "fits"
    assert (
        f"gpu.amd.com and nics.example.com both publish {ROOT}, so the constraint applies to "
        "devices of both drivers"
    ) in (notes(plan))
    assert any(
        "can't prepare a claim that also has devices from another driver" in each
        for each in notes(plan)
    )


def test_constraint_on_an_attribute_of_one_driver_is_never_met() -> None:
    plan = pair(ROOT, device("nic", speed=100))
    assert plan.verdict == "does-not-fit"
    assert any(each.startswith("nics.example.com doesn't publish") for each in notes(plan))
    assert "use an attribute that both drivers publish, or remove the constraint" in [
        each.fix for each in plan.blockers
    ]
    # without the constraint, according to the fix
    assert pair("", device("nic", speed=100)).verdict == "fits"


def test_unmatched_devices_are_counted_per_request() -> None:
    plan = pair(
        ROOT, device("nic-0", root="pci0000:80"), device("nic-1", root="pci0000:80"), pods=2
    )
    assert "pci0000:10: 1 for gpu, 0 for nic" in reasons(plan)
    assert (
        f"add 1 more device for request nic with {ROOT} pci0000:10, or remove the constraint on"
        in reasons(plan)
    )
    added = pair(
        ROOT, *(device(f"nic-{each}", root=f"pci0000:{each}") for each in (80, 81, 10)), pods=2
    )
    assert added.verdict == "fits"
    nics = (device("nic-0", root="pci0000:80"), device("nic-1", root="pci0000:80"))
    assert pair("", *nics, pods=2).verdict == "fits"


def test_selector_on_unpublished_capacity_suggests_the_model() -> None:
    selector = "device.capacity['gaudi.intel.com'].memory.compareTo(quantity('96Gi')) >= 0"
    devices = [device(f"hpu-{index}", model="Gaudi2", healthy=True) for index in range(2)]
    text = reasons(
        on_one_node(
            "gaudi.intel.com", devices, work([device_request("hpu", "gaudi.intel.com", selector)])
        )
    )
    assert "Published attributes: healthy and model" in text
    assert (
        'reads the capacity "memory", which gaudi.intel.com doesn\'t publish (CEL error: ' in text
    )
    assert "A CEL error ends the pod's scheduling cycle" in text
    assert (
        f"to select Gaudi2 devices, replace `{selector}` with "
        '`device.attributes["gaudi.intel.com"].model == "Gaudi2"`'
    ) in text


@pytest.mark.parametrize("model", ["model", "productName"])
def test_model_is_suggested_even_if_its_devices_are_in_use(model: str) -> None:
    driver = "npu.example.com"
    selector = f"device.capacity['{driver}'].memory.compareTo(quantity('96Gi')) >= 0"
    good = work([device_request("npu", driver)], pods=2)
    bad = work([device_request("npu", driver, selector)])
    for each in bad:
        each["metadata"]["name"] += "-bad"
    bad[1]["spec"]["template"]["spec"]["resourceClaims"][0]["resourceClaimTemplateName"] = "t-bad"
    plan = on_one_node(
        driver, [device(f"npu-{index}", **{model: "N1"}) for index in range(2)], [*good, *bad]
    )
    text = reasons(plan)
    assert f'with `device.attributes["{driver}"].{model} == "N1"`' in text
    more = ", and add a node, because the devices that would match are in use"
    assert more in text
    assert plan.manifests is not None
    (checked,) = [
        each.fix
        for each in check_all(view_of(plan.manifests, features_of(36), plan))
        if each.code == "claim-fits-no-pool"
    ]
    assert checked.endswith(more)
    request = bad[0]["spec"]["spec"]["devices"]["requests"][0]["exactly"]
    request["selectors"][0]["cel"]["expression"] = f'device.attributes["{driver}"].{model} == "N1"'
    npus = [device(f"npu-{index}", **{model: "N1"}) for index in range(2)]
    larger = [
        node("n0"),
        node("n1"),
        published(driver, *npus),
        published(driver, *npus, on="n1"),
        device_class(driver),
    ]
    assert planned(larger, [*good, *bad]).verdict == "fits"


def shared_cpus(pods: int, *cpus: int) -> Plan:
    groups = [
        {
            **device(f"cpudevnuma00{index}", numCPUs=64),
            "allowMultipleAllocations": True,
            "capacity": {"dra.cpu/cpu": {"value": "64"}},
        }
        for index in range(2)
    ]
    requests = [
        device_request(
            f"cpus-{index}", "dra.cpu", capacity={"requests": {"dra.cpu/cpu": str(each)}}
        )
        for index, each in enumerate(cpus)
    ]
    return on_one_node("dra.cpu", groups, work(requests, pods=pods))


def test_remaining_capacity_of_shared_devices_is_reported() -> None:
    text = reasons(shared_cpus(3, 40))
    assert "they're in use (24 of 64 dra.cpu/cpu free, requested 40)" in text
    assert "request at most 24 dra.cpu/cpu, because each request uses one device" in text
    assert ", or split it into several smaller requests" in text
    assert shared_cpus(3, 24).verdict == "fits"
    assert shared_cpus(3, 20, 20).verdict == "fits"  # 40 in two requests


def test_request_split_is_not_suggested_without_enough_total_capacity() -> None:
    text = reasons(shared_cpus(3, 60))
    assert "4 of 64 dra.cpu/cpu free" in text
    assert "split" not in text
