"""The public surface is listed, and the list is true."""

from __future__ import annotations

import importlib

import pytest

PACKAGES = [
    "dra_planner",
    "dra_planner.cel",
    "dra_planner.fleet",
    "dra_planner.model",
    "dra_policies.rules",
    "pulumi_dra",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_listed_name_exists_and_the_list_is_sorted(package: str) -> None:
    module = importlib.import_module(package)
    assert all(hasattr(module, name) for name in module.__all__)
    assert sorted(module.__all__) == sorted(set(module.__all__))
