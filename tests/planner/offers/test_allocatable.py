"""Allocatable amounts against figures that others have published."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dra_planner import catalog, clouds
from dra_planner.clouds import NodeImage, reserved_cpu_milli
from dra_planner.clouds.eks.addresses import max_pods
from dra_planner.clouds.protocol.allocatable import MIB
from dra_planner.errors import CatalogError
from dra_planner.offers import AllocatableSettings, predict_allocatable


@pytest.mark.parametrize(
    ("vcpus", "milli"),
    [
        (1, 60),
        (2, 70),
        (4, 80),
        (12, 100),
        (48, 190),
        (96, 310),
        (192, 550),
        (208, 590),
        (224, 630),
    ],
)
def test_reserved_cpu_matches_the_documentation(vcpus: int, milli: int) -> None:
    assert reserved_cpu_milli(vcpus) == milli


def test_p5_matches_the_karpenter_documentation() -> None:
    # instance-types.md@1d92708: 191450m, 1938410Mi, 100 pods
    amounts = predict_allocatable(catalog.machine("eks", "p5.48xlarge")).amounts
    assert (amounts["cpu"], amounts["memory"] // MIB, amounts["pods"]) == (191450, 1938410, 100)


@pytest.mark.parametrize(
    ("machine", "pods"),
    [
        ("g4dn.xlarge", 29),
        ("g5.xlarge", 58),
        ("g6e.12xlarge", 250),
        ("p4d.24xlarge", 250),
        ("p6-b200.48xlarge", 198),
    ],
)
def test_eks_pods_are_limited_by_interfaces_or_by_the_node_group(machine: str, pods: int) -> None:
    assert max_pods(catalog.machine("eks", machine))[0] == pods


def test_unknown_network_uses_the_default_of_nodeadm() -> None:
    pods, sentence = max_pods(catalog.machine("eks", "p6e-gb200.36xlarge"))
    assert pods == 110
    assert "unknown" in sentence


@pytest.mark.parametrize(
    ("machine", "kept_mib"),
    [("g2-standard-4", 365 + 2663 + 100), ("a3-highgpu-8g", 30280 + 45260 + 100)],
)
def test_gke_reserves_memory_for_kernel_kubelet_and_eviction(machine: str, kept_mib: int) -> None:
    known = catalog.machine("gke", machine)
    assert known.memory_mib is not None
    amounts = predict_allocatable(known).amounts
    assert abs(known.memory_mib - amounts["memory"] / MIB - kept_mib) < 2
    assert amounts["pods"] == 110


def test_g4dn_node_is_within_the_predicted_range() -> None:
    # kubectl describe of such an EKS node: capacity 32475408Ki, allocatable 31785232Ki, 29 pods
    allocatable = predict_allocatable(catalog.machine("eks", "g4dn.2xlarge"))
    assert (allocatable.amounts["cpu"], allocatable.amounts["pods"]) == (7910, 29)
    assert allocatable.amounts["memory"] <= 31785232 * 1024 <= allocatable.at_most["memory"]
    # the amount that the kubelet reserves is exact
    possible = (32768 - 32768 // 64) * MIB  # without the descriptors of the pages
    assert allocatable.at_most["memory"] - 31785232 * 1024 == possible - 32475408 * 1024


def test_g2_node_matches_a_real_node() -> None:
    # kubectl describe of a g2-standard-4 on GKE: cpu 3920m, memory 13594692Ki
    amounts = predict_allocatable(catalog.machine("gke", "g2-standard-4")).amounts
    assert amounts["cpu"] == 3920
    assert 0.995 < amounts["memory"] / (13594692 * 1024) < 1


def test_graviton_reserves_contiguous_memory() -> None:
    arm, intel = (
        predict_allocatable(catalog.machine("eks", name)).amounts
        for name in ("g5g.2xlarge", "g5.xlarge")
    )
    assert intel["memory"] - arm["memory"] == 64 * MIB


def test_machine_type_of_unknown_size_is_rejected() -> None:
    with pytest.raises(CatalogError, match="ct4p-hightpu-4t"):
        predict_allocatable(catalog.machine("gke", "ct4p-hightpu-4t"))


@pytest.mark.parametrize("cloud", clouds.names())
def test_every_machine_type_leaves_most_of_its_resources(cloud: str) -> None:
    for machine in catalog.machines(cloud):
        if machine.vcpus is None or machine.memory_mib is None:
            continue
        amounts = predict_allocatable(machine).amounts
        assert machine.vcpus * 900 <= amounts["cpu"] <= machine.vcpus * 1000, machine.name
        assert machine.memory_mib * MIB * 0.4 < amounts["memory"] < machine.memory_mib * MIB, (
            machine.name
        )


@pytest.mark.parametrize(
    ("settings", "pods"),
    [
        (AllocatableSettings(), 58),
        (AllocatableSettings(prefix_delegation=True), 110),
        (AllocatableSettings(prefix_delegation=True, self_managed=True), 4 * 14 * 16 + 2),
    ],
)
def test_pods_follow_the_network_settings_and_memory_follows_pods(
    settings: AllocatableSettings, pods: int
) -> None:
    machine = catalog.machine("eks", "g5.2xlarge")
    plain, other = (
        predict_allocatable(machine).amounts,
        predict_allocatable(machine, settings).amounts,
    )
    assert other["pods"] == pods
    assert plain["memory"] - other["memory"] == 11 * (pods - 58) * MIB


def test_fewer_pods_make_the_reservation_uncertain() -> None:
    # nodeadm reserves by the maxPods it works out itself when kubelet's configuration sets another
    machine = catalog.machine("eks", "g5.2xlarge")
    plain, fewer = (
        predict_allocatable(machine),
        predict_allocatable(machine, AllocatableSettings(max_pods=20)),
    )
    assert fewer.amounts["pods"] == 20
    assert fewer.amounts["memory"] == plain.amounts["memory"]
    assert fewer.at_most["memory"] - plain.at_most["memory"] == 11 * (58 - 20) * MIB


@pytest.mark.parametrize(
    ("machine", "settings", "words"),
    [
        (
            "g5.2xlarge",
            AllocatableSettings(max_pods=111, prefix_delegation=True),
            "at most 110 pods per node of this machine type, not 111",
        ),
        (
            "p4d.24xlarge",
            AllocatableSettings(max_pods=251),
            "at most 250 pods per node of this machine type, not 251",
        ),
        (
            "g5.2xlarge",
            AllocatableSettings(max_pods=59),
            "addresses for only 58 pods, not for 59",
        ),
        (
            "g5.2xlarge",
            AllocatableSettings(reserved={"memory": 40 << 30}),
            r"use all of the node's memory \(g5.2xlarge\)",
        ),
    ],
)
def test_impossible_node_settings_are_rejected(
    machine: str, settings: AllocatableSettings, words: str
) -> None:
    with pytest.raises(CatalogError, match=words):
        predict_allocatable(catalog.machine("eks", machine), settings)


def test_reserved_amounts_are_unavailable_to_pods() -> None:
    machine = catalog.machine("eks", "g5.2xlarge")
    plain = predict_allocatable(machine)
    less = predict_allocatable(
        machine, AllocatableSettings(reserved={"cpu": 500, "memory": 1 << 30})
    )
    assert plain.amounts["cpu"] - less.amounts["cpu"] == 500
    assert plain.at_most["memory"] - less.at_most["memory"] == 1 << 30


def test_gke_pool_may_set_its_pods_and_disk() -> None:
    settings = AllocatableSettings(max_pods=32, disk_gib=100)
    allocatable = predict_allocatable(catalog.machine("gke", "g2-standard-8"), settings)
    assert allocatable.amounts["pods"] == 32
    # of 100 GiB: 35 % and 6 GiB are reserved, 10 % evict
    assert allocatable.at_most["ephemeral-storage"] == (102400 - 35840 - 6144 - 10240) * MIB


@pytest.mark.parametrize(("count", "reserved_gib"), [(1, 50), (2, 75), (4, 100)])
def test_requested_local_ssds_are_ephemeral_storage(count: int, reserved_gib: int) -> None:
    machine = catalog.machine("gke", "g2-standard-48")
    allocatable = predict_allocatable(machine, AllocatableSettings(local_ssds=count))
    most = allocatable.at_most["ephemeral-storage"] / (1024 * MIB)
    assert most == pytest.approx(count * 375 * 0.9 - reserved_gib, abs=0.01)
    assert 0.97 * most < allocatable.amounts["ephemeral-storage"] / (1024 * MIB) < most
    assert f"ephemeral storage is on {count * 375} GiB of local SSDs" in allocatable.assumptions


def test_raid0_disks_of_an_eks_machine_are_ephemeral_storage() -> None:
    machine = catalog.machine("eks", "g6.12xlarge")  # four disks of 940 GB
    plain, mounted, whole = (
        predict_allocatable(machine, AllocatableSettings(local_storage=use))
        for use in ("none", "mount", "raid0")
    )
    assert plain.amounts == mounted.amounts
    most = whole.at_most["ephemeral-storage"]
    assert most == pytest.approx(4 * 940 * 10**9 * 0.9 - 1024 * MIB, rel=0.001)
    assert 0.97 * most < whole.amounts["ephemeral-storage"] < most
    assert {**whole.amounts, "ephemeral-storage": 0} == {**plain.amounts, "ephemeral-storage": 0}


def test_custom_images_reserve_memory_for_the_pods_of_nodeadm() -> None:
    """EKS passes the maximum number of pods to nodes with its own images. On other nodes, nodeadm
    reserves memory according to the machine type's addresses.
    """
    # 16 vCPU: capped at 110 pods, with addresses for 234
    machine = catalog.machine("eks", "g6.4xlarge")
    usual = predict_allocatable(machine)
    own = predict_allocatable(
        machine, AllocatableSettings(image=NodeImage(id="ami-1", driver_root="/"), max_pods=110)
    )
    assert usual.amounts["pods"] == own.amounts["pods"] == 110
    assert (usual.amounts["memory"] - own.amounts["memory"]) / MIB == (234 - 110) * 11
    assert own.at_most["memory"] == usual.at_most["memory"]
    assert any("nodes run the image ami-1" in each for each in own.assumptions)


@pytest.mark.parametrize(("cloud", "name"), [("eks", "p5.48xlarge"), ("gke", "a3-highgpu-8g")])
def test_huge_pages_are_a_separate_resource(cloud: str, name: str) -> None:
    machine = catalog.machine(cloud, name)
    usual = predict_allocatable(machine)
    found = predict_allocatable(machine, AllocatableSettings(huge_pages={"2Mi": 4096, "1Gi": 2}))
    freed = 10 * 1024 * MIB // 64  # descriptors of huge pages
    for side, before, more in (
        (found.amounts, usual.amounts, 0),
        (found.at_most, usual.at_most, freed),
    ):
        assert (side["hugepages-2Mi"], side["hugepages-1Gi"]) == (8 * 1024 * MIB, 2 * 1024 * MIB)
        assert before["memory"] - side["memory"] == 10 * 1024 * MIB - more
    assert any(
        "4096 huge pages of 2MiB and 2 huge pages of 1GiB" in each for each in found.assumptions
    )


def test_maximum_memory_excludes_page_descriptors() -> None:
    amd64, arm64 = (catalog.machine("eks", name) for name in ("p5.48xlarge", "g5g.xlarge"))
    for machine, part in ((amd64, 64), (arm64, None)):
        assert machine.memory_mib is not None
        kept = machine.memory_mib // part if part else 0
        found = predict_allocatable(machine)
        estimate = -(-machine.memory_mib * 75 // 1000) + (64 if part is None else 0)
        spread = (found.at_most["memory"] - found.amounts["memory"]) / MIB
        assert spread == estimate - kept


def test_huge_pages_that_leave_no_memory_are_rejected() -> None:
    with pytest.raises(
        CatalogError, match="huge pages use all of the node's memory, so pods can't run on it"
    ):
        predict_allocatable(
            catalog.machine("eks", "g6.2xlarge"), AllocatableSettings(huge_pages={"1Gi": 31})
        )


def test_included_local_ssds_may_be_ephemeral_storage() -> None:
    """Therefore, the verdict for a pod that requests 1 TiB isn't *does not fit*, but plans don't
    rely on this use of the SSDs.
    """
    allocatable = predict_allocatable(catalog.machine("gke", "a3-highgpu-8g"))
    assert allocatable.at_most["ephemeral-storage"] == (16 * 375 * 9 // 10 - 100) * 1024 * MIB
    assert allocatable.amounts["ephemeral-storage"] < 200 * 1024 * MIB


@pytest.mark.parametrize(
    ("machine", "memory_kib"),
    # notes of GPU tests by converged-computing (Pennant, LAMMPS) print such nodes, on boot disks of
    # 100 GiB
    [("a2-highgpu-1g", 80404476), ("n1-standard-32", 114327136)],
)
def test_gke_nodes_are_within_the_predicted_range(machine: str, memory_kib: int) -> None:
    allocatable = predict_allocatable(
        catalog.machine("gke", machine), AllocatableSettings(disk_gib=100)
    )
    low, high = allocatable.amounts, allocatable.at_most
    assert low["memory"] <= memory_kib * 1024 <= high["memory"]
    assert low["ephemeral-storage"] <= 47060071478 <= high["ephemeral-storage"]


def test_eks_root_volume_is_within_the_predicted_range() -> None:
    # kubectl describe of nodes with 80 GiB: capacity 83873772Ki, allocatable 76224326324
    allocatable = predict_allocatable(
        catalog.machine("eks", "g5.2xlarge"), AllocatableSettings(disk_gib=80)
    )
    low, high = (side["ephemeral-storage"] for side in (allocatable.amounts, allocatable.at_most))
    assert low <= 76224326324 <= high
    assert high - low < 128 * MIB


@pytest.mark.parametrize(
    ("cloud", "machine"),
    [("eks", "g5.2xlarge"), ("gke", "g2-standard-8"), ("aks", "Standard_NC8as_T4_v3")],
)
@pytest.mark.parametrize("disk_gib", [20, 50, 100, 200, 1000, 16000])
def test_disk_of_any_size_leaves_ephemeral_storage(cloud: str, machine: str, disk_gib: int) -> None:
    allocatable = predict_allocatable(
        catalog.machine(cloud, machine), AllocatableSettings(disk_gib=disk_gib)
    )
    assert 0 < allocatable.amounts["ephemeral-storage"] < allocatable.at_most["ephemeral-storage"]


@pytest.mark.parametrize(
    ("vcpus", "milli"),
    [(1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740), (96, 1060)],
)
def test_aks_reserves_more_cpu(vcpus: int, milli: int) -> None:
    # learn.microsoft.com/azure/aks/node-resource-reservations, table of cpu
    assert clouds.cloud("aks").reserved_cpu_milli(vcpus) == milli


@pytest.mark.parametrize(
    ("vcpus", "memory_mib", "max_pods", "capacity_kib", "allocatable_kib", "allocatable_milli"),
    [
        # kubectl describe of AKS nodes, printed in public repositories
        pytest.param(4, 32768, 250, 32864252, 27590652, 3860, id="Standard_DC4s_v3, 250 pods"),
        pytest.param(4, 32768, 250, 32865016, 27591416, 3860, id="a node of 2025-02, 250 pods"),
        pytest.param(
            2, 8192, 110, 8129936, 5930384, 1900, id="a node of 2025-10: a quarter of the memory"
        ),
    ],
)
def test_aks_allocatable_matches_real_nodes(
    vcpus: int,
    memory_mib: int,
    max_pods: int,
    capacity_kib: int,
    allocatable_kib: int,
    allocatable_milli: int,
) -> None:
    machine = replace(catalog.machine("aks", "Standard_D4s_v5"), vcpus=vcpus, memory_mib=memory_mib)
    found = predict_allocatable(machine, AllocatableSettings(max_pods=max_pods, disk_gib=128))
    assert (found.amounts["cpu"], found.amounts["pods"]) == (allocatable_milli, max_pods)
    # kubelet's own share to the byte: the rest is what kernel and hypervisor keep
    possible_kib = memory_mib * 1024 * 63 // 64  # without the descriptors of the pages
    assert capacity_kib < possible_kib
    assert found.at_most["memory"] - (possible_kib - capacity_kib) * 1024 == allocatable_kib * 1024
    assert found.amounts["memory"] <= allocatable_kib * 1024
    assert found.amounts["ephemeral-storage"] <= 119703055367 <= found.at_most["ephemeral-storage"]


def test_fewer_pods_leave_more_memory_on_aks() -> None:
    machine = catalog.machine("aks", "Standard_NC24ads_A100_v4")
    plain, fewer = (
        predict_allocatable(machine, AllocatableSettings(max_pods=pods)).amounts
        for pods in (110, 30)
    )
    assert fewer["memory"] - plain["memory"] == 20 * 80 * MIB
