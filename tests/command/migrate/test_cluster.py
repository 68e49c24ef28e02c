"""`pulumi-dra migrate` without manifests: the workloads that use devices in a cluster, and the pods
that would be lost.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from command_project import Project

from dra_command.migrate.cluster_contract import MigrateClusterOutput

GPU = {"nvidia.com/gpu": "1"}
PLAIN = {"nvidia.com/gpu.product": "NVIDIA-L4", "nvidia.com/gpu.replicas": "1"}
SHARED = {
    "nvidia.com/gpu.product": "NVIDIA-L4-SHARED",
    "nvidia.com/gpu.replicas": "4",
    "nvidia.com/gpu.sharing-strategy": "time-slicing",
}
OPERATOR = {
    "apiVersion": "nvidia.com/v1",
    "kind": "ClusterPolicy",
    "metadata": {"name": "cluster-policy"},
    "spec": {"mig": {"strategy": "single"}, "devicePlugin": {"config": {"name": "sharing"}}},
}


def item(api: str, kind: str, name: str, owner: str = "", **fields: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "namespace": "ml", **fields.pop("metadata", {})}
    if owner:
        version, of, own = owner.split(" ")
        reference = {"apiVersion": version, "kind": of, "name": own, "uid": "1", "controller": True}
        metadata["ownerReferences"] = [reference]
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def node(name: str, units: int, labels: dict[str, str] | None = None) -> dict[str, Any]:
    status = {
        "allocatable": {"nvidia.com/gpu": str(units)},
        "nodeInfo": {"kubeletVersion": "v1.36.1"},
    }
    return item("v1", "Node", name, metadata={"labels": labels or {}}, status=status)


def driver_on(name: str) -> dict[str, Any]:
    spec = {
        "driver": "gpu.nvidia.com",
        "nodeName": name,
        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0", "attributes": {"type": {"string": "gpu"}}}],
    }
    return item("resource.k8s.io/v1", "ResourceSlice", f"{name}-gpu", spec=spec)


def pod(name: str, on: str, owner: str = "", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "example/a:1", "resources": {"limits": GPU}}
    whole = {"nodeName": on, "containers": [container], **spec}
    return item("v1", "Pod", name, owner, spec=whole, status={"phase": "Running"})


def report(project: Project, *items: dict[str, Any], status: int = 0) -> MigrateClusterOutput:
    whole = {"apiVersion": "v1", "kind": "List", "items": list(items)}
    project.write("cluster.json", json.dumps(whole))
    done = project.run("migrate", "--observed", "cluster.json", "--format", "json")
    assert done.status == status
    return MigrateClusterOutput.model_validate_json(done.out)


def test_pods_count_toward_the_top_level_workload(project: Project) -> None:
    found = report(
        project,
        node("n1", 4, PLAIN),
        item("apps/v1", "ReplicaSet", "chat-7d", "apps/v1 Deployment chat"),
        *(pod(f"chat-7d-{index}", "n1", "apps/v1 ReplicaSet chat-7d") for index in range(2)),
        pod("ray-1", "n1", "ray.io/v1 RayCluster ray"),
    )

    assert [(each.workload, each.pods, each.units, each.result) for each in found.users] == [
        ("Deployment ml/chat", 2, {"nvidia.com/gpu": 2}, "rewritten"),
        ("RayCluster ml/ray", 1, {"nvidia.com/gpu": 1}, "rewritten"),
    ]
    (pool,) = found.pools
    assert (pool.allocator, pool.offered, pool.held) == (
        "device-plugin",
        {"nvidia.com/gpu": 4},
        {"nvidia.com/gpu": 3},
    )


def test_gpu_sharing_is_read_from_the_node_of_a_pod(project: Project) -> None:
    found = report(
        project,
        node("n1", 4, PLAIN),
        node("s1", 4, SHARED),
        pod("a-0", "n1", "apps/v1 StatefulSet a"),
        pod("b-0", "s1", "apps/v1 StatefulSet b"),
        status=1,
    )

    assert [each.result for each in found.users] == ["rewritten", "cannot"]
    assert "time-sliced" in found.users[1].reason


def test_knative_revisions_cannot_have_claims(project: Project) -> None:
    own = pod("kn-1", "n1", "serving.knative.dev/v1 Revision kn")
    (user,) = report(project, node("n1", 4), own, status=1).users

    assert user.result == "cannot"
    assert "Knative's webhook" in user.reason


def test_cluster_with_both_allocators_on_a_node_is_not_ready(project: Project) -> None:
    found = report(project, node("n1", 1), driver_on("n1"), status=1)

    assert not found.is_ready
    assert found.pools[0].allocator == "both"
    assert found.pools[0].contested == ["n1"]


MIRROR = {"annotations": {"kubernetes.io/config.mirror": "1"}}
CLAIMS = {
    "containers": [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}],
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
}
STATIC = {**pod("one", "n1"), "metadata": {"name": "one", "namespace": "ml", **MIRROR}}
JOB = item("batch/v1", "Job", "tune", spec={"backoffLimit": 0})
ENDED = {**pod("tune-x", "n1", "batch/v1 Job tune"), "status": {"phase": "Succeeded"}}
LOSSES = {
    "a bare pod": (
        [pod("one", "n1")],
        "no controller re-creates the pod",
        "create the pod again from its migrated manifest",
        [pod("one", "n1", **CLAIMS)],
    ),
    "a static pod": (
        [STATIC],
        "static pod",
        "replace the pod with a DaemonSet or Deployment",
        [pod("a-1", "n1", "apps/v1 ReplicaSet a")],
    ),
    "a Job that must not fail": (
        [JOB, pod("tune-x", "n1", "batch/v1 Job tune")],
        "backoffLimit 0",
        "wait until the Job ends",
        [JOB, ENDED],
    ),
    "a DaemonSet": (
        [pod("d-1", "n1", "apps/v1 DaemonSet d")],
        "--ignore-daemonsets",
        "set a node selector in the DaemonSet to remove its pod from the node before the drain",
        [],
    ),
    "a pod whose device plugin is gone": (
        [node("n2", 0), pod("a-0", "n2", "apps/v1 StatefulSet a")],
        "can't restart",
        "drain the node before the DRA driver starts there",
        [node("n2", 0), pod("a-0", "n1", "apps/v1 StatefulSet a")],
    ),
}


@pytest.mark.parametrize(("items", "reason", "fix", "fixed"), LOSSES.values(), ids=LOSSES)
def test_pods_that_a_drain_deletes_are_reported_with_a_working_fix(
    project: Project,
    items: list[dict[str, Any]],
    reason: str,
    fix: str,
    fixed: list[dict[str, Any]],
) -> None:
    (loss,) = report(project, node("n1", 4), *items).losses

    assert reason in loss.reason
    assert loss.fix == fix
    assert not report(project, node("n1", 4), *fixed).losses


def test_deployment_survives_a_drain(project: Project) -> None:
    kept = pod("chat-1", "n1", "apps/v1 ReplicaSet chat")

    assert not report(project, node("n1", 4), kept).losses


def test_quotas_and_the_operator_are_reported(project: Project) -> None:
    quota = item("v1", "ResourceQuota", "q", spec={"hard": {"requests.nvidia.com/gpu": "4"}})
    found = report(project, node("n1", 4), OPERATOR, quota)

    assert [each.object for each in found.changes] == ["ResourceQuota ml/q"]
    notes = " ".join(found.notes)
    assert "nvidia.com/gpu.deploy.device-plugin=false" in notes
    assert "MIG strategy single" in notes
    assert "ConfigMap sharing configures" in notes


def test_operator_supports_only_one_of_its_two_objects(project: Project) -> None:
    cluster = {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "GPUCluster",
        "metadata": {"name": "gpu-cluster"},
    }

    notes = " ".join(report(project, node("n1", 4), OPERATOR, cluster).notes)

    assert "can't be in one cluster" in notes


def test_text_starts_with_the_problems(project: Project) -> None:
    whole = [node("n1", 1), driver_on("n1"), pod("one", "n1")]
    project.write("cluster.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": whole}))

    done = project.run("migrate", "--observed", "cluster.json")

    assert done.status == 1
    assert done.out.startswith("1 workload uses device plugins: 1 rewritten.\n\n✕ A device plugin")
    assert "Pod ml/one on n1: no controller re-creates the pod" in done.out


def test_options_for_files_are_rejected_in_a_cluster_report(project: Project) -> None:
    project.write("cluster.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": []}))

    refused = project.run("migrate", "--observed", "cluster.json", "--write")

    assert refused.status == 2
    assert (
        "pass manifests, or remove --write, --steps, --steps-folder, and --format diff"
        in refused.err
    )
    assert project.run("migrate", "--observed", "cluster.json").status == 0
