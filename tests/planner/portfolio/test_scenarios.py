"""A cell is the plan of the edited stack: compared with `make_plan` on texts that were edited by
hand.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from portfolio_builders import FLEET, cells, deployment, future, portfolio

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.portfolio.answers import CellAnswer, CellFault, answer_of
from dra_planner.sources import Source

TWO = deployment("web", 3) + deployment("train", 2, gpus=4)
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: lone, namespace: default}
spec:
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  containers: [{name: main, image: registry.example/lone:1, resources: {claims: [{name: gpu}]}}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: web}]
---
"""


def planned(fleet: dict[str, Any], workloads: str) -> CellAnswer:
    """Return the plan of a stack that was edited by hand."""
    sources = (Source("work", workloads),)
    return answer_of(make_plan(PlanRequest(sources=sources, fleet=read_fleet(fleet), steps=20_000)))


def fleet(**keys: Any) -> dict[str, Any]:
    return {**yaml.safe_load(FLEET), **keys}


def pools(
    *, l4: dict[str, Any] | None = None, quad: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    one, two = yaml.safe_load(FLEET)["pools"]
    return [{**one, **(l4 or {})}, {**two, **(quad or {})}]


NONE = {"count": {"min": 0, "max": 0}}


@pytest.mark.long
@pytest.mark.parametrize(
    ("edits", "edited_fleet", "edited_work"),
    [
        ({}, fleet(), TWO),
        ({"replicas": 2}, fleet(), deployment("web", 6) + deployment("train", 4, gpus=4)),
        ({"replicas": 1.5}, fleet(), deployment("web", 5) + deployment("train", 3, gpus=4)),
        (
            {"replicas": {"factor": 3, "workloads": ["default/w*"]}},
            fleet(),
            deployment("web", 9) + deployment("train", 2, gpus=4),
        ),
        ({"replicas": 0}, fleet(), deployment("web", 0) + deployment("train", 0, gpus=4)),
        ({"removeWorkloads": ["default/train"]}, fleet(), deployment("web", 3)),
        ({"removePools": ["quad"]}, fleet(pools=pools(quad=NONE)), TWO),
        (
            {"pools": {"l4": {"count": {"max": 2}}}},
            fleet(pools=pools(l4={"count": {"min": 0, "max": 2}})),
            TWO,
        ),
        (
            {"pools": {"*": {"count": 1}}},
            fleet(pools=pools(l4={"count": 1}, quad={"count": 1})),
            TWO,
        ),
        (
            {"addPools": [{"name": "more", "machine": "g6.48xlarge", "count": 1}]},
            fleet(pools=[*pools(), {"name": "more", "machine": "g6.48xlarge", "count": 1}]),
            TWO,
        ),
        ({"kubernetes": "1.35"}, fleet(kubernetes="1.35"), TWO),
        ({"driver": "0.4.1"}, fleet(drivers={"nvidia": {"version": "0.4.1"}}), TWO),
        ({"prices": {"g6.2xlarge": 9.5}}, fleet(pools=pools(l4={"pricePerHour": 9.5})), TWO),
        (
            {"zonesLost": ["us-east-1a"]},
            fleet(pools=pools(l4={"zones": ["us-east-1b"]}, quad=NONE)),
            TWO,
        ),
        (
            {"zonesLost": ["us-east-1c"]},
            fleet(pools=pools(l4={"zones": ["us-east-1a", "us-east-1b"]})),
            TWO,
        ),
    ],
    ids=lambda each: (
        next(iter(each), "no-edits") if isinstance(each, dict) and len(each) < 3 else ""
    ),
)
def test_cell_equals_the_plan_of_the_edited_stack(
    edits: dict[str, Any], edited_fleet: dict[str, Any], edited_work: str
) -> None:
    given = portfolio(scenarios=[{"name": "edited", **edits}])
    answer = cells(given, TWO).answer(future(given, "edited"))
    assert answer == planned(edited_fleet, edited_work)


def test_manifests_are_added() -> None:
    given = portfolio(scenarios=[{"name": "more", "addWorkloads": ["added.yaml"]}])
    added = deployment("new", 2)
    assert cells(given, TWO).answer(future(given, "more", added)) == planned(fleet(), TWO + added)


def test_bare_pods_are_repeated() -> None:
    given = portfolio(
        scenarios=[{"name": "twice", "replicas": {"factor": 2, "workloads": ["default/lone"]}}]
    )
    second = POD.replace("name: lone,", "name: lone-2,")
    answer = cells(given, TWO + POD).answer(future(given, "twice"))
    assert answer == planned(fleet(), TWO + POD + second)


def test_price_factor_applies_to_known_prices() -> None:
    given = portfolio(scenarios=[{"name": "dear", "priceFactor": 1.25}])
    stack = cells(given, TWO)
    before, after = stack.answer(future(given, "as-is")), stack.answer(future(given, "dear"))
    assert isinstance(before, CellAnswer)
    assert isinstance(after, CellAnswer)
    assert before.hourly_usd is not None
    assert after.hourly_usd == before.hourly_usd * 5 / 4


def test_assumptions_about_zones_are_reported() -> None:
    text = FLEET.replace("network: {zones: [us-east-1a, us-east-1b]}\n", "")
    given = portfolio(scenarios=[{"name": "lost", "zonesLost": ["us-east-1a"]}])
    answer = cells(given, TWO, text).answer(future(given, "lost"))
    assert isinstance(answer, CellAnswer)
    assert answer.assumptions == (
        "pool l4: the cloud chooses the zones, so this scenario assumes that the pool's nodes run in "
        "the remaining zones",
    )


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (
            {"removePools": ["x*"]},
            'removePools: no pool name matches "x*"; use one of this fleet\'s pools: l4, quad',
        ),
        ({"pools": {"l4": {"machine": "g0.none"}}}, "g0.none"),
        ({"removeWorkloads": ["a/b"]}, 'removeWorkloads: no workload matches "a/b"'),
        ({"replicas": {"factor": 2, "workloads": ["a/b"]}}, 'no workload matches "a/b"'),
        ({"driver": "1.2.3"}, "1.2.3"),
    ],
)
def test_wrong_edit_is_reported(edits: dict[str, Any], message: str) -> None:
    given = portfolio(scenarios=[{"name": "wrong", **edits}])
    answer = cells(given, TWO).answer(future(given, "wrong"))
    assert isinstance(answer, CellFault)
    assert (answer.kind, message in str(answer)) == ("input", True)


def test_cells_do_not_depend_on_previous_cells() -> None:
    edits: list[dict[str, Any]] = [
        {"replicas": 2},
        {"kubernetes": "1.35"},
        {"zonesLost": ["us-east-1a"]},
    ]
    given = portfolio(scenarios=[{"name": f"s{at}", **each} for at, each in enumerate(edits)])
    together = cells(given, TWO)
    names = [each.name for each in given.all_scenarios]
    forward = [together.answer(future(given, name)) for name in names]
    alone = [cells(given, TWO).answer(future(given, name)) for name in reversed(names)]
    assert forward == alone[::-1]
