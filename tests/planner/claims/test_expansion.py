"""Demand: the shapes that workloads have, the number of pods of each, and the blocked pods with
reasons.
"""

from __future__ import annotations

import random

import pytest

from dra_planner.claims import expand_claims
from dra_planner.model import DeviceClass, Figures, ObjectMeta
from dra_planner.model.demand import Demand
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source

GPU = DeviceClass(meta=ObjectMeta(name="gpu.nvidia.com"))
CLASSES = {"gpu.nvidia.com": GPU}

TEMPLATE = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
"""


def deployment(name: str, *, replicas: int = 1, claim: str = "{name: gpu, "
"resourceClaimTemplateName: one-gpu}",
               labels: str = "{app: w}", more: str = "") -> str:  # fmt: skip
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: w}}}}
  template:
    metadata: {{labels: {labels}}}
    spec:
      containers: [{{name: main, image: i, resources: {{claims: [{{name: gpu}}]}}}}]
      resourceClaims: [{claim}]
{more}"""


def expand(*documents: str, minor: int = 36, classes: dict[str, DeviceClass] = CLASSES) -> Demand:
    features = features_of(minor)
    return expand_claims(
        read_checked([Source("m.yaml", "\n---\n".join(documents))], features), classes, features
    )


def test_every_pod_gets_its_own_claim_from_a_template() -> None:
    demand = expand(TEMPLATE, deployment("a", replicas=3))
    (shape,) = demand.shapes
    assert shape.figures == Figures(3, 3, 3, 4)
    assert [(claim.name, claim.shared) for claim in shape.claims] == [("gpu", None)]
    assert demand.shared_claims == {}


def test_named_claim_is_shared_by_all_replicas() -> None:
    demand = expand(
        CLAIM, deployment("a", replicas=3, claim="{name: gpu, resourceClaimName: shared}")
    )
    (shape,) = demand.shapes
    assert [str(claim.shared) for claim in shape.claims] == ["default/shared"]
    assert [str(key) for key in demand.shared_claims] == ["default/shared"]


def test_equal_pods_of_several_workloads_are_one_shape() -> None:
    demand = expand(TEMPLATE, deployment("a", replicas=2), deployment("b", replicas=5))
    (shape,) = demand.shapes
    assert [(member.workload.name, member.figures.steady) for member in shape.members] == [
        ("a", 2),
        ("b", 5),
    ]


def test_labels_that_no_selector_uses_do_not_separate_shapes() -> None:
    demand = expand(
        TEMPLATE,
        deployment("a", labels="{app: w, pod-template-hash: x1}"),
        deployment("b", labels="{app: w, pod-template-hash: x2}"),
    )
    assert len(demand.shapes) == 1
    assert demand.shapes[0].labels == {}


def test_labels_that_an_anti_affinity_uses_separate_shapes() -> None:
    spread = """      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: w}}}
"""
    demand = expand(
        TEMPLATE, deployment("a", labels="{app: w, rev: r1}", more=spread), deployment("b")
    )
    assert [shape.labels for shape in demand.shapes] == [{"app": "w"}, {"app": "w"}]


