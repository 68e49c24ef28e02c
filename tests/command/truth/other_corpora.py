"""Further inputs in the repository: seeded mistakes, recorded clusters and objects, and cases that
the conformance programs generate.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml
from corpora import ROOT, TESTS, Input, dump

from dra_planner.releases import RELEASES, features_of

sys.path.append(str(ROOT / "conformance/scheduler"))
sys.path.append(str(TESTS / "planner/plan"))
sys.path.append(str(TESTS / "policies"))

from random_instances import instance
from test_seeded_manifests import GOOD, ROWS, edited

from admission_cases import make_admission_case
from driver_cases import make_driver_case
from generate import make_case

MINOR: Final = 36
COUNT: Final = 30
"""Generated cases of each kind."""


def other_inputs() -> Iterator[Input]:
    """Yield all inputs that `corpora` doesn't contain, in a fixed order."""
    yield from _seeded()
    yield from _recorded_objects()
    yield from _small_clusters()
    yield from _generated()


def _seeded() -> Iterator[Input]:
    """Yield the seeded mistakes in manifests, and the manifests with the fixes."""
    for number, row in enumerate(ROWS):
        name = f"seeded/{number} {row.fault}"
        yield Input(name=name, manifests=dump(list(edited(GOOD, row.edit).values())))
        if isinstance(row.fix, dict):
            fixed = edited(edited(GOOD, row.edit), row.fix)
            yield Input(name=f"{name}, fixed", manifests=dump(list(fixed.values())))


def _recorded_objects() -> Iterator[Input]:
    """Yield the pods and workloads that a real API server answered."""
    path = TESTS / f"planner/manifests/recorded/workloads-1.{MINOR}.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    for number, line in enumerate(lines):
        yield Input(name=f"recorded/{number}", manifests=json.loads(line)["text"])
    for path in sorted((ROOT / "conformance/api_server").glob("*.yaml")):
        yield Input(name=f"api_server/{path.stem}", manifests=path.read_text(encoding="utf-8"))


def _small_clusters() -> Iterator[Input]:
    """Yield the recorded clusters of the simulation's tests, with the pods that arrive."""
    for path in sorted((TESTS / "planner/simulation/preemptions").glob("*.yaml")):
        data = _load(path)
        yield Input(
            name=f"preemptions/{path.stem}",
            manifests=dump(data["arrivals"]),
            observed=dump(data["cluster"]),
            kubernetes=data["kubernetes"].rpartition(".")[0],
        )
    for path in sorted((TESTS / "planner/simulation/scheduling_cases").glob("*.yaml")):
        data = _load(path)
        yield Input(
            name=f"scheduling_cases/{path.stem}",
            manifests=data["when"],
            observed=data["given"],
            kubernetes=data["then"][0]["kubernetes"][-1],
        )


def _generated() -> Iterator[Input]:
    features = features_of(MINOR)
    for make in (make_case, make_admission_case, make_driver_case):
        for seed in range(1, COUNT + 1):
            case = make(seed, features)
            name = f"{make.__name__}/{seed} {case.feature}"
            yield Input(name=name, manifests=dump(case.workloads), on=case.fleet)
    for seed in range(1, COUNT + 1):
        made = instance(seed)
        fleet = {**made.fleet, "kubernetes": RELEASES[MINOR].version}
        yield Input(name=f"instance/{seed}", manifests=dump(list(made.objects)), on=fleet)


def _load(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
