"""Defaults that the API server sets, recorded from a 1.36.3 server by conformance/api_server."""

from __future__ import annotations

import pytest

from dra_planner.documents.tree import new_map
from dra_planner.manifests.validation.defaults import fill_defaults


@pytest.mark.parametrize(
    ("given", "kept"), [({}, "PreemptLowerPriority"), ({"preemptionPolicy": "Never"}, "Never")]
)
def test_priority_class_preempts_by_default(given: dict[str, str], kept: str) -> None:
    data = new_map(given.items())
    fill_defaults("PriorityClass", data, {})
    assert data["preemptionPolicy"] == kept
