"""The benchmark measures the published instances, and reports the lowest sufficient limit if a
limit is too small.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(scope="module", autouse=True)
def bench() -> None:
    sys.path.insert(0, str(BENCH))


@pytest.mark.long
def test_every_instance_equals_the_published_one() -> None:
    from autoscaler_instances import PROFILES, equal_pods, profile
    from bench_sizing import CASES, EQUAL, KARPENTER, SEED
    from karpenter_instances import karpenter
    from pack_instances import digest, frozen, pack

    made = {}
    for name in frozen():
        kind, *rest = name.split()
        match kind:
            case "pack":
                instance = pack(*map(int, rest))
            case "karpenter":
                instance = karpenter(*map(int, rest))
            case "profile":
                instance = profile(rest[0])[:2]
            case _:
                instance = equal_pods(int(rest[0]))
        made[name] = digest(*instance)
    assert made == frozen()
    measured = {f"pack {shapes} {pools} {pods} {SEED}" for shapes, pools, pods, _ in CASES}
    measured |= {f"karpenter {pods} {types}" for pods, types in KARPENTER}
    measured |= {f"profile {name}" for name in PROFILES} | {f"equal {EQUAL}"}
    assert measured <= set(made)


@pytest.mark.parametrize("seed", [3, 4])
def test_smallest_sufficient_raise_is_reported(seed: int) -> None:
    from bench_reasons import edits, fault, sized
    from pack_instances import pack

    before = sized(*pack(5, 5, 60, seed), ())
    raises = [edit for edit in edits(seed, 5, 60) if not edit[4][0]]
    assert raises
    assert {
        edit[0]: wrong
        for edit in raises
        if (wrong := fault(edit, before)) and "verdict is" not in wrong
    } == {}
