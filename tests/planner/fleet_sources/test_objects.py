"""Fleets of eksctl's files, Karpenter's NodePools, and Cluster API's MachineDeployments."""

from __future__ import annotations

import re
import textwrap

import pytest
import yaml

from cluster_descriptions import CLUSTER_API, EKSCTL, KARPENTER
from dra_planner.clouds.foreign.karpenter import _machines, _Requirement
from dra_planner.errors import FleetError
from dra_planner.fleet_sources import ImportedFleet, read_imported_fleet


def imported(text: str, **options: str) -> ImportedFleet:
    documents = list(yaml.safe_load_all(textwrap.dedent(text)))
    found = read_imported_fleet(documents, file="cluster.yaml", **options)
    assert found is not None
    return found


def test_eksctl_node_groups_are_imported() -> None:
    document = imported(EKSCTL).document

    assert (document["region"], document["kubernetes"]) == ("us-west-2", "1.35")
    assert document["systemPool"] == {"machine": "m7i.xlarge", "count": 2}
    (pool,) = document["pools"]
    assert pool["count"] == {"min": 0, "max": 8}
    assert (pool["capacity"], pool["labels"]) == ("spot", {"team": "serve"})


def test_gpu_limit_of_a_karpenter_pool_sets_its_maximum() -> None:
    found = imported(KARPENTER, kubernetes="1.35")

    assert (found.document["region"], found.document["autoscaler"]) == ("us-east-1", "karpenter")
    (pool,) = found.document["pools"]
    assert (pool["machine"], pool["count"]["max"]) == ("g6.12xlarge", 4)
    assert pool["zones"] == ["us-east-1a"]
    assert any("2 zones" in note for note in found.notes)
    assert "taints" not in pool


def test_node_pool_with_several_machine_types_becomes_several_pools() -> None:
    several = KARPENTER.replace("values: [g6.12xlarge]", "values: [g6.12xlarge, g6e.12xlarge]")

    found = imported(several, kubernetes="1.35")

    assert [pool["machine"] for pool in found.document["pools"]] == ["g6.12xlarge", "g6e.12xlarge"]
    assert any("2 machine types" in note for note in found.notes)


def test_requirements_on_machine_properties_use_the_catalog() -> None:
    by_family = KARPENTER.replace(
        "{key: node.kubernetes.io/instance-type, operator: In, values: [g6.12xlarge]}",
        "{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6]}\n"
        "            - {key: karpenter.k8s.aws/instance-gpu-count, operator: Gt, values: ['4']}",
    )

    assert [
        pool["machine"] for pool in imported(by_family, kubernetes="1.35").document["pools"]
    ] == ["g6.48xlarge"]


def test_cluster_api_machine_deployments_use_their_template() -> None:
    document = imported(CLUSTER_API).document

    assert (document["region"], document["kubernetes"]) == ("us-east-2", "1.35")
    (pool,) = document["pools"]
    assert (pool["machine"], pool["count"], pool["capacity"]) == (
        "g6.4xlarge",
        {"min": 0, "max": 5},
        "spot",
    )


def test_cpu_limit_sets_a_maximum() -> None:
    limited = KARPENTER.replace("nvidia.com/gpu", "cpu")
    (pool,) = imported(limited, kubernetes="1.35").document["pools"]
    assert (pool["machine"], pool["count"]["max"]) == ("g6.12xlarge", 0)
    (pool,) = imported(limited.replace("16", "200"), kubernetes="1.35").document["pools"]
    assert pool["count"]["max"] == 200 // 48


@pytest.mark.parametrize(
    ("requirements", "machines"),
    [
        ("instance-category, operator: In, values: [trn]", {"trn1", "trn1n", "trn2", "trn2u"}),
        ("instance-category, operator: In, values: [inf]", {"inf1", "inf2"}),
        ("instance-category, operator: In, values: [t]", {"t2", "t3", "t3a", "t4g"}),
        ("instance-generation, operator: Gt, values: ['7']", None),
    ],
)
def test_category_and_generation_match_karpenter(
    requirements: str, machines: set[str] | None
) -> None:
    key, _, rest = requirements.partition(", ")
    read = requirement(key, rest)
    if machines is None:
        assert read
        assert all(int(re.findall(r"[a-z]+(\d+)", name)[0]) > 7 for name in read)
    else:
        assert {name.partition(".")[0] for name in read} <= machines


