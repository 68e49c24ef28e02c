"""What GKE refuses because of what else there is: a pool's cluster, firewall rules of others in a network."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.wire import from_wire, to_wire

CLUSTER, POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
NETWORK, FIREWALL = "gcp:compute/network:Network", "gcp:compute/firewall:Firewall"


class Cloud:
    """A simulated Google Cloud with nothing in it."""

    def __init__(self, simulated: Any) -> None:
        self._gcp = simulated("gcp")
        self._gcp.Configure(provider_pb2.ConfigureRequest(args=to_wire({"project": "acme", "zone": "us-central1-a"})))

    def create(self, token: str, **inputs: Any) -> dict[str, Any]:
        request = provider_pb2.CreateRequest(urn=f"urn:pulumi:dev::p::{token}::T", properties=to_wire(inputs))
        made = self._gcp.Create(request)
        return {**from_wire(made.properties), "id": made.id}

    def delete(self, token: str, state: dict[str, Any]) -> None:
        urn = f"urn:pulumi:dev::p::{token}::T"
        self._gcp.Delete(provider_pb2.DeleteRequest(id=state["id"], urn=urn, properties=to_wire(state)))

    def complaint(self, token: str, **inputs: Any) -> str:
        urn = f"urn:pulumi:dev::p::{token}::T"
        failures = self._gcp.Check(provider_pb2.CheckRequest(urn=urn, news=to_wire(inputs), randomSeed=b"s")).failures
        return "; ".join(failure.reason for failure in failures)


@pytest.fixture
def gcp(simulated: Any) -> Cloud:
    return Cloud(simulated)


KEPT = {"management": {"autoUpgrade": False}}
PROFILE = {"networkConfig": {"acceleratorNetworkProfile": "auto"}}
DATAPLANE_V2 = {"datapathProvider": "ADVANCED_DATAPATH"}
BESIDE: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    # cluster, pool, what is said
    "row 61: not upgraded, in a channel": (
        {"releaseChannel": {"channel": "REGULAR"}},
        KEPT,
        "Auto_upgrade cannot be false when release_channel REGULAR is set",
    ),
    "row 61: not upgraded, in none": ({"releaseChannel": {"channel": "UNSPECIFIED"}}, KEPT, ""),
    "row 62: newer than its master": (
        {"minMasterVersion": "1.34"},
        {"version": "1.35.1-gke.1000"},
        'Node version "1.35.1-gke.1000" must not have a greater minor version than master version "1.34.',
    ),
    "row 62: as old as it may be": ({"minMasterVersion": "1.35"}, {"version": "1.34.1-gke.1000"}, ""),
    "row 72: networks without Dataplane V2": ({}, PROFILE, "needs Dataplane V2"),
    "row 72: networks": (DATAPLANE_V2, PROFILE, ""),
}


@pytest.mark.parametrize(("cluster", "pool", "said"), BESIDE.values(), ids=BESIDE)
def test_a_pool_and_its_cluster(gcp: Cloud, cluster: dict[str, Any], pool: dict[str, Any], said: str) -> None:
    made = gcp.create(CLUSTER, name="main", **cluster)
    for named in ("main", made["id"]):
        if not said:
            gcp.create(POOL, cluster=named, name="gpus", **pool)
            continue
        with pytest.raises(grpc.RpcError) as refused:
            gcp.create(POOL, cluster=named, name="gpus", **pool)
        assert said in str(refused.value.details())


def test_row_88_a_firewall_rule_of_a_service_keeps_its_network(gcp: Cloud) -> None:
    network = gcp.create(NETWORK, name="gpu")
    rule = gcp.create(FIREWALL, name="k8s-0a1b-node-http-hc", network=network["id"])
    with pytest.raises(grpc.RpcError, match="already being used by 'projects/acme/global/firewalls/k8s-0a1b-node"):
        gcp.delete(NETWORK, network)
    gcp.delete(FIREWALL, rule)
    gcp.delete(NETWORK, network)


def exclusion(end: str | None, behaviour: str | None) -> dict[str, Any]:
    options = {"scope": "NO_UPGRADES", **({"endTimeBehavior": behaviour} if behaviour else {})}
    window = {"exclusionName": "busy", "startTime": "2026-01-01T00:00:00Z", "exclusionOptions": options}
    return {"maintenancePolicy": {"maintenanceExclusions": [{**window, **({"endTime": end} if end else {})}]}}


def gpus(machine: str, kind: str, count: int) -> dict[str, Any]:
    return {
        "cluster": "c",
        "nodeConfig": {"machineType": machine, "guestAccelerators": [{"type": kind, "count": count}]},
    }


AT_ONCE: dict[str, tuple[str, dict[str, Any], str]] = {
    "row 60: as many as the machine has": (POOL, gpus("a3-highgpu-8g", "nvidia-h100-80gb", 8), ""),
    "row 60: fewer": (POOL, gpus("a3-highgpu-8g", "nvidia-h100-80gb", 4), "count 4 is not valid for a3-highgpu-8g"),
    "row 60: others": (POOL, gpus("g2-standard-8", "nvidia-tesla-t4", 1), "nvidia-tesla-t4 count 1 is not valid"),
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
    "row 83: until a time": (CLUSTER, {"initialNodeCount": 1, **exclusion("2026-02-01T00:00:00Z", None)}, ""),
    "row 83: until the end": (CLUSTER, {"initialNodeCount": 1, **exclusion(None, "UNTIL_END_OF_SUPPORT")}, ""),
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


@pytest.mark.parametrize(("token", "inputs", "said"), AT_ONCE.values(), ids=AT_ONCE)
def test_refused_at_once(gcp: Cloud, token: str, inputs: dict[str, Any], said: str) -> None:
    found = gcp.complaint(token, **inputs)
    assert said in found
    assert bool(found) is bool(said)
