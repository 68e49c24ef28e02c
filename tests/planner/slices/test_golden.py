"""Slices in the form of `kubectl get resourceslices -o yaml`, one file for each machine type,
driver version, and setting.

`REWRITE_GOLDEN=1 pytest tests/planner/slices/test_golden.py` rewrites the files. Review the diff
before you commit.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from msgspec import Struct, field
from msgspec.structs import replace

from dra_planner import catalog
from dra_planner.drivers import nvidia
from dra_planner.drivers.dranet import predict_network_slices
from dra_planner.drivers.nvidia import PublishingSettings, predict_slices
from dra_planner.plan import read_checked
from dra_planner.releases import RELEASES, features_of
from dra_planner.slices import render_slice
from dra_planner.sources import Source

GOLDEN = Path(__file__).parent / "golden"
DYNAMIC = PublishingSettings(gates={"DynamicMIG": True})


class Case(Struct, frozen=True):
    machine: str
    driver: str = "25.8.1"
    minor: int = 34
    mig: str = "none"
    cloud: str = "eks"
    settings: PublishingSettings = field(default_factory=PublishingSettings)
    network: bool = False


def shares(how: str) -> PublishingSettings:
    return PublishingSettings(gates={"ConsumableShares": True}, consumable_shares=how)


CASES = {
    "eks-t4": Case("g4dn.xlarge"),
    "eks-t4-25.3": Case("g4dn.12xlarge", "25.3.2"),
    "eks-t4g-metal": Case("g5g.metal", "0.4.1", 36),
    "eks-a10g": Case("g5.12xlarge", "25.12.0", 35),
    "eks-l4": Case("g6.2xlarge"),
    "eks-l4-quarter": Case("g6f.2xlarge", "0.4.1", 36),
    "eks-l40s": Case("g6e.12xlarge", "0.5.0", 36),
    "eks-v100-16": Case("p3.2xlarge"),
    "eks-v100-32": Case("p3dn.24xlarge", "0.5.0", 36),
    "eks-a100-40": Case("p4d.24xlarge"),
    "eks-a100-40-balanced": Case("p4d.24xlarge", mig="0=all-balanced;1=all-1g.5gb.me"),
    "eks-h100-dynamic-25.12": Case("p5.4xlarge", "25.12.0", 36, settings=DYNAMIC),
    "eks-a100-80-seven": Case("p4de.24xlarge", "25.12.0", 34, mig="0-6=none;7=all-1g.10gb"),
    "eks-h100": Case("p5.4xlarge"),
    "eks-h100-25.3": Case("p5.4xlarge", "25.3.2"),
    "eks-h100-0.5": Case("p5.48xlarge", "0.5.0", 36),
    "eks-h100-balanced-25.8": Case("p5.4xlarge", mig="all-balanced"),
    "eks-h100-balanced-0.4": Case("p5.4xlarge", "0.4.1", 36, mig="all-balanced"),
    "eks-h100-mixed": Case("p5.4xlarge", "0.4.1", 36, mig="3g.40gb:1,1g.20gb:1,1g.10gb+me:1"),
    "eks-h100-empty": Case("p5.4xlarge", mig="all-enabled"),
    "eks-h100-dynamic": Case("p5.4xlarge", "0.4.1", 36, settings=DYNAMIC),
    "eks-h100-shares": Case("p5.4xlarge", "0.5.0", 36, settings=shares("10")),
    "eks-h100-passthrough": Case(
        "p5.4xlarge", "0.4.1", 36, settings=PublishingSettings(gates={"PassthroughSupport": True})
    ),
    "eks-h100-network": Case("p5.4xlarge", "0.4.1", 36, network=True),
    "eks-h200": Case("p5en.48xlarge", "0.5.0", 36),
    "eks-h200-balanced": Case("p5en.48xlarge", "0.4.1", 36, mig="0=all-balanced;1-7=none"),
    "eks-b200": Case("p6-b200.48xlarge", "0.4.1", 36, network=True),
    "eks-b200-seven": Case("p6-b200.48xlarge", "0.4.1", 36, mig="0=all-1g.23gb;1-7=none"),
    "eks-b300": Case("p6-b300.48xlarge", "0.4.1", 36),
    "eks-gb200": Case(
        "p6e-gb200.36xlarge", "25.8.1", settings=PublishingSettings(compute_domains=True)
    ),
    "eks-rtx-pro-6000": Case("g7e.2xlarge", "0.4.1", 36),
    "eks-rtx-pro-6000-dynamic": Case("g7e.2xlarge", "0.4.1", 36, settings=DYNAMIC),
    "eks-l4-memory-shares": Case("g6.2xlarge", "0.5.0", 36, settings=shares("memory")),
    "eks-l4-unlimited-shares": Case("g6.2xlarge", "0.5.0", 36, settings=shares("unlimited")),
    "gke-t4": Case("n1-standard-8+nvidia-tesla-t4:2", cloud="gke"),
    "gke-v100": Case("n1-standard-8+nvidia-tesla-v100", cloud="gke"),
    "gke-l4": Case("g2-standard-24", cloud="gke"),
    "gke-a100-40": Case("a2-highgpu-2g", "25.12.0", cloud="gke"),
    "gke-a100-80": Case("a2-ultragpu-1g", "25.12.0", cloud="gke"),
    "gke-h100": Case("a3-highgpu-8g", cloud="gke"),
    "gke-h200": Case("a3-ultragpu-8g", "0.4.1", 36, cloud="gke"),
    "gke-b200-network": Case("a4-highgpu-8g", "0.5.0", 36, cloud="gke", network=True),
    "gke-gb200-network": Case("a4x-highgpu-4g", "0.4.1", 36, cloud="gke", network=True),
    "eks-h100-everything": Case(
        "p5.4xlarge",
        "0.5.0",
        36,
        settings=PublishingSettings(
            gates={"PassthroughSupport": True, "ConsumableShares": True},
            consumable_shares="2",
            compute_domains=True,
        ),
        network=True,
    ),
    "aks-t4": Case("Standard_NC4as_T4_v3", cloud="aks"),
    "aks-a10-third": Case("Standard_NV12ads_A10_v5", "25.12.0", 35, cloud="aks"),
    "aks-a100-80": Case("Standard_NC48ads_A100_v4", minor=35, cloud="aks"),
    "aks-a100-80-dynamic": Case(
        "Standard_NC24ads_A100_v4", "25.12.0", 36, cloud="aks", settings=DYNAMIC
    ),
    "aks-h100": Case("Standard_ND96isr_H100_v5", "0.5.0", 36, cloud="aks"),
    "aks-h100-nvl": Case("Standard_NC80adis_H100_v5", "0.4.1", 36, cloud="aks"),
    "aks-gb300": Case(
        "Standard_ND128isr_GB300_v6",
        "0.4.1",
        36,
        cloud="aks",
        settings=PublishingSettings(compute_domains=True),
    ),
    "gke-rtx-pro-6000-eighth": Case("g4-standard-6", "0.4.1", 36, cloud="gke"),
}


def render(case: Case) -> str:
    machine = catalog.machine(case.cloud, case.machine)
    slices = predict_slices(
        machine,
        nvidia.driver_release(case.driver),
        node_name="node-0",
        features=features_of(case.minor),
        mig=case.mig,
        settings=case.settings,
    )
    network = predict_network_slices(machine, node_name="node-0") if case.network else ()
    return yaml.safe_dump_all(
        [render_slice(each) for each in (*slices, *network)], sort_keys=False, width=110
    )


@pytest.mark.parametrize("name", CASES)
def test_slices_match_the_golden_files(name: str) -> None:
    golden = GOLDEN / f"{name}.yaml"
    text = render(CASES[name])
    if os.environ.get("REWRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("minor", RELEASES)
def test_later_versions_have_the_same_valid_slices(name: str, minor: int) -> None:
    case = replace(CASES[name], minor=max(minor, CASES[name].minor))
    assert render(case) == (GOLDEN / f"{name}.yaml").read_text()
    manifests = read_checked([Source(f"{name}.yaml", render(case))], features_of(case.minor))
    assert manifests.diagnostics == ()
    assert len(manifests.slices) == len(list(yaml.safe_load_all(render(case))))


def test_every_golden_file_belongs_to_a_case() -> None:
    assert {path.stem for path in GOLDEN.glob("*.yaml")} == set(CASES)
