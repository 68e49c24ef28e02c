"""verify checks that the guards of the saved plan exist in the cluster, and that pods comply with
them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from command_project import Done, Project

from dra_planner.model import Guards, ObjectKey, SteerRule
from dra_planner.plan.cluster.guard_checks import verify_guards
from dra_planner.plan.reading import read_checked
from dra_planner.planfile import parse_document, placement_policies
from dra_planner.releases import features_of
from dra_planner.sources import Source

Json = dict[str, Any]
STACK = """\
config:
  aws:region: us-east-1
  pulumi-dra:workloads: [guarded]
  pulumi-dra:fleet:
    cloud: eks
    region: us-east-1
    kubernetes: "%s"
    placement: guided
    systemPool: {machine: m7i.large}
    drivers: {nvidia: {version: 25.8.1}}
    pools:
      - {name: l4x4, machine: g6.12xlarge, count: {min: 0, max: 2}}
      - {name: l4, machine: g6.2xlarge, count: {min: 0, max: 4}}
"""
TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu-%d, namespace: ml}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: %d}}]}}}
"""
WORK = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s, namespace: ml}
spec:
  replicas: %d
  strategy: {type: Recreate}
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu-%d}]
      containers:
        - name: main
          image: registry.example/app:1
          resources: {requests: {cpu: "1", memory: 2Gi}, claims: [{name: gpu}]}
