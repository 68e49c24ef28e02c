"""Errors of GKE that depend on other resources: a pool's cluster, and firewall rules in a
network.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.existing_resources import VARIABLE, Memory
from dra_sandbox.clouds.gcp.control_plane_versions import CHANNEL
from dra_sandbox.clouds.gcp.keys import CONSTRAINT, WANTS_KEYS
from dra_sandbox.clouds.gcp.lost_zones import LOST_ZONE
from dra_sandbox.clouds.gcp.operations import OPERATION
from dra_sandbox.clouds.gcp.quotas import QUOTA, SSD
from dra_sandbox.clouds.wire_values import from_wire, to_wire

CLUSTER, POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
NETWORK, FIREWALL = "gcp:compute/network:Network", "gcp:compute/firewall:Firewall"
ENDPOINTS = "gcp:compute/networkEndpointGroup:NetworkEndpointGroup"


class Cloud:
    """A simulated Google Cloud without resources."""

    def __init__(self, simulated: Any) -> None:
        self._gcp = simulated("gcp")
        self._gcp.Configure(
            provider_pb2.ConfigureRequest(
                args=to_wire({"project": "acme", "zone": "us-central1-a"})
            )
        )

    def create(self, token: str, **inputs: Any) -> dict[str, Any]:
        if token == CLUSTER:
            inputs = {"initialNodeCount": 1, **inputs}
        request = provider_pb2.CreateRequest(
            urn=f"urn:pulumi:dev::p::{token}::T", properties=to_wire(inputs)
        )
        made = self._gcp.Create(request)
        return {**from_wire(made.properties), "id": made.id}

    def update(
        self, token: str, state: dict[str, Any], *, hours: float = 0, **inputs: Any
    ) -> dict[str, Any]:
        urn, olds = f"urn:pulumi:dev::p::{token}::T", to_wire(state)
        news, timeout = to_wire(inputs), hours * 3600
        request = provider_pb2.UpdateRequest(
            id=state["id"], urn=urn, olds=olds, old_inputs=news, news=news, timeout=timeout
        )
        return {**from_wire(self._gcp.Update(request).properties), "id": state["id"]}

    def delete(self, token: str, state: dict[str, Any]) -> None:
        urn = f"urn:pulumi:dev::p::{token}::T"
        self._gcp.Delete(
            provider_pb2.DeleteRequest(id=state["id"], urn=urn, properties=to_wire(state))
        )

    def check_error(self, token: str, **inputs: Any) -> str:
        urn = f"urn:pulumi:dev::p::{token}::T"
        checked = self._gcp.Check(
            provider_pb2.CheckRequest(urn=urn, news=to_wire(inputs), randomSeed=b"s")
        )
        if checked.failures:
            return "; ".join(failure.reason for failure in checked.failures)
        try:
            self._gcp.Create(provider_pb2.CreateRequest(urn=urn, properties=checked.inputs))
        except grpc.RpcError as error:
            return str(error.details())
        return ""

    def invoke(self, token: str, **arguments: str) -> dict[str, Any]:
        answer = self._gcp.Invoke(provider_pb2.InvokeRequest(tok=token, args=to_wire(arguments)))
        assert not answer.failures, answer.failures
        return from_wire(getattr(answer, "return"))


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Return the resources of the simulated cloud, which tests change without the provider."""
    file = tmp_path / "cloud.json"
    monkeypatch.setenv(VARIABLE, str(file))
    return Memory(file)


@pytest.fixture
def gcp(memory: Memory, simulated: Any) -> Cloud:
    return Cloud(simulated)


BOUGHT_NODES = {
    "reservationAffinity": {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["bought"],
    }
}
NO_RESERVATION = {"reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}
LENT = {
    "management": {"autoRepair": False},
    "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 2},
}
KEPT = {"management": {"autoUpgrade": False}}
PROFILE = {"networkConfig": {"acceleratorNetworkProfile": "auto"}}
DATAPLANE_V2 = {"datapathProvider": "ADVANCED_DATAPATH"}
BESIDE: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    # cluster, pool, words of the error
    "row 61: not upgraded, in a channel": (
        {"releaseChannel": {"channel": "REGULAR"}},
        KEPT,
        "Auto_upgrade cannot be false when release_channel REGULAR is set",
    ),
    "row 61: not upgraded, in none": ({"releaseChannel": {"channel": "UNSPECIFIED"}}, KEPT, ""),
    "row 62: newer than its master": (
        {"minMasterVersion": "1.34"},
        {"version": "1.35.3-gke.2000000"},
        (
            'Node version "1.35.3-gke.2000000" must not have a greater minor version than master '
            'version "1.34.'
        ),
    ),
    "row 62: as old as it may be": (
        {"minMasterVersion": "1.35"},
        {"version": "1.34.3-gke.2000000"},
        "",
    ),
    "row 72: networks without Dataplane V2": ({}, PROFILE, "needs Dataplane V2"),
    "row 72: networks": (DATAPLANE_V2, PROFILE, ""),
}


