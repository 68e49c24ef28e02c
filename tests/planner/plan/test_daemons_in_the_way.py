"""Pods that fit a node only without the pod of a DaemonSet: the DaemonSet is named."""

from __future__ import annotations

import pytest
from plan_builders import fleet

from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: of-COUNT}
spec:
  spec:
    devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: COUNT}}]}
---
"""
AGENT = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: NAME}
spec:
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      nodeSelector: {nvidia.com/gpu.dra: "true"}
      tolerations: [{operator: Exists}]
      REST
---
"""
WITH_CLAIM = """containers: [{name: c, image: x, resources: {claims: [{name: gpu}]}}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: of-1}]"""
WITH_MEMORY = "containers: [{name: c, image: x, resources: {requests: {memory: AMOUNT}}}]"
TRAIN = """
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      restartPolicy: Never
      tolerations: [{operator: Exists}]
      containers:
        - {name: c, image: x, resources: {requests: {memory: 16Gi}, claims: [{name: gpu}]}}
      resourceClaims: [{name: gpu, resourceClaimTemplateName: of-COUNT}]
"""


def agent(name: str, rest: str = WITH_CLAIM) -> str:
    return AGENT.replace("NAME", name).replace("REST", rest)


def plan(*agents: str, gpus: int, machine: str = "g6.12xlarge") -> Plan:
    claims = "".join(CLAIM.replace("COUNT", str(count)) for count in sorted({1, gpus}))
    text = claims + "".join(agents) + TRAIN.replace("COUNT", str(gpus))
    sources = (Source("m.yaml", text),)
    return make_plan(PlanRequest(sources=sources, fleet=fleet((machine, {"max": 4}))))


@pytest.mark.parametrize(("machine", "gpus"), [("g6.2xlarge", 1), ("g6.12xlarge", 4)])
def test_daemon_set_whose_claim_uses_a_device_of_every_node_is_named(
    machine: str, gpus: int
) -> None:
    (reason,) = (
        plan(agent("monitor"), gpus=gpus, machine=machine)
        .workload("Job", "default", "train")
        .reasons
    )

    assert reason.code == "daemons-in-the-way"
    assert "only without the pods of DaemonSet default/monitor" in reason.message
    assert "remove the claims from DaemonSet default/monitor" in reason.fix
    assert "request less" not in reason.fix


def test_daemon_set_that_uses_the_memory_is_named() -> None:
    cache = agent("cache", WITH_MEMORY.replace("AMOUNT", "20Gi"))
    made = plan(cache, gpus=1, machine="g6.2xlarge")
    (reason,) = made.workload("Job", "default", "train").reasons

    assert "only without the pods of DaemonSet default/cache" in reason.message
    assert "reduce the requests of DaemonSet default/cache" in reason.fix


def test_only_the_daemon_set_that_is_in_the_way_is_named() -> None:
    small = agent("small", WITH_MEMORY.replace("AMOUNT", "1Mi"))
    (reason,) = plan(small, agent("monitor"), gpus=4).workload("Job", "default", "train").reasons

    assert "DaemonSet default/monitor," in reason.message
    assert "default/small" not in reason.message


def test_daemon_sets_that_are_in_the_way_together_are_all_named() -> None:
    made = plan(agent("a"), agent("b"), gpus=4)
    (reason,) = made.workload("Job", "default", "train").reasons

    assert "the pods of DaemonSet default/a and DaemonSet default/b" in reason.message


def test_daemon_set_is_not_named_if_the_pod_never_fits() -> None:
    made = plan(agent("monitor"), gpus=4, machine="g6.2xlarge")
    reasons = made.workload("Job", "default", "train").reasons

    assert reasons
    assert not any("DaemonSet" in each.message for each in reasons)


def test_pod_fits_next_to_a_daemon_set_with_enough_devices() -> None:
    assert plan(agent("monitor"), gpus=3).verdict == "fits"
