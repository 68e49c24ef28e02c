"""`pulumi-dra init` creates the first files of a project. The fleet fits, and has the requested
properties.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_project import EXAMPLES, Project, stack_state

from dra_command.inputs.fleets.new_cluster import new_cluster_version

FLEETS = ("gpu-and-efa", "gpu-and-rdma", "shared-gpus")


def fleet_in(project: Project, folder: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((project.root / folder / "fleet.yaml").read_text())
    return document


@pytest.mark.parametrize(
    ("region", "cloud"),
    [("us-east-1", "eks"), ("us-central1", "gke"), ("eastus", "aks")],
    ids=["eks", "gke", "aks"],
)
def test_region_creates_a_fleet_that_fits_the_first_claim(
    region: str, cloud: str, project: Project
) -> None:
    # of today: the newest version that is past its first months
    kubernetes = new_cluster_version(cloud)
    done = project.run("init", "gpus", "--region", region)
    assert (done.status, done.err) == (0, "")
    assert {key: fleet_in(project, "gpus")[key] for key in ("cloud", "kubernetes")} == {
        "cloud": cloud,
        "kubernetes": kubernetes,
    }
    assert (project.root / "gpus/.github/workflows/pulumi-dra.yml").is_file()
    command = done.out.splitlines()[-1].removeprefix("next: pulumi-dra ").split()
    assert project.run(*command).status == 0
    assert project.run("check", "gpus/workloads", "--fleet", "gpus/fleet.yaml").status == 0


def test_existing_files_are_not_overwritten(project: Project) -> None:
    project.write("fleet.yaml", "mine")
    done = project.run("init", "--region", "us-east-1")
    assert done.status == 2
    assert "fleet.yaml already exists" in done.err
    assert (project.root / "fleet.yaml").read_text() == "mine"
    assert not (project.root / ".github").exists()


@pytest.mark.parametrize("name", FLEETS)
def test_cluster_creates_the_fleet_that_it_was_made_from(name: str, project: Project) -> None:
    made_from = yaml.safe_load((EXAMPLES / name / "fleet.yaml").read_text())
    nodes = project.run("slices", "--fleet", str(EXAMPLES / name / "fleet.yaml"), "--nodes")
    project.write("cluster.yaml", nodes.out)
    version = made_from["kubernetes"]
    done = project.run(
        "init", "again", "--observed", "cluster.yaml", "--kubernetes", version, "--ci", "none"
    )
    assert (done.status, done.err) == (0, "")
    found = fleet_in(project, "again")
    assert {key: found[key] for key in ("cloud", "region", "kubernetes")} == {
        key: made_from[key] for key in ("cloud", "region", "kubernetes")
    }
    keys = ("name", "machine", "labels", "taints")
    assert [{key: pool.get(key) for key in keys} for pool in found["pools"]] == [
        {key: pool.get(key) for key in keys} for pool in made_from["pools"]
    ]
    assert project.run("plan", "again/workloads", "--fleet", "again/fleet.yaml").status in (0, 1)
    assert "system pool" in done.out or found["systemPool"]


SPOT_NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: {name}
  labels:
    eks.amazonaws.com/nodegroup: Team.A
    eks.amazonaws.com/capacityType: {capacity}
    node.kubernetes.io/instance-type: {machine}
    topology.kubernetes.io/region: us-east-1
    topology.kubernetes.io/zone: us-east-1{zone}
    example.com/team: a
    kubernetes.io/hostname: {name}
spec:
  taints:
    - {{key: nvidia.com/gpu, value: present, effect: NoSchedule}}
    - {{key: example.com/team, value: a, effect: NoSchedule}}
status:
  nodeInfo: {{kubeletVersion: v1.35.4-eks-1}}
---
apiVersion: v1
kind: Pod
metadata: {{name: driver-{name}, namespace: nvidia}}
spec:
  nodeName: {name}
  containers:
    - {{name: gpus, image: "registry.example/nvidia/k8s-dra-driver-gpu:v25.8.1"}}
---
"""


def test_node_properties_are_read_and_missing_ones_are_noted(project: Project) -> None:
    nodes = [
        ("a1", "SPOT", "g6.2xlarge", "a"),
        ("a2", "SPOT", "g6.2xlarge", "b"),
        ("a3", "SPOT", "g6.4xlarge", "a"),
    ]
    texts = [SPOT_NODE.format(name=n, capacity=c, machine=m, zone=z) for n, c, m, z in nodes]
    project.write("cluster.yaml", "".join(texts))
    done = project.run("init", "team", "--observed", "cluster.yaml", "--ci", "none")
    assert (done.status, done.err) == (0, "")
    found = fleet_in(project, "team")
    common = {
        "capacity": "spot",
        "labels": {"example.com/team": "a"},
        "taints": [{"key": "example.com/team", "value": "a", "effect": "NoSchedule"}],
    }
    assert found["kubernetes"] == "1.35"
    assert found["drivers"] == {"nvidia": {"version": "25.8.1"}}
    assert found["pools"] == [
        {
            "name": "team-a-g6-2xlarge",
            "machine": "g6.2xlarge",
            "count": {"min": 0, "max": 2},
            "zones": ["us-east-1a", "us-east-1b"],
            **common,
        },
        {
            "name": "team-a-g6-4xlarge",
            "machine": "g6.4xlarge",
            "count": {"min": 0, "max": 1},
            "zones": ["us-east-1a"],
            **common,
        },
    ]
    assert '": its maximum is the current count, 2 nodes' in done.out
    assert "all nodes in the snapshot have GPUs, so the system pool uses" in done.out


