"""For resources, labels, and claims that the fleet's devices don't serve, `plan` and `check` report
the same cause, and a fix that works.
"""

from __future__ import annotations

import pytest
from command_project import Project

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.4xlarge}
drivers: {nvidia: {version: 0.5.0}}
pools: [{name: l4, machine: g6.48xlarge, count: {max: 2}}]
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  {spec}
  containers:
  - name: c
    image: registry.example/c:1
    resources: {{limits: {{{limits}}}}}
"""
TOLERATES = "tolerations: [{key: nvidia.com/gpu, operator: Exists}]"
HOST = "nodeSelector: {kubernetes.io/hostname: worker01}"
ELSEWHERE = "no driver in the fleet provides such devices"
ADVERTISES = "use --observed with a snapshot of nodes whose device plugin advertises"

# A pod's spec and limits → the exit status, words of both answers, and words that would be wrong
PODS = {
    "RDMA only": ("", "rdma/shared: 1", 3, [ELSEWHERE], ["toleration"]),
    "SR-IOV only": ("", "openshift.io/mlxnics: 1", 3, [ELSEWHERE], ["toleration"]),
    "RDMA with GPUs of another vendor": (
        "",
        "amd.com/gpu: 8, rdma/shared: 1",
        3,
        ["amd.com/gpu and rdma/shared", ELSEWHERE],
        ["toleration"],
    ),
    "a network function in NVIDIA's domain": (
        TOLERATES,
        "nvidia.com/hostdev: 1",
        3,
        [ELSEWHERE],
        ["migrate"],
    ),
    "a GPU with a network function": (
        TOLERATES,
        "nvidia.com/gpu: 1, nvidia.com/rdma-vf: 1",
        3,
        ["also requests nvidia.com/rdma-vf", ELSEWHERE, ADVERTISES, "nvidia.com/rdma-vf"],
        ["migrate", "doesn't fit"],
    ),
    "a GPU with RDMA": (
        TOLERATES,
        "nvidia.com/gpu: 1, rdma/shared: 1",
        3,
        ["also requests rdma/shared", ELSEWHERE, ADVERTISES],
        ["doesn't fit"],
    ),
    "a GPU with RDMA and a fuse device": (
        TOLERATES,
        "nvidia.com/gpu: 1, vke.volcengine.com/rdma: 1, smarter-devices/fuse: 1",
        3,
        ["also requests smarter-devices/fuse and vke.volcengine.com/rdma", ELSEWHERE],
        ["doesn't fit"],
    ),
    "more GPUs than a node has, with RDMA": (
        TOLERATES,
        "nvidia.com/gpu: 9, rdma/shared: 1",
        1,
        ["8 devices", "also requests rdma/shared", ELSEWHERE],
        [],
    ),
    "GPUs of two vendors": (
        TOLERATES,
        "nvidia.com/gpu: 1, amd.com/gpu: 1",
        1,
        ["the pod requests 1 amd.com/gpu, but the node doesn't have any"],
        ["also requests"],
    ),
    "no RDMA, with a GPU": (TOLERATES, "nvidia.com/gpu: 1, rdma/shared: 0", 0, [], ["rdma"]),
    "no RDMA": ("", "rdma/shared: 0", 0, [], ["rdma"]),
    "a misspelled resource of the vendor": (
        TOLERATES,
        "nvidia.com/gpus: 1",
        1,
        ["use nodes with a device plugin that advertises nvidia.com/gpus"],
        ["migrate"],
    ),
    "a hostname with a missing resource": (
        f"{TOLERATES}\n  {HOST}",
        "nvidia.com/gpu: 1, rdma/shared: 1",
        3,
        ["pulumi-dra/pool", "advertises rdma/shared"],
        ["l4-0"],
    ),
}


@pytest.mark.parametrize("command", ["plan", "check"])
@pytest.mark.parametrize("name", PODS)
def test_cause_and_fix(project: Project, name: str, command: str) -> None:
    spec, limits, status, words, wrong = PODS[name]
    project.write("fleet.yaml", FLEET)
    project.write("pod.yaml", POD.format(spec=spec, limits=limits))

    done = project.run(command, "pod.yaml", "--fleet", "fleet.yaml")

    text = " ".join(done.out.split())
    assert done.status == status, text
    assert all(each in text for each in words), text
    assert not any(each in text for each in wrong), text


@pytest.mark.parametrize("command", ["plan", "check"])
@pytest.mark.parametrize(("advertised", "status"), [(", rdma/shared: 1", 0), ("", 1)])
def test_snapshot_shows_which_resources_nodes_have(
    project: Project, command: str, advertised: str, status: int
) -> None:
    project.write("pod.yaml", POD.format(spec="", limits="example.org/gpu: 1, rdma/shared: 1"))
    project.write(
        "cluster.yaml",
        "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"
        "status: {nodeInfo: {kubeletVersion: v1.36.3}, "
        f"allocatable: {{cpu: 8, pods: 9, example.org/gpu: 1{advertised}}}}}\n",
    )

    done = project.run(command, "pod.yaml", "--observed", "cluster.yaml")

    assert done.status == status, done.out
    assert "also requests" not in done.out


def test_pods_are_placed_without_the_unknown_resource(project: Project) -> None:
    limits = "nvidia.com/gpu: 8, rdma/shared: 1"
    project.write("fleet.yaml", FLEET)
    project.write("pod.yaml", POD.format(spec=TOLERATES, limits=limits))

    done = project.run("plan", "pod.yaml", "--fleet", "fleet.yaml", "--format", "json")

    assert done.json["verdict"] == "cannot-tell"
    assert [pool["recommended"] for pool in done.json["pools"]] == [1]


def test_network_function_is_not_a_second_gpu(project: Project) -> None:
    claimed = POD.format(
        spec=f"{TOLERATES}\n  resourceClaims: [{{name: gpu, resourceClaimTemplateName: gpu}}]",
        limits="nvidia.com/rdma-vf: 1",
    ).replace("1}}", "1}, claims: [{name: gpu}]}")
    template = (
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: gpu}\n"
        "spec: {spec: {devices: {requests: [{name: gpu, exactly: "
        "{deviceClassName: gpu.nvidia.com}}]}}}\n"
    )
    project.write("pod.yaml", claimed + template)

    done = project.run("check", "pod.yaml")

    assert "device-requested-twice" not in done.out
    project.write("pod.yaml", claimed.replace("rdma-vf", "gpu") + template)
    assert "device-requested-twice" in project.run("check", "pod.yaml").out


@pytest.mark.parametrize("command", ["plan", "check"])
def test_claim_that_several_nodes_may_access_is_a_note(project: Project, command: str) -> None:
    project.write("fleet.yaml", FLEET)
    project.write(
        "web.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n"
        "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
        "    spec:\n      resourceClaims: [{name: gpu, resourceClaimName: elsewhere}]\n"
        "      containers: [{name: c, image: i, resources: {claims: [{name: gpu}]}}]\n",
    )

    done = project.run(command, "web.yaml", "--fleet", "fleet.yaml", "--format", "json")

    (found,) = [
        each for each in done.json["diagnostics"] if each["code"] == "claim-shared-by-replicas"
    ]
    assert found["severity"] == "note"
    assert found["fix"].startswith("if the devices belong to one node, ")


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        (
            "zones: [us-east-1a]",
            "set network.zones, redundancy.zones, or pools[].zones in the fleet",
        ),
        ("autoscaller: karpenter", 'did you mean "autoscaler"?'),
        ("quantum: 3", ""),
    ],
)
def test_unknown_key_of_the_fleet(project: Project, key: str, fix: str) -> None:
    project.write("fleet.yaml", f"{FLEET}{key}\n")
    project.write("pod.yaml", POD.format(spec="", limits="cpu: 1"))

    done = project.run("plan", "pod.yaml", "--fleet", "fleet.yaml")

    assert done.status == 2
    assert fix in done.err
    assert bool(fix) is ("; " in done.err)


MPI_JOB = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: train, labels: {kueue.x-k8s.io/queue-name: lq}}
spec:
  slotsPerWorker: 8
  mpiReplicaSpecs:
    Launcher:
      template: {spec: {LAUNCHER containers: [{name: l, image: i}]}}
    Worker:
      replicas: 2
      template:
        spec:
          WORKER
          tolerations: [{key: nvidia.com/gpu, operator: Exists}]
          containers: [{name: w, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]
"""
FLAVOR = """\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h200}
spec: {nodeLabels: {node.kubernetes.io/instance-type: BM.GPU.H200.8}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: h200, resources: [{name: nvidia.com/gpu, nominalQuota: 64}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq}
spec: {clusterQueue: q}
"""


