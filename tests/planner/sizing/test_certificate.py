"""A program that shares no code with the planner accepts the certificates, and rejects changed
ones.
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sizing_builders import CLASSES, demand, pool, workload
from test_against_referee import FAMILIES, draw_fleet

from dra_planner.model import SharedLimit
from dra_planner.releases import features_of
from dra_planner.sizing import Sizer, solving
from dra_planner.sizing.bound.certificate import certificate_of
from dra_planner.sizing.packing.mix_rounding import MOST_BEGUN

CHECKER = Path(__file__).parents[3] / "conformance" / "certificate" / "check.py"
POOLS = [
    pool("large", gpus=8, cpu=64_000, usd="9"),
    pool("small", gpus=2, cpu=8_000, usd="2"),
    pool("none", gpus=0),
]
SHAPES = [
    workload("train", 3, gpus=5, cpu=9_000),
    workload("serve", 7, gpus=1, cpu=3_000),
    workload("web", 9, cpu=5_000, memory_gib=3),
]


def certified(
    pools: list[Any] = POOLS, shapes: list[Any] = SHAPES, limits: list[Any] | None = None
) -> dict[str, Any]:
    sizing = Sizer.of(demand(*shapes), pools, CLASSES, features_of(36), limits=limits or ()).size(
        "steady"
    )
    return certificate_of(sizing)


def check(document: dict[str, Any], folder: Path) -> tuple[int, str]:
    path = folder / "certificate.json"
    path.write_text(json.dumps(document))
    done = subprocess.run(
        [sys.executable, "-I", str(CHECKER), str(path)], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_certificate_is_valid_and_matches_the_packing(tmp_path: Path) -> None:
    status, output = check(certified(), tmp_path)
    assert (status, output.splitlines()[0][:32]) == (0, "shown: no fleet costs less than "), output


@pytest.mark.parametrize("family", FAMILIES)
def test_certificates_of_random_fleets_are_valid(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of them are solved as fleets of very many pools are."""
    for seed in range(12):
        if seed == 6:
            monkeypatch.setattr(solving, "MOST_COMPARED", 0)
            monkeypatch.setattr(solving, "MOST_RELAXED", 0)
        pools, shapes, limits = draw_fleet(family, seed)
        document = certified(pools, shapes, limits)
        status, output = check(document, tmp_path)
        assert status == 0, (family, seed, output)
        assert document["claim"] == "infeasible" or Fraction(document["bound"]) > 0