@pytest.mark.parametrize(("cluster", "pool", "message"), BESIDE.values(), ids=BESIDE)
def test_a_pool_is_validated_against_its_cluster(
    gcp: Cloud, cluster: dict[str, Any], pool: dict[str, Any], message: str
) -> None:
    made = gcp.create(CLUSTER, name="main", **cluster)
    for named in ("main", made["id"]):
        if not message:
            gcp.create(POOL, cluster=named, name="gpus", **pool)
            continue
        with pytest.raises(grpc.RpcError) as refused:
            gcp.create(POOL, cluster=named, name="gpus", **pool)
        assert message in str(refused.value.details())


def test_an_organization_policy_requires_a_key_for_the_initial_pool(
    gcp: Cloud, memory: Memory
) -> None:
    memory.put(CONSTRAINT, WANTS_KEYS, {})
    for agent in ("compute-system", "container-engine-robot"):
        member = f"serviceAccount:service-123456789012@{agent}.iam.gserviceaccount.com"
        role = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
        gcp.create(
            "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
            cryptoKeyId="key",
            role=role,
            member=member,
        )
    secrets = {"databaseEncryption": {"state": "ENCRYPTED", "keyName": "key"}}
    disks = {"nodeConfig": {"bootDiskKmsKey": "key"}}
    wants = (
        r"constraints/gcp\.restrictNonCmekServices` violated .* without specifying a KMS CryptoKey"
    )
    for missing in (secrets, disks, {}):
        with pytest.raises(grpc.RpcError, match=wants):
            gcp.create(CLUSTER, name="main", **missing)
    gcp.create(CLUSTER, name="main", **secrets, **disks)
    with pytest.raises(grpc.RpcError, match=wants):
        gcp.create(POOL, cluster="main", name="gpus")
    gcp.create(POOL, cluster="main", name="gpus", **disks)


@pytest.mark.parametrize(
    ("change", "short"),
    [
        ({}, "50"),
        ({"nodeConfig": {"diskSizeGb": 120}}, "110"),
        ({"nodeConfig": {"diskType": "pd-standard"}}, ""),
        ({"location": "us-central1-a"}, ""),
        ({"nodeLocations": ["us-central1-a", "us-central1-b"]}, ""),
    ],
)
def test_disks_of_the_initial_pool_count_toward_the_quota(
    gcp: Cloud, memory: Memory, change: dict[str, Any], short: str
) -> None:
    memory.put(QUOTA, SSD, {"limit": 250})
    asked = {"name": "main", "location": "us-central1", "initialNodeCount": 1, **change}
    if not short:
        gcp.create(CLUSTER, **asked)
        return
    with pytest.raises(
        grpc.RpcError, match=rf"Insufficient regional quota .*\"SSD_TOTAL_GB\".* short '{short}\.0'"
    ):
        gcp.create(CLUSTER, **asked)


def test_cpu_limits_are_enforced_with_the_kubelet_setting(gcp: Cloud) -> None:
    """The provider sends true if other settings of kubelet are given without it."""
    gcp.create(CLUSTER, name="main")
    static = {"cpuManagerPolicy": "static"}
    for name, kubelet, quota in (
        ("a", static, True),
        ("b", {**static, "cpuCfsQuota": False}, False),
    ):
        made = gcp.create(POOL, cluster="main", name=name, nodeConfig={"kubeletConfig": kubelet})
        assert made["nodeConfig"]["kubeletConfig"] == {**static, "cpuCfsQuota": quota}
    assert (
        "kubeletConfig"
        not in gcp.create(POOL, cluster="main", name="c", nodeConfig={})["nodeConfig"]
    )


