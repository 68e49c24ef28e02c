"""No output of the pack contains a value that a stack marks as secret, in any property of any
type.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import analyzer_pb2 as messages
from pulumi_policy import EnforcementLevel
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY
from pulumi_policy.policy import _PolicyAnalyzerServicer
from seeded_stacks import base

from dra_policies.pack import policies
from dra_policies.stack.resource import Resource

CANARY = "canary-7d1f"
CRITICAL = "system-node-critical"


def secret(value: Any) -> dict[str, Any]:
    """Return a value that is marked as a secret in the engine's format."""
    return {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": value}


def poisoned(value: Any) -> Iterator[Any]:
    """For each property, yield a copy of the value in which the property is a secret: the canary,
    or its old value followed by the canary.
    """
    if isinstance(value, dict):
        yield secret({**value, CANARY: CANARY})
        for key, item in value.items():
            yield from ({**value, key: other} for other in poisoned(item))
    elif isinstance(value, list):
        yield secret([*value, CANARY])
        for index, item in enumerate(value):
            yield from ([*value[:index], other, *value[index + 1 :]] for other in poisoned(item))
    else:
        yield secret(CANARY)


def struct(values: Any) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(values)
    return made


def output_of(stack: list[Resource], at: int, values: Any) -> str:
    """Return all output of a new pack, as text, for a stack in which one resource has other
    properties.
    """
    servicer = _PolicyAnalyzerServicer("dra", "1", policies(), EnforcementLevel.ADVISORY)
    resources = [
        {
            "type": each.type,
            "urn": each.urn,
            "name": each.name,
            "properties": struct(each.props.values),
        }
        for each in stack
    ]
    resources[at]["properties"] = struct(values)
    answers = [servicer.Analyze(messages.AnalyzeRequest(**each), None) for each in resources]
    answers.append(
        servicer.AnalyzeStack(
            messages.AnalyzeStackRequest(
                resources=[messages.AnalyzerResource(**each) for each in resources]
            ),
            None,
        )
    )
    return "".join(json_format.MessageToJson(answer) for answer in answers)


KINDS = (
    "cluster",
    "node group",
    "node pool",
    "driver",
    "device plugin",
    "template",
    "job",
    "class",
    "daemon",
    "quota",
)


def a_stack(declare: SimpleNamespace) -> dict[str, Resource]:
    template, job = declare.job_resources(
        2, 3, selector="device.attributes['gpu.nvidia.com'].index == 1"
    )
    terms = {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "team", "operator": "In", "values": ["a"]}]}
        ]
    }
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    selectors = [{"cel": {"expression": "device.driver == 'x'"}}]
    plugin = {"nodeSelector": {"team": "a"}, "containers": [{"image": "x/k8s-device-plugin:1"}]}
    scope = {
        "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": [CRITICAL]}]
    }
    quota = {"hard": {"pods": "1"}, "scopeSelector": scope}
    return {
        "record": declare.record(),
        "cluster": declare.resource(
            "aws:eks/cluster:Cluster", "c", {"version": "1.34", "region": "us-east-1"}
        ),
        "node group": declare.node_group(counts=(1, 1, 1)),
        "node pool": declare.node_pool("other", pool="other"),
        "driver": declare.release(
            "nvidia-dra-driver-gpu", {"featureGates": {"MPSSupport": True}}, version="25.8.1"
        ),
        "device plugin": declare.release("nvidia-device-plugin", {"affinity": affinity}),
        "template": template,
        "job": job,
        "class": declare.kubernetes(
            "DeviceClass", "resource.k8s.io/v1", "own", spec={"selectors": selectors}
        ),
        "daemon": declare.daemon_set(plugin),
        "quota": declare.kubernetes("ResourceQuota", "core/v1", "q", "nvidia", spec=quota),
    }


def _every(count: int, values: Iterator[Any]) -> Iterator[Any]:
    return (value for number, value in enumerate(values) if number % count == 0)


BASES = ("raw-aks", "raw-eks", "raw-gke", "karpenter", "gke-inline")
OTHERS = [(name, short) for name in BASES for short in base(name)]


@pytest.mark.parametrize(("name", "short"), OTHERS)
def test_no_property_of_a_foreign_stack_leaks_a_secret(name: str, short: str) -> None:
    """This tests every fourth value of `poisoned`, starting with the first one."""
    stack = base(name)
    at = list(stack).index(short)

    for values in _every(4, poisoned(stack[short].props.values)):
        if SPECIAL_SIG_KEY not in values:
            assert CANARY not in output_of(list(stack.values()), at, values)


@pytest.mark.parametrize("kind", KINDS)
def test_no_property_of_any_kind_leaks_a_secret(declare: SimpleNamespace, kind: str) -> None:
    stack = a_stack(declare)
    at = list(stack).index(kind)

    for values in poisoned(stack[kind].props.values):
        if SPECIAL_SIG_KEY not in values:
            assert CANARY not in output_of(list(stack.values()), at, values)
