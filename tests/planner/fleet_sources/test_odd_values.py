"""Descriptions of clusters in which any value is of an unexpected type end in a fleet or a FleetError."""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from cluster_descriptions import AKS, CLUSTER_API, EKS, EKSCTL, GKE, KARPENTER, plan
from dra_planner.errors import PlannerError
from dra_planner.fleet_sources import read_imported_fleet

ODD: tuple[Any, ...] = (None, 0, "x", "", [], {}, [None], {"a": 1}, True, 1.5)
TEXTS = {"eksctl": EKSCTL, "Karpenter": KARPENTER, "Cluster API": CLUSTER_API}
DESCRIPTIONS: dict[str, list[Any]] = {
    "Terraform, EKS": [plan(EKS, {"aws": {"region": "us-east-1"}})],
    "Terraform, GKE": [plan(GKE)],
    "Terraform, AKS": [plan(AKS)],
    **{name: list(yaml.safe_load_all(textwrap.dedent(text))) for name, text in TEXTS.items()},
}


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_an_odd_value_ends_in_no_traceback(name: str) -> None:
    for place in places(DESCRIPTIONS[name]):
        for value in ODD:
            documents = copy.deepcopy(DESCRIPTIONS[name])
            parent: Any = documents
            for key in place[:-1]:
                parent = parent[key]
            parent[place[-1]] = value
            try:
                read_imported_fleet(documents, file="odd.json", kubernetes="1.35")
            except PlannerError:
                continue
