"""The number of steps that judging a stack takes, which is counted and not timed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2 as messages
from pulumi_policy import EnforcementLevel
from pulumi_policy import policy as sdk
from pulumi_policy.policy import _PolicyAnalyzerServicer

from dra_policies.pack import policies
from dra_policies.rules import RULES
from dra_policies.stack import judgement
from dra_policies.stack_evaluation import Judge

MANY = 20


def test_a_request_is_evaluated_once_for_all_rules(
    declare: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated: list[str] = []
    real = Judge.of_resource
    monkeypatch.setattr(
        Judge, "of_resource", lambda self, each: evaluated.append(each.urn) or real(self, each)
    )
    servicer = _PolicyAnalyzerServicer("dra", "1", policies(), EnforcementLevel.ADVISORY)
    group = declare.node_group()
    properties = struct_pb2.Struct()
    properties.update(group.props.values)
    request = messages.AnalyzeRequest(
        type=group.type, urn=group.urn, name=group.name, properties=properties
    )

    servicer.Analyze(request, None)
    servicer.Analyze(request, None)

    assert evaluated == [group.urn, group.urn]  # once in each request


def test_a_request_is_decoded_once_for_all_rules(
    declare: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This also applies if several rules have findings: the stack isn't decoded for each of
    them.
    """
    decoded: list[object] = []
    real = sdk.json_format.MessageToDict
    monkeypatch.setattr(
        sdk.json_format, "MessageToDict", lambda message: decoded.append(message) or real(message)
    )
    servicer = _PolicyAnalyzerServicer("dra", "1", policies(), EnforcementLevel.ADVISORY)
    open_to_all = declare.resource("aws:eks/cluster:Cluster", "c", {"version": "1.33"})
    stack = [declare.record(), declare.node_group(), open_to_all, *declare.job_resources(1)]
    requests = [
        {
            "type": each.type,
            "urn": each.urn,
            "name": each.name,
            "properties": _struct(each.props.values),
        }
        for each in stack
    ]

    answers = [servicer.Analyze(messages.AnalyzeRequest(**each), None) for each in requests]
    of_stack = servicer.AnalyzeStack(
        messages.AnalyzeStackRequest(
            resources=[messages.AnalyzerResource(**each) for each in requests]
        ),
        None,
    )

    assert (
        len({each.policyName for answer in (*answers, of_stack) for each in answer.diagnostics})
        >= 2
    )
    assert len([each for each in decoded if len(each.fields)]) == 2 * len(stack)  # type: ignore[attr-defined]  # a Struct


def _struct(values: Any) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(values)
    return made


def test_objects_are_sized_one_by_one_and_once_together(
    declare: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sized: list[int] = []
    real = judgement.judge

    def counting(demand: Any, *args: Any, **changes: Any) -> Any:
        sized.append(sum(len(shape.members) for shape in demand.shapes))
        return real(demand, *args, **changes)

    monkeypatch.setattr(judgement, "judge", counting)
    pairs = [declare.job_resources(1, name=f"train-{number}") for number in range(MANY)]
    stack = [declare.record(), declare.node_group(), *(each for pair in pairs for each in pair)]
    judge = Judge(RULES)

    for each in stack:
        judge.of_resource(each)
    judge.of_stack(stack)

    assert sized == [*[1] * MANY, MANY]
