"""The GCP resources of the components, built as messages of Google's API clients."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from api_names import misspelt

from pulumi_dra.gke import GkeCluster, GkeGpuPool
from pulumi_dra.gke.cluster.monitoring import COMPONENTS
from pulumi_dra.gke.pool.node_system import SYSCTLS

# IAM's messages are different: they only contain an account's ID and a binding.
NOT_OF_THESE_APIS = {
    "gcp:serviceaccount/account:Account",
    "gcp:projects/iAMMember:IAMMember",
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
}
CAPACITIES = ("on-demand", "spot", "reservation", "flex-start", "queued")


FAST: dict[str, Any] = {
    "disk_type": "hyperdisk-balanced",
    "disk_iops": 16_000,
    "disk_throughput": 1_000,
    "placement_policy": "rack",
    "host_maintenance": "PERIODIC",
    "cpu_manager_policy": "static",
    "topology_manager_policy": "best-effort",
    "sysctls": {"net.core.somaxconn": "2048", "vm.max_map_count": "1048576"},
    "huge_pages_2mi": 4096,
    "huge_pages_1gi": 2,
}


def _with_everything() -> None:
    GkeCluster(
        "all",
        {
            "kubernetes_version": "1.34",
            "region": "us-central1",
            "secrets_kms_key": "projects/p/locations/l/keyRings/r/cryptoKeys/k",
            "disk_kms_key": "projects/p/locations/l/keyRings/r/cryptoKeys/k",
            "security_group": "gke-security-groups@example.com",
            "global_access": True,
            "storage_drivers": ["filestore", "gcs-fuse", "lustre"],
            "maintenance_exclusions": [
                {
                    "name": "busy",
                    "start_time": "2026-11-20T00:00:00Z",
                    "end_time": "2026-12-04T00:00:00Z",
                },
                {
                    "name": "pinned",
                    "start_time": "2026-11-20T00:00:00Z",
                    "until_end_of_support": True,
                },
            ],
            "maintenance_window": {
                "start_time": "2026-11-21T00:00:00Z",
                "end_time": "2026-11-22T00:00:00Z",
                "recurrence": "FREQ=WEEKLY;BYDAY=SA,SU",
            },
            "node_local_dns": True,
            "cloud_dns": True,
            "monitoring_components": list(COMPONENTS),
        },
    )
    for capacity in CAPACITIES:
        GkeGpuPool(
            f"pool-{capacity}",
            {
                "cluster_name": "all",
                "location": "us-central1",
                "machine": "a3-highgpu-8g",
                "zones": ["us-central1-a"],
                "service_account": "nodes@p.example",
                "max_nodes": 4,
                "capacity": capacity,  # type: ignore[typeddict-item]  # each of its values
                "compact_placement": capacity in ("on-demand", "reservation"),
                "network_devices": capacity == "reservation",
                "max_pods": 64,
                "taints": [{"key": "team", "value": "vision", "effect": "NoExecute"}],
                "autoscaled": capacity in ("flex-start", "queued"),
                **(
                    {"auto_upgrade": False, "node_version": "1.35.1-gke.1616000"}
                    if capacity == "on-demand"
                    else {}
                ),
                **(
                    {"reservation_name": "projects/p/reservations/r"}
                    if capacity == "reservation"
                    else {}
                ),
                **(FAST if capacity == "on-demand" else {}),
            },
        )


def answers(cases: list[tuple[str, str, Any]]) -> list[dict[str, Any]]:
    """Return the requests that Google's clients build for these resources. The clients run in a
    separate process.
    """
    program = [sys.executable, str(Path(__file__).with_name("gcp_api.py"))]
    done = subprocess.run(
        program, input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def declared(declare: Callable[..., Any], stack: Callable[..., Any]) -> list[Any]:
    """Return all GCP resources of the stack gke-dev, and of a cluster and pools with every
    option.
    """
    resources = declare(stack("gke-dev")).resources + declare(_with_everything).resources
    return [
        each
        for each in resources
        if each.type.startswith("gcp:") and each.type not in NOT_OF_THESE_APIS
    ]


def test_every_resource_is_a_valid_api_message(declared: list[Any]) -> None:
    assert len(declared) > 14
    found = answers([(each.type, each.name, each.inputs) for each in declared])
    assert [answer["refused"] for answer in found if "refused" in answer] == []


def test_pool_request_has_the_api_fields(declared: list[Any]) -> None:
    pool = next(each for each in declared if each.name == "dra-h100-nodes")
    (answer,) = answers([(pool.type, pool.name, pool.inputs)])
    built = answer["built"]
    (accelerator,) = built["config"]["accelerators"]
    assert (accelerator["accelerator_type"], int(accelerator["accelerator_count"])) == (
        "nvidia-h100-80gb",
        8,
    )
    assert (
        accelerator["gpu_driver_installation_config"]["gpu_driver_version"]
        == "INSTALLATION_DISABLED"
    )
    assert built["config"]["taints"][0]["effect"] == "NO_SCHEDULE"
    assert built["upgrade_settings"]["max_unavailable"] == 1
    assert built["locations"] == ["us-central1-a"]


def test_cluster_request_has_the_api_fields(declared: list[Any]) -> None:
    cluster = next(each for each in declared if each.type.endswith(":Cluster"))
    (answer,) = answers([(cluster.type, cluster.name, cluster.inputs)])
    built = answer["built"]
    assert built["network_config"]["datapath_provider"] == "ADVANCED_DATAPATH"
    assert built["ip_allocation_policy"]["use_ip_aliases"]
    assert built["ip_allocation_policy"]["cluster_secondary_range_name"] == "pods"
    assert built["release_channel"]["channel"] == "REGULAR"


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "inputs", "sentence"),
    [
        pytest.param(
            "container/nodePool:NodePool",
            {"nodeConfig": {"machine": "a"}},
            "machine",
            id="a misspelled field",
        ),
        pytest.param(
            "container/nodePool:NodePool",
            {"upgradeSettings": {"strategy": "ROLLING"}},
            "ROLLING",
            id="enum",
        ),
        pytest.param(
            "container/nodePool:NodePool",
            {"nodeCount": "two"},
            "initialNodeCount",
            id="text for a number",
        ),
        pytest.param(
            "container/cluster:Cluster",
            {"datapathProvider": "CILIUM"},
            "CILIUM",
            id="a nested enum",
        ),
        pytest.param(
            "compute/network:Network",
            {"routingMode": "ZONAL"},
            "none of",
            id="an enum that is text",
        ),
        pytest.param(
            "compute/subnetwork:Subnetwork",
            {"logConfig": {"aggregationInterval": "INTERVAL_2_MIN"}},
            "INTERVAL_2_MIN",
            id="a nested enum that is text",
        ),
    ],
)
def test_request_with_unknown_fields_is_rejected(
    kind: str, inputs: Mapping[str, Any], sentence: str
) -> None:
    (answer,) = answers([(f"gcp:{kind}", "x", inputs)])
    assert sentence in answer["refused"]


def test_kernel_parameters_match_the_api_documentation() -> None:
    """The text of Google's client lists the parameters. The test reads the file instead of
    importing it, for the reason in gcp_api.py.
    """
    package = find_spec("google.cloud.container_v1")
    assert package is not None
    assert package.origin is not None
    text = (Path(package.origin).parent / "types" / "cluster_service.py").read_text(
        encoding="utf-8"
    )
    documented = (
        text.partition("class LinuxNodeConfig(")[2]
        .partition("cgroup_mode (")[0]
        .partition("are supported.")[2]
    )
    assert sorted(
        f"{head}{name}" for head, names in SYSCTLS.items() for name in names.split()
    ) == sorted(documented.split())


def test_every_misspelled_key_is_rejected(declared: list[Any]) -> None:
    one_of_each = {each.type: each for each in declared}.values()
    cases = [
        (each.type, each.name, changed) for each in one_of_each for changed in misspelt(each.inputs)
    ]
    found = answers(cases)
    assert [
        case for case, answer in zip(cases, found, strict=True) if "refused" not in answer
    ] == []
    assert len(cases) > 60
