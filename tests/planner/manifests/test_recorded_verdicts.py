"""Workloads with a random change, and the answers of real API servers.

`conformance/api_server/run.py --record` records the answers again.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import read_objects
from dra_planner.manifests.validation.context import Context, ExistingObjects
from dra_planner.manifests.validation.verdict import judge
from dra_planner.plan import check_selector
from dra_planner.releases import features_of
from dra_planner.sources import Source

RECORDED = sorted((Path(__file__).parent / "recorded").glob("workloads-1.*.jsonl.gz"))
WORLD = ExistingObjects(namespaces={"default": {}}, priority_classes={"high": 1000}, complete=True)


def lines_of(file: Path) -> list[dict[str, Any]]:
    """Return the recorded answers of a file."""
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().split("\n")]


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.name.removesuffix(".jsonl.gz"))
def test_verdicts_match_the_recorded_server(file: Path) -> None:
    minor = int(file.name.removesuffix(".jsonl.gz").rpartition(".")[2])
    context = Context(features=features_of(minor), check_selector=check_selector, cluster=WORLD)
    differences = []
    for line in lines_of(file):
        (item,) = read_objects(read_documents([Source("m.yaml", line["text"])])[0])
        answer = judge(item, context)
        faults = sorted({(violation.field, violation.reason) for violation in answer.violations})
        if (answer.reason, faults) != (line["reason"], [tuple(fault) for fault in line["faults"]]):
            differences.append(
                (line["text"], line["reason"], line["faults"], answer.reason, faults)
            )
    assert differences == []


def test_every_kind_of_answer_is_recorded() -> None:
    lines = [line for file in RECORDED for line in lines_of(file)]
    assert {line["reason"] for line in lines} == {"", "Invalid"}
    assert len({fault[0] for line in lines for fault in line["faults"]}) > 200
