"""Which objects of Karpenter, and which settings of its queue, the simulated clouds refuse."""

from __future__ import annotations

import copy
import json
from typing import Any

import grpc
import pytest

from dra_sandbox.clouds.kubernetes.karpenter import check_karpenter
from dra_sandbox.clouds.wire_values import UNKNOWN

POOL, CLASS = "kubernetes:karpenter.sh/v1:NodePool", "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass"
QUEUE, QUEUE_POLICY = "aws:sqs/queue:Queue", "aws:sqs/queuePolicy:QueuePolicy"
RULE, TARGET = "aws:cloudwatch/eventRule:EventRule", "aws:cloudwatch/eventTarget:EventTarget"
ON_DEMAND = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}
GOOD_POOL: dict[str, Any] = {
    "replicas": 2,
    "limits": {"nodes": 3},
    "disruption": {"consolidateAfter": "Never", "budgets": [{"nodes": "1"}]},
    "template": {
        "metadata": {"labels": {"pulumi-dra/pool": "l4"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "l4"},
            "requirements": [ON_DEMAND],
        },
    },
}
GOOD_CLASS: dict[str, Any] = {
    "amiSelectorTerms": [{"alias": "al2023@latest"}],
    "instanceProfile": "nodes",
    "subnetSelectorTerms": [{"id": "subnet-a"}],
    "securityGroupSelectorTerms": [{"id": "sg-a"}],
}


