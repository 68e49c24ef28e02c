"""What to buy: the cheapest machines of a region, against every number of every machine."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from suggest_instances import Work, draw, fleets_below, least_price, machines_for, runs

from dra_planner import catalog
from dra_planner.errors import PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.plan.suggestion.added_pools import AddedPools, find_added_pools
from dra_planner.plan.suggestion.buyable_machines import buyable_machines
from dra_planner.plan.suggestion.smallest_machines import smallest_fleet
from dra_planner.plan.suggestion.suggest import checked_request, suggest_fleets
from dra_planner.plan.suggestion.suggestions import (
    NO_PRICE,
    PricesUnknownError,
    Suggestion,
    Suggestions,
    SuggestRequest,
)
from dra_planner.sources import Source

pytestmark = pytest.mark.long

EKS, GKE, AKS = ("eks", "us-east-1"), ("gke", "us-central1"), ("aks", "eastus")


def job(name: str, pods: int, **each: int) -> Source:
    return Work(name, pods, **each).source


def suggest(*jobs: Source, where: tuple[str, str] = EKS, **options: object) -> Suggestions:
    cloud, region = where
    return suggest_fleets(
        SuggestRequest(sources=jobs, cloud=cloud, region=region, kubernetes="1.34", **options)
    )  # type: ignore[arg-type]


def optimum(found: Suggestions, pods: int) -> Decimal:
    """Return the price of the cheapest nodes, of any machine types, that fit this number of pods of
    the only shape.
    """
    (shape,) = found.plan.demand.shapes
    nodes = [
        (answer.pods_per_node, answer.offer.hourly_usd or Decimal(0))
        for answer in found.plan.judgement.answers(shape)
        if answer.pods_per_node
    ]
    least = [Decimal(0)]
    for wanted in range(1, pods + 1):
        least.append(min(price + least[max(0, wanted - held)] for held, price in nodes))
    return least[pods]


@pytest.mark.parametrize("where", [EKS, GKE, AKS], ids=["eks", "gke", "aks"])
@pytest.mark.parametrize(
    ("pods", "gpus", "cpu", "gib"),
    [
        (1, 1, 1, 4),
        (3, 1, 3, 12),
        (7, 1, 7, 28),
        (10, 1, 1, 60),
        (2, 2, 4, 16),
        (5, 4, 8, 64),
        (9, 4, 20, 100),
        (3, 8, 32, 256),
        (100, 1, 3, 20),
    ],
)
def test_pods_of_one_shape_get_the_cheapest_nodes(
    where: tuple[str, str], pods: int, gpus: int, cpu: int, gib: int
) -> None:
    found = suggest(job("train", pods, gpus=gpus, cpu=cpu, gib=gib), where=where)
    assert found.best is not None
    assert found.best.hourly_usd == optimum(found, pods), found.best.machines


MIXED = draw(5)  # six small pods, two of two GPUs, three larger ones


@pytest.fixture(scope="module")
def mixed() -> Suggestions:
    return suggest(*(each.source for each in MIXED), where=AKS)


def cheaper_fleets(found: Suggestions, work: list[Work], usd: Decimal) -> list[Counter[str]]:
    wanted = tuple(each.pods for each in work)
    return list(fleets_below(machines_for(found.plan.offers, work), wanted, usd))


def test_suggested_fleet_is_the_optimum_of_packings(mixed: Suggestions) -> None:
    assert mixed.best is not None
    least = least_price(machines_for(mixed.plan.offers, MIXED))(tuple(each.pods for each in MIXED))
    assert mixed.best.hourly_usd == mixed.plan.judgement.sizing.hourly_plan == least
    assert not cheaper_fleets(mixed, MIXED, mixed.best.hourly_usd)


def test_no_cheaper_fleet_runs_everything() -> None:
    work = draw(16)
    found = suggest(*(each.source for each in work), where=GKE)
    assert found.best is not None
    cheaper = cheaper_fleets(found, work, found.best.hourly_usd)
    assert cheaper == []
    assert not [nodes for nodes in cheaper if runs(found.best.document, nodes, work)]


def test_referee_finds_an_existing_cheaper_fleet(mixed: Suggestions) -> None:
    assert mixed.best is not None
    cheaper = cheaper_fleets(mixed, MIXED, mixed.best.hourly_usd + Decimal("0.1"))
    assert any(runs(mixed.best.document, nodes, MIXED) for nodes in cheaper)


def test_pods_prefer_the_cheaper_of_several_pools(mixed: Suggestions) -> None:
    assert mixed.best is not None
    rows = {row["name"]: row for row in mixed.best.document["pools"]}
    offers = sorted(mixed.best.plan.offers, key=lambda offer: offer.hourly_usd or Decimal(0))
    first = "pulumi-dra/prefer-other-pools"
    keys = [[taint["key"] for taint in rows[offer.name].get("taints", [])] for offer in offers]
    assert keys == [[], [first], [first, f"{first}-2"]]


def test_suggested_fleet_fits_after_reading_it_again() -> None:
    jobs = (job("small", 9), job("large", 2, gpus=8, cpu=40, gib=300))
    found = suggest(*jobs)
    assert found.best is not None
    for each in (found.best, *found.others):
        plan = make_plan(PlanRequest(sources=jobs, fleet=read_fleet(each.document)))
        assert plan.verdict == "fits"
        assert plan.cost is not None
        assert plan.cost.hourly_usd == each.hourly_usd >= found.best.hourly_usd
    assert all(len(each.machines) <= 2 for each in found.others)


def test_only_allowed_machine_types_are_compared() -> None:
    found = suggest(job("train", 4, gib=8), machines=("g6.2xlarge", "g6.12xlarge"))
    assert found.best is not None
    assert found.candidates == 2
    limited = suggest(
        job("train", 4, gib=8), machines=("g6.2xlarge", "g6.12xlarge"), max_price=Decimal(2)
    )
    assert limited.best is not None
    assert limited.best.machines == (("g6.2xlarge", 4),)
    assert limited.left_out == (("g6.12xlarge", "the price exceeds --max-price"),)


def test_workload_that_fits_no_machine_type_is_explained() -> None:
    found = suggest(job("train", 1, gpus=64), machines=("g6.2xlarge", "p5.48xlarge"))
    assert (found.best, found.plan.verdict) == (None, "does-not-fit")
    assert found.plan.workloads[0].reasons


def test_empty_comparison_is_wrong_input() -> None:
    with pytest.raises(PlannerError, match="no GPU machine type is available on demand in"):
        suggest(job("train", 1), max_price=Decimal("0.01"))
    with pytest.raises(PlannerError, match="they don't need a fleet"):
        suggest(Source("empty.yaml", ""), machines=("g6.2xlarge",))


WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 12
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      containers: [{name: main, image: web, resources: {requests: {cpu: "3", memory: 8Gi}}}]
"""