def test_row_88_resources_of_services_block_the_deletion_of_a_network(
    gcp: Cloud, memory: Memory
) -> None:
    network = gcp.create(NETWORK, name="gpu")
    rule = gcp.create(FIREWALL, name="k8s-0a1b-node-http-hc", network=network["id"])
    with pytest.raises(
        grpc.RpcError, match="already being used by 'projects/acme/global/firewalls/k8s-0a1b-node"
    ):
        gcp.delete(NETWORK, network)
    gcp.delete(FIREWALL, rule)
    memory.put(
        ENDPOINTS,
        "projects/acme/zones/us-central1-a/networkEndpointGroups/k8s1",
        {"network": network["id"]},
    )
    with pytest.raises(
        grpc.RpcError, match=r"already being used by '.*/networkEndpointGroups/k8s1"
    ):
        gcp.delete(NETWORK, network)
    memory.drop(ENDPOINTS, "projects/acme/zones/us-central1-a/networkEndpointGroups/k8s1")
    gcp.delete(NETWORK, network)


def pools(memory: Memory) -> set[str]:
    return {identifier.rpartition("/")[2] for identifier in memory.all(POOL)}


def test_the_initial_pool_is_deleted_if_it_is_later_removed(gcp: Cloud, memory: Memory) -> None:
    """As with an import that changes the setting."""
    first = {"name": "main", "initialNodeCount": 2}
    made = gcp.create(CLUSTER, **first)
    gcp.create(POOL, cluster=made["id"], name="workers")
    assert pools(memory) == {"default-pool", "workers"}
    made = gcp.update(CLUSTER, made, **first, resourceLabels={"team": "a"})
    assert pools(memory) == {"default-pool", "workers"}
    gcp.update(CLUSTER, made, **first, removeDefaultNodePool=True)
    assert pools(memory) == {"workers"}


def test_pools_are_deleted_with_their_cluster(gcp: Cloud, memory: Memory) -> None:
    made = gcp.create(CLUSTER, name="main", initialNodeCount=1, removeDefaultNodePool=True)
    gcp.create(POOL, cluster="main", name="workers")
    gcp.create(POOL, cluster="other", name="others")
    assert pools(memory) == {"workers", "others"}
    gcp.delete(CLUSTER, made)
    assert pools(memory) == {"others"}


BOTH, LEFT = ["us-central1-a", "us-central1-b"], ["us-central1-b"]
GROWS: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    # created before us-central1-a was lost, requested afterwards, whether the cloud has the nodes
    "unchanged": (
        {"nodeLocations": BOTH, "nodeCount": 1},
        {"nodeLocations": BOTH, "nodeCount": 1},
        True,
    ),
    "smaller": (
        {"nodeLocations": BOTH, "nodeCount": 2},
        {"nodeLocations": BOTH, "nodeCount": 1},
        True,
    ),
    "one more node per zone": (
        {"nodeLocations": BOTH, "nodeCount": 1},
        {"nodeLocations": BOTH, "nodeCount": 2},
        False,
    ),
    "without the zone": (
        {"nodeLocations": BOTH, "nodeCount": 1},
        {"nodeLocations": LEFT, "nodeCount": 1},
        True,
    ),
    "more nodes, without the zone": (
        {"nodeLocations": BOTH, "nodeCount": 1},
        {"nodeLocations": LEFT, "nodeCount": 2},
        False,
    ),
    "with the zone": (
        {"nodeLocations": LEFT, "nodeCount": 1},
        {"nodeLocations": BOTH, "nodeCount": 1},
        False,
    ),
    "empty, with the zone": (
        {"nodeLocations": LEFT, "nodeCount": 0},
        {"nodeLocations": BOTH, "nodeCount": 0},
        True,
    ),
    "elsewhere": (
        {"nodeLocations": LEFT, "nodeCount": 1},
        {"nodeLocations": LEFT, "nodeCount": 3},
        True,
    ),
    "only limits": (
        {"nodeLocations": BOTH, "initialNodeCount": 1, "autoscaling": {"totalMaxNodeCount": 2}},
        {"nodeLocations": BOTH, "initialNodeCount": 1, "autoscaling": {"totalMaxNodeCount": 9}},
        True,
    ),
}