def test_each_pod_set_has_its_own_finding(project: Project) -> None:
    project.write("fleet.yaml", FLEET)
    launcher, worker = "nodeSelector: {role: head}, ", "nodeSelector: {kind: train}"
    project.write("job.yaml", MPI_JOB.replace("LAUNCHER ", launcher).replace("WORKER", worker))

    done = project.run("check", "job.yaml", "--fleet", "fleet.yaml", "--format", "json")

    found = {each["code"]: each["message"] for each in done.json["diagnostics"]}
    of_launcher = found["pod-fits-no-system-pool"]
    assert of_launcher.startswith("MPIJob default/train (Launcher) doesn't fit on the system pool")
    assert "role=head" in of_launcher
    assert "kind=train" not in of_launcher
    assert "kind=train" in found["claim-fits-no-pool"]
    assert "role=head" not in found["claim-fits-no-pool"]


def test_fitting_pods_of_another_pod_set_are_not_reported(project: Project) -> None:
    project.write("fleet.yaml", FLEET)
    worker = "nodeSelector: {kind: train}"
    project.write("job.yaml", MPI_JOB.replace("LAUNCHER ", "").replace("WORKER", worker))

    done = project.run("check", "job.yaml", "--fleet", "fleet.yaml")

    assert "pod-fits-no-system-pool" not in done.out


