"""Every GPU machine type in the catalog with every capacity type, checked with the clouds' API
models, with the simulated clouds, and with tables of the values that the clouds accept (with
sources).
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from aws_api import requests

from dra_planner import catalog
from dra_sandbox.clouds.aws.resource_types import ROWS as AWS
from dra_sandbox.clouds.gcp.node_pools import of_pool
from pulumi_dra.eks import EksGpuPool
from pulumi_dra.gke import GkeGpuPool

pytestmark = pytest.mark.long

Declare = Callable[..., Any]
EKS_KINDS = {
    "on-demand": "ON_DEMAND",
    "spot": "SPOT",
    "reservation": "ON_DEMAND",
    "capacity-block": "CAPACITY_BLOCK",
}
GKE_KINDS = ("on-demand", "spot", "reservation", "flex-start", "queued")
# EC2 user guide, “Amazon EC2 instance types by processor”: Graviton and Grace.
ARM = ("g5g.", "p6e-gb200.")
# kubernetes-sigs/gcp-compute-persistent-disk-csi-driver:deploy/disk_type_labels.sh@b560165c;
# a3-ultragpu: Vertex AI's DiskSpec, whose boot disk for it is Hyperdisk.
HYPERDISK_ALONE = ("a3-ultragpu-", "a4-", "a4x-", "g4-")
PERSISTENT_ALONE = ("a2-", "g2-", "n1-")
# GoogleCloudPlatform/cluster-toolkit:pkg/config/machine_mappings.json@10470803; a2-ultragpu,
# a3-edgegpu, a4x-maxgpu and g4 by Compute Engine's page of GPU machine types.
ACCELERATORS = {
    "a2-highgpu": "nvidia-tesla-a100",
    "a2-megagpu": "nvidia-tesla-a100",
    "a2-ultragpu": "nvidia-a100-80gb",
    "a3-edgegpu": "nvidia-h100-80gb",
    "a3-highgpu": "nvidia-h100-80gb",
    "a3-megagpu": "nvidia-h100-mega-80gb",
    "a3-ultragpu": "nvidia-h200-141gb",
    "a4-highgpu": "nvidia-b200",
    "a4x-highgpu": "nvidia-gb200",
    "a4x-maxgpu": "nvidia-gb300",
    "g2-standard": "nvidia-l4",
    "g4-standard": "nvidia-rtx-pro-6000",
    "n1-standard": "nvidia-tesla-t4",
}


# Other limits on the availability of machines:
# docs.cloud.google.com/compute/docs/accelerator-optimized-machines, the notes of each series; EKS
# user guide, “Use P6e-GB200 UltraServers with Amazon EKS”. The component prints a warning for
# on-demand, but doesn't reject it.
NOT_HAD = {
    "p6e-": ("spot",),
    "a4x-": ("spot", "flex-start", "queued"),
    "a3-highgpu-1g": ("reservation",),
    "a3-highgpu-2g": ("reservation",),
    "a3-highgpu-4g": ("reservation",),
}


def ways(machine: str, kinds: Iterable[str]) -> list[str]:
    """Return the capacity types that are available for a machine type."""
    refused = next((kinds for prefix, kinds in NOT_HAD.items() if machine.startswith(prefix)), ())
    return [kind for kind in kinds if kind not in refused]


def gpu_machines(cloud: str) -> list[Any]:
    found = [
        each
        for each in catalog.machines(cloud)
        if each.accelerator and each.accelerator.vendor == "nvidia"
    ]
    assert len(found) > 30
    return found


@pytest.fixture(scope="module")
def on_eks(declare: Declare) -> dict[str, list[Any]]:
    """Return the resources declared on AWS, by pool name."""

    def make() -> None:
        for machine in gpu_machines("eks"):
            for kind in ways(machine.name, EKS_KINDS):
                args: dict[str, Any] = {
                    "cluster_name": "dev",
                    "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
                    "subnet_ids": ["subnet-a"],
                    "machine": machine.name,
                    "max_nodes": 2,
                    "capacity": kind,
                }
                if kind in ("reservation", "capacity-block"):
                    args["reservation_id"] = "cr-0a1b"
                if machine.efa_interfaces:
                    args |= {"efa": True, "cluster_security_group_id": "sg-1", "vpc_id": "vpc-1"}
                EksGpuPool(f"{machine.name}.{kind}", args)

    by_pool: dict[str, list[Any]] = {}
    for each in declare(make).resources:
        if each.type.startswith("aws:"):
            by_pool.setdefault(each.parent, []).append(each)
    return by_pool


def test_every_eks_pool_is_a_valid_api_request(on_eks: dict[str, list[Any]]) -> None:
    """Botocore's models contain every machine type, image, and capacity type by name."""
    sent = [operation for pool in on_eks.values() for each in pool for operation, _ in _sent(each)]
    assert len(on_eks) == sum(len(ways(machine.name, EKS_KINDS)) for machine in gpu_machines("eks"))
    assert len(sent) >= 2 * len(on_eks)


