"""Fleets: the result for each valid fleet, and the message for each kind of invalid fleet."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dra_planner.errors import FleetError, PlannerError
from dra_planner.fleet import Fleet, read_fleet, read_fleet_file, read_stack

GOOD: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.34",
    "systemPool": {"machine": "m7i.large", "count": 2},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [
        {"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 4}},
        {"name": "h100", "machine": "p5.48xlarge", "count": 2, "zones": ["us-east-1a"]},
    ],
}


def changed(*edits: tuple[str, Any]) -> dict[str, Any]:
    """The good fleet with values set (or, for `...`, removed) at dotted paths."""
    document = deepcopy(GOOD)
    for path, value in edits:
        *parents, last = path.split(".")
        here: Any = document
        for part in parents:
            here = here[int(part)] if part.isdigit() else here[part]
        if value is ...:
            del here[last]
        else:
            here[int(last) if last.isdigit() else last] = value
    return document


def quota(**changes: Any) -> dict[str, Any]:
    return {"name": "q", "unit": "gpus", "limit": 100, **changes}


def bought(nodes: int) -> dict[str, Any]:
    return {"reservation": "cr-1", "nodes": nodes}


def test_valid_fleet_gets_its_defaults() -> None:
    fleet = read_fleet(GOOD)
    assert fleet.minor == 34
    assert fleet.autoscaler == "none"
    assert fleet.network.zones == 2
    assert fleet.device_plugin is False
    assert (fleet.pool("h100").count.min, fleet.pool("h100").count.max) == (2, 2)
    assert fleet.pool("h100").count.is_fixed


def test_fleet_read_from_its_own_document_is_equal() -> None:
    fleet = read_fleet(
        changed(("pools.0.pricePerHour", 0.9776), ("pools.1.capacity", {"capacityBlock": "cr-1"}))
    )
    assert read_fleet(fleet.document()) == fleet


NIGHTS = {"hours": {"start": "22:00", "end": "06:00"}}
BAD = [
    ("a key is missing", [("region", ...)], "region", "is missing"),
    (
        "an unknown key",
        [("kubernets", "1.34")],
        "kubernets",
        'isn\'t a key of the fleet; did you mean "kubernetes"?',
    ),
    (
        "a version as a number",
        [("kubernetes", 1.34)],
        "kubernetes",
        'not a number; put "1.34" in quotes, because YAML reads 1.40',
    ),
    (
        "a version that is too old",
        [("kubernetes", "1.33")],
        "kubernetes",
        "Kubernetes 1.33 isn't supported; use a version from 1.34 (the first with resource.k8s.io/v1) to 1.37",
    ),
    (
        "no version",
        [("kubernetes", "latest")],
        "kubernetes",
        '"latest" isn\'t a Kubernetes version',
    ),
    (
        "an unknown cloud",
        [("cloud", "azure")],
        "cloud",
        '"azure" isn\'t a supported cloud; use aks, eks, or gke',
    ),
    ("an unknown machine", [("pools.0.machine", "g6.2xlrage")], "pools[0].machine", "g6.2xlarge"),
    (
        "an unknown driver",
        [("drivers.nvidia.version", "25.9.0")],
        "drivers.nvidia.version",
        "25.8.1",
    ),
    (
        "a driver of another cloud",
        [("drivers.tpu", {})],
        "drivers.tpu",
        "doesn't run on EKS, because TPUs exist only",
    ),
    (
        "an unknown driver name",
        [("drivers.efa", True)],
        "drivers",
        'driver "efa" isn\'t supported',
    ),
    (
        "no driver",
        [("drivers", {})],
        "drivers",
        "must contain at least one driver: amd, cpu, dranet",
    ),
    (
        "a driver with an invalid value",
        [("drivers.neuron", "yes")],
        "drivers.neuron",
        "must be true, false, or the mapping",
    ),
    (
        "a driver without its version",
        [("drivers.nvidia", True)],
        "drivers.nvidia",
        "must be false or the mapping",
    ),
    (
        "min above max",
        [("pools.0.count", {"min": 5, "max": 4})],
        "pools[0].count",
        "the minimum (5) exceeds",
    ),
    (
        "a negative count",
        [("pools.0.count", -1)],
        "pools[0].count",
        "must be between 0 and 100000, not -1",
    ),
    (
        "a count as text",
        [("pools.0.count", {"max": "4"})],
        "pools[0].count.max",
        'must be an integer, not "4"',
    ),
    (
        "an invalid name",
        [("pools.0.name", "L4")],
        "pools[0].name",
        '"L4" isn\'t a valid name: only lowercase',
    ),
    (
        "a duplicate name",
        [("pools.1.name", "l4")],
        "pools[1].name",
        'pools[0] already has the name "l4"',
    ),
    (
        "a reserved name",
        [("pools.1.name", "system")],
        "pools[1].name",
        'the name "system" is reserved for the pool without GPUs',
    ),
    (
        "a zone elsewhere",
        [("pools.0.zones", ["eu-west-1a"])],
        "pools[0].zones[0]",
        "isn't in region us-east-1",
    ),
    (
        "public",
        [("endpoint", {"publicAccessCidrs": ["0.0.0.0/0"]})],
        "endpoint.publicAccessCidrs[0]",
        "to everyone",
    ),
    (
        "an invalid CIDR",
        [("endpoint", {"publicAccessCidrs": ["10.0.0/8"]})],
        "endpoint.publicAccessCidrs[0]",
        "isn't a network",
    ),
    ("no pools", [("pools", [])], "pools", "at least 1 item"),
    (
        "the wrong autoscaler",
        [("autoscaler", "gke")],
        "autoscaler",
        "doesn't support autoscaler: gke; use none, cluster-auto",
    ),
    (
        "a pool in zones that Karpenter chooses from",
        [("autoscaler", "karpenter")],
        "pools[0].zones",
        "must contain only one zone, because Karpenter",
    ),
    ("pools as text", [("pools", "l4")], "pools", 'must be a list, not "l4"'),
    (
        "an unknown profile",
        [("pools.1.mig", "1g.5gb")],
        "pools[1].mig",
        "use one of these profiles: 1g.10gb",
    ),
    (
        "MIG on a GPU without MIG",
        [("pools.0.mig", "all-balanced")],
        "pools[0].mig",
        "NVIDIA L4 doesn't support MIG",
    ),
    (
        "a region without the machine type",
        [("region", "us-west-1"), ("pools.1.zones", [])],
        "pools[0].machine",
        "use one of these regions: us-",
    ),
    (
        "a misspelled region",
        [("region", "us-esat-1")],
        "region",
        'pulumi-dra doesn\'t know region "us-esat-1", which might be misspelled or too new; did you mean us-east-1?',
    ),
    (
        "a driver with MIG parents",
        [("pools.1.mig", "all-1g.10gb"), ("drivers.nvidia.version", "25.8.0")],
        "pools[1].mig",
        "issue 719",
    ),
    (
        "a driver that can't be installed",
        [("drivers.nvidia.version", "25.3.1")],
        "drivers.nvidia.version",
        "v1beta1",
    ),
    (
        "an unknown gate",
        [("drivers.nvidia.featureGates", {"DynamicMig": True})],
        "drivers.nvidia.featureGates",
        'doesn\'t have the feature gate "DynamicMig"',
    ),
    (
        "gates as text",
        [("drivers.nvidia.featureGates", {"DynamicMIG": "yes"})],
        "drivers.nvidia.featureGates.DynamicMIG",
        'must be true or false, not "yes"',
    ),
    (
        "shares without the gate",
        [("drivers.nvidia.consumableShares", 4)],
        "drivers.nvidia.consumableShares",
        "doesn't support device sharing; use version 0.5.0 or later, which is newer than 25.12.0",
    ),
    (
        "isn't a valid sharing mode",
        [("drivers.nvidia.consumableShares", "some")],
        "drivers.nvidia.consumableShares",
        '"some" isn\'t a valid sharing mode',
    ),
    ("a driver of another name", [("drivers.efa", True)], "drivers", "set dranet to true"),
    (
        "an invalid DRANET setting",
        [("drivers.dranet", "1.0.0")],
        "drivers.dranet",
        "must be true, false, or the mapping",
    ),
    (
        "an invalid amount",
        [("pools.0.reserved", {"cpu": "lots"})],
        "pools[0].reserved.cpu",
        '"lots" isn\'t a valid quantity',
    ),
    (
        "negative",
        [("pools.0.reserved", {"memory": "-1Gi"})],
        "pools[0].reserved.memory",
        "must not be negative",
    ),
    (
        "a reserved label",
        [("pools.0.labels", {"nvidia.com/gpu.dra": "no"})],
        "pools[0].labels",
        '", which drivers use to find their nodes',
    ),
    (
        "an invalid label key",
        [("pools.0.labels", {"a b": "c"})],
        "pools[0].labels.a b",
        "isn't a valid label key",
    ),
    (
        "a reserved taint",
        [("pools.0.taints", [{"key": "nvidia.com/gpu"}])],
        "pools[0].taints[0].key",
        "already",
    ),
    (
        "a duplicate taint",
        [("pools.0.taints", [{"key": "a"}, {"key": "a"}])],
        "pools[0].taints",
        '" appears twice',
    ),
    (
        "an invalid effect",
        [("pools.0.taints", [{"key": "a", "effect": "No"}])],
        "pools[0].taints[0].effect",
        "must be ",
    ),
    ("no pods", [("pools.0.maxPods", 0)], "pools[0].maxPods", "must be between 1 and 250, not 0"),
    (
        "a daemon as text",
        [("daemonPods", {"agent": "100m"})],
        "daemonPods.agent",
        'must be a mapping or false, not "100m"',
    ),
    (
        "a zone for a region",
        [("region", "us-east-1a")],
        "region",
        '"us-east-1a" is a zone; use region "us-east-1"',
    ),
    (
        "an invalid price",
        [("pools.0.pricePerHour", "cheap")],
        "pools[0].pricePerHour",
        '"cheap" isn\'t a valid price',
    ),
    (
        "no schedule",
        [("pools.0.schedule", {})],
        "pools[0].schedule",
        "set either `hours` (repeats every week) or `period`",
    ),
    (
        "an empty schedule",
        [("pools.0.schedule", {"hours": {"start": "08:00", "end": "08:00"}})],
        "pools[0].schedule",
        "start and end are the same",
    ),
    (
        "an invalid time of day",
        [("pools.0.schedule", {"hours": {"start": "8 am", "end": "18:00"}})],
        "pools[0].schedule.hours.start",
        '"8 am" isn\'t a time of day; use the form "08:00"',
    ),
    (
        "an invalid time zone",
        [("pools.0.schedule", {"hours": {"start": "08:00", "end": "18:00", "timeZone": "Europe"}})],
        "pools[0].schedule.hours.timeZone",
        '"Europe" isn\'t a known time zone',
    ),
    (
        "a period that ends before it begins",
        [
            (
                "pools.0.schedule",
                {"period": {"start": "2026-12-02T00:00:00Z", "end": "2026-12-01T00:00:00Z"}},
            )
        ],
        "pools[0].schedule",
        "isn't after the start",
    ),
    (
        "a schedule with an autoscaler",
        [("autoscaler", "cluster-autoscaler"), ("pools.0.schedule", NIGHTS)],
        "pools[0].schedule",
        "the fleet's autoscaler (cluster-autoscaler) changes the node count; set autoscaler to none",
    ),
    (
        "a schedule with a fixed count",
        [("pools.0.count", 2), ("pools.0.schedule", NIGHTS)],
        "pools[0].schedule",
        "a fixed count of 2 can't follow a schedule; set min and max instead",
    ),
    (
        "a block with a minimum before it begins",
        [
            ("pools.0.count", {"min": 1, "max": 2}),
            ("pools.0.capacity", {"capacityBlock": "cr-0a"}),
            ("pools.0.schedule", NIGHTS),
        ],
        "pools[0].schedule",
        "set the minimum count to 0",
    ),
    (
        "two network settings",
        [("network", {"zones": 2, "subnetIds": ["s"]})],
        "network",
        "not both",
    ),
    ("quotas as a mapping", [("quotas", {"gpus": 8})], "quotas", "must be a list"),
    (
        "a quota as text",
        [("quotas", ["gpus"])],
        "quotas[0]",
        'must be a mapping, not "gpus"',
    ),
    (
        "a quota without a limit",
        [("quotas", [{"name": "q", "unit": "gpus"}])],
        "quotas[0].limit",
        "is missing",
    ),
    ("an invalid unit", [("quotas", [quota(unit="cores")])], "quotas[0].unit", "must be "),
    (
        "addresses of a range that EKS doesn't have",
        [("quotas", [quota(unit="pod-addresses")])],
        "quotas[0].unit",
        "pods on EKS use addresses from the nodes' subnets; count addresses",
    ),
    ("no limit", [("quotas", [quota(limit=-1)])], "quotas[0].limit", "must be"),
    (
        "a quota as a number in text",
        [("quotas", [quota(limit="8")])],
        "quotas[0].limit",
        'must be an integer, not "8"',
    ),
    (
        "a duplicate quota",
        [("quotas", [quota(), quota()])],
        "quotas[1].name",
        'quotas[0] already has the name "q"',
    ),
    (
        "less than the minimum",
        [("quotas", [quota(unit="vcpus", limit=200, machines=["p5.*"])])],
        "quotas[0].limit",
        'quota "q" allows 200 vCPUs, but the minimum counts of its pools need 384',
    ),
    (
        "less than the system pool needs",
        [("quotas", [quota(unit="nodes", limit=3)])],
        "quotas[0].limit",
        "allows 3 nodes, but the minimum counts of its pools need 2 and the system pool uses 2",
    ),
    (
        "fewer reserved nodes than the minimum",
        [("pools.1.capacity", bought(1))],
        "pools[1].capacity.nodes",
        "the reservation of h100 allows 1 node, but the minimum counts of its pools need 2",
    ),
    (
        "no reserved nodes",
        [("pools.1.capacity", bought(0))],
        "pools[1].capacity.nodes",
        "between 1 and",
    ),
    (
        "one reservation with two sizes",
        [("pools.0.capacity", bought(4)), ("pools.1.capacity", bought(5))],
        "pools[1].capacity.nodes",
        'an earlier pool sets 4 nodes for the reservation "cr-1", and all pools that use this '
        "reservation must set the same number",
    ),
]


@pytest.mark.parametrize(
    ("edits", "path", "sentence"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_invalid_fleet_reports_place_and_problem(
    edits: list[tuple[str, Any]], path: str, sentence: str
) -> None:
    with pytest.raises(FleetError) as caught:
        read_fleet(changed(*edits))
    assert caught.value.place.path == path
    assert sentence in str(caught.value)


ON_GKE = [
    (
        "MIG",
        [("pools.0.mig", "all-balanced")],
        "pools[0].mig",
        "GKE doesn't support MIG with DRA (docs.cloud.google",
    ),
    (
        "MPS",
        [("drivers.nvidia.featureGates", {"MPSSupport": True})],
        "drivers.nvidia.featureGates",
        "support MPSSupport",
    ),
    (
        "time-slicing",
        [("drivers.nvidia.featureGates", {"TimeSlicingSettings": True})],
        "drivers.nvidia.featureGates",
        "GKE doesn't support TimeSlicingSettings with DRA",
    ),
    ("a zone for a region", [("region", "us-central1-a")], "region", 'use region "us-central1"'),
    (
        "too many pods",
        [("pools.0.maxPods", 300)],
        "pools[0].maxPods",
        "must be between 8 and 256, not 300",
    ),
    ("reservations", [("pools.0.reserved", {"cpu": 1})], "pools[0].reserved", "node-system-config"),
    (
        "a schedule",
        [("pools.0.count", {"min": 0, "max": 1}), ("pools.0.schedule", NIGHTS)],
        "pools[0].schedule",
        "use autoscaler gke",
    ),
    (
        "prefixes",
        [("network.prefixDelegation", True)],
        "network.prefixDelegation",
        "applies only to EKS",
    ),
    (
        "local storage of EKS",
        [("pools.0.localStorage", "raid0")],
        "pools[0].localStorage",
        "applies only to EKS",
    ),
    (
        "an image",
        [("pools.0.image", {"id": "ami-0123456789abcdef0"})],
        "pools[0].image",
        "run the Container-Optimized OS",
    ),
    (
        "three SSDs",
        [("pools.0.localSsds", 3)],
        "pools[0].localSsds",
        "doesn't support additional local SSDs, because its included SSDs are always attached",
    ),
    (
        "a version of DRANET",
        [("drivers.dranet", {"version": "1.0.0"})],
        "drivers.dranet.version",
        "GKE manages its",
    ),
]
AMI = "ami-0123456789abcdef0"
IMAGES = [
    ("no id", {"id": "al2023"}, "image.id", '"al2023" isn\'t a valid image ID'),
    (
        "no family",
        {"id": AMI},
        "image.family",
        "is required; set it to al2023, the EKS image on which the image is based",
    ),
    (
        "another family",
        {"id": AMI, "family": "ubuntu"},
        "image.family",
        'must be al2023, not "ubuntu"',
    ),
    (
        "a relative folder",
        {"driverRoot": "opt"},
        "image.driverRoot",
        '"opt" isn\'t an absolute path',
    ),
    (
        "a driver elsewhere",
        {"driverRoot": "/opt"},
        "image.driverRoot",
        "has the driver in /, and this pool has it in /opt",
    ),
]


@pytest.mark.parametrize(
    ("image", "path", "sentence"), [case[1:] for case in IMAGES], ids=[case[0] for case in IMAGES]
)
def test_custom_image_needs_the_facts_for_a_plan(
    image: dict[str, str], path: str, sentence: str
) -> None:
    whole = image if "id" in image else {"id": AMI, "family": "al2023", **image}
    pools = [{"name": name, "machine": "p5.48xlarge", "count": 1} for name in ("a", "b")]
    with pytest.raises(FleetError) as caught:
        read_fleet(changed(("pools", [pools[0], {**pools[1], "image": whole}])))
    assert caught.value.place.path == f"pools[1].{path}"
    assert sentence in str(caught.value)


PAGES = [
    ("zero huge pages", {"2Mi": 0}, "hugePages.2Mi", "must be between 1 and 2147483647, not 0"),
    ("another size", {"4Mi": 1}, "hugePages.4Mi", "isn't a key of the fleet"),
    ("an amount", {"1Gi": "2Gi"}, "hugePages.1Gi", 'must be an integer, not "2Gi"'),
    (
        "all memory",
        {"2Mi": 10**6, "1Gi": 100},
        "hugePages",
        "2053.125 GiB of huge pages and the",
    ),
]


@pytest.mark.parametrize(
    ("pages", "path", "sentence"), [case[1:] for case in PAGES], ids=[case[0] for case in PAGES]
)
def test_huge_pages_are_counted_by_size(pages: dict[str, Any], path: str, sentence: str) -> None:
    pool = {"name": "a", "machine": "p5.48xlarge", "count": 1, "hugePages": pages}
    with pytest.raises(FleetError) as caught:
        read_fleet(changed(("pools", [pool])))
    assert caught.value.place.path == f"pools[0].{path}"
    assert sentence in str(caught.value)


def test_mig_configuration_needs_the_standard_driver_root() -> None:
    image = {"id": AMI, "family": "al2023", "driverRoot": "/run/nvidia/driver"}
    pool = {"name": "a", "machine": "p5.48xlarge", "count": 1, "image": image}
    assert read_fleet(changed(("pools", [pool]))).driver_root == "/run/nvidia/driver"
    with pytest.raises(
        FleetError,
        match="if mig is set, not /run/nvidia/driver, because the image's nvidia-smi "
        "creates the MIG devices before a node joins",
    ):
        read_fleet(changed(("pools", [{**pool, "mig": "all-1g.10gb"}])))


GKE_POOLS = [{"name": "h100", "machine": "a3-highgpu-8g", "count": 1}]
GKE = [
    ("cloud", "gke"),
    ("region", "us-central1"),
    ("network", {"zones": ["us-central1-a"]}),
    ("pools", GKE_POOLS),
]


@pytest.mark.parametrize(
    ("edits", "path", "sentence"), [case[1:] for case in ON_GKE], ids=[case[0] for case in ON_GKE]
)
def test_settings_that_gke_does_not_support_are_rejected(
    edits: list[tuple[str, Any]], path: str, sentence: str
) -> None:
    with pytest.raises(FleetError) as caught:
        read_fleet(changed(*deepcopy(GKE), *edits))
    assert caught.value.place.path == path
    assert sentence in str(caught.value)


def test_fleet_can_configure_drivers_and_nodes() -> None:
    drivers = {
        "nvidia": {
            "version": "0.5.0",
            "featureGates": {"ConsumableShares": True},
            "consumableShares": 4,
            "computeDomains": True,
        },
        "dranet": {"version": "1.0.0"},
    }
    fleet = read_fleet(
        changed(
            ("kubernetes", "1.36"),
            ("drivers", drivers),
            ("network", {"subnetIds": ["subnet-1", "subnet-2"], "prefixDelegation": True}),
            ("daemonPods", {"dcgm-exporter": {"cpu": 0.1, "memory": 1024}, "aws-node": False}),
            ("pools.0.reserved", {"cpu": "500m", "memory": "2Gi"}),
            ("pools.0.labels", {"example.com/team": "a"}),
            ("pools.0.taints", [{"key": "team", "value": "a", "effect": "NoExecute"}]),
        )
    )
    settings = fleet.drivers.nvidia.settings
    assert (settings.gates, settings.consumable_shares, settings.compute_domains) == (
        {"ConsumableShares": True},
        "4",
        True,
    )
    assert fleet.pools[0].reserved.amounts == {"cpu": 500, "memory": 2 << 30}
    assert fleet.daemon_pods["dcgm-exporter"].amounts == {"cpu": 100, "memory": 1024}  # type: ignore[union-attr]  # not the False beside it
    assert read_fleet(fleet.document()) == fleet


@pytest.mark.parametrize(
    "pools",
    [
        "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30)),
        "".join(f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 10)}]}}\n" for i in range(1, 30)),
    ],
    ids=["aliases", "merged keys"],
)
def test_alias_expansion_is_limited(tmp_path: Path, pools: str) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text("a0: &a0 {x: 1}\n" + pools)
    with pytest.raises(FleetError, match="expands to more than 100,000 YAML nodes"):
        read_fleet_file(path)


def test_recursive_anchor_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text("pools: &pools [*pools]\n")
    with pytest.raises(FleetError, match="contains itself"):
        read_fleet_file(path)


def test_duplicate_key_is_rejected_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text("cloud: eks\nregion: us-east-1\npools: []\npools: []\n")
    with pytest.raises(FleetError, match='"pools" appears twice in one mapping') as caught:
        read_fleet_file(path)
    assert caught.value.place.line == 4


def test_pools_can_share_settings_with_anchors(tmp_path: Path) -> None:
    text = yaml.safe_dump(changed(("pools", [])), sort_keys=False).replace("pools: []\n", "")
    path = tmp_path / "fleet.yaml"
    path.write_text(
        text
        + (
            "pools:\n- &l4 {name: l4, machine: g6.2xlarge, count: 1, labels: {team: a}}\n- {<<: "
            "*l4, "
            "name: other}\n"
        )
    )
    fleet = read_fleet_file(path)
    assert [(pool.name, pool.machine, pool.labels) for pool in fleet.pools] == [
        ("l4", "g6.2xlarge", {"team": "a"}),
        ("other", "g6.2xlarge", {"team": "a"}),
    ]


def test_every_key_of_the_published_schema_has_a_description() -> None:
    for name, part in {
        "Fleet": Fleet.model_json_schema(),
        **Fleet.model_json_schema()["$defs"],
    }.items():
        for key, value in part.get("properties", {}).items():
            assert value.get("description") or "$ref" in value, f"{name}.{key}"


def test_all_faults_are_reported_together() -> None:
    with pytest.raises(FleetError) as caught:
        read_fleet(changed(("region", ...), ("kubernetes", 1.34), ("pools.0.count", -1)))
    assert {error.place.path for error in (caught.value, *caught.value.others)} == {
        "region",
        "kubernetes",
        "pools[0].count",
    }


def test_fault_in_a_file_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(
        yaml.safe_dump(changed(("pools.1.count", {"min": 9, "max": 1})), sort_keys=False)
    )
    with pytest.raises(FleetError) as caught:
        read_fleet_file(path)
    line = path.read_text().splitlines()[caught.value.place.line - 1]
    assert caught.value.place.file == str(path)
    assert "count:" in line


@pytest.mark.parametrize("text", ["a: [", "\t- x", "- 1\n- 2", "", "[" * 100_000])
def test_unreadable_files_are_fleet_errors(tmp_path: Path, text: str) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(text)
    with pytest.raises(FleetError):
        read_fleet_file(path)


def write_stack(folder: Path, config: dict[str, Any]) -> None:
    (folder / "stacks").mkdir()
    (folder / "stacks" / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": config}))


def test_stack_contains_fleet_and_workloads(tmp_path: Path) -> None:
    write_stack(
        tmp_path,
        {"pulumi-dra:fleet": GOOD, "pulumi-dra:workloads": ["apps"], "aws:region": "us-east-1"},
    )
    settings = read_stack("dev", tmp_path)
    assert settings.fleet == read_fleet(GOOD)
    assert settings.workloads == ("apps",)


def test_stack_may_refer_to_a_fleet_file(tmp_path: Path) -> None:
    write_stack(tmp_path, {"pulumi-dra:fleet": "fleets/dev.yaml", "pulumi-dra:workloads": ["apps"]})
    with pytest.raises(PlannerError, match=r"fleets/dev\.yaml"):
        read_stack("dev", tmp_path)
    (tmp_path / "fleets").mkdir()
    (tmp_path / "fleets" / "dev.yaml").write_text(yaml.safe_dump(GOOD))
    settings = read_stack("dev", tmp_path)
    assert (settings.fleet, settings.workloads) == (read_fleet(GOOD), ("apps",))
    (tmp_path / "fleets" / "dev.yaml").write_text(yaml.safe_dump({**GOOD, "regoin": "x"}))
    with pytest.raises(FleetError) as caught:
        read_stack("dev", tmp_path)
    assert caught.value.place.file == str(tmp_path / "fleets" / "dev.yaml")


@pytest.mark.parametrize(
    ("config", "path", "sentence"),
    [
        ({}, "config", 'the stack doesn\'t have the key "pulumi-dra:fleet"'),
        (
            {"pulumi-dra:fleet": GOOD, "aws:region": "us-west-2"},
            "config.aws:region",
            "differs from the fleet's region",
        ),
        (
            {"pulumi-dra:fleet": GOOD, "pulumi-dra:workloads": "x"},
            "config.pulumi-dra:workloads",
            "a list of paths",
        ),
        (
            {"pulumi-dra:fleet": GOOD, "pulumi-dra:flet": {}},
            "config.pulumi-dra:flet",
            "unknown setting",
        ),
    ],
    ids=["no fleet", "another region", "workloads as text", "an unknown setting"],
)
def test_invalid_stack_reports_place_and_problem(
    tmp_path: Path, config: dict[str, Any], path: str, sentence: str
) -> None:
    write_stack(tmp_path, config)
    with pytest.raises(FleetError) as caught:
        read_stack("dev", tmp_path)
    assert caught.value.place.path == path
    assert sentence in str(caught.value)


def test_missing_stack_gets_a_suggestion(tmp_path: Path) -> None:
    write_stack(tmp_path, {})
    with pytest.raises(FleetError, match='stack "dve" doesn\'t exist') as caught:
        read_stack("dve", tmp_path)
    assert 'did you mean "dev"?' in caught.value.fix


@pytest.mark.parametrize("zone", ["us-central1-a", "us-central1-ai1a"])
def test_accelerator_zones_are_valid_zones(zone: str) -> None:
    assert read_fleet(changed(*deepcopy(GKE), ("network.zones", [zone]))).network.zones == [zone]


PATHS = [
    "cloud",
    "region",
    "kubernetes",
    "autoscaler",
    "network",
    "network.zones",
    "endpoint",
    "systemPool.count",
    "drivers.nvidia.featureGates",
    "drivers.nvidia.consumableShares",
    "drivers.dranet",
    "daemonPods",
    "pools",
    "pools.0",
    "pools.0.count",
    "pools.0.mig",
    "pools.0.zones",
    "pools.0.capacity",
    "pools.0.pricePerHour",
    "pools.0.maxPods",
    "pools.0.reserved",
    "pools.0.labels",
    "pools.0.taints",
]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.dates(),
    st.just("1.36"),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(SCALARS, inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=300, deadline=None)
@given(edits=st.lists(st.tuples(st.sampled_from(PATHS), VALUES), min_size=1, max_size=3))
def test_any_fleet_is_read_or_rejected(edits: list[tuple[str, Any]]) -> None:
    document = changed(("network", {"zones": 2}))
    try:
        fleet = read_fleet(changed_further(document, edits))
    except FleetError:
        return
    assert read_fleet(fleet.document()) == fleet


def changed_further(document: dict[str, Any], edits: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the document with values set at the paths that exist."""
    for path, value in edits:
        *parents, last = path.split(".")
        here: Any = document
        for part in parents:
            here = (
                here[0]
                if isinstance(here, list) and here
                else here.get(part)
                if isinstance(here, dict)
                else None
            )
        if isinstance(here, dict):
            here[last] = value
        elif isinstance(here, list) and here:
            here[0] = value
    return document


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cluster": {"clusterName": "dev"}, "pools": [{"name": "l4", "diskKmsKey": "arn"}]}, ""),
        ({"addonVersions": {"vpc-cni": "most-recent"}, "tags": {"costCenter": "42"}}, ""),
        ({"cluster": {"dnsEndpiont": True}}, 'cluster.dnsEndpiont .*did you mean "dnsEndpoint"'),
        ({"pools": [{"name": "l4", "diskKmsKye": "a"}]}, r"pools\[0\].diskKmsKye .*diskKmsKey"),
        ({"clusters": {}}, 'clusters .*did you mean "cluster"'),
        ({"cluster": {"zzz": 1}}, "cluster.zzz .*use one of these options: accessEntries, .*…"),
    ],
)
def test_names_of_platform_options_are_checked(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    write_stack(tmp_path, {"pulumi-dra:fleet": GOOD, "pulumi-dra:platform": options})
    if not message:
        assert read_stack("dev", tmp_path).fleet == read_fleet(GOOD)
        return
    with pytest.raises(FleetError, match=f"config.pulumi-dra:platform.{message}"):
        read_stack("dev", tmp_path)
