"""The pack in a separate process, called over gRPC as by the engine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2 as messages
from pulumi.runtime.proto import analyzer_pb2_grpc

from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource

PACK = Path(__file__).parents[2] / "policies"


@pytest.fixture(scope="module")
def analyzer() -> Iterator[Any]:
    """Return a stub of the running pack."""
    environment = {
        **os.environ,
        "PULUMI_PROJECT": "project",
        "PULUMI_STACK": "dev",
        "PULUMI_CONFIG": "{}",
    }
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:1", str(PACK)],
        cwd=PACK,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield analyzer_pb2_grpc.AnalyzerStub(channel)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def struct(values: Any) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(values)
    return made


def analyze(analyzer: Any, resource: Resource) -> Any:
    return analyzer.Analyze(
        messages.AnalyzeRequest(
            type=resource.type,
            urn=resource.urn,
            name=resource.name,
            properties=struct(resource.props.values),
        )
    )


def analyze_stack(analyzer: Any, *resources: Resource) -> Any:
    return analyzer.AnalyzeStack(
        messages.AnalyzeStackRequest(
            resources=[
                messages.AnalyzerResource(
                    type=resource.type,
                    urn=resource.urn,
                    name=resource.name,
                    properties=struct(resource.props.values),
                )
                for resource in resources
            ]
        )
    )


def policies_and_levels(response: Any) -> list[tuple[str, int]]:
    return [
        (diagnostic.policyName, diagnostic.enforcementLevel) for diagnostic in response.diagnostics
    ]


def test_the_pack_lists_every_rule_with_its_level(analyzer: Any) -> None:
    info = analyzer.GetAnalyzerInfo(empty_pb2.Empty())

    levels = {"mandatory": messages.MANDATORY, "advisory": messages.ADVISORY}
    assert info.name == "dra"
    assert [(policy.name, policy.enforcementLevel) for policy in info.policies] == [
        (rule.id, levels[rule.level] if rule.is_on else messages.DISABLED) for rule in RULES
    ]


def test_the_pack_rejects_a_pool_and_the_stack(analyzer: Any, declare: SimpleNamespace) -> None:
    assert policies_and_levels(analyze(analyzer, declare.record())) == []
    bad = declare.node_group(counts=(2, 2, 3))

    response = analyze(analyzer, bad)

    assert policies_and_levels(response) == [("pool-differs-from-plan", messages.MANDATORY)]
    assert "is 3, but the plan expects 4" in response.diagnostics[0].message
    assert (
        policies_and_levels(analyze_stack(analyzer, declare.record(), bad)) == []
    )  # already reported
    good = declare.node_group()
    assert policies_and_levels(analyze(analyzer, good)) == []
    assert policies_and_levels(analyze_stack(analyzer, declare.record(), good)) == []


def test_a_stack_without_resource_checks_is_checked_as_a_whole(
    analyzer: Any, declare: SimpleNamespace
) -> None:
    pool = declare.node_pool("other", pool="l4")

    response = analyze_stack(analyzer, pool)

    assert policies_and_levels(response) == [("plan-record-missing", messages.MANDATORY)]
    assert response.diagnostics[0].urn == pool.urn


def test_levels_are_configured_by_rule_id(analyzer: Any, declare: SimpleNamespace) -> None:
    levels = {rule.id: messages.ADVISORY for rule in RULES}
    analyzer.Configure(
        messages.ConfigureAnalyzerRequest(
            policyConfig={
                name: messages.PolicyConfig(enforcementLevel=level)
                for name, level in levels.items()
            }
        )
    )
    try:
        analyze(analyzer, declare.record())
        assert policies_and_levels(analyze(analyzer, declare.node_group(counts=(2, 2, 3)))) == [
            ("pool-differs-from-plan", messages.ADVISORY)
        ]
    finally:
        analyzer.Configure(messages.ConfigureAnalyzerRequest())
