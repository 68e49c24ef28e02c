"""GKE: a cluster that is private and hardened by default, and pools that the DRA driver can run
on.
"""

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from pulumi_dra.gke import GkeCluster, GkeGpuPool
from pulumi_dra.gke.node_account import account_id

GROUP = "gke-security-groups@example.com"
CLUSTER: dict[str, Any] = {
    "kubernetes_version": "1.34",
    "region": "us-central1",
    "security_group": GROUP,
}
POOL: dict[str, Any] = {
    "cluster_name": "dev",
    "location": "us-central1",
    "machine": "g2-standard-8",
    "zones": ["us-central1-a"],
    "service_account": "nodes@p.example",
    "max_nodes": 4,
}
OWN_NETWORK = {
    "network_id": "net",
    "subnetwork_id": "sub",
    "pods_range_name": "pods",
    "services_range_name": "services",
}


@pytest.fixture
def cluster(declare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **args: declare(lambda: GkeCluster("dev", {**CLUSTER, **OWN_NETWORK, **args}))


def test_storage_drivers_can_be_enabled(cluster: Any) -> None:
    usual = cluster().one("Cluster").inputs["addonsConfig"]
    assert {name: each["enabled"] for name, each in usual.items()} == {
        "dnsCacheConfig": False,
        "gcpFilestoreCsiDriverConfig": False,
        "gcsFuseCsiDriverConfig": False,
        "lustreCsiDriverConfig": False,
    }
    enabled = (
        cluster(storage_drivers=["filestore", "gcs-fuse", "lustre"])
        .one("Cluster")
        .inputs["addonsConfig"]
    )
    assert enabled == {
        "gcpFilestoreCsiDriverConfig": {"enabled": True},
        "gcsFuseCsiDriverConfig": {"enabled": True},
        "lustreCsiDriverConfig": {"enabled": True},
        "dnsCacheConfig": {"enabled": False},
    }


@pytest.fixture
def pool(declare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **args: declare(lambda: GkeGpuPool("l4", {**POOL, **args})).one("NodePool")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (
            "privateClusterConfig",
            {
                "enablePrivateNodes": True,
                "enablePrivateEndpoint": True,
                "masterGlobalAccessConfig": {"enabled": False},
            },
        ),
        ("masterAuthorizedNetworksConfig", {"cidrBlocks": []}),
        ("networkingMode", "VPC_NATIVE"),
        ("datapathProvider", "ADVANCED_DATAPATH"),
        ("enableIntranodeVisibility", True),
        ("workloadIdentityConfig", {"workloadPool": "p.svc.id.goog"}),
        ("enableShieldedNodes", True),
        ("enableLegacyAbac", False),
        ("masterAuth", {"clientCertificateConfig": {"issueClientCertificate": False}}),
        ("binaryAuthorization", {"evaluationMode": "PROJECT_SINGLETON_POLICY_ENFORCE"}),
        ("networkPolicy", {"enabled": False}),
        ("resourceLabels", {"managed-by": "pulumi-dra"}),
        ("releaseChannel", {"channel": "REGULAR"}),
        ("loggingConfig", {"enableComponents": ["SYSTEM_COMPONENTS", "WORKLOADS", "SCHEDULER"]}),
        ("removeDefaultNodePool", True),
        ("deletionProtection", False),
    ],
)
def test_cluster_defaults(cluster: Any, path: str, value: object) -> None:
    assert cluster().one("Cluster").inputs[path] == value


def test_listed_networks_reach_the_api_server(cluster: Any) -> None:
    inputs = cluster(public_access_cidrs=["203.0.113.0/24"]).one("Cluster").inputs
    assert inputs["privateClusterConfig"]["enablePrivateEndpoint"] is False
    assert inputs["masterAuthorizedNetworksConfig"] == {
        "cidrBlocks": [{"cidrBlock": "203.0.113.0/24"}]
    }