@pytest.mark.parametrize(
    ("documents", "verdict", "code", "words"),
    [
        (
            [deployment("a")],
            "cannot-tell",
            "template-not-found",
            "ResourceClaimTemplate default/one-gpu",
        ),
        (
            [TEMPLATE.replace("name: one-gpu", "name: one-gpus"), deployment("a")],
            "cannot-tell",
            "template-not-found",
            ", or use one-gpus",
        ),
        (
            [TEMPLATE.replace("name: one-gpu", "name: one-gpu, namespace: ml"), deployment("a")],
            "cannot-tell",
            "template-not-found",
            "The manifests contain one-gpu only in namespace ml",
        ),
        (
            [
                "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n",
                TEMPLATE.replace("name: one-gpu", "name: one-gpu, namespace: ml"),
                deployment("a").replace("name: a", "name: a, namespace: team", 1),
            ],
            "does-not-fit",
            "template-not-found",
            "create ResourceClaimTemplate one-gpu in namespace team, or move the pods to namespace ml",
        ),
        (
            [
                "apiVersion: v1\nkind: Namespace\nmetadata: {name: team, uid: '1'}\n",
                TEMPLATE.replace("name: one-gpu", "name: one-gpu, namespace: ml"),
                deployment("a").replace("name: a", "name: a, namespace: team", 1),
            ],
            "cannot-tell",
            "template-not-found",
            "The manifests contain one-gpu only in namespace ml",
        ),
        (
            [
                "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n",
                deployment("a").replace("name: a", "name: a, namespace: team", 1),
            ],
            "cannot-tell",
            "template-not-found",
            "add a manifest for ResourceClaimTemplate team/one-gpu",
        ),
        (
            [deployment("a", claim="{name: gpu, resourceClaimName: shared}")],
            "cannot-tell",
            "claim-not-found",
            "ResourceClaim default/shared",
        ),
        (
            [TEMPLATE.replace("gpu.nvidia.com", "gpu.nvidia.con"), deployment("a")],
            "cannot-tell",
            "class-not-found",
            ", or use gpu.nvidia.com",
        ),
        (
            [TEMPLATE, deployment("a", more="      nodeName: n1\n")],
            "does-not-fit",
            "node-name-set",
            "bypasses the scheduler",
        ),
        (
            [
                deployment("a", claim="", more="      nodeName: n1\n").replace(
                    "claims: [{name: gpu}]", ""
                )
            ],
            "cannot-tell",
            "node-name-set",
            "n1 without the scheduler",
        ),
    ],
    ids=[
        "no template",
        "template misspelled",
        "template elsewhere",
        "template outside the created namespace",
        "template outside an existing namespace",
        "no template in the created namespace",
        "no claim",
        "no class",
        "nodeName",
        "unknown node",
    ],
)
def test_pods_that_can_never_be_created_are_blocked(
    documents: list[str], verdict: str, code: str, words: str
) -> None:
    demand = expand(*documents)
    assert demand.shapes == ()
    (blocked,) = demand.blocked
    assert (blocked.verdict, blocked.reason.code) == (verdict, code)
    assert words in f"{blocked.reason.message} {blocked.reason.fix}"


def test_pods_with_a_scheduling_gate_count_as_released() -> None:
    demand = expand(
        TEMPLATE, deployment("a", replicas=2, more="      schedulingGates: [{name: quota}]\n")
    )
    assert demand.shapes[0].figures == Figures(0, 2, 2, 3)
    assumption = (
        "Deployment default/a: 1 scheduling gate (quota) blocks its pods, but the plan "
        "counts these pods as if they had no scheduling gates"
    )
    assert demand.assumptions == (assumption,)


def test_consumer_257_of_a_claim_is_blocked() -> None:
    demand = expand(
        CLAIM, deployment("a", replicas=300, claim="{name: gpu, resourceClaimName: shared}")
    )
    assert demand.shapes[0].figures == Figures(256, 256, 256, 256)
    (blocked,) = demand.blocked
    assert (blocked.reason.code, blocked.member.figures) == (
        "claim-consumers-limit",
        Figures(44, 44, 44, 119),
    )


