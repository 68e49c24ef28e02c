"""Which node pools and clusters GKE refuses, and which properties it sets by itself."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.wire_values import to_wire

CLUSTER, POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
NONE = {"consumeReservationType": "NO_RESERVATION"}
LENT = {
    "management": {"autoRepair": False},
    "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 2},
}


@pytest.fixture(scope="module")
def gcp(simulated):
    client = simulated("gcp")
    client.Configure(
        provider_pb2.ConfigureRequest(args=to_wire({"project": "acme", "zone": "us-central1-a"}))
    )
    return client


def first_error(gcp, token: str, inputs: dict[str, Any]) -> str:
    """Return the provider's error in a preview, else the API's error when the resource is
    created.
    """
    urn = f"urn:pulumi:dev::p::{token}::T"
    checked = gcp.Check(provider_pb2.CheckRequest(urn=urn, news=to_wire(inputs), randomSeed=b"s"))
    if checked.failures:
        return "; ".join(failure.reason for failure in checked.failures)
    try:
        gcp.Create(provider_pb2.CreateRequest(urn=urn, properties=checked.inputs))
    except grpc.RpcError as error:
        return str(error.details())
    return ""


BOUGHT = {
    "consumeReservationType": "SPECIFIC_RESERVATION",
    "key": "compute.googleapis.com/reservation-name",
    "values": ["bought"],
}
HYPERDISK = {
    "machineType": "a4-highgpu-8g",
    "diskType": "hyperdisk-balanced",
    "reservationAffinity": BOUGHT,
}
POOLS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    # pool, node configuration, words of the error
    "plain": ({}, {"machineType": "g2-standard-8", "diskType": "pd-balanced"}, ""),
    "Persistent Disk on a4": (
        {},
        {"machineType": "a4-highgpu-8g", "diskType": "pd-balanced"},
        "[pd-balanced, a4-highgpu-8g] features are not compatible for creating instance.",
    ),
    **{
        f"{machine} as {'on demand' if not had else next(iter(had))}": (
            {},
            {"machineType": machine, **had},
            message,
        )
        for machine, had, message in (
            (
                "a4-highgpu-8g",
                {},
                "a4-highgpu-8g is not available with the provisioning model STANDARD",
            ),
            ("a4-highgpu-8g", {"spot": True}, ""),
            ("a3-ultragpu-8g", {}, "not available with the provisioning model STANDARD"),
            (
                "a3-highgpu-1g",
                {"reservationAffinity": BOUGHT},
                "not available with the provisioning model RESERVATION",
            ),
            ("a3-highgpu-1g", {"spot": True}, ""),
            ("a3-highgpu-8g", {}, ""),
            (
                "a4x-highgpu-4g",
                {"spot": True},
                "not available with the provisioning model SPOT, but with RESERVATION",
            ),
            ("a4x-highgpu-4g", {"reservationAffinity": BOUGHT}, ""),
        )
    },
    "Hyperdisk on g2": (
        {},
        {"machineType": "g2-standard-8", "diskType": "hyperdisk-balanced"},
        "not compatible",
    ),
    "operations of a Persistent Disk": (
        {},
        {
            "machineType": "g2-standard-8",
            "diskType": "pd-balanced",
            "bootDisk": {"provisionedIops": 3000},
        },
        "cannot be specified with disk type pd-balanced",
    ),
    "operations above the limit of a small disk": (
        {},
        {**HYPERDISK, "diskSizeGb": 50, "bootDisk": {"provisionedIops": 30_000}},
        "Provisioned IOPS 30000 is not supported for a hyperdisk-balanced disk of 50 GB",
    ),
    "throughput for more operations": (
        {},
        {**HYPERDISK, "bootDisk": {"provisionedThroughput": 2400}},
        "throughput 2400 is not supported for 3000 provisioned IOPS",
    ),
    "a fast boot disk": (
        {},
        {**HYPERDISK, "bootDisk": {"provisionedIops": 9600, "provisionedThroughput": 2400}},
        "",
    ),
    "exclusive CPUs": (
        {},
        {
            "kubeletConfig": {
                "cpuManagerPolicy": "static",
                "topologyManager": {"policy": "best-effort"},
            }
        },
        "",
    ),
    "an unknown kubelet policy": (
        {},
        {"kubeletConfig": {"cpuManagerPolicy": "exclusive"}},
        '"exclusive" is not one of none, static',
    ),
    "a parameter of the kernel": (
        {},
        {"linuxNodeConfig": {"sysctls": {"net.core.somaxconn": "2048"}}},
        "",
    ),
    "a parameter that GKE does not set": (
        {},
        {"linuxNodeConfig": {"sysctls": {"net.ipv4.ip_forward": "1"}}},
        "Sysctl net.ipv4.ip_forward is not supported",
    ),
    "local SSDs that the machine type supports": (
        {},
        {"machineType": "g2-standard-48", "ephemeralStorageLocalSsdConfig": {"localSsdCount": 4}},
        "",
    ),
    "local SSDs that the machine type doesn't support": (
        {},
        {"machineType": "g2-standard-48", "ephemeralStorageLocalSsdConfig": {"localSsdCount": 3}},
        "should be one of [0, 4]",
    ),
    "two uses of local SSDs": (
        {},
        {
            "ephemeralStorageLocalSsdConfig": {"localSsdCount": 1},
            "localNvmeSsdBlockConfig": {"localSsdCount": 1},
        },
        "Can not use local SSDs as volumes",
    ),
    "GPUs on a machine type without GPU support": (
        {},
        {"guestAccelerators": [{"type": "nvidia-l4", "count": 1}]},
        "Cannot use default machine type (e2-medium) with GPUs",
    ),
    "a label of Kubernetes": ({}, {"labels": {"kubernetes.io/x": "y"}}, "are reserved"),
    "a value of two words": ({}, {"labels": {"x": "a b"}}, "Invalid node label x=a b"),
    "a taint of two words": (
        {},
        {"taints": [{"key": "a b", "value": "", "effect": "NO_SCHEDULE"}]},
        "node taint a b",
    ),
    "a name of 41 characters": ({"name": "n" * 41}, {}, "name to be in the range (1 - 40)"),
    "a name with a capital": ({"name": "Gpu"}, {}, "only lowercase alphanumerics"),
    "few pods": ({"maxPodsPerNode": 7}, {}, "must be between 8 and 256"),
    "a small disk": ({}, {"diskSizeGb": 5}, "to be at least (10), got 5"),
    "a run without a unit": ({}, {"maxRunDuration": "3600"}, "\" isn't a duration such as 3600s"),
    "a reservation without its name": (
        {},
        {"reservationAffinity": {"consumeReservationType": "SPECIFIC_RESERVATION"}},
        "needs the key compute.googleapis.com/reservation-name",
    ),
    "a negative count": ({"nodeCount": -1}, {}, "to be at least (0), got -1"),
    "a minimum above the maximum": (
        {"autoscaling": {"minNodeCount": 3, "maxNodeCount": 2}},
        {},
        "min_node_count must be less than or equal to max_node_count",
    ),
    "30 more nodes for an upgrade": (
        {"upgradeSettings": {"maxSurge": 30, "maxUnavailable": 0}},
        {},
        "20 nodes at most",
    ),
    "an invalid version": ({"version": "x"}, {}, 'Node version "x" is unsupported'),
    "queued": (
        {"queuedProvisioning": {"enabled": True}, **LENT},
        {"flexStart": True, "reservationAffinity": NONE},
        "",
    ),
    "queued on a reservation": (
        {"queuedProvisioning": {"enabled": True}},
        {},
        "Queued_provisioning requires reservation affinity to be set to none",
    ),
    "flex-start, repaired": ({}, {"flexStart": True}, "auto_repair must be false"),
    "flex-start, never empty": (
        {**LENT, "autoscaling": {"totalMinNodeCount": 1, "totalMaxNodeCount": 2}},
        {"flexStart": True},
        "need a minimum of 0 nodes",
    ),
    "flex-start and spot": ({}, {"flexStart": True, "spot": True}, "spot excludes flex-start"),
    "compact flex-start": (
        {**LENT, "placementPolicy": {"type": "COMPACT"}},
        {"flexStart": True, "machineType": "a3-highgpu-8g"},
        "no compact placement with flex-start",
    ),
    "compact and queued": (
        {"queuedProvisioning": {"enabled": True}, **LENT, "placementPolicy": {"type": "COMPACT"}},
        {"flexStart": True, "reservationAffinity": NONE, "machineType": "a4-highgpu-8g"},
        "is not supported with queued provisioning",
    ),
    "compact in two zones": (
        {
            "placementPolicy": {"type": "COMPACT"},
            "nodeLocations": ["us-central1-a", "us-central1-b"],
        },
        {},
        "needs one zone",
    ),
    "two counts": (
        {"initialNodeCount": 1, "nodeCount": 1},
        {},
        "Cannot set both initial_node_count and node_count",
    ),
    "no surge and no unavailable nodes": (
        {"upgradeSettings": {"maxSurge": 0, "maxUnavailable": 0}},
        {},
        "cannot both be 0",
    ),
    "surge of another strategy": (
        {"upgradeSettings": {"maxSurge": 1, "strategy": "BLUE_GREEN"}},
        {},
        "Surge upgrade settings may not be changed",
    ),
    "additional networks with DRANET": (
        {
            "networkConfig": {
                "acceleratorNetworkProfile": "auto",
                "additionalNodeNetworkConfigs": [{"network": "n"}],
            }
        },
        {},
        "DRANET automatically configures networks",
    ),
}


@pytest.mark.parametrize(("pool", "config", "message"), POOLS.values(), ids=POOLS)
def test_pools_are_validated(
    gcp, pool: dict[str, Any], config: dict[str, Any], message: str
) -> None:
    found = first_error(gcp, POOL, {"cluster": "main", **pool, "nodeConfig": config})
    assert message in found
    assert bool(found) is bool(message)


WEEKEND = {
    "startTime": "2026-11-21T00:00:00Z",
    "endTime": "2026-11-22T00:00:00Z",
    "recurrence": "FREQ=WEEKLY;BYDAY=SA,SU",
}


def excluded(scope: str) -> dict[str, Any]:
    options = {"scope": scope, "endTimeBehavior": "UNTIL_END_OF_SUPPORT"}
    exclusion = {
        "exclusionName": "busy",
        "startTime": "2026-11-21T00:00:00Z",
        "exclusionOptions": options,
    }
    window = {
        "dailyMaintenanceWindow": {"startTime": "03:00"},
        "maintenanceExclusions": [exclusion],
    }
    return {"maintenancePolicy": window}


def recurring(rule: str, hours: int) -> dict[str, Any]:
    """Return a recurring window that starts on a Saturday, the first day of a month."""
    end = datetime(2026, 8, 1) + timedelta(hours=hours)
    window = {
        "startTime": "2026-08-01T00:00:00Z",
        "endTime": f"{end.isoformat()}Z",
        "recurrence": rule,
    }
    return {"maintenancePolicy": {"recurringWindow": window}}


PRIVATE = {"privateClusterConfig": {"enablePrivateEndpoint": True}}
CLUSTERS: dict[str, tuple[dict[str, Any], str]] = {
    "a name with a capital": ({"name": "Main"}, "only lowercase alphanumerics"),
    "private": ({**PRIVATE, "masterAuthorizedNetworksConfig": {"cidrBlocks": []}}, ""),
    "private without networks": (PRIVATE, "Master authorized networks must be enabled"),
    "private with a public network": (
        {
            **PRIVATE,
            "masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "203.0.113.0/24"}]},
        },
        'network "203.0.113.0/24" is not a reserved network',
    ),
    "two network policy settings": (
        {"networkPolicy": {"enabled": True}, "datapathProvider": "ADVANCED_DATAPATH"},
        "is not allowed",
    ),
    "two windows": (
        {
            "maintenancePolicy": {
                "dailyMaintenanceWindow": {"startTime": "03:00"},
                "recurringWindow": WEEKEND,
            }
        },
        "only one of `maintenancePolicy.dailyMaintenanceWindow`",
    ),
    "an invalid maintenance window": (
        {"maintenancePolicy": {"dailyMaintenanceWindow": {"startTime": "25:00"}}},
        '"25:00" is not a time (HH:mm)',
    ),
    "weekends": ({"maintenancePolicy": {"recurringWindow": WEEKEND}}, ""),
    "four hours a week": (
        recurring("FREQ=WEEKLY;BYDAY=SA", 4),
        "48h maintenance availability of >=4h contiguous",
    ),
    "a weekend of eight hours in two weeks": (
        recurring("FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU", 8),
        "would go longer than 32d without 48h",
    ),
    "two days in two weeks": (recurring("FREQ=WEEKLY;INTERVAL=2;BYDAY=SA,SU", 12), ""),
    "a day a month": (
        recurring("FREQ=MONTHLY;BYMONTHDAY=1", 24),
        "would go longer than 32d without 48h",
    ),
    "two days a month": (recurring("FREQ=MONTHLY;BYMONTHDAY=1,15", 24), ""),
    "two days a year": (recurring("FREQ=YEARLY", 48), "would go longer than 32d without 48h"),
    "four hours each night": (recurring("FREQ=DAILY", 4), ""),
    "four hours each third night": (
        recurring("FREQ=DAILY;INTERVAL=3", 4),
        "would go longer than 32d",
    ),
    "a rule of more parts": (recurring("FREQ=WEEKLY;BYDAY=1SA;WKST=MO", 4), ""),
    "every hour": (
        {"maintenancePolicy": {"recurringWindow": {**WEEKEND, "recurrence": "FREQ=HOURLY"}}},
        "FREQ=HOURLY is not supported",
    ),
    "no upgrade ever": (excluded("NO_UPGRADES"), "NO_UPGRADES must have an end time"),
    "no minor upgrades until the end of support": (excluded("NO_MINOR_UPGRADES"), ""),
    "metrics of an unknown component": (
        {"monitoringConfig": {"enableComponents": ["GPUS"]}},
        "GPUS",
    ),
    "another group": (
        {"authenticatorGroupsConfig": {"securityGroup": "team@example.com"}},
        "gke-security-groups@",
    ),
}


@pytest.mark.parametrize(("change", "message"), CLUSTERS.values(), ids=CLUSTERS)
def test_clusters_are_validated(gcp, change: dict[str, Any], message: str) -> None:
    found = first_error(gcp, CLUSTER, {"initialNodeCount": 1, **change})
    assert message in found
    assert bool(found) is bool(message)


@pytest.mark.parametrize(
    ("components", "differs"),
    [
        (["SYSTEM_COMPONENTS", "JOBSET", "DCGM"], True),
        (["SYSTEM_COMPONENTS", "DCGM", "JOBSET"], False),
        (["SYSTEM_COMPONENTS", "POD", "HPA", "STORAGE"], True),
        (["SYSTEM_COMPONENTS", "STORAGE", "HPA", "POD"], False),
        ([], False),
    ],
)
def test_components_in_another_order_always_differ(
    gcp, components: list[str], differs: bool
) -> None:
    same = to_wire({"name": "main", "monitoringConfig": {"enableComponents": components}})
    request = provider_pb2.DiffRequest(
        urn=f"urn:pulumi:dev::p::{CLUSTER}::T", old_inputs=same, news=same
    )
    answer = gcp.Diff(request)
    assert bool(answer.detailedDiff) is differs
    assert list(answer.replaces) == []


@pytest.mark.parametrize(
    ("machine", "ignored", "replaces"),
    [
        ("a3-highgpu-8g", [], ["nodeConfig"]),
        ("a3-highgpu-8g", ["nodeConfig.ephemeralStorageLocalSsdConfig"], []),
        ("g2-standard-8", [], []),
    ],
)
def test_local_ssds_of_the_machine_type_always_differ_unless_ignored(
    gcp, machine: str, ignored: list[str], replaces: list[str]
) -> None:
    inputs = to_wire({"cluster": "main", "nodeConfig": {"machineType": machine}})
    request = provider_pb2.DiffRequest(
        urn=f"urn:pulumi:dev::p::{POOL}::T", old_inputs=inputs, news=inputs, ignoreChanges=ignored
    )
    assert list(gcp.Diff(request).replaces) == replaces


KEY = "projects/acme/locations/us-central1/keyRings/nodes/cryptoKeys/disks"
COMPUTE, CONTAINER = "compute-system", "container-engine-robot"
KEYED = {
    "disks of a pool": (POOL, {"cluster": "main", "nodeConfig": {"bootDiskKmsKey": KEY}}, COMPUTE),
    "secrets": (
        CLUSTER,
        {"initialNodeCount": 1, "databaseEncryption": {"state": "ENCRYPTED", "keyName": KEY}},
        CONTAINER,
    ),
}


@pytest.mark.parametrize(("token", "inputs", "agent"), KEYED.values(), ids=KEYED)
def test_a_service_agent_needs_a_role_on_the_key(
    simulated, token: str, inputs: dict[str, Any], agent: str
) -> None:
    gcp = simulated("gcp")
    gcp.Configure(
        provider_pb2.ConfigureRequest(args=to_wire({"project": "acme", "zone": "us-central1-a"}))
    )

    def create(token: str, properties: dict[str, Any]) -> None:
        urn = f"urn:pulumi:dev::p::{token}::T"
        gcp.Create(provider_pb2.CreateRequest(urn=urn, properties=to_wire(properties)))

    def grant(role: str, agent: str) -> None:
        member = f"serviceAccount:service-123456789012@{agent}.iam.gserviceaccount.com"
        given = {"cryptoKeyId": KEY, "role": role, "member": member}
        create("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember", given)

    grant("roles/cloudkms.viewer", agent)
    grant("roles/cloudkms.cryptoKeyEncrypterDecrypter", CONTAINER if agent == COMPUTE else COMPUTE)
    with pytest.raises(
        grpc.RpcError, match=r"'cloudkms\.cryptoKeyVersions\.useToEncrypt' denied on resource"
    ):
        create(token, inputs)
    grant("roles/cloudkms.cryptoKeyEncrypterDecrypter", agent)
    create(token, inputs)