def test_custom_keys_and_groups_are_used(cluster: Any) -> None:
    inputs = (
        cluster(secrets_kms_key="k", security_group="gke-security-groups@x.example")
        .one("Cluster")
        .inputs
    )
    assert inputs["databaseEncryption"] == {"state": "ENCRYPTED", "keyName": "k"}
    assert inputs["authenticatorGroupsConfig"] == {"securityGroup": "gke-security-groups@x.example"}


@pytest.mark.parametrize(
    ("group", "config"), [(GROUP, {"securityGroup": GROUP}), ("none", {"securityGroup": ""})]
)
def test_rbac_group_must_be_set_explicitly(cluster: Any, group: str, config: object) -> None:
    assert (
        cluster(security_group=group).one("Cluster").inputs.get("authenticatorGroupsConfig")
        == config
    )


def test_pinned_version_needs_no_channel(cluster: Any) -> None:
    inputs = cluster(kubernetes_version="1.34", release_channel="none").one("Cluster").inputs
    assert inputs["releaseChannel"] == {"channel": "UNSPECIFIED"}


def test_maintenance_exclusions_postpone_upgrades(cluster: Any) -> None:
    times = {"start_time": "2026-11-20T00:00:00Z", "end_time": "2026-12-04T00:00:00Z"}
    policy = (
        cluster(maintenance_exclusions=[{"name": "training", **times}])
        .one("Cluster")
        .inputs["maintenancePolicy"]
    )
    assert policy["maintenanceExclusions"] == [
        {
            "exclusionName": "training",
            "startTime": times["start_time"],
            "endTime": times["end_time"],
            "exclusionOptions": {"scope": "NO_MINOR_OR_NODE_UPGRADES"},
        }
    ]
    usual = cluster().one("Cluster").inputs["maintenancePolicy"]
    assert usual == {"dailyMaintenanceWindow": {"startTime": "03:00"}, "maintenanceExclusions": []}


def test_zonal_cluster_has_only_one_zone(cluster: Any) -> None:
    inputs = cluster(node_zones=["us-central1-a"], zonal=True).one("Cluster").inputs
    assert inputs["location"] == "us-central1-a"
    assert inputs.get("nodeLocations") is None


def test_nodes_have_a_dedicated_account_with_minimal_roles(cluster: Any) -> None:
    declared = cluster()
    assert {grant.inputs["role"] for grant in declared.all("IAMMember")} == {
        "roles/container.defaultNodeServiceAccount",
        "roles/artifactregistry.reader",
    }
    assert declared.one("NodePool").inputs["nodeConfig"]["serviceAccount"] == "dev-nodes@p.example"


def test_removed_default_pool_uses_no_ssd_quota(cluster: Any) -> None:
    assert cluster().one("Cluster").inputs["nodeConfig"]["diskType"] == "pd-standard"


def test_removed_default_pool_never_replaces_the_cluster(cluster: Any) -> None:
    ignored = cluster().one("Cluster").ignore_changes
    assert ignored == ("initialNodeCount", "nodeConfig", "removeDefaultNodePool")


def test_custom_cluster_name_is_used(cluster: Any) -> None:
    named = cluster(cluster_name="main").one("Cluster")
    assert named.inputs["name"] == "main"
    assert "name" not in cluster().one("Cluster").inputs


def test_new_network_has_the_requested_ranges(declare: Any) -> None:
    given = {
        "nodes_cidr": "10.64.0.0/22",
        "pods_cidr": "100.64.0.0/16",
        "service_cidr": "10.65.0.0/24",
    }
    declared = declare(lambda: GkeCluster("dev", {**CLUSTER, **given}))  # type: ignore[arg-type]  # plain
    subnet = declared.one("Subnetwork").inputs
    assert subnet["ipCidrRange"] == "10.64.0.0/22"
    assert [each["ipCidrRange"] for each in subnet["secondaryIpRanges"]] == [
        "100.64.0.0/16",
        "10.65.0.0/24",
    ]


def test_private_endpoint_can_be_reached_from_other_regions(cluster: Any) -> None:
    private = cluster(global_access=True).one("Cluster").inputs["privateClusterConfig"]
    assert private["masterGlobalAccessConfig"] == {"enabled": True}
    usual = cluster().one("Cluster").inputs["privateClusterConfig"]
    assert usual["masterGlobalAccessConfig"] == {"enabled": False}