def requirement(key: str, rest: str) -> list[str]:
    """Return the machine types that one requirement of a NodePool allows."""
    text = f"{{key: karpenter.k8s.aws/{key}, {rest}}}"
    given = yaml.safe_load(text)
    return _machines([_Requirement(given["key"], given["operator"], tuple(given["values"]))])


TYPE = "{key: node.kubernetes.io/instance-type, operator: In, values: [g6.12xlarge]}"
ZONES = "{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}"


def node_pool(*requirements: str, limits: str = "{nvidia.com/gpu: 8}") -> str:
    listed = ", ".join(requirements)
    return f"""
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {{name: gpu}}
        spec:
          limits: {limits}
          template: {{spec: {{nodeClassRef: {{name: d}}, requirements: [{listed}]}}}}
        """


def capacity(operator: str, *values: str) -> str:
    listed = ", ".join(values)
    return f"{{key: karpenter.sh/capacity-type, operator: {operator}, values: [{listed}]}}"


@pytest.mark.parametrize(
    ("requirement", "planned", "has_note"),
    [
        (capacity("In", "spot"), "spot", False),
        (capacity("NotIn", "on-demand"), "spot", False),
        (capacity("In", "spot", "on-demand"), "on-demand", True),
        (capacity("NotIn", "spot"), "on-demand", False),  # the node class has no reservation
        (capacity("In", "on-demand"), "on-demand", False),
    ],
)
def test_other_allowed_capacity_types_are_noted(
    requirement: str, planned: str, has_note: bool
) -> None:
    found = imported(node_pool(TYPE, ZONES, requirement), kubernetes="1.35")

    assert found.document["pools"][0].get("capacity", "on-demand") == planned
    assert any("also allows" in note for note in found.notes) == has_note


def test_reserved_capacity_without_a_reservation_is_reported() -> None:
    found = imported(
        node_pool(TYPE, ZONES, capacity("In", "reserved", "on-demand")), kubernetes="1.35"
    )

    assert "capacity" not in found.document["pools"][0]
    assert (
        "NodePool gpu allows reserved capacity, but its node class doesn't select a capacity "
        "reservation, so the plan doesn't use one"
    ) in found.notes


FAMILY = "{key: karpenter.k8s.aws/instance-family, operator: In, values: [g6]}"
SMALL = "{key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ['9']}"


def test_limits_of_several_machine_types_become_quotas() -> None:
    found = imported(
        node_pool(FAMILY, SMALL, ZONES, limits="{nvidia.com/gpu: 8, cpu: 48}"), kubernetes="1.35"
    )

    machines = [pool["machine"] for pool in found.document["pools"]]
    assert machines == ["g6.xlarge", "g6.2xlarge"]
    assert found.document["quotas"] == [
        {"name": "limit of pool gpu: gpus", "unit": "gpus", "limit": 8, "machines": machines},
        {"name": "limit of pool gpu: vcpus", "unit": "vcpus", "limit": 48, "machines": machines},
    ]


def test_limits_of_machine_types_in_two_pools_are_reported() -> None:
    first = node_pool(FAMILY, SMALL, ZONES)
    second = first.replace("name: gpu}", "name: more}")

    found = imported(f"{first}\n---\n{second}", kubernetes="1.35")

    assert "quotas" not in found.document
    assert (
        "pool more: its limits apply to all machine types together. Other pools use the same "
        "machine types, so the fleet limits each machine type separately"
    ) in found.notes


def test_pool_without_accelerators_needs_no_machine_type() -> None:
    plain = "{key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m]}"
    general = node_pool(plain, limits="{cpu: 100}").replace("name: gpu}", "name: general}")

    found = imported(f"{node_pool(TYPE, ZONES)}\n---\n{general}", kubernetes="1.35")

    (note,) = [note for note in found.notes if note.startswith("NodePool general")]
    assert note.endswith(
        "machine types, but none of them has an accelerator, so the NodePool isn't imported"
    )


def test_excluded_zone_is_not_planned() -> None:
    excluded = "{key: topology.kubernetes.io/zone, operator: NotIn, values: [us-east-1a]}"

    both = imported(node_pool(TYPE, ZONES, excluded), kubernetes="1.35")
    only = imported(node_pool(TYPE, excluded), kubernetes="1.35", region="us-east-1")

    assert both.document["pools"][0]["zones"] == ["us-east-1b"]
    assert (
        "NodePool gpu doesn't launch nodes in us-east-1a. Set the pool's `zones` to the region's "
        "remaining zones"
    ) in only.notes


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        ("{nvidia.com/gpu: 8}", 2),
        ("{cpu: 1k}", 20),
        ("{cpu: 96500m}", 2),
        ("{memory: 600Gi}", 3),
        ("{cpu: 1k, memory: 600Gi}", 3),
        ("{nvidia.com/gpu: 0}", 0),
    ],
)
def test_limits_are_quantities(limits: str, most: int) -> None:
    found = imported(node_pool(TYPE, ZONES, limits=limits), kubernetes="1.35")

    assert found.document["pools"][0]["count"]["max"] == most


