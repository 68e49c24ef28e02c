"""`suggest` for claims that need a part of a GPU: the fleet shares or divides GPUs. Otherwise, the
plan warns that each claim gets a whole one.
"""

from __future__ import annotations

import re

import pytest
from plan_builders import deployment

from dra_planner import catalog
from dra_planner.clouds import cloud
from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.plan.suggestion.smallest_machines import smallest_fleet
from dra_planner.plan.suggestion.suggest import suggest_fleets
from dra_planner.plan.suggestion.suggestions import PoolType, Suggestions, SuggestRequest
from dra_planner.sources import Source

EKS = ("eks", "us-east-1", ("g4dn.xlarge", "g6.xlarge", "p4d.24xlarge", "p5.4xlarge"))
GKE = ("gke", "us-central1", ("g2-standard-8", "g2-standard-24"))


def part(amounts: str = "{memory: 8Gi}", replicas: int = 2) -> Source:
    text = deployment(replicas=replicas).text
    return Source("web.yaml", text.replace("count: 1", f"capacity: {{requests: {amounts}}}"))


def partition(profile: str = "1g.10gb", replicas: int = 2) -> Source:
    selector = f'device.attributes["gpu.nvidia.com"].profile == "{profile}"'
    text = deployment(replicas=replicas).text.replace("gpu.nvidia.com", "mig.nvidia.com", 1)
    return Source(
        "mig.yaml", text.replace("count: 1", f"selectors: [{{cel: {{expression: '{selector}'}}}}]")
    )


def suggest(
    *sources: Source,
    where: tuple[str, str, tuple[str, ...]] = EKS,
    kubernetes: str = "1.35",
    may_upgrade: bool = True,
) -> Suggestions:
    name, region, machines = where
    return suggest_fleets(
        SuggestRequest(
            sources=sources,
            cloud=name,
            region=region,
            kubernetes=kubernetes,
            machines=machines,
            may_upgrade=may_upgrade,
        )
    )


@pytest.mark.parametrize(("kubernetes", "expected"), [("1.35", "1.36"), ("1.37", "1.37")])
def test_claims_of_memory_get_a_fleet_that_shares_gpus(kubernetes: str, expected: str) -> None:
    found = suggest(part(), kubernetes=kubernetes)
    assert found.best is not None
    assert found.best.document["kubernetes"] == expected
    assert found.best.machines == (("g6.xlarge", 1),)
    plan = make_plan(PlanRequest(sources=(part(),), fleet=read_fleet(found.best.document)))
    assert (plan.verdict, [each.code for each in plan.diagnostics]) == ("fits", [])


def test_chosen_version_is_kept_with_a_warning() -> None:
    found = suggest(part(), may_upgrade=False)
    assert found.best is not None
    assert found.best.document["kubernetes"] == "1.35"
    assert [each.code for each in found.best.plan.diagnostics] == ["field-dropped"]


def test_cloud_without_shares_gets_whole_gpus_with_a_warning() -> None:
    found = suggest(part(), where=GKE)
    assert found.best is not None
    assert "featureGates" not in found.best.document["drivers"]["nvidia"]
    assert found.best.machines == (("g2-standard-8", 2),)
    assert [each.code for each in found.best.plan.diagnostics] == ["field-dropped"]


def test_claims_of_whole_gpus_get_a_fleet_without_shares() -> None:
    found = suggest(deployment(replicas=2))
    assert found.best is not None
    assert found.best.document["drivers"]["nvidia"].keys() == {"version"}


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ([partition()], [("p5.4xlarge", "all-1g.10gb")]),
        ([partition("1g.5gb")], [("p4d.24xlarge", "all-1g.5gb")]),
        (
            [partition(), deployment("whole", gpus=1)],
            [("g4dn.xlarge", "none"), ("p5.4xlarge", "all-1g.10gb")],
        ),
    ],
    ids=["a profile", "a profile of another GPU", "with whole GPUs"],
)
def test_claims_of_mig_devices_get_pools_with_a_mig_configuration(
    sources: list[Source], expected: list[tuple[str, str]]
) -> None:
    found = suggest(*sources)
    assert found.best is not None
    fleet = read_fleet(found.best.document)
    assert sorted((pool.machine, pool.mig) for pool in fleet.pools) == expected
    assert make_plan(PlanRequest(sources=tuple(sources), fleet=fleet)).verdict == "fits"


def test_two_configurations_of_one_machine_type_are_two_pools() -> None:
    where = ("eks", "us-east-1", ("p5.4xlarge",))
    small, large = partition(), partition("3g.40gb")
    both = (small, Source("large.yaml", large.text.replace("web", "large")))
    found = suggest(*both, where=where)
    assert found.best is not None
    assert make_plan(PlanRequest(sources=both, fleet=read_fleet(found.best.document))).verdict == (
        "fits"
    )


def test_region_without_prices_also_gets_a_mig_configuration() -> None:
    request = SuggestRequest(
        sources=(partition(),), cloud="eks", region="eu-central-1", kubernetes="1.35"
    )
    found = smallest_fleet(request)
    assert found is not None
    assert {row.get("mig") for row in found.document["pools"]} == {"all-1g.10gb"}


@pytest.mark.parametrize("name", ["eks", "gke", "aks"])
def test_pools_of_one_machine_type_have_different_valid_names(name: str) -> None:
    where = cloud(name)
    names = [
        PoolType(machine, "all-1g.10gb", suffix).name(where)
        for machine in catalog.machines(name)
        if machine.gpu_count
        for suffix in ("", "mig", "mig2")
    ]
    assert all(len(each) <= where.longest_pool_name for each in names)
    assert all(re.fullmatch("[a-z][a-z0-9-]*", each) for each in names)
    assert all(len({*three}) == 3 for three in zip(*[iter(names)] * 3, strict=True))