def test_node_version_can_be_set_without_auto_upgrade(pool: Any) -> None:
    assert (
        pool(auto_upgrade=False, node_version="1.35.1-gke.1616000").inputs["version"]
        == "1.35.1-gke.1616000"
    )
    assert "version" not in pool().inputs


def test_new_network_has_ranges_flow_logs_and_nat(declare: Any) -> None:
    declared = declare(lambda: GkeCluster("dev", CLUSTER))  # type: ignore[arg-type]  # plain
    subnet = declared.one("Subnetwork").inputs
    assert subnet["privateIpGoogleAccess"] is True
    assert [r["rangeName"] for r in subnet["secondaryIpRanges"]] == ["pods", "services"]
    assert "logConfig" in subnet
    assert declared.one("Network").inputs["autoCreateSubnetworks"] is False
    assert "dev-network-nat" in declared.one("Cluster").depends_on
    wall = declared.one("Firewall").inputs
    assert (wall["direction"], wall["priority"], wall["denies"]) == (
        "INGRESS",
        65534,
        [{"protocol": "all"}],
    )


@pytest.mark.parametrize("name", ["dev", "a-very-long-component-name", "9lives", "Ends.With-"])
def test_account_ids_are_valid_and_differ_between_stacks(name: str) -> None:
    ids = {account_id(name, stack) for stack in ("dev", "prod", "a-stack-with-a-very-long-name")}
    assert len(ids) == 3
    for text in ids:
        assert 6 <= len(text) <= 30
        assert text[0].isalpha()
        assert text[-1] != "-"


def test_pool_disables_googles_plugin_and_driver(pool: Any) -> None:
    config = pool().inputs["nodeConfig"]
    assert config["labels"] == {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.dra": "true",
        "pulumi-dra/pool": "l4",
        "gke-no-default-nvidia-gpu-device-plugin": "true",
        "cloud.google.com/gke-nvidia-gpu-dra-driver": "true",
    }
    assert config["guestAccelerators"] == [
        {
            "type": "nvidia-l4",
            "count": 1,
            "gpuDriverInstallationConfig": {"gpuDriverVersion": "INSTALLATION_DISABLED"},
        }
    ]
    assert config["taints"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
    ]


def test_cpu_pool_has_no_accelerators(pool: Any) -> None:
    config = pool(machine="n2-standard-32").inputs["nodeConfig"]
    assert not config.get("guestAccelerators")
    assert not config.get("taints")
    assert config["labels"]["pulumi-dra/pool"] == "l4"


def test_gpus_are_attached_to_machine_types_without_gpus(pool: Any) -> None:
    config = pool(machine="n1-standard-8+nvidia-tesla-t4:2").inputs["nodeConfig"]
    assert config["machineType"] == "n1-standard-8"
    assert [(a["type"], a["count"]) for a in config["guestAccelerators"]] == [
        ("nvidia-tesla-t4", 2)
    ]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({"min_nodes": 2, "desired_nodes": 2}, {"nodeCount": 2}, id="one zone, fixed"),
        pytest.param(
            {"zones": ["us-central1-a", "us-central1-b"], "desired_nodes": 4},
            {"nodeCount": 2},
            id="two zones, fixed: counted per zone",
        ),
        pytest.param(
            {
                "zones": ["us-central1-a", "us-central1-b"],
                "min_nodes": 1,
                "desired_nodes": 3,
                "autoscaled": True,
            },
            {
                "initialNodeCount": 1,
                "autoscaling": {
                    "totalMinNodeCount": 1,
                    "totalMaxNodeCount": 4,
                    "locationPolicy": "ANY",
                },
            },
            id="autoscaled: totals, and a first count that stays below",
        ),
        pytest.param(
            {
                "zones": ["us-central1-a", "us-central1-b"],
                "min_nodes": 1,
                "desired_nodes": 1,
                "max_nodes": 1,
                "autoscaled": True,
            },
            {
                "initialNodeCount": 0,
                "autoscaling": {
                    "totalMinNodeCount": 1,
                    "totalMaxNodeCount": 1,
                    "locationPolicy": "ANY",
                },
            },
            id="autoscaled: each zone must have what a first count asks of it, so the first node "
            "comes when a pod asks",
        ),
    ],
)
def test_counts_are_totals_over_all_zones(
    pool: Any, args: dict[str, Any], expected: dict[str, Any]
) -> None:
    made = pool(**args)
    counts = {
        k: made.inputs[k]
        for k in ("nodeCount", "initialNodeCount", "autoscaling")
        if k in made.inputs
    }
    assert counts == expected
    assert made.ignore_changes == ("initialNodeCount", "nodeConfig.ephemeralStorageLocalSsdConfig")


