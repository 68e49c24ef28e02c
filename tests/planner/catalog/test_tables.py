"""Every row in every table contains its source and confidence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import dra_planner
from dra_planner import catalog
from dra_planner.catalog.tables import read_table
from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia.releases import AttributeValueRule

DATA = Path(dra_planner.__file__).parent / "data"
TABLES = sorted(path.stem for path in DATA.glob("*.csv"))
CONFIDENCES = {"observed", "documented", "derived", "high", "medium", "low"}


@pytest.mark.parametrize("table", [table for table in TABLES if table not in ("sources", "clouds")])
def test_every_row_names_known_sources(table: str) -> None:
    known = set(catalog.sources())
    for row in read_table(table):
        unsourced = row["source"] == "" and "no source" in row.get("note", "")
        assert unsourced or (row["source"] and set(row["source"].split()) <= known), row


@pytest.mark.parametrize("table", TABLES)
def test_every_row_is_complete_and_trimmed(table: str) -> None:
    for row in read_table(table):
        assert None not in row, row
        assert None not in row.values(), row
        assert all(value == value.strip() for value in row.values()), row
        assert row.get("confidence", "high") in CONFIDENCES, row
        for column in ("as_of", "released"):
            assert re.fullmatch(r"(\d{4}-\d\d-\d\d)?", row.get(column, "")), row


def test_sources_have_a_title_and_a_license() -> None:
    for source in catalog.sources().values():
        assert all((source.what, source.ref, source.licence)), source.key


@pytest.mark.parametrize("cloud", catalog.cloud_titles())
def test_machines_refer_to_known_gpus(cloud: str) -> None:
    for machine in catalog.machines(cloud):
        if machine.accelerator is not None and machine.accelerator.vendor == "nvidia":
            assert machine.accelerator.gpu is not None, machine.name
            assert nvidia.gpu(machine.accelerator.gpu).architecture, machine.name


@pytest.mark.parametrize("cloud", catalog.cloud_titles())
def test_machines_without_accelerators_have_a_size(cloud: str) -> None:
    for machine in catalog.machines_without_accelerators(cloud):
        assert machine.accelerator is None
        assert machine.vcpus, machine.name
        assert machine.memory_mib, machine.name
        assert (machine.default_card_enis is None) == (cloud != "eks")


@pytest.mark.parametrize("cloud", catalog.cloud_titles())
def test_names_are_unique(cloud: str) -> None:
    known = (*catalog.machines(cloud), *catalog.machines_without_accelerators(cloud))
    names = [machine.name for machine in known]
    assert len(names) == len(set(names)) > 40


@pytest.mark.parametrize("table", ["prices", "regions", "spot_advisor", "gpu_topology", "nics"])
def test_rows_refer_to_machine_types_of_the_catalog(table: str) -> None:
    attachable = {row["gke_type"] for row in read_table("attachable_gpus")}
    for row in read_table(table):
        if row["machine"] not in attachable:
            assert catalog.machine(row["cloud"], row["machine"]).name == row["machine"]


def test_prices_are_positive_and_ranges_ordered() -> None:
    for row in read_table("prices"):
        assert row["capacity"] in ("on-demand", "spot")
        assert (
            0
            < float(row["usd_per_hour"])
            <= float(row["usd_per_hour_max"] or row["usd_per_hour"])
            < 500
        ), row


def test_topology_lists_every_gpu_of_a_machine() -> None:
    rows = read_table("gpu_topology")
    for cloud, name in {(row["cloud"], row["machine"]) for row in rows}:
        machine = catalog.machine(cloud, name)
        assert [int(row["index"]) for row in rows if row["machine"] == name] == list(
            range(machine.gpu_count)
        )


def test_number_of_interfaces_matches_the_cloud() -> None:
    for machine in catalog.machines("eks"):
        assert len(catalog.network_interfaces(machine)) == (machine.efa_interfaces or 0), (
            machine.name
        )
    for machine in catalog.machines("gke"):
        interfaces = catalog.network_interfaces(machine)
        assert sum(each.is_rdma for each in interfaces) == (machine.rdma_networks or 0), (
            machine.name
        )
        known = machine.additional_networks or machine.rdma_networks
        assert len(interfaces) == (known if interfaces else 0), machine.name


def test_profiles_fit_the_memory_slices_of_their_gpu() -> None:
    for gpu in nvidia.gpus():
        for profile in nvidia.mig_profiles(gpu.id):
            if profile.size is not None:
                assert gpu.memory_slices is not None
                assert max(profile.starts) + profile.size <= gpu.memory_slices, (
                    gpu.id,
                    profile.name,
                )


def test_profile_names_follow_their_memory() -> None:
    # go-nvlib getMigMemorySizeGB: eighths of the card, rounded up, times its size in whole GiB
    for gpu in nvidia.gpus():
        for profile in nvidia.mig_profiles(gpu.id):
            if (
                gpu.memory_mib is None
                or profile.memory_mib is None
                or profile.provenance.confidence == "derived"
            ):
                continue
            eighths = -(-profile.memory_mib * 8 // gpu.memory_mib)
            gigabytes = eighths * -(-gpu.memory_mib // 1024) / 8
            assert re.match(r"\d+g\.(\d+)gb", profile.name)[1] == str(int(gigabytes + 0.5)), (
                gpu.id,
                profile.name,
            )  # type: ignore[index]  # names are checked by the match


def test_driver_columns_have_valid_values() -> None:
    for release in nvidia.driver_releases():
        assert release.mig_names in ("id-start-size", "profile-id-start")
        assert bool(release.fault) is not release.is_installable
        assert release.is_installable == ("v1" in release.resource_apis)
        for attribute in release.attributes:
            assert attribute.type in ("string", "int", "bool", "version")
            assert attribute.rule in get_args(AttributeValueRule)