def test_system_nodes_of_an_unknown_machine_type_are_noted(project: Project) -> None:
    gpu_node = SPOT_NODE.format(name="a", capacity="SPOT", machine="g6.2xlarge", zone="a")
    system = "apiVersion: v1\nkind: Node\nmetadata: {name: s}\nstatus: {allocatable: {cpu: 4}}\n"
    project.write("cluster.yaml", f"{gpu_node}---\n{system}")

    done = project.run("init", "team", "--observed", "cluster.yaml", "--ci", "none")

    assert done.status == 0, done.err
    text = " ".join(done.out.split())
    assert "the machine types of the nodes without GPUs are unknown, so the system" in text
    assert "all nodes in the snapshot have GPUs" not in text


def test_changes_for_running_pods_are_listed(project: Project) -> None:
    node = SPOT_NODE.format(name="a", capacity="ON_DEMAND", machine="g6.2xlarge", zone="a")
    given = [each for each in yaml.safe_load_all(node) if each]
    for each in given:
        if each["kind"] == "Node":
            each["spec"] = {}
            each["status"].setdefault("allocatable", {})["nvidia.com/gpu"] = "1"
    project.write("cluster.yaml", yaml.safe_dump_all(given))

    done = project.run("init", "team", "--observed", "cluster.yaml", "--ci", "none")

    assert done.status == 0
    assert fleet_in(project, "team")["placement"] == "guided"
    assert (
        "a device plugin offers the GPUs in the snapshot as nvidia.com/gpu, but new nodes offer "
        "GPUs only to claims; to convert the pods, run `pulumi-dra migrate`"
    ) in done.out
    assert (
        "the fleet adds the taint nvidia.com/gpu=present:NoSchedule, which some existing nodes "
        "don't have"
    ) in done.out


def test_state_creates_the_fleet_that_it_declares(project: Project) -> None:
    project.write("state.json", json.dumps(stack_state()))
    done = project.run("init", "prod", "--state", "state.json", "--ci", "gitlab")
    assert (done.status, done.err) == (0, "")
    found = fleet_in(project, "prod")
    assert (found["cloud"], found["region"], found["kubernetes"]) == ("eks", "us-east-1", "1.35")
    counts, labels = {"min": 0, "max": 3}, {"team": "a"}
    assert found["pools"] == [
        {"name": "gpus", "machine": "g6.2xlarge", "count": counts, "labels": labels}
    ]
    assert "secret" not in (project.root / "prod/fleet.yaml").read_text()
    assert (project.root / "prod/pulumi-dra.gitlab-ci.yml").is_file()
    assert project.run("plan", "prod/workloads", "--fleet", "prod/fleet.yaml").status == 0


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        ([], "", "`init` needs a region, a snapshot, a stack, or a file to start from"),
        (["--region", "mars-1"], "", '"mars-1" isn\'t a region of a supported cloud'),
        (
            ["--observed", "given.yaml"],
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
            "Kubernetes version",
        ),
        (
            ["--observed", "given.yaml", "--kubernetes", "1.34"],
            "apiVersion: v1\nkind: Pod\n",
            "ignored: ",
        ),
        (["--state", "given.yaml"], "not json", "is not JSON"),
        (["--state", "given.yaml"], "[]", "isn't a stack state"),
        (
            ["--state", "given.yaml"],
            '{"deployment": {"resources": []}}',
            "this stack doesn't declare a DRA pool",
        ),
        (["--region", "us-east-1", "--machines", "g6.3xlarge"], "", "g6.3xlarge"),
    ],
)
def test_invalid_input_is_reported_and_nothing_is_written(
    words: list[str], text: str, message: str, project: Project
) -> None:
    project.write("given.yaml", text)
    done = project.run("init", "new", *words)
    assert done.status == 2
    assert message in done.err
    assert not Path(project.root / "new").exists()


def state_without_dra(region: str = "") -> dict[str, Any]:
    """Return the state of a stack whose GPU pool was created without DRA: it has neither labels for
    claims nor a driver.
    """
    state = stack_state()
    rows = [
        row
        for row in state["deployment"]["resources"]
        if row["type"] != "kubernetes:helm.sh/v3:Release"
    ]
    for row in rows:
        row["inputs"].pop("labels", None)
        row["inputs"].pop("region", None)
    provider = {
        "urn": "urn:pulumi:prod::other::pulumi:providers:aws::p",
        "type": "pulumi:providers:aws",
    }
    state["deployment"]["resources"] = [
        *rows,
        *([{**provider, "inputs": {"region": region}}] if region else []),
    ]
    return state


def test_stack_without_claims_is_imported_as_dra_pools(project: Project) -> None:
    project.write("state.json", json.dumps(state_without_dra("us-east-1")))
    done = project.run("init", "prod", "--state", "state.json")
    assert (done.status, done.err) == (0, "")
    found = fleet_in(project, "prod")
    assert [(pool["name"], pool["machine"]) for pool in found["pools"]] == [("gpus", "g6.2xlarge")]
    assert (
        'node group "gpus" isn\'t a DRA pool yet, but the plan treats it as a DRA pool' in done.out
    )
    assert "the NVIDIA DRA driver version isn't declared" in done.out
    assert project.run("plan", "prod/workloads", "--fleet", "prod/fleet.yaml").status == 0


def test_setting_missing_from_a_state_is_requested(project: Project) -> None:
    project.write("state.json", json.dumps(state_without_dra()))
    done = project.run("init", "prod", "--state", "state.json")
    assert done.status == 2
    assert "set its region; make sure that the stack declares a GPU pool" in done.err
    assert project.run("init", "prod", "--state", "state.json", "--region", "us-west-2").status == 0
    assert fleet_in(project, "prod")["region"] == "us-west-2"
