"""The fix for a constraint whose attribute has no domain keeps the attribute that was written."""

from __future__ import annotations

import pytest

from dra_planner.documents.tree import Map, Seq
from dra_planner.manifests.validation.attribute_domains import qualified_name_fix

FIELD = "spec.devices.constraints[0].matchAttribute"


def fix(attribute: str, *classes: str, covers: tuple[str, ...] = ()) -> str:
    """Return the fix in a claim with one request of each class, named after it."""
    requests = [{"name": name, "exactly": {"deviceClassName": name}} for name in classes]
    constraint = {"matchAttribute": attribute, "requests": list(covers)}
    return qualified_name_fix(
        Map(
            {
                "spec": Map(
                    {"devices": Map({"requests": requests, "constraints": Seq([Map(constraint)])})}
                )
            }
        ),
        FIELD,
    )


@pytest.mark.parametrize(
    ("attribute", "classes", "qualified"),
    [
        ("productName", ("gpu.nvidia.com",), "gpu.nvidia.com/productName"),
        ("parentUUID", ("mig.nvidia.com",), "gpu.nvidia.com/parentUUID"),
        ("model", ("gpu.intel.com",), "gpu.intel.com/model"),
        ("family", ("gpu.amd.com",), "gpu.amd.com/family"),
        ("tpuGen", ("tpu.google.com",), "tpu.google.com/tpuGen"),
        ("productName", ("gpu.nvidia.com", "mig.nvidia.com"), "gpu.nvidia.com/productName"),
    ],
)
def test_attribute_gets_the_domain_of_its_devices(
    attribute: str, classes: tuple[str, ...], qualified: str
) -> None:
    assert fix(attribute, *classes) == f"use {qualified}"


@pytest.mark.parametrize("attribute", ["pcieRoot", "pcieroot", "numaNode", "pciBusID"])
def test_common_attributes_get_the_common_domain(attribute: str) -> None:
    found = fix(attribute, "gpu.nvidia.com", "gpu.amd.com")
    assert found.lower() == f"use resource.kubernetes.io/{attribute.lower()}"


def test_only_the_requests_of_the_constraint_count() -> None:
    both = ("gpu.nvidia.com", "gpu.amd.com")
    assert fix("family", *both, covers=("gpu.amd.com",)) == "use gpu.amd.com/family"


@pytest.mark.parametrize("classes", [("own",), ("gpu.nvidia.com", "gpu.amd.com"), ()])
def test_unknown_drivers_are_left_to_the_author(classes: tuple[str, ...]) -> None:
    assert fix("model", *classes).endswith("DRIVER/model")
