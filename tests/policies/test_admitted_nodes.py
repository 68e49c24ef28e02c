"""Access entries for the roles of nodes, in stacks whose resources depend on components."""

from __future__ import annotations

from types import SimpleNamespace

from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge

COMPONENT = "urn:pulumi:dev::test::pulumi-dra:index:CapacityPlan::plan"
ROLE_ARN = "arn:aws:iam::111122223333:role/nodes"


def messages(stack: list[Resource]) -> list[str]:
    """Return the messages of the rule about identities."""
    return [
        entry.finding.message
        for entry in Judge(RULES).of_stack(stack)
        if entry.rule.id in ("identity-lacks-rights", "rule-could-not-run")
    ]


def cluster(declare: SimpleNamespace, name: str) -> Resource:
    access = {"accessConfig": {"authenticationMode": "API"}}
    found: Resource = declare.resource("aws:eks/cluster:Cluster", name, {"name": name, **access})
    return found


def node_class(declare: SimpleNamespace, role: str) -> Resource:
    found: Resource = declare.resource(
        "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass",
        "gpu",
        {"metadata": {"name": "gpu"}, "spec": {"role": role}},
    )
    return found


def test_a_component_can_be_the_source_of_a_pools_role(declare: SimpleNamespace) -> None:
    pool = declare.node_group(nodeRoleArn=ROLE_ARN, sources={"nodeRoleArn": (COMPONENT,)})

    assert messages([cluster(declare, "a"), pool, node_class(declare, "nodes")]) == []


def test_a_node_class_with_another_role_is_reported(declare: SimpleNamespace) -> None:
    pool = declare.node_group(nodeRoleArn=ROLE_ARN, sources={"nodeRoleArn": (COMPONENT,)})

    (message,) = messages([cluster(declare, "a"), pool, node_class(declare, "others")])

    assert message.startswith('role "others" of EC2NodeClass "gpu" doesn\'t have an access entry')
