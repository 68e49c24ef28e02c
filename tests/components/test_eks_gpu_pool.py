"""An EKS GPU pool: its node group and its launch template for given inputs."""

from base64 import b64decode
from collections.abc import Callable
from email import message_from_bytes
from typing import Any

import pulumi
import pytest
import yaml

from pulumi_dra.eks import EksGpuPool
from pulumi_dra.inputs.reader import WrongInputs

NEEDED: dict[str, Any] = {
    "cluster_name": "dev",
    "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
    "subnet_ids": ["subnet-a"],
    "machine": "g6.2xlarge",
    "max_nodes": 4,
}
EFA = {
    "machine": "p5.48xlarge",
    "efa": True,
    "cluster_security_group_id": "sg-1",
    "vpc_id": "vpc-1",
}


@pytest.fixture
def pool(declare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **args: declare(lambda: EksGpuPool("l4", {**NEEDED, **args}))


def test_nodes_have_the_labels_and_taint_of_a_dra_pool(pool: Any) -> None:
    group = pool(labels={"team": "vision"}).one("NodeGroup").inputs
    assert group["labels"] == {
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.dra": "true",
        "pulumi-dra/pool": "l4",
        "team": "vision",
    }
    assert group["taints"] == [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
    ]


@pytest.mark.parametrize(
    ("args", "scaling", "ignored"),
    [
        pytest.param({}, (0, 0, 4), (), id="defaults: empty until somebody says otherwise"),
        pytest.param({"min_nodes": 2, "desired_nodes": 3}, (2, 3, 4), (), id="planned"),
        pytest.param(
            {"min_nodes": 1, "autoscaled": True},
            (1, 1, 4),
            (),
            id="an autoscaler changes the count of a new pool",
        ),
    ],
)
def test_counts_are_set(
    pool: Any, args: dict[str, Any], scaling: tuple[int, int, int], ignored: tuple[str, ...]
) -> None:
    group = pool(**args).one("NodeGroup")
    config = group.inputs["scalingConfig"]
    assert (config["minSize"], config["desiredSize"], config["maxSize"]) == scaling
    assert group.ignore_changes == ignored


@pytest.mark.parametrize(("keep", "ignored"), [(False, ()), (True, ("subnetIds",))])
def test_pool_follows_its_subnets_unless_keep_subnets_is_set(
    pool: Any, keep: bool, ignored: tuple[str, ...]
) -> None:
    assert pool(keep_subnets=keep).one("NodeGroup").ignore_changes == ignored


def test_update_needs_no_additional_node(pool: Any) -> None:
    assert pool().one("NodeGroup").inputs["updateConfig"] == {
        "maxUnavailable": 1,
        "updateStrategy": "MINIMAL",
    }


@pytest.mark.parametrize(
    ("machine", "image"),
    [("g6.2xlarge", "AL2023_x86_64_NVIDIA"), ("g5g.xlarge", "AL2023_ARM_64_NVIDIA")],
)
def test_image_matches_the_processor(pool: Any, machine: str, image: str) -> None:
    assert pool(machine=machine).one("NodeGroup").inputs["amiType"] == image


def test_metadata_service_is_unreachable_from_pods(pool: Any) -> None:
    options = pool().one("LaunchTemplate").inputs["metadataOptions"]
    assert options["httpTokens"] == "required"
    assert options["httpPutResponseHopLimit"] == 1


def test_root_volume_is_encrypted_gp3(pool: Any) -> None:
    key = "arn:aws:kms:us-east-1:111122223333:key/1"
    declared = pool(disk_gib=300, disk_kms_key=key, disk_iops=6000, disk_throughput=1000)
    ebs = declared.one("LaunchTemplate").inputs["blockDeviceMappings"][0]["ebs"]
    assert ebs == {
        "encrypted": "true",
        "volumeType": "gp3",
        "volumeSize": 300,
        "iops": 6000,
        "throughput": 1000,
        "deleteOnTermination": "true",
        "kmsKeyId": key,
    }


@pytest.mark.parametrize(
    ("capacity", "kind", "market", "target", "machine_in", "first_delete"),
    [
        ("on-demand", "ON_DEMAND", None, None, "group", False),
        ("spot", "SPOT", None, None, "group", False),
        ("reservation", "ON_DEMAND", None, "cr-0a1b", "group", True),
        ("capacity-block", "CAPACITY_BLOCK", "capacity-block", "cr-0a1b", "template", True),
    ],
)
def test_capacity_type_sets_market_and_target(
    pool: Any,
    capacity: str,
    kind: str,
    market: str | None,
    target: str | None,
    machine_in: str,
    first_delete: bool,
) -> None:
    bought = {"reservation_id": "cr-0a1b"} if target else {}
    declared = pool(capacity=capacity, **bought)
    group, template = declared.one("NodeGroup"), declared.one("LaunchTemplate").inputs
    assert group.inputs["capacityType"] == kind
    assert group.delete_before_replace is first_delete
    assert (template.get("instanceMarketOptions") or {}).get("marketType") == market
    specification = template.get("capacityReservationSpecification") or {}
    assert specification.get("capacityReservationTarget", {}).get("capacityReservationId") == target
    assert group.inputs.get("instanceTypes") == (["g6.2xlarge"] if machine_in == "group" else None)
    assert template.get("instanceType") == ("g6.2xlarge" if machine_in == "template" else None)


def test_efa_has_an_interface_on_every_card_and_a_placement_group(pool: Any) -> None:
    declared = pool(**EFA)
    interfaces = declared.one("LaunchTemplate").inputs["networkInterfaces"]
    assert len(interfaces) == 32
    assert [i["networkCardIndex"] for i in interfaces] == list(range(32))
    assert [i["interfaceType"] for i in interfaces] == ["efa", *["efa-only"] * 31]
    assert [i["deviceIndex"] for i in interfaces] == [0, *[1] * 31]
    assert interfaces[0]["securityGroups"] == ["sg-1", "l4-efa-id"]
    rules = declared.one("SecurityGroup").inputs
    for direction in ("ingress", "egress"):
        assert [(rule["self"], rule.get("cidrBlocks")) for rule in rules[direction]] == [
            (True, None)
        ]


def test_card_without_efa_has_an_ip_interface(pool: Any) -> None:
    interfaces = (
        pool(**{**EFA, "machine": "p6-b300.48xlarge"})
        .one("LaunchTemplate")
        .inputs["networkInterfaces"]
    )
    assert [i["interfaceType"] for i in interfaces] == ["interface", *["efa-only"] * 16]
    assert [i["networkCardIndex"] for i in interfaces] == list(range(17))


def test_kubelet_has_the_settings_that_the_plan_assumes(pool: Any) -> None:
    system = {"cpu_manager_policy": "static", "topology_manager_policy": "best-effort"}
    declared = pool(
        max_pods=110, reserved_cpu="500m", reserved_memory="2Gi", local_storage="raid0", **system
    )
    (part,) = message_from_bytes(
        b64decode(declared.one("LaunchTemplate").inputs["userData"])
    ).get_payload()
    assert part.get_content_type() == "application/node.eks.aws"
    assert yaml.safe_load(part.get_payload()) == {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {
            "instance": {"localStorage": {"strategy": "RAID0"}},
            "kubelet": {
                "config": {
                    "maxPods": 110,
                    "systemReserved": {"cpu": "500m", "memory": "2Gi"},
                    "cpuManagerPolicy": "static",
                    "topologyManagerPolicy": "best-effort",
                }
            },
        },
    }


OWN = {
    "image_id": "ami-0123456789abcdef0",
    "image": "al2023",
    "cluster_endpoint": "https://api.example",
    "cluster_certificate_authority": "Q0E=",
    "service_cidr": "172.20.0.0/16",
}


def node_config(declared: Any) -> Any:
    (part, *_) = message_from_bytes(
        b64decode(declared.one("LaunchTemplate").inputs["userData"])
    ).get_payload()
    assert part.get_content_type() == "application/node.eks.aws"
    return yaml.safe_load(part.get_payload())["spec"]


def test_custom_image_is_set_in_the_launch_template(pool: Any) -> None:
    declared = pool(**OWN)
    group = declared.one("NodeGroup").inputs
    assert declared.one("LaunchTemplate").inputs["imageId"] == "ami-0123456789abcdef0"
    assert group["amiType"] == "CUSTOM"
    assert not {"version", "releaseVersion"} & group.keys()


def test_nodes_with_a_custom_image_join_with_labels_and_taints(
    pool: Any,
) -> None:
    taint = {"key": "team", "value": "vision", "effect": "NoExecute"}
    declared = pool(
        **OWN, labels={"team": pulumi.Output.from_input("vision")}, taints=[taint], max_pods=29
    )
    spec = node_config(declared)
    assert spec["cluster"] == {
        "name": "dev",
        "apiServerEndpoint": "https://api.example",
        "certificateAuthority": "Q0E=",
        "cidr": "172.20.0.0/16",
    }
    assert spec["kubelet"]["config"] == {"maxPods": 29}
    labels, taints = spec["kubelet"]["flags"]
    group = declared.one("NodeGroup").inputs
    written = [f"{key}={value}" for key, value in group["labels"].items()]
    assert labels.startswith("--node-labels=")
    assert {*labels.partition("=")[2].split(",")} == {
        *written,
        "eks.amazonaws.com/capacityType=ON_DEMAND",
    }
    assert (
        taints == "--register-with-taints=nvidia.com/gpu=present:NoSchedule,team=vision:NoExecute"
    )


def test_scripts_and_mig_configuration_run_on_a_custom_image(pool: Any) -> None:
    declared = pool(
        **OWN, machine="p5.48xlarge", mig_layout="all-1g.10gb", boot_script="#!/bin/bash\ntrue\n"
    )
    parts = message_from_bytes(
        b64decode(declared.one("LaunchTemplate").inputs["userData"])
    ).get_payload()
    kinds = [part.get_content_type() for part in parts]
    assert kinds == ["application/node.eks.aws", "text/x-shellscript", "text/x-shellscript"]
    assert "pulumi-dra-mig.service" in parts[2].get_payload()


def test_user_data_size_includes_the_longest_possible_labels(pool: Any) -> None:
    with pytest.raises(
        WrongInputs, match=r"generates user data of \d+ bytes, but EC2 allows at most 16384"
    ):
        pool(**OWN, boot_script="#!/bin/bash\n" + "#" * 13_800)
    assert pool(boot_script="#!/bin/bash\n" + "#" * 13_800)


def test_additional_taints_are_set(pool: Any) -> None:
    group = pool(
        taints=[{"key": "team", "value": "vision", "effect": "NoExecute"}, {"key": "x"}]
    ).one("NodeGroup")
    assert [(t["key"], t["value"], t["effect"]) for t in group.inputs["taints"]] == [
        ("nvidia.com/gpu", "present", "NO_SCHEDULE"),
        ("team", "vision", "NO_EXECUTE"),
        ("x", "", "NO_SCHEDULE"),
    ]


@pytest.mark.parametrize(
    ("wanted", "config"), [(False, {"enabled": False}), (True, {"enabled": True})]
)
def test_node_repair_can_be_enabled(pool: Any, wanted: bool, config: object) -> None:
    assert pool(node_repair=wanted).one("NodeGroup").inputs.get("nodeRepairConfig") == config


def test_repair_limits_and_overrides_are_set(pool: Any) -> None:
    fault = {
        "condition": "AcceleratedHardwareReady",
        "reason": "NvidiaXID64Error",
        "wait_minutes": 5,
    }
    limits = {
        "unhealthy_percentage": 30,
        "parallel_count": 1,
        "overrides": [{**fault, "action": "Replace"}],
    }
    assert pool(node_repair=True, repair_limits=limits).one("NodeGroup").inputs[
        "nodeRepairConfig"
    ] == {
        "enabled": True,
        "maxUnhealthyNodeThresholdPercentage": 30,
        "maxParallelNodesRepairedCount": 1,
        "nodeRepairConfigOverrides": [
            {
                "nodeMonitoringCondition": "AcceleratedHardwareReady",
                "nodeUnhealthyReason": "NvidiaXID64Error",
                "minRepairWaitTimeMins": 5,
                "repairAction": "Replace",
            }
        ],
    }


def test_placement_group_works_without_efa(pool: Any) -> None:
    declared = pool(placement_group=True)
    assert declared.one("PlacementGroup").inputs["strategy"] == "cluster"
    template = declared.one("LaunchTemplate").inputs
    assert template["placement"] == {"groupName": "l4-placement"}
    assert "networkInterfaces" not in template


def test_user_data_is_empty_without_boot_settings(pool: Any) -> None:
    assert pool().one("LaunchTemplate").inputs.get("userData") is None


def parts(declared: Any) -> list[tuple[str, str]]:
    """Return kind and text of each part of the user data."""
    document = message_from_bytes(b64decode(declared.one("LaunchTemplate").inputs["userData"]))
    return [(part.get_content_type(), part.get_payload()) for part in document.get_payload()]  # type: ignore[union-attr, misc]  # a multipart's is a list


def test_custom_boot_script_runs_before_mig_configuration(pool: Any) -> None:
    script = "#!/bin/bash\nupdate-ca-trust\n"
    declared = pool(
        machine="p5.48xlarge", boot_script=script, mig_layout="all-1g.10gb", max_pods=110
    )
    (first, _), (second, text), (third, mig) = parts(declared)
    assert (first, second, third) == (
        "application/node.eks.aws",
        "text/x-shellscript",
        "text/x-shellscript",
    )
    assert text == script
    assert "mig" in mig


@pytest.mark.parametrize("args", [{}, {"mig_layout": "all-1g.10gb", "machine": "p5.48xlarge"}])
def test_boot_script_that_is_too_long_is_rejected(pool: Any, args: dict[str, Any]) -> None:
    with pytest.raises(
        WrongInputs,
        match=r"boot_script: generates user data of .* bytes, but EC2 allows at most 16384",
    ):
        pool(boot_script="#!/bin/bash\n" + "#" * 16_384, **args)


def test_additional_security_groups_are_attached(pool: Any) -> None:
    groups = {"security_group_ids": ["sg-database"], "cluster_security_group_id": "sg-1"}
    assert pool(**groups).one("LaunchTemplate").inputs["vpcSecurityGroupIds"] == [
        "sg-1",
        "sg-database",
    ]
    template = pool(**{**EFA, **groups}).one("LaunchTemplate").inputs
    assert "vpcSecurityGroupIds" not in template, "EC2 takes them in one place"
    for interface in template["networkInterfaces"]:
        assert (interface["securityGroups"][0], interface["securityGroups"][-1]) == (
            "sg-1",
            "sg-database",
        )


def test_tags_are_set_on_instances_volumes_and_interfaces(pool: Any) -> None:
    declared = pool(tags={"team": "vision"})
    specifications = declared.one("LaunchTemplate").inputs["tagSpecifications"]
    assert {s["resourceType"]: s["tags"]["team"] for s in specifications} == {
        "instance": "vision",
        "volume": "vision",
        "network-interface": "vision",
    }
    assert declared.one("NodeGroup").inputs["tags"] == {"team": "vision"}