@pytest.mark.parametrize("command", ["plan", "check"])
def test_flavor_is_not_moved_to_nodes_without_devices(project: Project, command: str) -> None:
    project.write("fleet.yaml", FLEET)
    job = MPI_JOB.replace("LAUNCHER ", "").replace("          WORKER\n", "")
    project.write("job.yaml", job + FLAVOR)

    done = project.run(command, "job.yaml", "--fleet", "fleet.yaml", "--verbose")

    text = " ".join(done.out.split())
    label = "node.kubernetes.io/instance-type"
    assert f"select {label}=g6.48xlarge in spec.nodeLabels of ResourceFlavor h200" in text
    assert f"remove {label} from spec.nodeLabels of ResourceFlavor h200" in text
    assert f"select {label}=m7i.4xlarge" not in text


@pytest.mark.parametrize("command", ["plan", "check"])
@pytest.mark.parametrize(("started", "expected"), [("{}", ["warning"]), ('{num-gpus: "1"}', [])])
def test_ray_workers_that_ray_starts_without_gpus_are_a_warning(
    project: Project, command: str, started: str, expected: list[str]
) -> None:
    project.write("fleet.yaml", FLEET)
    project.write(
        "ray.yaml",
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: one}\n"
        "spec: {spec: {devices: {requests: [{name: gpu, exactly: "
        "{deviceClassName: gpu.nvidia.com}}]}}}\n---\n"
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: tune}\nspec:\n"
        "  headGroupSpec: {template: {spec: {containers: [{name: head, image: ray}]}}}\n"
        f"  workerGroupSpecs:\n  - groupName: gpus\n    replicas: 1\n    minReplicas: 1\n"
        f"    maxReplicas: 1\n    rayStartParams: {started}\n    template:\n      spec:\n"
        f"        {TOLERATES}\n"
        "        resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]\n"
        "        containers: [{name: ray, image: ray, resources: {claims: [{name: gpu}]}}]\n",
    )

    done = project.run(command, "ray.yaml", "--fleet", "fleet.yaml", "--format", "json")

    found = [each for each in done.json["diagnostics"] if "without GPUs" in each["message"]]
    assert [each["severity"] for each in found] == expected
    assert done.status == 0