@pytest.mark.parametrize(
    ("requirements", "message"),
    [
        ((), "doesn't restrict machine types"),
        (
            (TYPE, "{key: karpenter.k8s.aws/instance-family, operator: In, values: [p5]}"),
            "no known",
        ),
    ],
    ids=["none", "contradicting"],
)
def test_node_pool_without_matching_machine_types_is_explained(
    requirements: tuple[str, ...], message: str
) -> None:
    with pytest.raises(FleetError) as error:
        imported(node_pool(*requirements))

    assert message in str(error.value)
    assert "limit" not in str(error.value)


@pytest.mark.parametrize(
    ("group", "reason"),
    [
        ("eks.amazonaws.com", "its nodes belong to EKS Auto Mode, which doesn't support claims"),
        (
            "karpenter.azure.com",
            "the API group of its node class is karpenter.azure.com, but only karpenter.k8s.aws "
            "is supported",
        ),
    ],
)
def test_node_pool_with_another_node_class_is_skipped(group: str, reason: str) -> None:
    other = yaml.safe_load_all(KARPENTER)
    pool = next(each for each in other if each["kind"] == "NodePool")
    pool["spec"]["template"]["spec"]["nodeClassRef"] = {"group": group, "kind": "C", "name": "c"}
    pool["metadata"]["name"] = "auto"

    with pytest.raises(FleetError) as raised:
        imported(yaml.safe_dump(pool), kubernetes="1.35")
    assert raised.value.fix == f"NodePool auto is skipped, because {reason}"

    both = imported(f"{KARPENTER}\n---\n{yaml.safe_dump(pool)}", kubernetes="1.35")
    assert len(both.document["pools"]) == 1
    assert f"NodePool auto is skipped, because {reason}" in both.notes


def test_variables_of_a_template_are_reported() -> None:
    machine = re.sub(r"instanceType: [\w.]+", "instanceType: '${MACHINE}'", CLUSTER_API)

    with pytest.raises(FleetError, match="its machine type is the variable") as raised:
        imported(machine)
    assert "clusterctl generate yaml --from FILE" in raised.value.fix


def test_variable_as_region_counts_as_missing() -> None:
    region = re.sub(r"region: [\w-]+", "region: '${AWS_REGION}'", CLUSTER_API)

    with pytest.raises(FleetError, match="the region isn't set in these files"):
        imported(region)
    assert imported(region, region="us-east-2").document["region"] == "us-east-2"


@pytest.mark.parametrize("identifier", ["<CAPACITY_RESERVATION_ID>", "cr-XXXXXX", "REPLACE-ME"])
def test_placeholder_of_a_reservation_is_reported_and_the_pool_is_read(identifier: str) -> None:
    """Examples have placeholders. The other facts of the file are still right."""
    target = {"capacityReservationTarget": {"capacityReservationID": identifier}}
    document = yaml.safe_load(EKSCTL)
    for group in document["managedNodeGroups"]:
        group.pop("spot", None)
        group["capacityReservation"] = target
    found = imported(yaml.safe_dump(document))

    (pool,) = found.document["pools"]
    assert "capacity" not in pool
    (note,) = [each for each in found.notes if identifier in each]
    assert note.endswith("isn't the ID of a reservation (format: cr-…); it's planned on demand")


@pytest.mark.parametrize(
    ("limits", "counts"),
    [
        # 4 and 8 vCPU, one GPU each
        ("{nvidia.com/gpu: 2, cpu: 8}", {"g6.xlarge": 2, "g6.2xlarge": 1}),
        ("{nvidia.com/gpu: 3}", {"g6.xlarge": 3, "g6.2xlarge": 3}),
        ("{cpu: 7}", {"g6.xlarge": 1}),
    ],
)
def test_limit_allows_fewer_nodes_of_larger_machine_types(
    limits: str, counts: dict[str, int]
) -> None:
    types = "{key: node.kubernetes.io/instance-type, operator: In, values: [g6.xlarge, g6.2xlarge]}"
    found = imported(node_pool(types, ZONES, limits=limits), kubernetes="1.35")

    pools = {pool["machine"]: pool["count"]["max"] for pool in found.document["pools"]}
    assert pools == counts
    named = any("its limits are too low for a g6.2xlarge node" in note for note in found.notes)
    assert named == ("g6.2xlarge" not in counts)


