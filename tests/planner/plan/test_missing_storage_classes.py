"""Volumes whose StorageClass neither the manifests nor a cloud define."""

from __future__ import annotations

import pytest
from plan_builders import fleet

from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers: [{name: c, image: x}]
  volumes: [VOLUME]
---
"""
SPEC = (
    "{accessModes: [ReadWriteOnce], storageClassName: CLASS, resources: {requests: {storage: 1Gi}}}"
)
EPHEMERAL = POD.replace(
    "VOLUME", f"{{name: d, ephemeral: {{volumeClaimTemplate: {{spec: {SPEC}}}}}}}"
)
CLAIMED = (
    POD.replace("VOLUME", "{name: d, persistentVolumeClaim: {claimName: data}}")
    + f"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: data}}\nspec: {SPEC}\n---\n"
)
STATEFUL = f"""
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: p}}
spec:
  serviceName: p
  selector: {{matchLabels: {{app: p}}}}
  template:
    metadata: {{labels: {{app: p}}}}
    spec: {{containers: [{{name: c, image: x}}]}}
  volumeClaimTemplates: [{{metadata: {{name: d}}, spec: {SPEC}}}]
---
"""
DECLARED = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: NAME}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
"""


def plan(text: str, name: str) -> Plan:
    sources = (Source("m.yaml", text.replace("CLASS", name)),)
    return make_plan(PlanRequest(sources=sources, fleet=fleet(("g6.2xlarge", 1))))


def missing(made: Plan) -> list[tuple[str, str]]:
    return [
        (each.verdict, each.fix)
        for each in made.blockers
        if each.code == "reference-not-found" and "StorageClass" in each.message
    ]


@pytest.mark.parametrize("text", [EPHEMERAL, CLAIMED, STATEFUL], ids=["own", "claimed", "set"])
def test_undeclared_class_is_named_and_the_result_is_unknown(text: str) -> None:
    made = plan(text, "fast")

    assert made.verdict == "cannot-tell"
    assert missing(made) == [("cannot-tell", 'add a manifest for StorageClass "fast"')]


def test_similar_class_is_suggested() -> None:
    made = plan(EPHEMERAL + DECLARED.replace("NAME", "fast-ssd"), "fast-sdd")
    assert missing(made) == [
        ("cannot-tell", 'add a manifest for StorageClass "fast-sdd", or use fast-ssd')
    ]


@pytest.mark.parametrize("name", ["fast", "gp2"], ids=["declared", "of the cloud"])
def test_known_class_has_no_finding(name: str) -> None:
    assert missing(plan(EPHEMERAL + DECLARED.replace("NAME", "fast"), name)) == []