def changed(spec: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy with the value at a dotted path set, or removed (None)."""
    result = copy.deepcopy(spec)
    *way, last = path.split(".")
    inside = result
    for step in way:
        inside = inside[step]
    inside[last] = value
    if value is None:
        del inside[last]
    return result


def refusals(token: str, spec: dict[str, Any], before: dict[str, Any] | None = None) -> str:
    old = {"spec": before} if before else {}
    return "; ".join(
        f"{each.path}: {each.reason}" for each in check_karpenter(token, {"spec": spec}, old)
    )


OWN_LABEL = {"key": "karpenter.sh/nodepool", "operator": "In", "values": ["l4"]}
POOLS: dict[str, tuple[dict[str, Any], dict[str, Any] | None, str]] = {
    "good": (GOOD_POOL, None, ""),
    "scaled": (changed(GOOD_POOL, "replicas", 5), GOOD_POOL, ""),
    "with a weight": (
        changed(GOOD_POOL, "weight", 10),
        None,
        "'weight' is not supported on static NodePools",
    ),
    "limits of processors": (
        changed(GOOD_POOL, "limits.cpu", "8"),
        None,
        "only 'limits.nodes' is supported",
    ),
    "changed to dynamic": (
        changed(GOOD_POOL, "replicas", None),
        GOOD_POOL,
        "Cannot transition NodePool between static",
    ),
    "changed to static": (
        GOOD_POOL,
        changed(GOOD_POOL, "replicas", None),
        "Cannot transition NodePool between static",
    ),
    "a negative count": (
        changed(GOOD_POOL, "replicas", -1),
        None,
        "should be greater than or equal to 0",
    ),
    "no requirements": (
        changed(GOOD_POOL, "template.spec.requirements", None),
        None,
        "requirements: Required value",
    ),
    "its own label required": (
        changed(GOOD_POOL, "template.spec.requirements", [OWN_LABEL]),
        None,
        'label domain "karpenter.sh" is restricted',
    ),
    "its own label": (
        changed(GOOD_POOL, "template.metadata.labels", {"karpenter.sh/nodepool": "l4"}),
        None,
        'label domain "karpenter.sh" is restricted',
    ),
    "no values": (
        changed(GOOD_POOL, "template.spec.requirements", [{**ON_DEMAND, "values": []}]),
        None,
        "must have a value defined",
    ),
    "an invalid operator": (
        changed(GOOD_POOL, "template.spec.requirements", [{**ON_DEMAND, "operator": "Equals"}]),
        None,
        'Unsupported value: "Equals"',
    ),
    "no class": (
        changed(GOOD_POOL, "template.spec.nodeClassRef.name", ""),
        None,
        "name may not be empty",
    ),
    "a budget in words": (
        changed(GOOD_POOL, "disruption.budgets", [{"nodes": "some"}]),
        None,
        "should match",
    ),
    "a budget without other settings": (
        changed(GOOD_POOL, "disruption.consolidateAfter", None),
        None,
        "consolidateAfter: Required",
    ),
}


@pytest.mark.parametrize(("spec", "before", "reason"), POOLS.values(), ids=POOLS)
def test_node_pools_are_validated(
    spec: dict[str, Any], before: dict[str, Any] | None, reason: str
) -> None:
    found = refusals(POOL, spec, before)
    assert reason in found
    assert bool(found) == bool(reason)


FIRST = {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}
EFA = {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only"}
CLASSES: dict[str, tuple[dict[str, Any], str]] = {
    "good": (GOOD_CLASS, ""),
    "EFA with an interface": ({**GOOD_CLASS, "networkInterfaces": [FIRST, EFA]}, ""),
    "unknown subnets": ({**GOOD_CLASS, "subnetSelectorTerms": UNKNOWN}, ""),
    "no image": ({**GOOD_CLASS, "amiSelectorTerms": []}, "should have at least 1 items"),
    "two kinds of images": (
        {**GOOD_CLASS, "amiSelectorTerms": [{"alias": "al2023@latest"}, {"id": "ami-1"}]},
        "'alias' is mutually exclusive",
    ),
    "an image without a family": (
        {**GOOD_CLASS, "amiSelectorTerms": [{"id": "ami-1"}]},
        "must specify amiFamily",
    ),
    "a role with an instance profile": (
        {**GOOD_CLASS, "role": "nodes"},
        "exactly one of ['role', 'instanceProfile']",
    ),
    "neither": (
        changed(GOOD_CLASS, "instanceProfile", None),
        "exactly one of ['role', 'instanceProfile']",
    ),
    "no subnets": (
        {**GOOD_CLASS, "subnetSelectorTerms": []},
        "subnetSelectorTerms cannot be empty",
    ),
    "a reserved tag": (
        {**GOOD_CLASS, "tags": {"karpenter.sh/nodepool": "a"}},
        "a restricted tag matching",
    ),
    "only EFA": ({**GOOD_CLASS, "networkInterfaces": [EFA]}, "must include a primary interface"),
    "a duplicate interface index": (
        {**GOOD_CLASS, "networkInterfaces": [FIRST, FIRST]},
        "must not have duplicate",
    ),
    "two EFA interfaces on a card": (
        {**GOOD_CLASS, "networkInterfaces": [FIRST, EFA, {**EFA, "deviceIndex": 1}]},
        "at most one efa device per network card",
    ),
}


@pytest.mark.parametrize(("spec", "reason"), CLASSES.values(), ids=CLASSES)
def test_node_classes_are_validated(spec: dict[str, Any], reason: str) -> None:
    found = refusals(CLASS, spec)
    assert reason in found
    assert bool(found) == bool(reason)


def test_queues_and_event_rules_are_created(cloud: Any) -> None:
    queue = cloud.create(QUEUE, name="events", messageRetentionSeconds=300)
    rule = cloud.create(RULE, name="spot", eventPattern=json.dumps({"source": ["aws.ec2"]}))
    cloud.create(TARGET, rule=rule["name"], arn=queue["arn"])
    cloud.create(
        QUEUE_POLICY, queueUrl=queue["url"], policy=json.dumps({"Statement": [{"Effect": "Deny"}]})
    )
    with pytest.raises(grpc.RpcError, match="Rule another does not exist"):
        cloud.create(TARGET, rule="another", arn=queue["arn"])
    with pytest.raises(grpc.RpcError, match="queue does not exist"):
        cloud.create(
            QUEUE_POLICY, queueUrl="https://elsewhere", policy=json.dumps({"Statement": [{}]})
        )
    assert "range (60 - 1209600)" in cloud.check_error(
        QUEUE, {"name": "a", "messageRetentionSeconds": 5}
    )
    assert "must be specified" in cloud.check_error(RULE, {"name": "a"})
    assert "Event pattern is not valid" in cloud.check_error(
        RULE, {"name": "a", "eventPattern": "aws.ec2"}
    )
    assert "invalid JSON policy" in cloud.check_error(
        QUEUE_POLICY, {"queueUrl": "a", "policy": "Allow"}
    )
