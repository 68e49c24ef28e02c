"""Notes about a fleet: unused features, the end of support, and outdated facts."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import fields

import dra_planner
from dra_planner import catalog
from dra_planner.catalog import Machine, machines
from dra_planner.catalog.kubernetes_support import support
from dra_planner.catalog.machines import _machine
from dra_planner.catalog.tables import read_table
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan.dated_notes import dated_notes
from dra_planner.plan.machine_features import unused_features
from dra_planner.plan.provider_notes import provider_notes

TODAY = date(2026, 11, 26)
STACKS = Path(__file__).parents[3] / "stacks"
REGIONS = {"eks": "us-east-1", "gke": "us-central1", "aks": "eastus"}


def fleet(
    cloud: str, machine: str, kubernetes: str = "1.35", drivers: Any = None, **pool: Any
) -> Fleet:
    nvidia = {"nvidia": {"version": "25.12.0", "computeDomains": False}}
    return read_fleet(
        {
            "cloud": cloud,
            "region": REGIONS[cloud],
            "kubernetes": kubernetes,
            "endpoint": {"publicAccessCidrs": ["203.0.113.0/24"]},
            "drivers": {**nvidia, **(drivers or {})},
            "systemPool": {
                "machine": {"eks": "m7i.large", "gke": "e2-standard-4", "aks": "Standard_D4s_v5"}[
                    cloud
                ]
            },
            "devicePlugin": False,
            "deviceClasses": [],
            "pools": [{"name": "gpus", "machine": machine, "count": 1, **pool}],
        }
    )


@pytest.mark.parametrize(
    ("cloud", "machine", "feature"),
    [
        ("eks", "p5.48xlarge", "32 EFA interfaces"),
        ("gke", "g2-standard-8", ""),
        ("aks", "Standard_ND96isr_H100_v5", "8 InfiniBand NICs"),
        ("aks", "Standard_ND96isr_H100_v5", "AKSInfinibandSupport"),
        ("aks", "Standard_NC24ads_A100_v4", ""),
    ],
)
def test_unused_feature_is_reported(cloud: str, machine: str, feature: str) -> None:
    found = unused_features(fleet(cloud, machine), ["gpus"])
    assert any(feature in each for each in found) if feature else found == ()


def test_unused_feature_is_reported_once_with_its_price() -> None:
    (infiniband,) = unused_features(fleet("aks", "Standard_ND96isr_H100_v5"), ["gpus"])
    assert infiniband.startswith(
        "Standard_ND96isr_H100_v5 (USD 98.32 per hour) has 8 InfiniBand NICs"
    )


def test_feature_of_a_pool_without_planned_nodes_is_not_reported() -> None:
    assert unused_features(fleet("eks", "p5.48xlarge"), []) == ()


def test_used_feature_is_not_reported() -> None:
    used = unused_features(fleet("eks", "p5.48xlarge", drivers={"dranet": True}), ["gpus"])
    assert used == ()


@pytest.mark.parametrize(
    ("cloud", "machine"), [("eks", "p5.48xlarge"), ("aks", "Standard_ND96isr_H100_v5")]
)
def test_network_disabled_on_purpose_is_not_reported(cloud: str, machine: str) -> None:
    assert unused_features(fleet(cloud, machine, drivers={"dranet": False}), ["gpus"]) == ()


def test_required_images_are_reported_if_the_cloud_selects_them() -> None:
    (note,) = provider_notes(fleet("aks", "Standard_NV36ads_A10_v5"))
    assert "202606.08.1 or later" in note
    assert "fails with node image 202607.02.0" in note
    assert "kubernetes.azure.com/node-image-version" in note
    assert provider_notes(fleet("aks", "Standard_NC24ads_A100_v4")) == ()
    assert provider_notes(fleet("eks", "g7.12xlarge")) == (), "the components pin the release"


@pytest.mark.parametrize(("capacity", "notes"), [("on-demand", 1), ({"reservation": "cr-0a"}, 0)])
def test_open_reservations_are_reported_with_karpenter(capacity: Any, notes: int) -> None:
    pool = {"zones": ["us-east-1a"], "capacity": capacity}
    planned = fleet("eks", "g6.2xlarge", **pool).model_copy(update={"autoscaler": "karpenter"})
    found = provider_notes(planned)
    assert len(found) == notes


@pytest.mark.parametrize(
    ("zone", "capacity", "notes"), [("b", "spot", 1), ("a", "spot", 0), ("b", "on-demand", 0)]
)
def test_zones_with_known_problems_are_reported(zone: str, capacity: str, notes: int) -> None:
    pool = {"zones": [f"us-east4-{zone}"], "capacity": capacity}
    document = fleet("gke", "a3-megagpu-8g").document() | {"region": "us-east4"}
    document["pools"][0] |= pool
    found = provider_notes(read_fleet(document))
    assert len([each for each in found if "us-east4-b" in each]) == notes


def test_dated_notes_depend_on_the_day() -> None:
    ending = dated_notes(fleet("eks", "p5.48xlarge", "1.34"), TODAY)
    assert any("ends on 2026-12-02" in each and "USD 0.50" in each for each in ending)
    assert dated_notes(fleet("eks", "p5.48xlarge", "1.35"), date(2026, 10, 1)) == ()
    old = dated_notes(fleet("eks", "p5.48xlarge"), date(2027, 6, 1))
    assert any(
        "These facts may be outdated" in each and "EKS AL2023 NVIDIA images" in each for each in old
    )
    assert not any("AKS" in each for each in old)


def test_only_the_row_of_the_fleets_version_must_be_recent() -> None:
    assert dated_notes(fleet("gke", "a3-megagpu-8g", "1.35"), TODAY) == ()
    old = dated_notes(fleet("gke", "a3-megagpu-8g", "1.34"), TODAY)
    assert any(
        "end of support for Kubernetes versions (seen on 2026-02-19)" in note for note in old
    )


@pytest.mark.parametrize(
    "settings", sorted(STACKS.glob("Pulumi.*.yaml")), ids=lambda file: file.stem
)
def test_example_stack_has_months_of_support_left(settings: Path) -> None:
    document = yaml.safe_load(settings.read_text())["config"]["pulumi-dra:fleet"]
    found = support(document["cloud"], int(document["kubernetes"].split(".")[1]))
    assert found is not None
    assert found.sentence(TODAY) == ""


class Recorded(dict[str, str]):
    """A row that remembers which of its cells were read."""

    def __init__(self, row: dict[str, str]) -> None:
        super().__init__(row)
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> str:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)


@pytest.mark.parametrize("cloud", catalog.cloud_titles())
def test_every_column_of_the_machine_tables_is_read(cloud: str) -> None:
    columns, read = set[str](), set[str]()
    for row in read_table(f"machines_{cloud}"):
        recorded = Recorded(dict(row))
        _machine(cloud, recorded)
        columns |= row.keys()
        read |= recorded.read
    assert columns - read == set()


def test_every_field_of_a_machine_type_is_used() -> None:
    root = Path(dra_planner.__file__).parents[2]
    folders = ("planner", "command", "components", "policies")
    texts = [
        file.read_text(encoding="utf-8")
        for folder in folders
        for file in (root / folder).rglob("*.py")
        if file.name != "machines.py"
    ]
    unused = [
        each.name for each in fields(Machine) if not any(f".{each.name}" in text for text in texts)
    ]
    assert unused == []
    assert machines("eks")
