"""The plan treats an unknown patch version as the newest known patch version of the same minor
version, and lists this assumption.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from driver_fleets import fleet, job, planned, request
from msgspec.structs import replace

from dra_planner.drivers import nvidia
from dra_planner.errors import CatalogError, FleetError, UnsupportedFeature
from dra_planner.fleet import read_fleet
from dra_planner.manifests.schema import recorded_minors
from dra_planner.releases import MAXIMUM_MINOR, PREVIEWS, features_of

WORK = job(1, request("gpu", "gpu.nvidia.com", 1), tolerates="nvidia.com/gpu")


def l4(version: str, kubernetes: str = "1.36") -> dict[str, Any]:
    return {
        **fleet("eks", "g6.2xlarge", {"nvidia": {"version": version}}),
        "kubernetes": kubernetes,
    }


def t4(kubernetes: str) -> dict[str, Any]:
    """Return a fleet on AKS, which has patch versions."""
    known = fleet("aks", "Standard_NC4as_T4_v3", {"nvidia": {"version": "0.5.0"}})
    return {**known, "kubernetes": kubernetes}


@pytest.mark.parametrize(
    ("version", "known"),
    [("0.5.1", "0.5.0"), ("v0.4.9", "0.4.1"), ("25.8.7", "25.8.1"), ("25.12.3", "25.12.0")],
)
def test_newer_driver_patch_uses_the_newest_known_patch(version: str, known: str) -> None:
    release = nvidia.driver_release(version)

    assert (release.version, release.known_as) == (version.removeprefix("v"), known)
    assert release.attributes == nvidia.driver_release(known).attributes
    plan = planned(l4(version), WORK)
    assert plan.verdict == planned(l4(known), WORK).verdict == "fits"
    note = f"NVIDIA DRA driver {release.version} isn't in the tables, so the plan uses the data of {known}"
    assert any(note in each for each in plan.assumptions)


@pytest.mark.parametrize("version", ["0.6.0", "25.9.0", "26.1.3", "0.5", "latest"])
def test_unknown_driver_minor_version_is_rejected(version: str) -> None:
    with pytest.raises(CatalogError):
        nvidia.driver_release(version)
    with pytest.raises(FleetError):
        read_fleet(l4(version))


def test_newer_kubernetes_patch_uses_the_newest_known_patch() -> None:
    plan = planned(t4("1.36.9"), WORK)
    assert plan.verdict == "fits"
    assert any(
        "Kubernetes 1.36.9 isn't in the tables, so the plan uses 1.36.3" in each
        for each in plan.assumptions
    )


@pytest.mark.parametrize("kubernetes", ["1.36", "1.36.3", "1.36.0"])
def test_known_kubernetes_patch_has_no_remark(kubernetes: str) -> None:
    plan = planned(t4(kubernetes), WORK)
    assert not any("isn't in the tables" in each for each in plan.assumptions)


def test_unknown_kubernetes_minor_version_is_rejected() -> None:
    with pytest.raises(FleetError):
        read_fleet(l4("0.5.0", "1.99.1"))


def test_plan_for_the_next_minor_version_is_marked_as_preview() -> None:
    plan, newest = planned(t4("1.38"), WORK), planned(t4("1.37"), WORK)
    assert (plan.verdict, newest.verdict) == ("fits", "fits")
    note = (
        "Kubernetes 1.38 is a preview. The plan uses the behavior of 1.38.0-alpha.2, but the final "
        "version might differ"
    )
    assert note in plan.assumptions
    assert not any("preview" in each for each in newest.assumptions)


def test_preview_differs_from_its_base_only_in_the_version() -> None:
    """k8s.io/api@v0.38.0-alpha.2 has the fields of v0.37.2; nothing is suggested on a preview."""
    (minor,) = PREVIEWS
    assert minor == MAXIMUM_MINOR + 1
    base = features_of(MAXIMUM_MINOR)
    assert replace(features_of(minor), minor=base.minor, latest_patch=base.latest_patch) == base
    assert minor in recorded_minors()
    with pytest.raises(
        UnsupportedFeature,
        match=re.escape("use a version from 1.34 (the first with resource.k8s.io/v1) to 1.37"),
    ):
        features_of(minor + 1)