@pytest.mark.parametrize("relaxed", [solving.MOST_RELAXED, 0])
def test_certificate_is_valid_for_rarely_priced_pools(
    relaxed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If there are very many pools, most are never the cheapest. Their prices follow from other
    pools, and the proof covers all pools.
    """
    monkeypatch.setattr(solving, "MOST_RELAXED", relaxed)
    pools = [
        pool(
            f"p{size:02}",
            gpus=0,
            cpu=2_000 * size,
            memory_gib=4 * size,
            usd=str(size),
            at_most=1_000,
        )
        for size in range(1, 51)
    ]
    shapes = [
        workload(f"w{cpu}-{gib}", 1 + cpu % 7 * gib, cpu=130 * cpu, memory_gib=gib)
        for cpu in range(1, 16)
        for gib in (1, 3, 5)
    ]
    assert len(pools) * len(shapes) > MOST_BEGUN
    document = certified(pools, shapes)
    status, output = check(document, tmp_path)
    assert status == 0, output
    costs = {each["name"]: each["cost"] for each in document["pools"]}
    paid = sum(costs[each["pool"]] * each["nodes"] for each in document["packing"])
    assert Fraction(document["bound"]) <= paid <= Fraction(document["bound"]) * Fraction(104, 100)


def test_impossible_demand_is_certified_as_infeasible(tmp_path: Path) -> None:
    document = certified([pool("small", gpus=2, at_most=2)], [workload("serve", 5, gpus=1)])
    assert document["claim"] == "infeasible"
    assert check(document, tmp_path)[0] == 0
    document["pools"][0]["maximum"] = 3
    assert check(document, tmp_path) == (1, "no part has more demand than its pools can hold\n")


def test_certificate_includes_shared_limits(tmp_path: Path) -> None:
    pools = [pool("cheap", gpus=2, usd="1"), pool("dear", gpus=2, usd="4")]
    quota = SharedLimit(name="quota", most=2, unit="node", takes={"cheap": 1})
    document = certified(pools, [workload("serve", 8, gpus=1)], [quota])
    assert document["bound"] == "10000000"  # two of the cheap nodes, two of the others
    assert check(document, tmp_path)[0] == 0
    document["limits"][0]["most"] = 1
    status, output = check(document, tmp_path)
    assert (status, "quota is exceeded" in output) == (1, True)


def test_plan_writes_a_certificate_of_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "plan.certificate.json"
    plan = [
        sys.executable,
        "-m",
        "dra_command",
        "plan",
        "--stack",
        "eks-dev",
        "--certificate",
        str(path),
    ]
    done = subprocess.run(plan, capture_output=True, text=True, cwd=CHECKER.parents[2])
    # notes on dates may follow
    assert (done.returncode, done.stderr.splitlines()[0]) == (0, f"wrote {path}")
    status, output = check(json.loads(path.read_text()), tmp_path)
    assert (status, output) == (
        0,
        "shown: no fleet costs less than 196,640,000 micro-dollars\n"
        "shown: the packing costs 196,640,000 micro-dollars\n",
    )


def raise_bound(document: dict[str, Any]) -> None:
    part = max(document["parts"], key=lambda each: Fraction(each["bound"]))
    part["bound"] = str(Fraction(part["bound"]) + 1)


def raise_price(document: dict[str, Any]) -> None:
    part = max(document["parts"], key=lambda each: Fraction(each["bound"]))
    item = max(part["items"], key=part["items"].__getitem__)
    part["items"][item] *= 3


def lower_worth(document: dict[str, Any]) -> None:
    part = max(document["parts"], key=lambda each: Fraction(each["bound"]))
    name = max(part["worth"], key=part["worth"].__getitem__)
    part["worth"][name] = part["worth"][name] * 2 // 3


def overfill(document: dict[str, Any]) -> None:
    group = document["packing"][0]
    for item in group["items"]:
        group["items"][item] += 20


def drop_nodes(document: dict[str, Any]) -> None:
    del document["packing"][0]


def grow_rows(document: dict[str, Any]) -> None:
    for pool_ in document["pools"]:
        for row in pool_["rounded"]:
            row["needs"] = {item: need * 2 for item, need in row["needs"].items()}


def exceed_maximum(document: dict[str, Any]) -> None:
    name = document["packing"][0]["pool"]
    next(each for each in document["pools"] if each["name"] == name)["maximum"] = 0


@pytest.mark.parametrize(
    "change",
    [raise_bound, raise_price, lower_worth, overfill, drop_nodes, grow_rows, exceed_maximum],
)
def test_changed_certificate_is_invalid(
    change: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    document = copy.deepcopy(certified())
    change(document)
    assert check(document, tmp_path)[0] == 1


BY_CASES = (
    [pool("eight", gpus=8, usd="10"), pool("four", gpus=4, usd="7"), pool("one", gpus=1, usd="2")],
    [workload("train", 6, gpus=3), workload("serve", 9, gpus=1)],
)


def test_certificate_by_cases_needs_every_case(tmp_path: Path) -> None:
    document = certified(*BY_CASES)
    (part,) = document["parts"]
    assert (check(document, tmp_path)[0], part["bound"]) == (0, "36000000")
    broken = copy.deepcopy(document)
    # the case of few nodes then has one more, and its prices prove less
    broken["parts"][0]["cases"]["at"] += 1
    assert check(broken, tmp_path)[0] == 1
    del document["parts"][0]["cases"]
    assert check(document, tmp_path)[0] == 1
