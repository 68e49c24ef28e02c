"""What breaks when one release of the driver follows another."""

from __future__ import annotations

import pytest

from dra_planner.catalog import driver_release, driver_releases
from dra_planner.slices import Change, DriverSettings, changes_read, compare_releases


def compare(old: str, new: str, **settings: DriverSettings) -> tuple[Change, ...]:
    return compare_releases(driver_release(old), driver_release(new), **settings)


def read(old: str, new: str, *names: str, **settings: DriverSettings) -> list[tuple[str, str]]:
    return [(change.kind, change.name) for change in changes_read(compare(old, new, **settings), names)]


@pytest.mark.parametrize("version", [release.version for release in driver_releases() if release.is_installable])
def test_a_release_does_not_differ_from_itself(version: str) -> None:
    assert compare(version, version) == ()


def test_a_patch_breaks_no_claim() -> None:
    assert not any(change.breaks for change in compare("25.8.0", "25.8.1"))


@pytest.mark.parametrize("name", ["gpu.nvidia.com/index", "gpu.nvidia.com/minor", "gpu.nvidia.com/parentIndex"])
def test_indices_are_gone_from_25_8_on(name: str) -> None:
    assert read("25.3.2", "25.8.1", name) == [("attribute-removed", name)]


def test_the_bus_id_is_renamed_in_25_12() -> None:
    (change,) = changes_read(compare("25.8.1", "25.12.0"), ["gpu.nvidia.com/pcieBusID", "gpu.nvidia.com/uuid"])
    assert change.kind == "attribute-renamed"
    assert change.fix == "read resource.kubernetes.io/pciBusID"


def test_going_back_is_judged_too() -> None:
    assert read("25.12.0", "25.8.1", "resource.kubernetes.io/pciBusID", "gpu.nvidia.com/addressingMode") == [
        ("attribute-renamed", "resource.kubernetes.io/pciBusID"),
        ("attribute-removed", "gpu.nvidia.com/addressingMode"),
    ]


def test_dynamic_mig_changes_the_memory_of_a_whole_gpu() -> None:
    dynamic = DriverSettings(gates={"DynamicMIG": True})
    assert read("0.4.1", "0.4.1", "gpu.nvidia.com/memory", new_settings=dynamic) == [
        ("capacity-changed", "gpu.nvidia.com/memory")
    ]
    assert read("0.4.1", "0.4.1", "gpu.nvidia.com/memory", old_settings=dynamic, new_settings=dynamic) == []


def test_sharing_changes_what_a_claim_takes() -> None:
    shares = DriverSettings(gates={"ConsumableShares": True}, consumable_shares="4")
    assert read("0.5.0", "0.5.0", "gpu.nvidia.com/memory", new_settings=shares) == [
        ("capacity-changed", "gpu.nvidia.com/memory")
    ]


def test_the_class_stands_for_the_extended_resource_from_25_12_on() -> None:
    kinds = {change.kind: change for change in compare("25.8.1", "25.12.0")}
    assert "extendedResourceName" in kinds["class-changed"].message
    assert kinds["class-added"].name == "vfio.gpu.nvidia.com"


def test_the_chart_has_another_name_from_0_4_on() -> None:
    (renamed,) = (change for change in compare("25.12.0", "0.4.1") if change.kind == "chart-renamed")
    assert renamed.fix.startswith("set nameOverride to nvidia-dra-driver-gpu")


def test_what_breaks_comes_first() -> None:
    breaks = [change.breaks for change in compare("25.3.2", "0.5.0")]
    assert breaks == sorted(breaks, reverse=True)