def _sent(each: Any) -> list[Any]:
    return list(requests(each.type, each.name, each.inputs))


def test_simulated_eks_accepts_every_pool(on_eks: dict[str, list[Any]]) -> None:
    errors = {
        (name, reason)
        for name, pool in on_eks.items()
        for each in pool
        for check in AWS[each.type].checks
        if (reason := check({**each.inputs, "nodeGroupName": "pool"}))
    }
    assert errors == set()


def test_eks_pools_have_the_expected_image_capacity_and_interfaces(
    on_eks: dict[str, list[Any]],
) -> None:
    for machine in gpu_machines("eks"):
        for kind in ways(machine.name, EKS_KINDS):
            kinds = {
                each.type.rpartition(":")[2]: each.inputs
                for each in on_eks[f"{machine.name}.{kind}"]
            }
            group, template = kinds["NodeGroup"], kinds["LaunchTemplate"]
            architecture = "ARM_64" if machine.name.startswith(ARM) else "x86_64"
            assert group["amiType"] == f"AL2023_{architecture}_NVIDIA", machine.name
            assert group["capacityType"] == EKS_KINDS[kind]
            in_template = kind == "capacity-block"
            assert (template.get("instanceType") == machine.name, "instanceTypes" in group) == (
                in_template,
                not in_template,
            ), (machine.name, kind)
            cards = template.get("networkInterfaces") or []
            assert sum(card["interfaceType"].startswith("efa") for card in cards) == (
                machine.efa_interfaces or 0
            )


@pytest.fixture(scope="module")
def on_gke(declare: Declare) -> list[Any]:
    """Return the declared node pools. n1 machine types have attached GPUs."""

    def make() -> None:
        for name in [
            *(each.name for each in gpu_machines("gke")),
            "n1-standard-8+nvidia-tesla-t4:2",
        ]:
            for kind in ways(name, GKE_KINDS):
                args: dict[str, Any] = {
                    "cluster_name": "dev",
                    "location": "us-central1",
                    "machine": name,
                    "zones": ["us-central1-a"],
                    "service_account": "nodes@p.example",
                    "max_nodes": 2,
                    "capacity": kind,
                    "autoscaled": kind in ("flex-start", "queued"),
                }
                if kind == "reservation":
                    args["reservation_name"] = "bought"
                GkeGpuPool(f"{name}.{kind}".translate(str.maketrans("+:", "--")), args)

    pools: list[Any] = declare(make).all("NodePool")
    assert len(pools) == sum(
        len(ways(machine.name, GKE_KINDS)) for machine in gpu_machines("gke")
    ) + len(GKE_KINDS)
    return pools


def test_every_gke_pool_is_a_valid_api_request(on_gke: list[Any]) -> None:
    cases = [(each.type, each.name, dict(each.inputs)) for each in on_gke]
    program = [sys.executable, str(Path(__file__).with_name("gcp_api.py"))]
    done = subprocess.run(
        program, input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    answers = json.loads(done.stdout)
    assert len(answers) == len(cases)
    assert [answer for answer in answers if "refused" in answer] == []


def test_simulated_gke_rejects_only_the_listed_pools(on_gke: list[Any]) -> None:
    refused = {
        (each.inputs["nodeConfig"]["machineType"], each.parent)
        for each in on_gke
        if of_pool(dict(each.inputs))
    }
    assert refused == {
        (machine.name, f"{machine.name}.on-demand")
        for machine in gpu_machines("gke")
        if machine.name.startswith(
            ("a4-", "a4x-", "a3-ultragpu-", "a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g")
        )
    }


def test_gke_pools_have_the_expected_disk_and_accelerators(on_gke: list[Any]) -> None:
    for pool in on_gke:
        config = pool.inputs["nodeConfig"]
        machine, disk = config["machineType"], config["diskType"]
        if machine.startswith(HYPERDISK_ALONE):
            assert disk == "hyperdisk-balanced", machine
        if machine.startswith(PERSISTENT_ALONE):
            assert disk.startswith("pd-"), machine
        (accelerator,) = config["guestAccelerators"]
        assert accelerator["type"] == ACCELERATORS["-".join(machine.split("-")[:2])], machine
        assert accelerator["gpuDriverInstallationConfig"] == {
            "gpuDriverVersion": "INSTALLATION_DISABLED"
        }
        assert config["imageType"] == "COS_CONTAINERD"