@pytest.mark.parametrize(
    ("args", "config", "outside"),
    [
        ({"capacity": "spot"}, {"spot": True}, {}),
        (
            {"capacity": "reservation", "reservation_name": "r"},
            {
                "reservationAffinity": {
                    "consumeReservationType": "SPECIFIC_RESERVATION",
                    "key": "compute.googleapis.com/reservation-name",
                    "values": ["r"],
                }
            },
            {},
        ),
        (
            {"capacity": "flex-start", "autoscaled": True, "max_run_seconds": 3600},
            {"flexStart": True, "maxRunDuration": "3600s"},
            {},
        ),
        (
            {"capacity": "queued", "autoscaled": True},
            {"flexStart": True},
            {"queuedProvisioning": {"enabled": True}},
        ),
    ],
    ids=["spot", "reservation", "flex-start", "queued"],
)
def test_capacity_type_is_set(
    pool: Any, args: dict[str, Any], config: dict[str, Any], outside: dict[str, Any]
) -> None:
    inputs = pool(**args).inputs
    assert config.items() <= inputs["nodeConfig"].items()
    assert outside.items() <= inputs.items()


@pytest.mark.parametrize("capacity", ["flex-start", "queued"])
def test_borrowed_nodes_are_not_repaired_or_surged(pool: Any, capacity: str) -> None:
    inputs = pool(capacity=capacity, autoscaled=True).inputs
    assert inputs["management"] == {"autoRepair": False, "autoUpgrade": True}
    assert "upgradeSettings" not in inputs
    assert inputs["nodeConfig"]["reservationAffinity"] == {
        "consumeReservationType": "NO_RESERVATION"
    }


BOUGHT = {"capacity": "reservation", "reservation_name": "bought"}


@pytest.mark.parametrize(
    ("machine", "label", "profile"),
    [
        ("g2-standard-8", None, {"enablePrivateNodes": True}),
        (
            "a3-ultragpu-8g",
            "true",
            {"enablePrivateNodes": True, "acceleratorNetworkProfile": "auto"},
        ),
    ],
)
def test_googles_dranet_is_enabled_per_machine_type(
    pool: Any, machine: str, label: str | None, profile: object
) -> None:
    inputs = pool(machine=machine, network_devices=True, **BOUGHT).inputs
    assert inputs["nodeConfig"]["labels"].get("cloud.google.com/gke-networking-dra-driver") == label
    assert inputs.get("networkConfig") == profile
    assert (
        "cloud.google.com/gke-networking-dra-driver"
        not in pool(machine=machine, **BOUGHT).inputs["nodeConfig"]["labels"]
    )


@pytest.mark.parametrize(
    ("args", "disk"),
    [
        ({"machine": "g2-standard-8"}, "pd-balanced"),
        ({"machine": "a3-highgpu-8g"}, "pd-balanced"),
        ({"machine": "a3-highgpu-8g", "disk_type": "hyperdisk-balanced"}, "hyperdisk-balanced"),
        ({"machine": "a3-ultragpu-8g"}, "hyperdisk-balanced"),
        ({"machine": "a4-highgpu-8g"}, "hyperdisk-balanced"),
        ({"machine": "a4x-highgpu-4g"}, "hyperdisk-balanced"),
        ({"machine": "g4-standard-48"}, "hyperdisk-balanced"),
        ({"machine": "n1-standard-8+nvidia-tesla-t4:1", "disk_type": "pd-ssd"}, "pd-ssd"),
    ],
)
def test_boot_disk_type_is_supported_by_the_machine_type(
    pool: Any, args: dict[str, Any], disk: str
) -> None:
    assert pool(**args, **BOUGHT).inputs["nodeConfig"]["diskType"] == disk


