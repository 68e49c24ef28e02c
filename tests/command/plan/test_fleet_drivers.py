"""Fleets that configure drivers and nodes, planned as a user would. These settings determine
whether pods fit.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from command_project import Project

from dra_planner.plan import judge_document

FLEET: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.36",
    "systemPool": {"machine": "m7i.large"},
    "drivers": {"nvidia": {"version": "0.5.0"}},
    "pools": [{"name": "h100", "machine": "p5.48xlarge", "count": {"max": 8}}],
}
GKE: dict[str, Any] = {
    **FLEET,
    "cloud": "gke",
    "region": "us-central1",
    "network": {"zones": ["us-central1-a"]},
    "pools": [
        {
            "name": "h200",
            "machine": "a3-ultragpu-8g",
            "count": {"max": 8},
            "capacity": {"reservation": "h200"},
        }
    ],
}
TOLERATIONS = [{"key": "nvidia.com/gpu", "operator": "Exists"}]


def workload(
    requests: list[dict[str, Any]], replicas: int, constraints: Any = (), **pod: Any
) -> str:
    """A Deployment whose pods each have one claim with these requests."""
    claim = {"requests": requests, **({"constraints": list(constraints)} if constraints else {})}
    container = {
        "name": "main",
        "image": "i",
        "resources": {"claims": [{"name": "devices"}], **pod.pop("resources", {})},
    }
    spec = {
        "tolerations": TOLERATIONS,
        "containers": [container],
        "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "devices"}],
        **pod,
    }
    labels = {"app": "trainer"}
    documents = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "devices"},
            "spec": {"spec": {"devices": claim}},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "trainer"},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        },
    ]
    return yaml.safe_dump_all(documents)


def request(name: str, device_class: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": device_class, **more}}


def plan(project: Project, fleet: dict[str, Any], manifests: str) -> Any:
    project.write("fleet.yaml", yaml.safe_dump(fleet))
    project.write("app.yaml", manifests)
    return project.run("plan", "app.yaml", "--fleet", "fleet.yaml", "--format", "json").json


def nodes(answer: Any) -> int:
    return int(answer["pools"][0]["count"]["packing"])


SAME_ROOT = [{"matchAttribute": "resource.kubernetes.io/pcieRoot"}]


def with_drivers(fleet: dict[str, Any], **drivers: Any) -> dict[str, Any]:
    return {**fleet, "drivers": {**fleet["drivers"], **drivers}}


@pytest.mark.parametrize(
    ("fleet", "device_class", "interfaces", "pods_per_node"),
    [
        # p5.48xlarge: one GPU and four interfaces on each root
        (FLEET, "efa.networking.k8s.aws", 4, 8),
        (GKE, "mrdma.google.com", 1, 8),  # a3-ultragpu-8g: two GPUs and two interfaces on each root
        # the first pod on a root uses both interfaces, so the other GPU has none
        (GKE, "mrdma.google.com", 2, 4),
    ],
    ids=["EFA", "RDMA", "two RDMA"],
)
def test_gpu_and_interfaces_share_one_root(
    project: Project, fleet: dict[str, Any], device_class: str, interfaces: int, pods_per_node: int
) -> None:
    requests = [request("gpu", "gpu.nvidia.com"), request("nic", device_class, count=interfaces)]
    answer = plan(
        project, with_drivers(fleet, dranet=True), workload(requests, 2 * pods_per_node, SAME_ROOT)
    )
    assert (answer["verdict"], nodes(answer)) == ("fits", 2)


def test_more_interfaces_than_a_root_has_do_not_fit(project: Project) -> None:
    requests = [request("gpu", "gpu.nvidia.com"), request("nic", "efa.networking.k8s.aws", count=5)]
    answer = plan(project, with_drivers(FLEET, dranet=True), workload(requests, 1, SAME_ROOT))
    assert answer["verdict"] == "does-not-fit"
    assert (
        plan(project, with_drivers(FLEET, dranet=True), workload(requests, 1))["verdict"] == "fits"
    )


@pytest.mark.parametrize(
    "device_class", ["efa.networking.k8s.aws", "compute-domain-default-channel.nvidia.com"]
)
def test_class_without_a_driver_in_the_fleet_cannot_be_decided(
    project: Project, device_class: str
) -> None:
    assert (
        plan(project, FLEET, workload([request("one", device_class)], 1))["verdict"]
        == "cannot-tell"
    )


def test_interface_with_an_unpublished_root_cannot_be_decided(project: Project) -> None:
    fleet = with_drivers(GKE, dranet=True)
    bought = {"capacity": {"reservation": "gb200"}}
    fleet["pools"] = [{"name": "gb200", "machine": "a4x-highgpu-4g", "count": {"max": 2}, **bought}]
    requests = [request("gpu", "gpu.nvidia.com"), request("nic", "mrdma.google.com")]
    tolerations = {"tolerations": [{"operator": "Exists"}]}
    assert (
        plan(project, fleet, workload(requests, 1, SAME_ROOT, **tolerations))["verdict"]
        == "cannot-tell"
    )
    assert plan(project, fleet, workload(requests, 1, **tolerations))["verdict"] == "fits"


def shared(how: Any) -> dict[str, Any]:
    nvidia = {
        "version": "0.5.0",
        "featureGates": {"ConsumableShares": True},
        "consumableShares": how,
    }
    pools = [{"name": "l4", "machine": "g6.2xlarge", "count": {"max": 8}}]
    return {**FLEET, "drivers": {"nvidia": nvidia}, "pools": pools}


@pytest.mark.parametrize(
    ("how", "capacity", "pods", "needed"),
    [
        (4, {}, 8, 2),  # each with one share
        (4, {"shares": "2"}, 8, 4),
        ("memory", {"memory": "10Gi"}, 8, 4),  # two fit in 23034Mi
        ("memory", {}, 3, 3),  # all memory, by default
        ("unlimited", {}, 50, 1),
    ],
    ids=["shares", "two shares", "memory", "all memory", "unlimited"],
)
def test_gpus_are_shared_as_configured_in_the_fleet(
    project: Project, how: Any, capacity: dict[str, str], pods: int, needed: int
) -> None:
    more = {"capacity": {"requests": capacity}} if capacity else {}
    answer = plan(project, shared(how), workload([request("gpu", "gpu.nvidia.com", **more)], pods))
    assert (answer["verdict"], nodes(answer)) == ("fits", needed)


def test_compute_domain_has_one_channel_per_node(project: Project) -> None:
    fleet = {**FLEET, "drivers": {"nvidia": {"version": "0.5.0", "computeDomains": True}}}
    channel = request("channel", "compute-domain-default-channel.nvidia.com")
    answer = plan(project, fleet, workload([channel], 3))
    assert (answer["verdict"], nodes(answer)) == ("fits", 3)
    assert any("ComputeDomain plugin" in sentence for sentence in answer["assumptions"])


def test_dynamic_mig_partitions_a_gpu_for_the_claims(project: Project) -> None:
    fleet = {
        **FLEET,
        "drivers": {"nvidia": {"version": "0.5.0", "featureGates": {"DynamicMIG": True}}},
    }
    selector = {"cel": {"expression": "device.attributes['gpu.nvidia.com'].profile == '3g.40gb'"}}
    answer = plan(
        project, fleet, workload([request("mig", "mig.nvidia.com", selectors=[selector])], 32)
    )
    assert (answer["verdict"], nodes(answer)) == ("fits", 2)


def test_vfio_devices_have_their_own_class(project: Project) -> None:
    fleet = {
        **FLEET,
        "drivers": {"nvidia": {"version": "0.5.0", "featureGates": {"PassthroughSupport": True}}},
    }
    answer = plan(project, fleet, workload([request("gpu", "vfio.gpu.nvidia.com", count=8)], 2))
    assert (answer["verdict"], nodes(answer)) == ("fits", 2)


@pytest.mark.parametrize(
    ("settings", "pod", "needed"),
    [
        # aws-node, kube-proxy, the Pod Identity agent, and the driver use four of six
        ({"maxPods": 6}, {}, 3),
        # 7910m less 6 less daemons
        ({"reserved": {"cpu": "6"}}, {"resources": {"requests": {"cpu": "1"}}}, 6),
        ({"labels": {"team": "a"}}, {"nodeSelector": {"team": "a"}}, 1),
        ({"labels": {"team": "a"}}, {"nodeSelector": {"team": "b"}}, None),
        ({"taints": [{"key": "team", "value": "a"}]}, {}, None),
        ({"taints": [{"key": "team", "value": "a"}]}, {"tolerations": [{"operator": "Exists"}]}, 1),
    ],
    ids=["pods", "reservation", "label", "another label", "taint", "tolerated"],
)
def test_node_settings_of_the_pool_are_used(
    project: Project, settings: dict[str, Any], pod: dict[str, Any], needed: int | None
) -> None:
    fleet = shared("unlimited")
    fleet["pools"][0] |= settings
    answer = plan(project, fleet, workload([request("gpu", "gpu.nvidia.com")], 6, **pod))
    if needed is None:
        assert answer["verdict"] == "does-not-fit"
    else:
        assert (answer["verdict"], nodes(answer)) == ("fits", needed)


def test_daemon_pods_of_the_fleet_reduce_the_capacity(project: Project) -> None:
    fleet = {**shared("unlimited"), "daemonPods": {"agent": {"cpu": "5"}}}
    manifests = workload(
        [request("gpu", "gpu.nvidia.com")], 4, resources={"requests": {"cpu": "1"}}
    )
    assert nodes(plan(project, shared("unlimited"), manifests)) == 1
    assert nodes(plan(project, fleet, manifests)) == 2


def test_saved_plan_contains_the_settings_of_the_fleet(project: Project) -> None:
    project.stack(
        "version: 25.8.1",
        "version: 0.5.0\n        featureGates: {DynamicMIG: true}\n      dranet: true",
    )
    text = (project.root / "stacks/Pulumi.dev.yaml").read_text().replace('"1.34"', '"1.36"')
    project.write("stacks/Pulumi.dev.yaml", text.replace("g6.2xlarge", "p5.48xlarge"))
    project.write("workloads/app.yaml", workload([request("mig", "mig.nvidia.com")], 1))
    assert project.run("plan", "--stack", "dev", "--write").status == 0
    kept = yaml.safe_load((project.root / "stacks/dev.plan.json").read_text())
    assert kept["fleet"]["drivers"]["nvidia"]["featureGates"] == {"DynamicMIG": True}
    assert kept["fleet"]["drivers"]["dranet"] == {"version": ""}
    assert "efa.networking.k8s.aws" in {each["metadata"]["name"] for each in kept["classes"]}
    assert project.run("plan", "--stack", "dev", "--check").status == 0


@pytest.mark.parametrize(
    ("drivers", "requests"),
    [
        (
            {"dranet": False},
            [request("gpu", "gpu.nvidia.com"), request("nic", "efa.networking.k8s.aws", count=4)],
        ),
        (
            {"nvidia": {"version": "0.5.0", "featureGates": {"DynamicMIG": False}}},
            [request("mig", "mig.nvidia.com")],
        ),
    ],
    ids=["DRANET", "dynamic MIG"],
)
def test_plan_file_is_evaluated_with_its_own_drivers(
    project: Project, drivers: dict[str, Any], requests: list[dict[str, Any]]
) -> None:
    fleet = with_drivers(
        FLEET, dranet=True, nvidia={"version": "0.5.0", "featureGates": {"DynamicMIG": True}}
    )
    settings = {"config": {"pulumi-dra:fleet": fleet, "pulumi-dra:workloads": ["workloads"]}}
    project.write("stacks/Pulumi.dev.yaml", yaml.safe_dump(settings))
    project.write(
        "workloads/app.yaml", workload(requests, 2, SAME_ROOT if len(requests) > 1 else ())
    )
    assert project.run("plan", "--stack", "dev", "--write").status == 0
    kept = yaml.safe_load((project.root / "stacks/dev.plan.json").read_text())
    assert judge_document(kept).verdict == "fits"
    kept["fleet"]["drivers"] |= drivers
    assert judge_document(kept).verdict == "does-not-fit"