GROUP = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: training}
spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]}
"""


@pytest.mark.parametrize(
    ("is_on", "entry", "group", "shared"),
    [
        # the name and the template come from the group's claim
        (True, "gpu", "training", "default/training-gpu"),
        (True, "other", "training", ""),
        (True, "gpu", "another", ""),
        (False, "gpu", "training", ""),
    ],
)
def test_pods_of_a_group_share_its_claim(is_on: bool, entry: str, group: str, shared: str) -> None:
    pods = (
        deployment(
            "a", replicas=300, claim=f"{{name: {entry}, resourceClaimTemplateName: one-gpu}}"
        )
        .replace(
            "      containers:",
            f"      schedulingGroup: {{podGroupName: {group}}}\n      containers:",
        )
        .replace("claims: [{name: gpu}]", f"claims: [{{name: {entry}}}]")
    )
    features = features_of(37).with_gates(workload_claims=is_on)
    manifests = read_checked([Source("m.yaml", "\n---\n".join([TEMPLATE, GROUP, pods]))], features)
    demand = expand_claims(manifests, CLASSES, features)
    (shape,) = demand.shapes
    assert [str(claim.shared or "") for claim in shape.claims] == [shared]
    # the group reserves its claim once, so the limit of consumers doesn't apply
    assert shape.figures.steady == 300
    assert demand.blocked == ()
    assert [each.code for each in manifests.diagnostics] == (
        [] if is_on else ["version-not-served"]
    )


def test_anti_affinity_excludes_pods_with_other_values() -> None:
    selector = "labelSelector: {matchExpressions: [{key: tenant, operator: Exists}]}"
    term = f"{{topologyKey: zone, {selector}, mismatchLabelKeys: [tenant, none]}}"
    affinity = (
        "      affinity: {podAntiAffinity: "
        f"{{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}"
    )
    (shape,) = expand(TEMPLATE, deployment("a", labels="{app: w, tenant: x}", more=affinity)).shapes
    (found,) = shape.pod.pod_anti_affinity
    assert found.label_selector is not None
    requirements = [
        (each.key, each.operator, each.values) for each in found.label_selector.requirements
    ]
    assert requirements == [("tenant", "Exists", ()), ("tenant", "NotIn", ("x",))]


def test_size_and_content_do_not_depend_on_replicas_or_order() -> None:
    documents = [TEMPLATE, CLAIM, deployment("a", replicas=10**7), deployment("b", replicas=3)]
    expected = expand(*documents)
    assert len(expected.shapes) == 1
    for seed in range(5):
        random.Random(seed).shuffle(documents)
        assert expand(*documents) == expected


EXTENDED_CLASS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {extendedResourceName: nvidia.com/gpu}
"""
EXTENDED_POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  initContainers:
  - {name: prepare, image: i, resources: {limits: {nvidia.com/gpu: 3}}}
  - {name: side, image: i, restartPolicy: Always, resources: {limits: {nvidia.com/gpu: 1}}}
  containers:
  - {name: main, image: i, resources: {limits: {cpu: 1, nvidia.com/gpu: 1}}}
"""


def test_extended_resource_becomes_a_claim_since_1_36() -> None:
    (shape,) = expand(EXTENDED_CLASS, EXTENDED_POD).shapes
    (claim,) = shape.claims
    requests = [
        (request.name, request.exactly.count) for request in claim.spec.requests if request.exactly
    ]
    assert requests == [
        ("container-0-request-0", 1),
        ("container-1-request-0", 1),
        ("container-2-request-1", 1),
    ]
    assert all("nvidia.com/gpu" not in container.requests for container in shape.pod.containers)


@pytest.mark.parametrize(
    ("minor", "documents"), [(35, [EXTENDED_CLASS, EXTENDED_POD]), (36, [EXTENDED_POD])]
)
def test_extended_resource_without_a_class_stays_a_request(
    minor: int, documents: list[str]
) -> None:
    (shape,) = expand(*documents, minor=minor, classes={}).shapes
    assert shape.claims == ()
    assert shape.pod.containers[0].requests["nvidia.com/gpu"] == 1


@pytest.mark.parametrize(
    ("default", "line", "priority"),
    [("false", "      priorityClassName: gpu-high\n", 1000), ("false", "", 0), ("true", "", 1000)],
    ids=["named", "none", "default"],
)
def test_priority_is_read_from_its_class(default: str, line: str, priority: int) -> None:
    head = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: gpu-high}\n"
    kind = f"{head}value: 1000\nglobalDefault: {default}\n"
    (shape,) = expand(TEMPLATE, kind, deployment("a", more=line)).shapes
    assert shape.pod.priority == priority
