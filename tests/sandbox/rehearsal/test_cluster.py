"""The cluster of a plan as Kubernetes objects."""

from __future__ import annotations

from collections import Counter

from plans import deployment, plan_of, sources

from dra_planner.model import Device, ResourceSlice, Unknown, Version
from dra_sandbox.rehearsal.cluster import (
    DAEMON_LABEL,
    PlannedCluster,
    cluster_of,
    known_values,
    planned_cluster,
)


def cluster_with(**sizes: int) -> PlannedCluster:
    plan = plan_of(sources(deployment("web", 1)))
    assert plan.fleet is not None
    return cluster_of(plan.fleet, plan.offers, plan.classes, sizes)


def test_every_pool_has_its_planned_nodes() -> None:
    plan = plan_of(sources(deployment("web", 3)))

    cluster = planned_cluster(plan)

    counts = Counter(cluster.pool_of(name) for name in cluster.nodes)
    assert counts == {
        **{pool.name: pool.nodes.desired for pool in plan.pools if pool.nodes.desired},
        "system": 1,
    }
    assert {each["metadata"]["name"] for each in cluster.objects if each["kind"] == "Node"} == set(
        cluster.nodes
    )


def test_nodes_report_the_fleets_minor_version() -> None:
    """Commands read a cluster's version from its kubelets."""
    plan = plan_of(sources(deployment("web", 1)))
    assert plan.fleet is not None
    nodes = [each for each in planned_cluster(plan).objects if each["kind"] == "Node"]
    versions = {node["status"]["nodeInfo"]["kubeletVersion"] for node in nodes}
    assert versions == {f"v1.{plan.fleet.minor}.0"}


def test_every_node_has_its_own_slices_and_daemon_pods() -> None:
    cluster = cluster_with(l4=2, a10g=1)

    slices = [each["spec"] for each in cluster.objects if each["kind"] == "ResourceSlice"]
    pods = [each for each in cluster.objects if each["kind"] == "Pod"]
    assert {each["nodeName"]: each["pool"]["name"] for each in slices} == {
        "l4-0": "l4-0",
        "l4-1": "l4-1",
        "a10g-0": "a10g-0",
    }
    assert {pod["spec"]["nodeName"] for pod in pods} == {"l4-0", "l4-1", "a10g-0", "system-0"}
    assert all(pod["metadata"]["labels"] == {DAEMON_LABEL: "true"} for pod in pods)


def test_daemon_pods_request_the_subtracted_resources() -> None:
    """The scheduler scores each container without a request as 100m and 200 MiB, but none that
    requests zero.
    """
    cluster = cluster_with(l4=1, a10g=0)

    pods = {
        each["metadata"]["name"]: each["spec"] for each in cluster.objects if each["kind"] == "Pod"
    }
    network, proxy = pods["aws-node-l4-0"]["containers"], pods["kube-proxy-l4-0"]["containers"]
    assert [each["resources"]["requests"] for each in network] == [{"cpu": "25m"}, {"cpu": "25m"}]
    assert [each["resources"]["requests"] for each in proxy] == [{}]


def test_nodes_are_assigned_to_the_zones_in_turn() -> None:
    cluster = cluster_with(l4=3, a10g=0)

    zones = [each.zone for name, each in cluster.nodes.items() if name.startswith("l4")]
    assert zones == ["us-east-1a", "us-east-1b", "us-east-1a"]
    assert cluster.invented[0].endswith("assigns us-east-1a, us-east-1b to the nodes in turn")


def test_unknown_values_are_equal_within_a_group_and_differ_elsewhere() -> None:
    root = "resource.kubernetes.io/pcieRoot"
    devices = tuple(
        Device(
            name=f"gpu-{index}", attributes={root: Unknown(f"root-{index // 2}"), "uuid": Unknown()}
        )
        for index in range(4)
    )
    given = ResourceSlice(
        name="s", driver="gpu.nvidia.com", pool="n", node_name="n", devices=devices
    )

    found = known_values(given).devices

    roots, uuids = (
        [each.attributes[root] for each in found],
        [each.attributes["uuid"] for each in found],
    )
    assert (roots[0] == roots[1], roots[1] == roots[2], roots[2] == roots[3]) == (True, False, True)
    assert len(set(uuids)) == 4


def test_invented_versions_and_numbers_have_the_published_type() -> None:
    device = Device(
        name="gpu-0", attributes={"driverVersion": Unknown("driver"), "dra.net/numaNode": Unknown()}
    )
    given = ResourceSlice(
        name="s", driver="gpu.nvidia.com", pool="n", node_name="n", devices=(device,)
    )

    (found,) = known_values(given).devices

    assert found.attributes == {"driverVersion": Version("580.0.0"), "dra.net/numaNode": 0}
