"""Machine types of the system pool: a new one, and a larger one for pods without devices."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_planner import catalog
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.plan.suggestion.system_machine import (
    cheapest_system_machine,
    larger_system_machine,
    system_nodes_usd,
)
from dra_planner.sources import Source


def fleet(machine: str = "m7i.large", region: str = "us-east-1", **pool: Any) -> Fleet:
    """A fleet on EKS whose system pool has this machine type."""
    return read_fleet(
        {
            "cloud": "eks",
            "region": region,
            "kubernetes": "1.36",
            "systemPool": {"machine": machine, **pool},
            "drivers": {"nvidia": {"version": "0.4.1"}},
            "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 1}}],
        }
    )


def larger(on: Fleet, *cpus: str) -> str:
    """The larger machine type for pods that request these amounts of CPU."""
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{number}"},
            "spec": {
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
            },
        }
        for number, cpu in enumerate(cpus)
    ]
    source = Source("m.yaml", "\n---\n".join(map(json.dumps, pods)))
    judgement = make_plan(PlanRequest(sources=(source,), fleet=on, with_fixes=False)).judgement
    return larger_system_machine(on, judgement.demand.shapes, judgement)


def test_sufficient_machine_type_is_not_changed() -> None:
    assert larger(fleet(), "1", "1", "1") == ""


@pytest.mark.parametrize("machine", ["m7i.large", "m7g.large"])
def test_larger_machine_type_has_the_architecture_of_the_pool(machine: str) -> None:
    on = fleet(machine)
    found = larger(on, "6")
    assert (on.machine(found).vcpus or 0) > 6
    assert on.machine(found).arch == on.machine(machine).arch


def test_smallest_sufficient_machine_type_is_suggested() -> None:
    """No prices of system machines are in the tables, so size decides."""
    on = fleet()
    found = on.machine(larger(on, "6"))
    assert catalog.price(found, on.region) is None
    smaller = [
        each
        for each in catalog.machines_without_accelerators("eks")
        if each.arch == found.arch
        and each.is_offered
        and (each.vcpus or 0, each.memory_mib or 0) < (found.vcpus or 0, found.memory_mib or 0)
    ]
    assert len(smaller) > 10
    assert all(larger(fleet(each.name), "6") for each in smaller[:10])


def test_no_machine_type_fits_a_pod_of_ten_thousand_cpus() -> None:
    assert larger(fleet(), "10000") == ""


@pytest.mark.parametrize("cloud", [("eks", "us-east-1"), ("gke", "us-central1")])
def test_new_system_machine_type_can_run_controllers(cloud: tuple[str, str]) -> None:
    name, region = cloud
    (machine,) = [
        each
        for each in catalog.machines_without_accelerators(name)
        if each.name == cheapest_system_machine(name, region)
    ]
    assert machine.arch == "amd64"
    assert (machine.vcpus or 0) >= 2
    assert (machine.memory_mib or 0) >= 8 * 1024


def test_price_of_system_nodes_is_their_total() -> None:
    """A GPU machine type as system pool is the only one with a price in the tables."""
    one, three = (system_nodes_usd(fleet("g6.2xlarge", count=count)) for count in (1, 3))
    assert one is not None
    assert three == 3 * one


def test_unknown_system_price_stays_unknown() -> None:
    assert system_nodes_usd(fleet()) is None
    assert system_nodes_usd(None) is None