"""
WORKLOADS = "---\n".join(
    (
        TEMPLATE % (1, 1),
        TEMPLATE % (4, 4),
        WORK % ("small", 3, "small", "small", 1),
        WORK % ("whole", 1, "whole", "whole", 4),
    )
)


def saved(project: Project, kubernetes: str = "1.36") -> Json:
    """Save the plan of a stack in which small pods would otherwise use the node of the pod that
    needs a whole node.
    """
    project.write("stacks/Pulumi.dev.yaml", STACK % kubernetes)
    project.write("guarded/w.yaml", WORKLOADS)
    assert project.run("plan", "--stack", "dev", "--write").status == 0
    document: Json = json.loads((project.root / "stacks/dev.plan.json").read_text())
    return document


def node(name: str, pool: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"pulumi-dra/pool": pool}},
    }


def pod(name: str, template: str, node_name: str = "", pool: str = "") -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml", "uid": name},
        "spec": {
            "containers": [{"name": "main", "image": "registry.example/app:1"}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": template}],
            **({"nodeName": node_name} if node_name else {}),
            **({"nodeSelector": {"pulumi-dra/pool": pool}} if pool else {}),
        },
        "status": {"phase": "Running" if node_name else "Pending"},
    }


@pytest.fixture
def verify(project: Project) -> Callable[..., Done]:
    def run(*objects: Json) -> Done:
        project.write(
            "cluster.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        )
        return project.run(
            "verify", "--observed", "cluster.json", "--stack", "dev", "--format", "json"
        )

    return run


def guard_rows(done: Done) -> list[tuple[str, str, str]]:
    return [
        (each["subject"], each["field"], each["observed"])
        for each in done.json["differences"]
        if each["aspect"] == "guard"
    ]


def policies(document: Json) -> tuple[Json, ...]:
    part = parse_document(json.dumps(document)).guards
    assert part is not None
    return placement_policies(part.guards)


def test_present_and_effective_guards_have_no_differences(
    project: Project, verify: Callable[..., Done]
) -> None:
    document = saved(project)
    done = verify(
        *policies(document), node("n1", "l4"), pod("a", "gpu-1", "n1", "l4"), node("n2", "l4x4")
    )
    assert guard_rows(done) == []
    assert done.json["unknown"] == []
    assert done.json["unplanned_workloads"] == {}


def test_missing_and_changed_policies_are_differences(
    project: Project, verify: Callable[..., Done]
) -> None:
    first, *others = policies(saved(project))
    changed = json.loads(json.dumps(others[0]))
    changed["spec"]["policyName"] = "another"
    done = verify(changed, *others[1:], node("n1", "l4"))
    name = first["metadata"]["name"]
    assert guard_rows(done) == [
        (f"MutatingAdmissionPolicy {name}", "", ""),
        (f"MutatingAdmissionPolicyBinding {name}", "spec.policyName", "changed"),
    ]
    assert done.status == 1


def test_fields_that_the_api_server_adds_are_no_difference(
    project: Project, verify: Callable[..., Done]
) -> None:
    found = json.loads(json.dumps(policies(saved(project))))
    for each in found:
        each["metadata"]["uid"] = "1"
        if each["kind"] == "MutatingAdmissionPolicy":
            each["spec"]["matchConstraints"]["matchPolicy"] = "Equivalent"
            each["spec"]["matchConstraints"]["resourceRules"][0]["scope"] = "*"
    assert guard_rows(verify(*found, node("n1", "l4"))) == []


def test_pods_on_another_pool_are_a_difference(
    project: Project, verify: Callable[..., Done]
) -> None:
    document = saved(project)
    done = verify(
        *policies(document),
        node("n1", "l4"),
        node("n2", "l4x4"),
        pod("a", "gpu-1", "n1", "l4"),
        pod("b", "gpu-1", "n2"),
        pod("c", "gpu-1"),
    )
    assert guard_rows(done) == [
        ("Pod ml/b", "pool", "l4x4: 1 of 1 pod"),
        ("Pod ml/c", "nodeSelector", "missing: 1 of 1 pod"),
    ]


def test_guards_are_unknown_if_the_snapshot_has_no_policies(
    project: Project, verify: Callable[..., Done]
) -> None:
    saved(project)
    done = verify(node("n1", "l4"), pod("a", "gpu-1", "n1", "l4"))
    assert guard_rows(done) == []
    (unknown,) = done.json["unknown"]
    assert "mutatingadmissionpolicies" in unknown


def test_before_1_36_pods_contain_the_guards(project: Project, verify: Callable[..., Done]) -> None:
    saved(project, "1.35")
    done = verify(node("n1", "l4"), pod("a", "gpu-1", "n1"))
    assert guard_rows(done) == [("Pod ml/a", "nodeSelector", "missing: 1 of 1 pod")]
    assert done.json["unknown"] == []


def test_unplanned_pods_are_listed(project: Project, verify: Callable[..., Done]) -> None:
    document = saved(project)
    done = verify(*policies(document), node("n1", "l4"), pod("new", "another", "n1"))
    assert done.json["unplanned_workloads"] == {"Pod ml/new": 1}
    assert guard_rows(done) == []


def test_before_1_36_evenly_spread_pods_have_their_rules_label() -> None:
    """Given running pods with and without the label, and a pod of a rule without even spread,
    expect one difference.
    """
    even = SteerRule(pool="l4", templates=(ObjectKey("ml", "gpu-1"),), spread="2")
    plain = SteerRule(pool="l4x4", templates=(ObjectKey("ml", "gpu-4"),))
    labelled = pod("a", "gpu-1", "n1", "l4")
    labelled["metadata"]["labels"] = {"pulumi-dra/spread": "2"}
    objects = (
        node("n1", "l4"),
        node("n2", "l4x4"),
        labelled,
        pod("b", "gpu-1", "n1", "l4"),
        pod("c", "gpu-4", "n2", "l4x4"),
    )
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    snapshot = read_checked([Source("cluster.json", text)], features_of(34))
    checks = verify_guards(Guards(rules=(even, plain)), snapshot, [], None)
    assert [(each.subject, each.field, each.observed) for each in checks.differences] == [
        ("Pod ml/b", "labels", "missing: 1 of 1 pod")
    ]


class TestPendingPods:
    def pending(self, done: Done) -> list[tuple[str, str]]:
        rows = done.json["differences"]
        return [(each["subject"], each["observed"]) for each in rows if each["aspect"] == "pod"]

    def owned(self, pod: Json, name: str) -> Json:
        owner = {"kind": "ReplicaSet", "name": f"{name}-6d4cf56db6", "controller": True}
        labels = {"pod-template-hash": "6d4cf56db6"}
        return pod | {"metadata": pod["metadata"] | {"ownerReferences": [owner], "labels": labels}}

    def test_pending_pods_of_a_planned_workload_are_a_difference(
        self, project: Project, verify: Callable[..., Done]
    ) -> None:
        document = saved(project)
        running = self.owned(pod("a", "gpu-1", "n1", "l4"), "small")
        waiting = self.owned(pod("b", "gpu-1", pool="l4"), "small")
        done = verify(*policies(document), node("n1", "l4"), running, waiting)
        assert self.pending(done) == [("Deployment ml/small", "1 of 2 pods pending")]
        assert done.status == 1

    def test_pending_pods_of_another_workload_are_no_difference(
        self, project: Project, verify: Callable[..., Done]
    ) -> None:
        document = saved(project)
        waiting = self.owned(pod("b", "gpu-1", pool="l4"), "unplanned")
        assert self.pending(verify(*policies(document), node("n1", "l4"), waiting)) == []