@pytest.mark.parametrize(("before", "wanted", "has"), GROWS.values(), ids=GROWS)
def test_a_zone_outage_prevents_new_nodes(
    gcp: Cloud, memory: Memory, before: Any, wanted: Any, has: bool
) -> None:
    made = gcp.create(POOL, cluster="main", name="gpus", **before)
    memory.put(LOST_ZONE, "us-central1-a", {})
    if has:
        gcp.update(POOL, made, cluster="main", name="gpus", **wanted)
        return
    with pytest.raises(
        grpc.RpcError, match=r"\[GCE_STOCKOUT\].*'projects/acme/zones/us-central1-a'"
    ):
        gcp.update(POOL, made, cluster="main", name="gpus", **wanted)


@pytest.mark.parametrize(
    ("count", "has"), [({"nodeCount": 1}, False), ({"initialNodeCount": 1}, False), ({}, True)]
)
def test_a_zone_outage_prevents_a_new_pool(
    gcp: Cloud, memory: Memory, count: dict[str, int], has: bool
) -> None:
    memory.put(LOST_ZONE, "us-central1-a", {})
    inputs = {"cluster": "main", "name": "gpus", "nodeLocations": BOTH, **count}
    if has:
        gcp.create(POOL, **inputs)
        return
    with pytest.raises(grpc.RpcError, match="GCE_STOCKOUT"):
        gcp.create(POOL, **inputs)


def reserved(machine: str = "a3-highgpu-8g", name: str = "blocks", **pool: Any) -> dict[str, Any]:
    affinity = {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": [name],
    }
    config = {"machineType": machine, "reservationAffinity": affinity}
    return {
        "cluster": "main",
        "name": "gpus",
        "nodeLocations": LEFT,
        "nodeCount": 2,
        "nodeConfig": config,
        **pool,
    }


def reservation(**change: Any) -> dict[str, Any]:
    properties = {"machineType": "a3-highgpu-8g"}
    given = {"count": 3, "instanceProperties": properties}
    return {"name": "blocks", "zone": "us-central1-b", "specificReservation": given, **change}


RESERVED: dict[str, tuple[dict[str, Any], str]] = {
    "row 65: in its zone": (reserved(), ""),
    "row 65: in a further zone": (
        reserved(nodeLocations=BOTH, nodeCount=1),
        'reservation "blocks" not found for node pool "gpus" at zone "us-central1-a"',
    ),
    "row 65: of another name": (
        reserved(name="other"),
        'reservation "other" not found for node pool "gpus"',
    ),
    "row 65: by its path": (
        reserved(name="projects/acme/reservations/blocks/reservationBlocks/b1"),
        "",
    ),
    "row 66: as large as it is": (reserved(nodeCount=3), ""),
    "row 66: too small": (
        reserved(nodeCount=5),
        "required 5 and short of 2 VM count of machine type a3-highgpu-8g",
    ),
    "row 66: of another machine": (
        reserved("a3-megagpu-8g"),
        "short of 2 VM count of machine type a3-megagpu-8g",
    ),
    "row 66: limits alone": (reserved(nodeCount=None, autoscaling={"totalMaxNodeCount": 9}), ""),
    "row 66: none needed": (
        {"cluster": "main", "name": "gpus", "nodeLocations": BOTH, "nodeCount": 9},
        "",
    ),
}


@pytest.mark.parametrize(("pool", "message"), RESERVED.values(), ids=RESERVED)
def test_a_pool_must_match_its_reservation(gcp: Cloud, pool: dict[str, Any], message: str) -> None:
    # no recorded reservations: any name
    gcp.create(POOL, **reserved(name="known-to-nobody"))
    gcp.create("gcp:compute/reservation:Reservation", **reservation())
    given = {name: value for name, value in pool.items() if value is not None} | {"name": "gpus"}
    if not message:
        gcp.create(POOL, **given)
        return
    with pytest.raises(grpc.RpcError) as refused:
        gcp.create(POOL, **given)
    assert message in str(refused.value.details())


def test_row_66_two_pools_share_a_reservation(gcp: Cloud) -> None:
    gcp.create("gcp:compute/reservation:Reservation", **reservation())
    made = gcp.create(POOL, **reserved())
    with pytest.raises(grpc.RpcError, match="required 2 and short of 1 VM count"):
        gcp.create(POOL, **reserved() | {"name": "more"})
    gcp.update(POOL, made, **reserved(nodeCount=3))