def test_max_pods_and_taints_are_set(pool: Any) -> None:
    inputs = pool(max_pods=32, taints=[{"key": "team", "value": "vision"}]).inputs
    assert inputs["maxPodsPerNode"] == 32
    assert inputs["nodeConfig"]["taints"][1] == {
        "key": "team",
        "value": "vision",
        "effect": "NO_SCHEDULE",
    }


def test_upgrade_needs_no_additional_node(pool: Any) -> None:
    assert pool().inputs["upgradeSettings"] == {
        "strategy": "SURGE",
        "maxSurge": 0,
        "maxUnavailable": 1,
    }


@pytest.mark.parametrize("secure_boot", [True, False])
def test_nodes_are_hardened_and_secure_boot_is_optional(pool: Any, secure_boot: bool) -> None:
    config = pool(secure_boot=secure_boot, disk_kms_key="k").inputs["nodeConfig"]
    assert config["shieldedInstanceConfig"] == {
        "enableIntegrityMonitoring": True,
        "enableSecureBoot": secure_boot,
    }
    assert config["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}
    assert config["imageType"] == "COS_CONTAINERD"
    assert config["bootDiskKmsKey"] == "k"
    assert config["metadata"] == {"disable-legacy-endpoints": "true"}


@pytest.mark.parametrize(
    ("count", "zones", "locations", "first", "most"),
    [
        (2, "ab", None, 1, 2),
        (2, "abc", "ab", 1, 2),
        (3, "abc", None, 1, 3),
        (4, "abc", "ab", 2, 4),
        (3, "ab", None, 1, 3),
        (3, "a", None, 3, 3),
        (2, "", None, 1, 3),
        (6, "", None, 2, 6),
    ],
)
def test_system_pool_starts_with_enough_nodes(
    declare: Callable[..., Any],
    count: int,
    zones: str,
    locations: str | None,
    first: int,
    most: int,
) -> None:
    """The autoscaler's minimum creates no nodes; the initial count of the pool does, and it applies
    to each zone.
    """
    args = {"system_count": count, "node_zones": [f"us-central1-{zone}" for zone in zones]}
    pool = declare(lambda: GkeCluster("dev", {**CLUSTER, **args})).one("NodePool").inputs
    named = [f"us-central1-{zone}" for zone in locations] if locations else None
    assert (pool.get("nodeLocations"), pool["initialNodeCount"]) == (named, first)
    assert pool["autoscaling"] == {"totalMinNodeCount": count, "totalMaxNodeCount": most}


@pytest.mark.parametrize(("policy", "warned"), [("", True), ("nvl72", False)])
def test_nodes_that_share_nvlink_need_a_policy(
    pool: Any, monkeypatch: pytest.MonkeyPatch, policy: str, warned: bool
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi, "warn", lambda text, *_: warnings.append(text))
    named = {"placement_policy": policy} if policy else {}
    pool(machine="a4x-highgpu-4g", capacity="on-demand", zones=["us-central1-a"], **named)
    assert any("different domains" in text for text in warnings) is warned


def test_compact_placement_can_be_enabled(pool: Any) -> None:
    assert pool(compact_placement=True).inputs["placementPolicy"] == {"type": "COMPACT"}
    own = pool(placement_policy="rack").inputs["placementPolicy"]
    assert own == {"type": "COMPACT", "policyName": "rack"}


def test_requested_local_ssds_are_declared(pool: Any) -> None:
    declared = pool(local_ssds=1)
    assert declared.inputs["nodeConfig"]["ephemeralStorageLocalSsdConfig"] == {"localSsdCount": 1}
    assert declared.ignore_changes == ("initialNodeCount",)
    assert "nodeConfig.ephemeralStorageLocalSsdConfig" in pool().ignore_changes


def test_node_system_settings_are_declared(pool: Any) -> None:
    settings = {
        "machine": "a4-highgpu-8g",
        "disk_iops": 9600,
        "disk_throughput": 2400,
        "host_maintenance": "PERIODIC",
    }
    system = {"cpu_manager_policy": "static", "topology_manager_policy": "best-effort"}
    kernel = {
        "sysctls": {"net.core.somaxconn": "2048"},
        "huge_pages_2mi": 4096,
        "huge_pages_1gi": 2,
    }
    config = pool(**settings, **system, **kernel, **BOUGHT).inputs["nodeConfig"]
    assert config["bootDisk"] == {"provisionedIops": 9600, "provisionedThroughput": 2400}
    assert config["hostMaintenancePolicy"] == {"maintenanceInterval": "PERIODIC"}
    assert config["kubeletConfig"] == {
        "cpuCfsQuota": True,  # CPU limits are still enforced
        "cpuManagerPolicy": "static",
        "topologyManager": {"policy": "best-effort"},
    }
    assert config["linuxNodeConfig"] == {
        "sysctls": {"net.core.somaxconn": "2048"},
        "hugepagesConfig": {"hugepageSize2m": 4096, "hugepageSize1g": 2},
    }
    usual = pool().inputs["nodeConfig"]
    assert not {"bootDisk", "hostMaintenancePolicy", "linuxNodeConfig"} & set(usual)
    # a policy is turned off instead of being left unchanged
    assert usual["kubeletConfig"] == {"cpuCfsQuota": True, "cpuManagerPolicy": ""}


def test_deletion_protection_also_protects_the_pulumi_resource(cluster: Any) -> None:
    """GKE rejects only the deletion of the cluster, after its pools are deleted."""
    kept = cluster(deletion_protection=True).one("Cluster")
    assert (kept.protect, kept.inputs["deletionProtection"]) == (True, True)
    assert not cluster().one("Cluster").protect


def test_disabled_settings_are_sent_explicitly(cluster: Any) -> None:
    """The provider doesn't change the cloud's settings if a block is omitted."""
    expected = {
        "controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"allowExternalTraffic": False}},
        "authenticatorGroupsConfig": {"securityGroup": ""},
        "databaseEncryption": {"state": "DECRYPTED"},
        "dnsConfig": {"clusterDns": "PLATFORM_DEFAULT"},
    }
    inputs = cluster(security_group="none").one("Cluster").inputs
    assert {name: inputs[name] for name in expected} == expected
    assert inputs["privateClusterConfig"]["masterGlobalAccessConfig"] == {"enabled": False}


def test_control_plane_logs_can_be_selected(cluster: Any) -> None:
    def logged(**args: Any) -> list[str]:
        return cluster(**args).one("Cluster").inputs["loggingConfig"]["enableComponents"]

    assert logged() == ["SYSTEM_COMPONENTS", "WORKLOADS", "SCHEDULER"]
    assert logged(control_plane_logs=[]) == ["SYSTEM_COMPONENTS", "WORKLOADS"]
    every = logged(control_plane_logs=["CONTROLLER_MANAGER", "APISERVER"])
    assert every == ["SYSTEM_COMPONENTS", "WORKLOADS", "APISERVER", "CONTROLLER_MANAGER"]


def test_default_pool_of_an_imported_cluster_is_unchanged(cluster: Any) -> None:
    found = cluster(imported=True, cluster_name="main").one("Cluster")
    assert not {"nodeConfig", "initialNodeCount", "removeDefaultNodePool"} & found.inputs.keys()
    assert found.ignore_changes == ("initialNodeCount", "removeDefaultNodePool")


def test_empty_mapping_removes_sysctls(pool: Any) -> None:
    assert pool(sysctls={}).inputs["nodeConfig"]["linuxNodeConfig"] == {"sysctls": {}}
    assert "linuxNodeConfig" not in pool().inputs["nodeConfig"]
