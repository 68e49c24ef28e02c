"""The simulated Google Cloud over gRPC: locations, names, node pools, functions."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from dra_planner.catalog.api_values import api_values
from dra_sandbox.clouds.wire_values import UNKNOWN, from_wire, to_wire

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"


def urn(token: str) -> str:
    return f"urn:pulumi:dev::p::{token}::Trial"


@pytest.fixture(scope="module")
def gcp(simulated):
    client = simulated("gcp")
    client.Configure(
        provider_pb2.ConfigureRequest(args=to_wire({"project": "acme", "zone": "us-central1-a"}))
    )
    return client


def check(gcp, token: str, inputs: dict[str, Any]):
    return gcp.Check(
        provider_pb2.CheckRequest(
            urn=urn(token), news=to_wire(inputs), randomSeed=b"seed", name="Trial"
        )
    )


def first_error(gcp, token: str, inputs: dict[str, Any]) -> str:
    """Return the provider's error in a preview, else the API's error when the resource is
    created.
    """
    checked = check(gcp, token, inputs)
    if checked.failures:
        return checked.failures[0].reason
    try:
        create(gcp, token, from_wire(checked.inputs))
    except grpc.RpcError as error:
        return str(error.details())
    return ""


def create(gcp, token: str, inputs: dict[str, Any], *, preview: bool = False):
    return gcp.Create(
        provider_pb2.CreateRequest(urn=urn(token), properties=to_wire(inputs), preview=preview)
    )


def test_automatic_names_are_lowercase(gcp) -> None:
    assert from_wire(check(gcp, "gcp:compute/network:Network", {}).inputs)["name"].startswith(
        "trial-"
    )


def test_project_and_region_default_to_the_providers_and_are_required(gcp, simulated) -> None:
    bare = simulated("gcp")
    bare.Configure(provider_pb2.ConfigureRequest(args=to_wire({"project": "acme"})))
    token = "gcp:compute/router:Router"

    planned = from_wire(
        create(gcp, token, {"name": "r", "network": UNKNOWN}, preview=True).properties
    )

    assert (planned["project"], planned["region"]) == ("acme", "us-central1")
    assert planned["network"] == UNKNOWN
    assert "gcp:region" in check(bare, token, {"network": "n"}).failures[0].reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"autoscaling": {"minNodeCount": 1, "totalMaxNodeCount": 2}}, "per zone or in total"),
        (
            {"autoscaling": {"totalMinNodeCount": 3, "totalMaxNodeCount": 2}},
            "totalMinNodeCount (3)",
        ),
        ({"autoscaling": {"totalMaxNodeCount": 2}, "nodeCount": 1}, "together with autoscaling"),
        (
            {"nodeConfig": {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]}},
            "NO_SCHEDULE",
        ),
        (
            {
                "nodeConfig": {
                    "guestAccelerators": [
                        {
                            "type": "t",
                            "count": 1,
                            "gpuDriverInstallationConfig": {"gpuDriverVersion": "OFF"},
                        }
                    ]
                }
            },
            "INSTALLATION_DISABLED",
        ),
        (
            {"nodeConfig": {"guestAccelerators": [{"type": "nvidia-l4"}]}},
            'missing required property "count"',
        ),
        ({"nodeConfig": {"machinType": "g2-standard-8"}}, 'did you mean "machineType"?'),
    ],
)
def test_a_pool_that_the_api_rejects_fails_the_check(
    gcp, change: dict[str, Any], reason: str
) -> None:
    assert not first_error(gcp, POOL, {"cluster": "main"})
    assert reason in first_error(gcp, POOL, {"cluster": "main", **change})


def test_a_cluster_needs_an_initial_pool_and_is_protected_by_default(gcp) -> None:
    answer = check(gcp, CLUSTER, {"initialNodeCount": 1})

    assert "initial_node_count" in first_error(gcp, CLUSTER, {"location": "us-central1"})
    assert from_wire(answer.inputs)["deletionProtection"] is True


@pytest.mark.parametrize(
    ("path", "replaces"),
    [
        ("initialNodeCount", True),
        ("nodeCount", False),
        ("nodeConfig.guestAccelerators", True),
        ("nodeConfig.machineType", False),
        ("nodeConfig.labels.a", False),
        ("nodeConfig.taints", False),
        ("nodeConfig.spot", True),
        ("nodeConfig.reservationAffinity.key", True),
        ("nodeConfig.shieldedInstanceConfig.enableSecureBoot", True),
        ("placementPolicy.policyName", True),
        ("autoscaling.totalMaxNodeCount", False),
        ("location", True),
    ],
)
def test_changes_that_replace_a_pool(gcp, path: str, replaces: bool) -> None:
    def inputs(value: str) -> dict[str, Any]:
        nested: Any = value
        for part in reversed(path.split(".")):
            nested = {part: nested}
        return nested

    answer = gcp.Diff(
        provider_pb2.DiffRequest(
            urn=urn(POOL), old_inputs=to_wire(inputs("a")), news=to_wire(inputs("b"))
        )
    )

    assert bool(answer.replaces) is replaces


@pytest.mark.parametrize(
    ("location", "zones"),
    [("us-central1", ["us-central1-a"]), ("us-central1-b", ["us-central1-b"])],
)
def test_a_pool_has_one_instance_group_per_zone(gcp, location: str, zones: list[str]) -> None:
    outputs = from_wire(
        create(
            gcp,
            POOL,
            {"cluster": "main", "name": "gpu", "location": location, "initialNodeCount": 2},
        ).properties
    )

    assert outputs["nodeLocations"] == zones
    assert [
        group.split("/zones/")[1].split("/")[0] for group in outputs["managedInstanceGroupUrls"]
    ] == zones
    assert outputs["nodeCount"] == 2
    assert outputs["id"] == f"projects/acme/locations/{location}/clusters/main/nodePools/gpu"


@pytest.mark.parametrize(
    ("prefix", "latest"), [("1.34.", "1.34."), ("1.36", "1.36."), ("", "1.37."), ("1.20.", "")]
)
def test_engine_versions_are_listed_by_minor_version(gcp, prefix: str, latest: str) -> None:
    request = provider_pb2.InvokeRequest(
        tok="gcp:container/getEngineVersions:getEngineVersions",
        args=to_wire({"versionPrefix": prefix}),
    )

    versions = from_wire(getattr(gcp.Invoke(request), "return"))

    assert versions["latestMasterVersion"].startswith(latest)
    assert bool(versions["validNodeVersions"]) == bool(latest)


INVENTED = {
    "the profile of the autoscalers": ("podAutoscaling", "hpaProfile"),
    "the channel of the Gateway API": ("gatewayApiConfig", "channel"),
    "the patch mode of upgrades": ("gkeAutoUpgradeConfig", "patchMode"),
}


@pytest.mark.parametrize("name", INVENTED)
def test_a_generated_output_has_a_value_that_the_api_defines(gcp, name: str) -> None:
    output, member = INVENTED[name]
    (row,) = [row for row in api_values()[CLUSTER] if row.property == f"{output}.{member}"]

    made = from_wire(
        create(
            gcp, CLUSTER, {"name": "c", "location": "us-central1", "initialNodeCount": 1}
        ).properties
    )

    assert made[output][member] in row.values