def test_row_67_a_placement_policy_must_be_in_the_region(gcp: Cloud) -> None:
    def pool(name: str) -> dict[str, Any]:
        policy = {"type": "COMPACT", "policyName": "close"}
        return {
            "cluster": "main",
            "name": name,
            "location": "us-central1",
            "placementPolicy": policy,
        }

    gcp.create(POOL, **pool("known-to-nobody"))  # no recorded policies: any name
    gcp.create("gcp:compute/resourcePolicy:ResourcePolicy", name="close", region="us-east1")
    with pytest.raises(
        grpc.RpcError, match="resource policy close was not found in region us-central1"
    ):
        gcp.create(POOL, **pool("gpus"))
    gcp.create("gcp:compute/resourcePolicy:ResourcePolicy", name="close", region="us-central1")
    gcp.create(POOL, **pool("gpus"))


def test_row_86_one_operation_at_a_time(gcp: Cloud, memory: Memory) -> None:
    made = gcp.create(CLUSTER, name="main", initialNodeCount=1)
    memory.put(OPERATION, "operation-1", {"cluster": "main", "doing": "upgrading the master"})
    gcp.create(CLUSTER, name="other", initialNodeCount=1)
    for change in (
        lambda: gcp.create(POOL, cluster=made["id"], name="gpus"),
        lambda: gcp.update(
            CLUSTER, made, name="main", initialNodeCount=1, resourceLabels={"team": "a"}
        ),
        lambda: gcp.delete(CLUSTER, made),
    ):
        with pytest.raises(
            grpc.RpcError, match="operation-1 is currently upgrading the master for cluster main"
        ):
            change()
    memory.drop(OPERATION, "operation-1")
    gcp.delete(CLUSTER, made)


def exclusion(end: str | None, behaviour: str | None) -> dict[str, Any]:
    options = {
        "scope": "NO_MINOR_UPGRADES",
        **({"endTimeBehavior": behaviour} if behaviour else {}),
    }
    window = {
        "exclusionName": "busy",
        "startTime": "2026-01-01T00:00:00Z",
        "exclusionOptions": options,
    }
    return {
        "maintenancePolicy": {
            "dailyMaintenanceWindow": {"startTime": "03:00"},
            "maintenanceExclusions": [{**window, **({"endTime": end} if end else {})}],
        }
    }


def gpus(machine: str, kind: str, count: int) -> dict[str, Any]:
    return {
        "cluster": "c",
        "nodeConfig": {
            "machineType": machine,
            "guestAccelerators": [{"type": kind, "count": count}],
        },
    }


AT_ONCE: dict[str, tuple[str, dict[str, Any], str]] = {
    "row 60: as many as the machine has": (POOL, gpus("a3-highgpu-8g", "nvidia-h100-80gb", 8), ""),
    "row 60: fewer": (
        POOL,
        gpus("a3-highgpu-8g", "nvidia-h100-80gb", 4),
        "count 4 is not valid for a3-highgpu-8g",
    ),
    "row 60: others": (
        POOL,
        gpus("g2-standard-8", "nvidia-tesla-t4", 1),
        "nvidia-tesla-t4 count 1 is not valid",
    ),
    "row 60: attached": (POOL, gpus("n1-standard-8", "nvidia-tesla-t4", 2), ""),
    "row 80: Google's networks": (
        CLUSTER,
        {
            "initialNodeCount": 1,
            "privateClusterConfig": {"enablePrivateEndpoint": True},
            "masterAuthorizedNetworksConfig": {"gcpPublicCidrsAccessEnabled": True},
        },
        "cannot be enabled if private endpoint is enabled",
    ),
    "row 83: until a time": (
        CLUSTER,
        {"initialNodeCount": 1, **exclusion("2026-02-01T00:00:00Z", None)},
        "",
    ),
    "row 83: until the end": (
        CLUSTER,
        {"initialNodeCount": 1, **exclusion(None, "UNTIL_END_OF_SUPPORT")},
        "",
    ),
    "row 83: both": (
        CLUSTER,
        {"initialNodeCount": 1, **exclusion("2026-02-01T00:00:00Z", "UNTIL_END_OF_SUPPORT")},
        "one of end_time and end_time_behavior",
    ),
    "row 85: a minor": (CLUSTER, {"initialNodeCount": 1, "minMasterVersion": "1.35"}, ""),
    "row 85: not offered": (
        CLUSTER,
        {"initialNodeCount": 1, "minMasterVersion": "1.16.13-gke.401"},
        'Master version "1.16.13-gke.401" is unsupported.',
    ),
}


