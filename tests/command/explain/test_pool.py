"""`explain --pool NAME`: the use of a pool. The expected values were computed manually."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_project import Project

from kueue_queues import cpu_queue

ROOT = Path(__file__).parents[3]
FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.36"
systemPool: {machine: m7i.large}
drivers: {nvidia: {version: 25.8.1}}
pools:
  - {name: l4, machine: g6.2xlarge, count: {max: MAX}}
  - {name: idle, machine: g6.2xlarge, count: {max: 1}, taints: [{key: team, value: a}]}
"""
TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: NAME}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: COUNT}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 2
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: NAME}]
      containers: [{name: main, image: registry.example/web:1, resources: {claims: [{name: gpu}]}}]
---
"""
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 10}, nodeInfo: {kubeletVersion: v1.36.1}}
---
"""
KUEUE = """\
apiVersion: config.kueue.x-k8s.io/v1beta1
kind: Configuration
resources: {deviceClassMappings: [{name: gpus, deviceClassNames: [gpu.nvidia.com]}]}
---
"""
UNKNOWN = """\
apiVersion: ai.example.com/v1
kind: Worker
metadata: {name: w, namespace: ml}
spec: {template: {spec: {containers: [{name: c, image: registry.example/w:1}]}}}
"""


@pytest.fixture
def given(project: Project) -> Project:
    """Two Deployments with two pods each: one GPU per pod, and two GPUs per pod, which no node has.
    A small pool is full.
    """
    one, two = (
        TEMPLATE.replace("NAME", name).replace("COUNT", count)
        for name, count in (("one", "1"), ("two", "2"))
    )
    project.write("m.yaml", one + two)
    project.write("fleet.yaml", FLEET.replace("MAX", "4"))
    project.write("small.yaml", FLEET.replace("MAX", "1"))
    project.write("cluster.yaml", NODE)
    return project


def explained(project: Project, *words: str) -> tuple[int, dict[str, object]]:
    done = project.run("explain", "m.yaml", *words, "--format", "json")
    return done.status, done.json


def test_pool_is_explained_with_running_and_rejected_workloads(given: Project) -> None:
    status, answer = explained(given, "--fleet", "fleet.yaml", "--pool", "l4")
    assert (status, answer["verdict"], answer["pool"], answer["machine"]) == (
        0,
        "fits",
        "l4",
        "g6.2xlarge",
    )
    assert answer["count"] == {
        "min": 0,
        "bound": 2,
        "packing": 2,
        "simulated": 2,
        "recommended": 2,
        "max": 4,
    }
    assert answer["published"] == [
        {"driver": "gpu.nvidia.com", "name": "NVIDIA L4", "devices": 1, "memory": "23034Mi"}
    ]
    uses = {row["workload"]: row for row in answer["workloads"]}  # type: ignore[attr-defined]
    assert [(row["answer"], row["here"], row["pending"]) for row in uses.values()] == [
        ("fits", 2, 0), ("does-not-fit", 0, 2),
    ]  # fmt: skip
    assert uses["Deployment default/one"]["reasons"] == []
    (reason,) = uses["Deployment default/two"]["reasons"]
    assert reason["message"] == "the pod requests 2 devices, but the node has only 1"


def test_pool_that_is_too_small_does_not_fit(given: Project) -> None:
    status, answer = explained(given, "--fleet", "small.yaml", "--pool", "l4")
    assert (status, answer["verdict"]) == (1, "does-not-fit")
    done = given.run("explain", "m.yaml", "--fleet", "small.yaml", "--pool", "l4")
    assert "is too small for the workloads that can run in it" in done.out
    assert "Deployment default/one: 1 pod, 1 pending" in done.out


def test_what_if_changes_the_fleet(given: Project) -> None:
    status, answer = explained(
        given, "--fleet", "small.yaml", "--pool", "l4", "--what-if", "pools.l4.count.max=2"
    )
    assert (status, answer["verdict"], answer["what_if"]) == (0, "fits", ["pools.l4.count.max=2"])


def test_unneeded_pool_is_explained(given: Project) -> None:
    done = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--pool", "idle")
    assert done.status == 0
    assert done.out.startswith("pool idle (g6.2xlarge) isn't needed by any workload\n")
    assert "the node has the taint team=a:NoSchedule, which the pod doesn't tolerate" in done.out


def test_node_of_a_snapshot_is_explained(given: Project) -> None:
    done = given.run("explain", "m.yaml", "--observed", "cluster.yaml", "--pool", "node-1")
    assert done.status == 0
    assert done.out.startswith(
        "node node-1 isn't needed by any workload\n  a node publishes no device\n"
    )


def test_quiet_prints_only_the_first_line(given: Project) -> None:
    done = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--pool", "l4", "--quiet")
    assert done.out == "pool l4 (g6.2xlarge) fits all workloads that can run in it\n"


