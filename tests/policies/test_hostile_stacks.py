"""The pack evaluates every stack, or reports that it can't. It never fails with an internal
error.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge
from dra_policies.unknown_values import UNKNOWN, Properties

TYPES = [
    "aws:eks/nodeGroup:NodeGroup",
    "aws:eks/cluster:Cluster",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "gcp:container/nodePool:NodePool",
    "gcp:container/cluster:Cluster",
    "pulumi-dra:index:CapacityPlan",
    "kubernetes:helm.sh/v3:Release",
    "kubernetes:apps/v1:DaemonSet",
    "kubernetes:apps/v1:DaemonSetPatch",
    "kubernetes:apps/v1:Deployment",
    "kubernetes:batch/v1:Job",
    "kubernetes:core/v1:Pod",
    "kubernetes:core/v1:Namespace",
    "kubernetes:core/v1:ResourceQuota",
    "kubernetes:resource.k8s.io/v1:ResourceClaim",
    "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate",
    "kubernetes:resource.k8s.io/v1:DeviceClass",
]
WORDS = [
    "affinity",
    "amiType",
    "autoscaling",
    "chart",
    "containers",
    "count",
    "deviceClassName",
    "devices",
    "digest",
    "document",
    "effect",
    "exactly",
    "guestAccelerators",
    "hard",
    "instanceTypes",
    "key",
    "labels",
    "launchTemplate",
    "limits",
    "machineType",
    "matchExpressions",
    "maxSize",
    "metadata",
    "minSize",
    "name",
    "namespace",
    "nodeAffinity",
    "nodeConfig",
    "nodeLocations",
    "nodeSelector",
    "operator",
    "pods",
    "pulumi-dra/pool",
    "nvidia.com/gpu.dra",
    "requests",
    "resourceClaims",
    "resources",
    "scalingConfig",
    "selectors",
    "spec",
    "taints",
    "template",
    "tolerations",
    "type",
    "value",
    "values",
    "version",
]
SCALARS = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        -1,
        3,
        10**30,
        1.5,
        "",
        "true",
        "In",
        "l4",
        "1.34",
        "nvidia-device-plugin",
        "{}",
        UNKNOWN,
    ]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5)
    ),
    max_leaves=25,
)
PROPS = st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=8)


@st.composite
def damaged(draw: st.DrawFn, value: Any) -> Any:
    """Return a copy of a valid value with one part replaced, removed, or made unknown."""
    if isinstance(value, dict) and value and draw(st.integers(0, 9)):
        key = draw(st.sampled_from(sorted(value)))
        if not draw(st.integers(0, 4)):
            return {other: item for other, item in value.items() if other != key}
        return {**value, key: draw(damaged(value[key]))}
    if isinstance(value, list) and value and draw(st.integers(0, 9)):
        index = draw(st.integers(0, len(value) - 1))
        return [*value[:index], draw(damaged(value[index])), *value[index + 1 :]]
    return draw(VALUES)


def findings_of(stack: list[Resource]) -> list[str]:
    judge = Judge(RULES)
    entries = [entry for resource in stack for entry in judge.of_resource(resource)]
    return [f"{entry.rule.id}: {entry.finding}" for entry in (*entries, *judge.of_stack(stack))]


def failures(stack: list[Resource]) -> list[str]:
    return [
        sentence for sentence in findings_of(stack) if sentence.startswith("rule-could-not-run")
    ]


FEW = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))


@FEW
@given(st.lists(st.tuples(st.sampled_from(TYPES), PROPS), max_size=5))
def test_random_properties_cause_no_exception(parts: list[tuple[str, Any]]) -> None:
    stack = [
        Resource(
            urn=f"urn:pulumi:s::p::{token}::r{number}",
            type=token,
            name=f"r{number}",
            props=Properties(props),
        )
        for number, (token, props) in enumerate(parts)
    ]

    assert failures(stack) == []


@FEW
@given(data=st.data())
def test_a_damaged_property_causes_no_exception(
    declare: SimpleNamespace, data: st.DataObject
) -> None:
    stack: list[Resource] = [
        declare.record(),
        data.draw(st.sampled_from([declare.node_group(), declare.node_pool()])),
        declare.release("nvidia-device-plugin"),
        declare.release("nvidia-dra-driver-gpu", version="25.8.1"),
        *declare.job_resources(2),
    ]
    at = data.draw(st.integers(0, len(stack) - 1))
    bad = data.draw(damaged(stack[at].props.values))
    good = stack[at]
    stack[at] = Resource(
        urn=good.urn,
        type=good.type,
        name=good.name,
        props=Properties(bad if isinstance(bad, dict) else {}),
    )

    assert failures(stack) == []