@pytest.mark.parametrize(("token", "inputs", "message"), AT_ONCE.values(), ids=AT_ONCE)
def test_invalid_inputs_are_rejected_in_a_preview(
    gcp: Cloud, token: str, inputs: dict[str, Any], message: str
) -> None:
    found = gcp.check_error(token, **inputs)
    assert message in found
    assert bool(found) is bool(message)


def test_row_76_taints_are_added_by_gke(gcp: Cloud) -> None:
    """GKE taints a GPU pool only if a pool without GPUs exists when the GPU pool is created; it
    also taints pools on Arm and with queued provisioning.
    """

    def taints(pool: dict[str, Any]) -> set[str]:
        return {each["key"] for each in pool["nodeConfig"]["effectiveTaints"]}

    cluster = gcp.create(CLUSTER, name="main", location="us-central1", removeDefaultNodePool=True)[
        "id"
    ]
    gpus = {
        "machineType": "g2-standard-8",
        "guestAccelerators": [{"type": "nvidia-l4", "count": 1}],
    }
    beside = {"cluster": cluster, "location": "us-central1"}
    first = gcp.create(POOL, **beside, name="first", nodeConfig=gpus)
    plain = gcp.create(POOL, **beside, name="plain", nodeConfig={"machineType": "e2-standard-4"})
    assert taints(first) == taints(plain) == set()
    second = gcp.create(POOL, **beside, name="second", nodeConfig=gpus)
    assert taints(second) == {"nvidia.com/gpu"}
    changed = {"machineType": "g2-standard-12", "guestAccelerators": gpus["guestAccelerators"]}
    assert taints(gcp.update(POOL, first, **beside, name="first", nodeConfig=changed)) == set()
    assert taints(gcp.update(POOL, second, **beside, name="second", nodeConfig=changed)) == {
        "nvidia.com/gpu"
    }
    own = {
        **gpus,
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    }
    third = gcp.create(POOL, **beside, name="third", nodeConfig=own)
    assert len(third["nodeConfig"]["effectiveTaints"]) == 1
    arm = {**BOUGHT_NODES, "machineType": "a4x-highgpu-4g"}
    assert taints(gcp.create(POOL, **beside, name="arm", nodeConfig=arm)) == {
        "nvidia.com/gpu",
        "kubernetes.io/arch",
    }
    quiet = {**arm, "taintConfig": {"architectureTaintBehavior": "NONE"}}
    assert "kubernetes.io/arch" not in taints(
        gcp.create(POOL, **beside, name="quiet", nodeConfig=quiet)
    )
    waiting = {**gpus, **NO_RESERVATION, "flexStart": True}
    queued = gcp.create(
        POOL,
        **beside,
        **LENT,
        name="queued",
        nodeConfig=waiting,
        queuedProvisioning={"enabled": True},
    )
    assert "cloud.google.com/gke-queued" in taints(queued)


def test_a_control_plane_cannot_skip_a_minor_version_or_downgrade(gcp: Cloud) -> None:
    plain = {"name": "dev", "location": "us-central1", "initialNodeCount": 1}
    made = gcp.create(CLUSTER, **plain, minMasterVersion="1.34")
    with pytest.raises(
        grpc.RpcError, match="cannot upgrade the master more than a minor version at a time"
    ):
        gcp.update(CLUSTER, made, **plain, minMasterVersion="1.36")
    then = gcp.update(CLUSTER, made, **plain, minMasterVersion="1.35")
    assert then["masterVersion"].startswith("1.35.")
    assert (
        gcp.update(CLUSTER, then, **plain, minMasterVersion="1.34")["masterVersion"]
        == then["masterVersion"]
    )


def test_a_channel_offers_only_some_versions(gcp: Cloud, memory: Memory) -> None:
    memory.put(CHANNEL, "STABLE", {"versions": ["1.34.3-gke.2000000"]})
    plain = {"name": "dev", "location": "us-central1", "initialNodeCount": 1}
    stable = {**plain, "releaseChannel": {"channel": "STABLE"}}
    with pytest.raises(
        grpc.RpcError, match=r'must be one of "STABLE" channel supported versions \[1\.34\.3-gke'
    ):
        gcp.create(CLUSTER, **stable, minMasterVersion="1.35")
    made = gcp.create(
        CLUSTER, **{**plain, "releaseChannel": {"channel": "RAPID"}}, minMasterVersion="1.35"
    )
    assert gcp.update(CLUSTER, made, **stable, minMasterVersion="1.35"), (
        "what is there already is a floor"
    )
    assert gcp.create(CLUSTER, **{**stable, "name": "other"}, minMasterVersion="1.34")


