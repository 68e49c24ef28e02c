"""Racks of multi-node NVLink: a ComputeDomain inside one, and nodes in whole racks; every way is
tried as a referee.
"""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.pools.racks import fewest_racks
from dra_planner.sources import Source

GPUS = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: four}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 4}}]}}}
"""
CLOUDS = {
    "gke": ("us-central1", "e2-standard-4", "a4x-highgpu-4g"),
    "aks": ("eastus", "Standard_D4s_v5", "Standard_ND128isr_NDR_GB200_v6"),
}


def domain(name: str, pods: int) -> Source:
    """A ComputeDomain and the job whose pods have its channel and all GPUs of a node."""
    text = f"""---
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata: {{name: {name}}}
spec: {{numNodes: 0, channel: {{resourceClaimTemplate: {{name: {name}-channel}}}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}}}
spec:
  parallelism: {pods}
  template:
    spec:
      restartPolicy: Never
      tolerations: [{{operator: Exists}}]
      resourceClaims:
        - {{name: gpu, resourceClaimTemplateName: four}}
        - {{name: channel, resourceClaimTemplateName: {name}-channel}}
      containers: [{{name: a, image: registry.example/a:1, resources: {{claims: [{{name: gpu}}, {{name: channel}}]}}}}]
"""
    return Source(f"{name}.yaml", text)


def planned(
    most: int, *work: Source, cloud: str = "gke", machine: str = "", second: Any = None, **more: Any
) -> Plan:
    region, system, racked = CLOUDS[cloud]
    pool = {
        "name": "gb",
        "machine": machine or racked,
        "count": {"max": most},
        "pricePerHour": 50,
        **more,
    }
    if cloud == "gke" and not machine:
        pool = {"capacity": {"reservation": "rack"}, **pool}  # there is no other way to a4x
    others = [{**pool, "name": "second", "count": second}] if second else []
    where = read_fleet(
        {
            "cloud": cloud,
            "region": region,
            "kubernetes": "1.34",
            "systemPool": {"machine": system},
            "drivers": {"nvidia": {"version": "25.8.1", "computeDomains": True}},
            "pools": [pool, *others],
        }
    )
    return make_plan(
        PlanRequest(sources=(Source("gpus.yaml", GPUS), *work), fleet=where, steps=20_000)
    )


def messages_by_code(plan: Plan) -> dict[str, str]:
    return {each.code: each.message for each in plan.diagnostics}


def fix(plan: Plan) -> str:
    (found,) = [each.fix for each in plan.diagnostics if each.fix]
    return found


@pytest.mark.parametrize("cloud", CLOUDS)
def test_domain_larger_than_a_rack_never_fits(cloud: str) -> None:
    plan = planned(90, domain("train", 20), cloud=cloud)
    assert plan.verdict == "does-not-fit"
    assert "needs 20 nodes" in messages_by_code(plan)["domain-exceeds-rack"]
    assert "has only 18" in messages_by_code(plan)["domain-exceeds-rack"]
    assert (
        fix(plan) == "limit each ComputeDomain to 18 nodes, and create one ComputeDomain per rack"
    )
    assert planned(90, domain("train", 18), domain("more", 2), cloud=cloud).verdict == "fits"


def test_domains_that_cannot_share_a_rack_need_whole_racks() -> None:
    plan = planned(90, domain("a", 10), domain("b", 10))
    assert (plan.verdict, plan.pools[0].nodes.desired, plan.pools[0].packing) == ("fits", 36, 20)
    assert (
        "needs 2 racks of 18 nodes. 20 nodes have capacity for their pods, but Pulumi creates 36. "
        "A queue must place the pods of each ComputeDomain in one rack"
        in messages_by_code(plan)["count-in-whole-racks"]
    )


def test_domains_that_fit_together_share_one_rack() -> None:
    assert planned(90, domain("a", 10), domain("b", 8)).pools[0].nodes.desired == 18


def test_whole_racks_beyond_the_maximum_do_not_fit() -> None:
    plan = planned(35, domain("a", 10), domain("b", 10))
    assert plan.verdict == "does-not-fit"
    assert (
        "needs 2 racks of 18 nodes (36 nodes), but it has at most 35"
        in messages_by_code(plan)["racks-exceed-maximum"]
    )
    assert fix(plan) == 'set the maximum of pool "gb" to 36'
    assert planned(36, domain("a", 10), domain("b", 10)).verdict == "fits"


def test_domain_over_two_pools_is_a_warning() -> None:
    plan = planned(18, domain("a", 12), domain("b", 12), second={"max": 18})
    assert (
        "placed in pools gb and second, but these pools don't share a rack"
        in messages_by_code(plan)["domain-in-several-pools"]
    )
    assert fix(plan) == "set the same pulumi-dra/pool label in the nodeSelector of all these pods"
    pinned = [
        Source(
            each,
            domain(each, 12).text.replace(
                "tolerations:", f"nodeSelector: {{pulumi-dra/pool: {pool}}}\n      tolerations:"
            ),
        )
        for each, pool in (("a", "gb"), ("b", "second"))
    ]
    plan = planned(18, *pinned, second={"max": 18})
    assert (plan.verdict, set(messages_by_code(plan))) == ("fits", {"count-in-whole-racks"})


def test_reserved_part_of_a_rack_counts_as_the_rack() -> None:
    bought = {"capacity": {"reservation": "r", "nodes": 9}}
    assert planned(9, domain("a", 4), **bought).pools[0].nodes.desired == 9


def test_machine_type_without_multi_node_nvlink_is_a_warning() -> None:
    plan = planned(4, domain("a", 2), machine="a3-highgpu-8g")
    assert plan.verdict == "fits"
    assert (
        'machine type a3-highgpu-8g in pool "gb" isn\'t known to support multi-node NVLink, so '
        "the domain's pods might not be able to share memory"
        in messages_by_code(plan)["domain-without-nvlink"]
    )
    assert fix(plan) == "use a machine type with multi-node NVLink, for example GB200"
    assert set(messages_by_code(planned(18, domain("a", 2)))) == {"count-in-whole-racks"}


def referee(domains: list[int], size: int) -> int:
    """Try every rack for every domain."""
    for racks in range(1, len(domains) + 1):
        for where in product(range(racks), repeat=len(domains)):
            filled = [0] * racks
            for nodes, at in zip(domains, where, strict=True):
                filled[at] += nodes
            if max(filled) <= size:
                return racks
    raise AssertionError


@pytest.mark.parametrize("seed", range(60))
def test_domains_do_not_fit_in_fewer_racks(seed: int) -> None:
    chance = random.Random(seed)
    size = chance.choice((4, 9, 18))
    domains = [chance.randint(1, size) for _ in range(chance.randint(1, 6))]
    assert fewest_racks(domains, size) == (referee(domains, size), True)


@pytest.mark.parametrize(
    ("domains", "size", "expected"),
    [
        ([7] * 1500, 18, (750, True)),
        ([3] * 4, 1, (4, True)),
        ([5] * 900 + [13] * 900, 18, (900, True)),
    ],
)
def test_racks_of_many_domains_are_counted_quickly(
    domains: list[int], size: int, expected: tuple[int, bool]
) -> None:
    assert fewest_racks([min(each, size) for each in domains], size) == expected