def test_answer_has_the_fields_of_its_schema(given: Project) -> None:
    _, answer = explained(given, "--fleet", "fleet.yaml", "--pool", "l4")
    schema = json.loads(
        (ROOT / "docs" / "schema" / "explain-pool.json").read_text(encoding="utf-8")
    )
    assert set(answer) == set(schema["required"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--pool", "l5"), 'pool "l5" isn\'t in the plan; use one of these pools: l4, idle'),
        (
            (),
            (
                "`explain` needs a claim, pod, finding, pool, or message; use --claim or --pod "
                "NAMESPACE/NAME, --finding RULE, --pool NAME, or --message TEXT"
            ),
        ),
        (
            ("--pool", "l4", "--format", "html"),
            "--pool without a claim doesn't support --format html",
        ),
        (("--pool", "l4", "--what-if", "pools.l4"), "\" doesn't set a value"),
    ],
)
def test_wrong_arguments_are_rejected(given: Project, words: tuple[str, ...], message: str) -> None:
    done = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", *words)
    assert done.status == 2
    assert message in done.err


def test_without_an_option_everything_explainable_is_listed(given: Project) -> None:
    done = given.run("explain", "m.yaml", "--fleet", "fleet.yaml")

    assert done.status == 2
    assert "--pod accepts default/one, default/two\n" in done.err
    assert "--pool accepts l4, idle\n" in done.err
    (claims,) = [line for line in done.err.splitlines() if "--claim accepts" in line]
    for name in claims.partition("accepts ")[2].split(", "):
        assert given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--claim", name).status != 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("one", "claim default/one-gpu of Deployment default/one"),
        (
            "both",
            (
                '"default/both" is ambiguous, because the template generates 2 claims; use one '
                "of these claims: "
            ),
        ),
        (
            "wto",
            'no workload has a claim "default/wto"; did you mean "default/two"?',
        ),
        ("zzz", 'no workload has a claim "default/zzz"; use one of these claims: default/one'),
    ],
    ids=["a template", "a template of two claims", "a wrong letter", "another name"],
)
def test_claim_can_be_named_by_its_template(given: Project, name: str, message: str) -> None:
    text = (given.root / "m.yaml").read_text(encoding="utf-8")
    if name == "both":
        more = "{name: gpu, resourceClaimTemplateName: both}, {name: aux, resourceClaimTemplateName: both}"
        text = (
            TEMPLATE.replace("NAME", "both")
            .replace("COUNT", "1")
            .replace("{name: gpu, resourceClaimTemplateName: both}", more)
        )
    given.write("m.yaml", text)
    done = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--claim", name)
    assert message in done.out + done.err


def test_workloads_left_pending_by_a_change_decide_the_verdict(given: Project) -> None:
    change = ("--what-if", "pools.l4.count.max=1")
    status, answer = explained(given, "--fleet", "fleet.yaml", "--pool", "l4", *change)
    assert (status, answer["verdict"]) == (1, "does-not-fit")
    done = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--pool", "l4", *change)
    assert "pool l4 (g6.2xlarge) no longer fits 1 workload" in done.out
    more = ("--what-if", "pools.l4.count.max=9")
    done = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--pool", "l4", *more)
    assert (done.status, "fits all workloads" in done.out) == (0, True)


def test_a_workload_that_runs_in_the_pool_has_the_reason_that_stops_it(given: Project) -> None:
    quota = (
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few, namespace: default}\n"
        "spec: {hard: {pods: 0}}\n"
    )
    one = TEMPLATE.replace("NAME", "one").replace("COUNT", "1")
    given.write("m.yaml", one + quota)
    status, answer = explained(given, "--fleet", "fleet.yaml", "--pool", "l4")
    assert (status, answer["verdict"]) == (1, "does-not-fit")
    (use,) = answer["workloads"]  # type: ignore[misc]
    assert "ResourceQuota default/few" in use["reasons"][0]["message"]


def test_a_queue_that_admits_no_pod_is_not_a_lack_of_nodes(given: Project) -> None:
    one = TEMPLATE.replace("NAME", "one").replace("COUNT", "1")
    queued = one.replace(
        "kind: Deployment\nmetadata: {name: one}",
        "kind: Deployment\nmetadata: {name: one, labels: {kueue.x-k8s.io/queue-name: team}}",
    )
    given.write("m.yaml", queued + cpu_queue("default") + KUEUE)
    done = given.run("explain", "m.yaml", "--fleet", "fleet.yaml", "--pool", "l4")
    assert done.status == 1
    assert "is large enough, but a workload can't run for another reason" in done.out
    assert 'ClusterQueue "all" doesn\'t cover' in done.out


def test_an_object_that_is_not_read_is_a_reason(given: Project) -> None:
    given.write("m.yaml", UNKNOWN)
    status, answer = explained(given, "--fleet", "fleet.yaml", "--pool", "l4")
    assert (status, answer["verdict"]) == (3, "cannot-tell")
    assert answer["doubts"] != []
