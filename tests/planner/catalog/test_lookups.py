"""Lookups in the tables, and lookups of unknown names."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest

from dra_planner import catalog
from dra_planner.catalog.label_owners import label_owner
from dra_planner.drivers import nvidia
from dra_planner.errors import CatalogError

H100 = catalog.machine("eks", "p5.48xlarge")


def layout(
    machine: str, text: str, cloud: str = "eks"
) -> list[list[tuple[str, int | None]] | None]:
    return [
        None
        if geometry is None
        else [(instance.profile.name, instance.start) for instance in geometry]
        for geometry in nvidia.mig_layout(catalog.machine(cloud, machine), text)
    ]


def test_machine_type_has_its_properties() -> None:
    assert (H100.vcpus, H100.memory_mib, H100.gpu_count, H100.arch) == (192, 2097152, 8, "amd64")
    assert H100.accelerator is not None
    assert H100.accelerator.gpu == "h100-sxm5-80gb"
    assert H100.provenance.sources == ("moto-5.2.5",)


def test_machine_type_is_found_without_its_cloud() -> None:
    assert catalog.find_machine("p5.48xlarge") == H100
    assert catalog.find_machine("n1-standard-8+nvidia-tesla-t4").cloud == "gke"
    assert catalog.find_machine("Standard_NC24ads_A100_v4").cloud == "aks"
    with pytest.raises(CatalogError, match=r"did you mean a3-highgpu-1g"):
        catalog.find_machine("a3-high")


def test_machine_type_names_are_unique_across_clouds() -> None:
    names = [
        machine.name for cloud in catalog.cloud_titles() for machine in catalog.machines(cloud)
    ]
    assert len(names) == len(set(names))


def test_fraction_of_a_gpu_is_read() -> None:
    accelerator = catalog.machine("gke", "g4-standard-12").accelerator
    assert accelerator is not None
    assert accelerator.fraction == Fraction(1, 4)


def test_gpus_can_be_attached_to_n1() -> None:
    one = catalog.machine("gke", "n1-standard-8+nvidia-tesla-v100")
    assert catalog.machine("gke", "n1-standard-8+nvidia-tesla-v100:1").name == one.name
    assert (one.gpu_count, one.instance_type) == (1, "n1-standard-8")
    assert "us-central1" in one.regions


def test_price_has_a_date() -> None:
    price = catalog.price(H100, "us-east-1")
    assert price is not None
    assert (price.usd_per_hour, price.as_of) == (Decimal("55.04"), "2026-07-20")
    assert catalog.price(H100, "eu-north-1") is None
    assert catalog.price(catalog.machine("gke", "a3-ultragpu-8g"), "us-central1") is None


def test_spot_history_has_a_date() -> None:
    history = catalog.spot_history(H100, "us-east-1")
    assert history is not None
    assert (history.savings_percent, history.interruption, history.as_of) == (
        52,
        ">20%",
        "2025-06-28",
    )
    assert catalog.spot_history(H100, "eu-north-1") is None


def test_network_properties_are_read() -> None:
    assert (H100.network_cards, H100.efa_interfaces, H100.network_performance) == (
        32,
        32,
        "3200 Gigabit",
    )
    ultra = catalog.machine("gke", "a3-ultragpu-8g")
    assert (ultra.additional_networks, ultra.rdma_networks, ultra.network_performance) == (
        9,
        8,
        "GPUDirect-RDMA",
    )


def test_releases_are_ordered_by_time_not_by_number() -> None:
    assert nvidia.driver_release("0.4.0").order > nvidia.driver_release("25.12.0").order
    assert nvidia.driver_release("v25.8.1") == nvidia.driver_release("25.8.1")
    assert nvidia.driver_release("0.4.1").chart_reference.startswith("oci://registry.k8s.io/")
    assert nvidia.driver_release("25.8.1").chart_reference == "nvidia-dra-driver-gpu"


@pytest.mark.parametrize("version", ["25.3.0", "25.3.1"])
def test_charts_without_the_v1_api_are_rejected(version: str) -> None:
    release = nvidia.driver_release(version)
    with pytest.raises(CatalogError, match=r"v1beta1.*use one of these versions .*: 25\.3\.2"):
        nvidia.require_installable(release)


def test_mig_configurations_are_parsed() -> None:
    assert layout("p5.4xlarge", "none") == [None]
    assert layout("p5.4xlarge", "all-enabled") == [[]]
    assert layout("p5.4xlarge", "all-1g.10gb.me") == [[("1g.10gb+me", 0)]]
    assert layout("p5.4xlarge", "all-balanced") == [
        [("2g.20gb", 0), ("1g.10gb", 2), ("1g.10gb", 3), ("3g.40gb", 4)]
    ]
    assert layout("p5.4xlarge", " 7g.80gb ") == [[("7g.80gb", 0)]]
    assert layout("p5.4xlarge", "1g.20gb,1g.20gb") == layout("p5.4xlarge", "1g.20gb:2")
    assert layout("p4d.24xlarge", "0-1,3=7g.40gb;7=all-enabled") == [
        [("7g.40gb", 0)], [("7g.40gb", 0)], None, [("7g.40gb", 0)], None, None, None, [],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("look_up", "words"),
    [
        (
            lambda: catalog.machine("eks", "p5.48xlrge"),
            r'machine type "p5\.48xlrge"; did you mean p5\.48xlarge',
        ),
        (lambda: catalog.machine("eks", "P5.48XLARGE"), r"did you mean p5\.48xlarge"),
        (
            lambda: catalog.machine("eks", "quantum"),
            ("see `pulumi-dra catalog machines`"),
        ),
        (lambda: catalog.machine("azure", "x"), 'cloud "azure"; did you mean eks, gke, or aks'),
        (lambda: catalog.machine("gke", "n1-standard-8+nvidia-tesla-v1000"), "nvidia-tesla-v100"),
        (
            lambda: catalog.machine("gke", "n1-standard-8+nvidia-tesla-v100:3"),
            "attach 1, 2, 4, or 8",
        ),
        (lambda: catalog.machine("gke", "n1-standard-96+nvidia-tesla-v100"), "attach 8 or more"),
        (
            lambda: catalog.machine("gke", "a2-highgpu-1g+nvidia-tesla-t4"),
            "a2-highgpu-1g doesn't support attached GPUs",
        ),
        (lambda: catalog.machine("eks", "p5.48xlarge+nvidia-tesla-t4"), "support attached GPUs"),
        (lambda: nvidia.gpu("h100"), r"did you mean h100-"),
        (
            lambda: nvidia.driver_release("26.1.0"),
            r"use one of these versions \(0\.4 is newer than 25\.12\): 25\.3\.0",
        ),
        (lambda: nvidia.device_plugin_release("1.0"), r"0\.17\.4"),
        (
            lambda: catalog.check_region(H100, "eu-central-1"),
            "use one of these regions: eu-north-1, eu-west-2",
        ),
        (
            lambda: nvidia.check_mig_layout(H100, "1g.5gb"),
            r"doesn't support the MIG profile .1g\.5gb.; use one of these profiles: 1g\.10gb",
        ),
        (
            lambda: nvidia.check_mig_layout(H100, "all-1g.5gb"),
            r"isn't a MIG configuration of NVIDIA H100.*all-balanced",
        ),
        (lambda: nvidia.check_mig_layout(H100, "1g.10gb:8"), "at most 7 instances of 1g.10gb"),
        (lambda: nvidia.check_mig_layout(H100, "4g.40gb,3g.40gb,1g.10gb"), "doesn't fit on"),
        (lambda: nvidia.check_mig_layout(H100, "1g.10gb:two"), "two instances"),
        (lambda: nvidia.check_mig_layout(H100, "0-8=none"), "use GPUs 0 to 7"),
        (
            lambda: nvidia.check_mig_layout(H100, "0=none;0=7g.80gb"),
            "GPU 0 has two MIG configurations",
        ),
        (
            lambda: nvidia.check_mig_layout(H100, "0=none;7g.80gb"),
            "\" doesn't assign a MIG configuration to GPU indices",
        ),
        (
            lambda: nvidia.check_mig_layout(catalog.machine("eks", "g6.xlarge"), "all-balanced"),
            "NVIDIA L4 doesn't support MIG",
        ),
        (
            lambda: nvidia.check_mig_layout(catalog.machine("eks", "g6f.xlarge"), "x"),
            ", which can't be partitioned further",
        ),
        (
            lambda: nvidia.check_mig_layout(catalog.machine("eks", "trn1.2xlarge"), "x"),
            "doesn't have an NVIDIA GPU",
        ),
    ],
)
def test_unknown_name_lists_the_known_ones(look_up: Callable[[], object], words: str) -> None:
    with pytest.raises(CatalogError, match=words):
        look_up()


@pytest.mark.parametrize(
    "key",
    [
        "addon.gke.io/node-local-dns-ds-ready",
        "iam.gke.io/gke-metadata-server-enabled",
        "node.gke.io/enable-writable-cgroups",
        "topology.gke.io/zone",
    ],
)
def test_labels_that_gke_sets_have_an_owner(key: str) -> None:
    owner = label_owner(key)
    assert owner is not None
    assert owner.owner == "GKE"