def test_accelerator_zones_are_listed(gcp: Cloud) -> None:
    names = gcp.invoke("gcp:compute/getZones:getZones", region="us-central1")["names"]
    assert names[:2] == ["us-central1-a", "us-central1-ai1a"]


def test_the_autoscalers_minimum_creates_no_nodes(gcp: Cloud) -> None:
    limits = {"autoscaling": {"totalMinNodeCount": 2, "totalMaxNodeCount": 4}}
    made = gcp.create(POOL, cluster="dev", location="us-central1", name="later", **limits)
    assert made["nodeCount"] == 0
    first = gcp.create(
        POOL, cluster="dev", location="us-central1", name="first", initialNodeCount=1, **limits
    )
    more = {"autoscaling": {"totalMinNodeCount": 3, "totalMaxNodeCount": 4}}
    then = gcp.update(
        POOL, first, cluster="dev", location="us-central1", name="first", initialNodeCount=1, **more
    )
    assert then["nodeCount"] == 1


def test_an_update_of_many_nodes_one_by_one_times_out(gcp: Cloud) -> None:
    away = {"upgradeSettings": {"maxSurge": 0, "maxUnavailable": 1}}
    plain = {"cluster": "dev", "location": "us-central1", "name": "l4", "nodeCount": 15, **away}
    place = {"nodeLocations": ["us-central1-a", "us-central1-b"]}
    small, large = ({"machineType": f"g2-standard-{vcpus}"} for vcpus in (8, 12))
    made = gcp.create(POOL, **plain, **place, nodeConfig=small)
    with pytest.raises(grpc.RpcError, match="timeout while waiting for state to become 'DONE'"):
        gcp.update(POOL, made, **plain, **place, nodeConfig=large)
    gcp.update(POOL, made, **plain, **place, nodeConfig={**small, "labels": {"team": "vision"}})
    gcp.update(POOL, made, hours=35, **plain, **place, nodeConfig=large)
    gcp.update(
        POOL, made, **{**plain, "upgradeSettings": {"maxSurge": 2}}, **place, nodeConfig=small
    )


def test_exceeding_the_gpu_quota_fails(gcp: Cloud, memory: Memory) -> None:
    memory.put(QUOTA, "NVIDIA_L4_GPUS", {"limit": 2, "accelerator": "nvidia-l4"})
    l4 = {"machineType": "g2-standard-8", "guestAccelerators": [{"type": "nvidia-l4", "count": 1}]}
    plain = {"cluster": "dev", "location": "us-central1", "nodeConfig": l4}
    both = {"nodeLocations": ["us-central1-a", "us-central1-b"]}
    message = (
        r'resource "NVIDIA_L4_GPUS": request requires \'4\.0\' and is short \'2\.0\'\. .* with '
        r"\'2\.0\' available"
    )
    with pytest.raises(grpc.RpcError, match=message):
        gcp.create(POOL, **plain, **both, name="large", nodeCount=2)
    made = gcp.create(POOL, **plain, **both, name="small", nodeCount=1)
    with pytest.raises(
        grpc.RpcError, match=r"requires '2\.0' and is short '2\.0'.* with '0\.0' available"
    ):
        gcp.update(POOL, made, **plain, **both, name="small", nodeCount=2)
    gcp.create(POOL, **{**plain, "nodeConfig": {**l4, "spot": True}}, name="spot", nodeCount=3)
    scaled = {
        "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4},
        "initialNodeCount": 0,
    }
    gcp.create(POOL, **plain, **both, name="scaled", **scaled)
    memory.put(QUOTA, "GPUS_ALL_REGIONS", {"limit": 0, "accelerator": ""})
    h100 = {
        "machineType": "a3-highgpu-8g",
        "guestAccelerators": [{"type": "nvidia-h100-80gb", "count": 8}],
    }
    with pytest.raises(grpc.RpcError, match="GPUS_ALL_REGIONS"):
        gcp.create(POOL, **{**plain, "nodeConfig": h100}, name="h100", nodeCount=1)