CROWDING = (
    job("train", 1, gpus=8, cpu=16, gib=64),
    job("serve", 4, cpu=4, gib=8),
    Source("web.yaml", WEB),
)


@pytest.fixture(scope="module")
def crowded() -> Suggestion:
    """Pods without GPUs, and those that need one, spread over the dear nodes first; the scheduler
    never moves them.
    """
    found = suggest(*CROWDING, where=AKS)
    assert found.best is not None
    return found.best


def tainted(pools: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    return [(row["name"], row["count"]["max"]) for row in pools if "taints" in row]


def test_pools_that_other_pods_would_fill_are_used_last(
    crowded: Suggestion,
) -> None:
    pools = crowded.document["pools"]
    assert tainted(pools) == [("nd40rsv2", 1)]
    bare = {
        **crowded.document,
        "pools": [{k: v for k, v in row.items() if k != "taints"} for row in pools],
    }
    without = make_plan(PlanRequest(sources=CROWDING, fleet=read_fleet(bare)))
    assert (crowded.plan.verdict, without.verdict) == ("fits", "cannot-tell")
    assert crowded.hourly_usd < Decimal(27)


def test_added_pools_that_other_pods_would_fill_are_used_last(
    crowded: Suggestion,
) -> None:
    cheap = [row for row in crowded.document["pools"] if "taints" not in row]
    fleet = read_fleet({**crowded.document, "pools": cheap})
    found = find_added_pools(PlanRequest(sources=CROWDING, fleet=fleet))
    assert isinstance(found, AddedPools)
    assert tainted(found.pools) == [("nd40rsv2", 1)]
    assert found.plan.verdict == "fits"
    assert found.plan.cost is not None
    assert found.plan.cost.hourly_usd == crowded.hourly_usd


# -- prices, CPU architectures, and parts of GPUs


def suggest_request(*jobs: Source, where: tuple[str, str], **options: Any) -> SuggestRequest:
    cloud, region = where
    return SuggestRequest(sources=jobs, cloud=cloud, region=region, kubernetes="1.34", **options)


NODE_USD = min(
    price.usd_per_hour
    for name in ("g6.12xlarge", "g6e.12xlarge")
    if (price := catalog.price(catalog.machine("eks", name), "us-east-1")) is not None
)
UNPRICED = [("eks", "eu-central-1"), ("gke", "europe-west3"), ("aks", "uksouth")]


@pytest.mark.parametrize("where", UNPRICED, ids=["eks", "gke", "aks"])
def test_region_without_prices_lists_the_regions_with_prices(where: tuple[str, str]) -> None:
    with pytest.raises(PricesUnknownError) as refused:
        suggest(job("train", 1), where=where)
    assert f"the on-demand prices of GPU machine types are unknown in {where[1]}" in str(
        refused.value
    )
    assert "pricePerHour" in refused.value.fix
    priced = dict([EKS, GKE, AKS])[where[0]]
    assert priced in refused.value.fix


@pytest.mark.parametrize("where", UNPRICED, ids=["eks", "gke", "aks"])
@pytest.mark.parametrize("gpus", [1, 4])
def test_without_prices_the_smallest_whole_gpu_machine_type_is_chosen(
    where: tuple[str, str], gpus: int
) -> None:
    found = smallest_fleet(suggest_request(job("train", 1, gpus=gpus), where=where))
    assert found is not None
    (pool,) = read_fleet(found.document).pools
    machine = read_fleet(found.document).machine(pool.machine)
    assert (found.gpus, machine.gpu_count, machine.arch) == (gpus, gpus, "amd64")
    assert machine.accelerator is not None
    assert machine.accelerator.fraction is None
    assert where[1] in machine.regions
    system = catalog.machine(where[0], found.document["systemPool"]["machine"])
    assert (system.vcpus or 0) >= 2
    assert (system.memory_mib or 0) >= 8 * 1024


def test_gap_of_unknown_facts_includes_one_required_node() -> None:
    found = suggest(job("train", 3, gpus=4), where=EKS, machines=("g6.12xlarge", "g6e.12xlarge"))
    assert found.best is not None
    assert found.plan.cost is not None
    boundless = replace(found, plan=replace(found.plan, cost=replace(found.plan.cost, bound_usd=0)))
    assert boundless.gap_of_unknown == 1 - NODE_USD / found.best.hourly_usd
    assert found.gap_of_unknown == 0


def test_machine_types_without_a_price_are_counted() -> None:
    found = suggest(job("train", 1), where=("eks", "eu-west-1"))
    assert found.candidates == 1
    assert found.unpriced == [reason for _, reason in found.left_out].count(NO_PRICE) > 10


ARM_SELECTOR = "      nodeSelector: {kubernetes.io/arch: arm64}\n"
ARM = ("eks", "us-west-2")


def compared(request: SuggestRequest) -> set[str]:
    return {machine.arch for machine in buyable_machines(checked_request(request), {})}


def test_arm_machine_types_are_compared_only_on_request() -> None:
    plain = job("train", 1)
    text = plain.text.replace("      containers:", f"{ARM_SELECTOR}      containers:")
    assert text != plain.text
    assert compared(suggest_request(plain, where=ARM)) == {"amd64"}
    assert compared(suggest_request(Source("arm.yaml", text), where=ARM)) == {"amd64", "arm64"}
    assert compared(suggest_request(plain, where=ARM, machines=("g5g.xlarge",))) == {"arm64"}


def test_mixed_fleet_assumes_images_for_both_architectures() -> None:
    found = suggest(job("train", 1), where=EKS, machines=("g5g.xlarge", "g6.xlarge"))
    (assumption,) = [each for each in found.plan.assumptions if "images of" in each]
    assert "run on amd64 and arm64" in assumption
    assert "train" in assumption
    assert found.best is not None
    assert not [each for each in found.best.plan.assumptions if "images of" in each]


def test_fractional_gpus_are_excluded_if_whole_gpus_are_required() -> None:
    for where in (EKS, GKE, AKS):
        request = suggest_request(job("train", 1), where=where, whole_gpus=True)
        assert not [
            machine.name
            for machine in buyable_machines(request, {})
            if machine.accelerator is None or machine.accelerator.fraction
        ]
