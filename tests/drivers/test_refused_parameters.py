"""Parameters of claims and keys of chart values that drivers don't know."""

from __future__ import annotations

import pytest

from dra_planner.drivers import driver_of
from dra_planner.drivers.nvidia.chart_values import KeyFix, key_fix

AMD = "gpu.amd.com"
SUPPORTED = "gpu.resource.amd.com/v1alpha1"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "AMD's GPU DRA driver requires an apiVersion in its parameters"),
        ({"apiVersion": "v2"}, "AMD's GPU DRA driver doesn't support apiVersion v2"),
    ],
)
def test_wrong_or_missing_api_version_is_named(given: dict[str, str], message: str) -> None:
    driver = driver_of(AMD)
    assert driver is not None
    (fault,) = driver.config_faults(AMD, {"kind": "GpuConfig", **given}, None)
    assert (fault.message, fault.fix) == (message, f"set apiVersion to {SUPPORTED}")


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        (
            "resources.gpus.enabled",
            KeyFix("nest the keys: resources: {gpus: {enabled: …}}", is_dotted=True),
        ),
        ("resources.", KeyFix('rename it to "resources"')),
        ("resources..gpus", None),
        ("resources", None),
    ],
)
def test_fix_of_a_dotted_key_is_valid_yaml(key: str, fix: KeyFix | None) -> None:
    assert key_fix(key) == fix