def test_pods_and_kubelet_settings_of_eksctl_are_imported_or_noted() -> None:
    document = yaml.safe_load(textwrap.dedent(EKSCTL))
    gpus = next(each for each in document["managedNodeGroups"] if each.get("maxSize") == 8)
    gpus |= {"maxPodsPerNode": 30, "kubeletExtraConfig": {"systemReserved": {"memory": "4Gi"}}}

    found = imported(yaml.safe_dump(document))

    assert found.document["pools"][0]["maxPods"] == 30
    assert any("kubelet settings systemReserved aren't imported" in note for note in found.notes)


def with_node_class(text: str, **spec: object) -> str:
    node_pool, *others = list(yaml.safe_load_all(textwrap.dedent(text)))
    name = node_pool["spec"]["template"]["spec"]["nodeClassRef"]["name"]
    others = [each for each in others if each.get("kind") != "EC2NodeClass"]
    node_class = {"kind": "EC2NodeClass", "metadata": {"name": name}, "spec": spec}
    return yaml.safe_dump_all([node_pool, node_class, *others])


def test_pods_and_kubelet_settings_of_a_node_class_are_imported_or_noted() -> None:
    text = with_node_class(KARPENTER, kubelet={"maxPods": 40, "kubeReserved": {"cpu": "1"}})

    found = imported(text, kubernetes="1.35")

    assert found.document["pools"][0]["maxPods"] == 40
    assert any("kubelet settings kubeReserved aren't imported" in note for note in found.notes)


@pytest.mark.parametrize(("machine", "use"), [("g6.12xlarge", "raid0"), ("p3.8xlarge", None)])
def test_local_disks_of_a_node_class_are_used_if_the_machine_has_them(
    machine: str, use: str | None
) -> None:
    (pool,) = yaml.safe_load_all(textwrap.dedent(KARPENTER))
    requirements = pool["spec"]["template"]["spec"]["requirements"]
    for each in requirements:
        if each["key"] == "node.kubernetes.io/instance-type":
            each["values"] = [machine]
    text = with_node_class(yaml.safe_dump(pool), instanceStorePolicy="RAID0")

    (found,) = imported(text, kubernetes="1.35").document["pools"]

    assert found.get("localStorage") == use


def test_gpu_limit_applies_in_addition_to_a_node_limit() -> None:
    (pool,) = yaml.safe_load_all(textwrap.dedent(KARPENTER))
    pool["spec"]["limits"] = {"nvidia.com/gpu": "8", "nodes": "10"}

    found = imported(yaml.safe_dump(pool), kubernetes="1.35")

    assert found.document["pools"][0]["count"]["max"] == 2


def test_node_pool_that_allows_too_many_machine_types_needs_a_choice() -> None:
    (pool,) = yaml.safe_load_all(textwrap.dedent(KARPENTER))
    requirements = pool["spec"]["template"]["spec"]["requirements"]
    by_name = {"key": "karpenter.k8s.aws/instance-gpu-name", "operator": "In", "values": ["l4"]}
    others = [each for each in requirements if "instance-type" not in each["key"]]
    pool["spec"]["template"]["spec"]["requirements"] = [by_name, *others]

    with pytest.raises(FleetError, match="with `pulumi-dra init --machines`"):
        imported(yaml.safe_dump(pool), kubernetes="1.35")
    found = read_imported_fleet(
        [pool], file="cluster.yaml", kubernetes="1.35", machines=["g6.12xlarge"]
    )

    assert found is not None
    assert [each["machine"] for each in found.document["pools"]] == ["g6.12xlarge"]


def test_node_pools_belong_to_the_eksctl_cluster() -> None:
    here = textwrap.dedent(EKSCTL).replace("us-west-2", "us-east-1")
    found = imported(f"{here}\n---\n{textwrap.dedent(KARPENTER)}")

    assert (found.document["region"], found.document["autoscaler"]) == ("us-east-1", "karpenter")
    assert found.document["kubernetes"] == "1.35"
    assert len(found.document["pools"]) == 2
