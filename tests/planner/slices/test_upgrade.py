"""What breaks when one release of the driver follows another."""

from __future__ import annotations

import pytest

from dra_planner.drivers.nvidia import (
    DriverChange,
    DriverRelease,
    PublishingSettings,
    changes_read,
    compare_releases,
    driver_release,
    driver_releases,
)


def compare(old: str, new: str, **settings: PublishingSettings) -> tuple[DriverChange, ...]:
    return compare_releases(driver_release(old), driver_release(new), **settings)


def read(old: str, new: str, *names: str, **settings: PublishingSettings) -> list[tuple[str, str]]:
    return [
        (change.kind, change.name) for change in changes_read(compare(old, new, **settings), names)
    ]


@pytest.mark.parametrize(
    "version", [release.version for release in driver_releases() if release.is_installable]
)
def test_version_does_not_differ_from_itself(version: str) -> None:
    assert compare(version, version) == ()


def test_patch_version_breaks_no_claim() -> None:
    assert not any(change.breaks for change in compare("25.8.0", "25.8.1"))


@pytest.mark.parametrize(
    "name", ["gpu.nvidia.com/index", "gpu.nvidia.com/minor", "gpu.nvidia.com/parentIndex"]
)
def test_indexes_are_removed_in_25_8(name: str) -> None:
    assert read("25.3.2", "25.8.1", name) == [("attribute-removed", name)]


def test_bus_id_is_renamed_in_25_12() -> None:
    (change,) = changes_read(
        compare("25.8.1", "25.12.0"), ["gpu.nvidia.com/pcieBusID", "gpu.nvidia.com/uuid"]
    )
    assert change.kind == "attribute-renamed"
    assert change.fix == "read resource.kubernetes.io/pciBusID"


def test_downgrade_is_also_compared() -> None:
    assert read(
        "25.12.0", "25.8.1", "resource.kubernetes.io/pciBusID", "gpu.nvidia.com/addressingMode"
    ) == [
        ("attribute-renamed", "resource.kubernetes.io/pciBusID"),
        ("attribute-removed", "gpu.nvidia.com/addressingMode"),
    ]


def test_dynamic_mig_changes_the_memory_of_a_whole_gpu() -> None:
    dynamic = PublishingSettings(gates={"DynamicMIG": True})
    assert read("0.4.1", "0.4.1", "gpu.nvidia.com/memory", new_settings=dynamic) == [
        ("capacity-changed", "gpu.nvidia.com/memory")
    ]
    assert (
        read("0.4.1", "0.4.1", "gpu.nvidia.com/memory", old_settings=dynamic, new_settings=dynamic)
        == []
    )


def test_sharing_changes_the_consumed_capacity() -> None:
    shares = PublishingSettings(gates={"ConsumableShares": True}, consumable_shares="4")
    assert read("0.5.0", "0.5.0", "gpu.nvidia.com/memory", new_settings=shares) == [
        ("capacity-changed", "gpu.nvidia.com/memory")
    ]


def test_class_serves_the_extended_resource_since_25_12() -> None:
    kinds = {change.kind: change for change in compare("25.8.1", "25.12.0")}
    assert "extendedResourceName" in kinds["class-changed"].message
    assert kinds["class-added"].name == "vfio.gpu.nvidia.com"


def test_chart_is_renamed_in_0_4() -> None:
    (renamed,) = (
        change for change in compare("25.12.0", "0.4.1") if change.kind == "chart-renamed"
    )
    assert renamed.fix.startswith("set nameOverride to nvidia-dra-driver-gpu")


def test_breaking_changes_come_first() -> None:
    breaks = [change.breaks for change in compare("25.3.2", "0.5.0")]
    assert breaks == sorted(breaks, reverse=True)


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        ("25.3.2", "25.8.1", ["TimeSlicing", "MPS"]),  # 25.3 accepts both without a feature gate
        ("25.3.2", "25.3.2", []),
        ("25.8.1", "0.5.0", []),
    ],
)
def test_sharing_strategies_that_now_need_a_gate_are_reported(
    old: str, new: str, refused: list[str]
) -> None:
    assert [
        change.name for change in compare(old, new) if change.kind == "config-refused"
    ] == refused


def test_gate_decides_whether_a_strategy_is_rejected() -> None:
    slicing = PublishingSettings(gates={"TimeSlicingSettings": True})
    kept = compare("25.3.2", "25.8.1", new_settings=slicing)
    assert [change.name for change in kept if change.kind == "config-refused"] == ["MPS"]
    dropped = compare("0.4.1", "0.4.1", old_settings=slicing)
    assert [(change.kind, change.name) for change in dropped] == [("config-refused", "TimeSlicing")]


@pytest.mark.parametrize(
    "old",
    [each for each in driver_releases() if each.is_installable],
    ids=lambda each: each.version,
)
@pytest.mark.parametrize(
    "new",
    [each for each in driver_releases() if each.is_installable],
    ids=lambda each: each.version,
)
def test_differences_of_every_pair_match_the_tables(old: DriverRelease, new: DriverRelease) -> None:
    changes = compare_releases(old, new)
    kinds = {change.kind for change in changes}
    before = {attribute.qualified_name for attribute in old.attributes}
    after = {attribute.qualified_name for attribute in new.attributes}
    gone = {
        change.name
        for change in changes
        if change.kind in ("attribute-renamed", "attribute-removed")
    }
    assert gone == before - after
    assert ("chart-renamed" in kinds) == (old.chart != new.chart)
    assert ("no-way-back" in kinds) == (old.is_oci and not new.is_oci)
    assert ("names-changed" in kinds) == (old.mig_names != new.mig_names)
    assert all(change.fix for change in changes if change.breaks and change.kind != "class-changed")
    breaking = [change.breaks for change in changes]
    assert breaking == sorted(breaking, reverse=True)
