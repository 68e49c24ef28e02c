"""If a project enables it, the pack sets a pool's counts to the planned counts. It never removes
running nodes.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pulumi.runtime.proto import analyzer_pb2 as messages
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE
from test_pack_over_grpc import analyze, struct

from dra_planner.errors import PlannerError
from dra_policies.configuration.reading import parse_configuration
from dra_policies.rules import RULES
from dra_policies.stack.resource import Resource
from dra_policies.stack_evaluation import Judge
from dra_policies.unknown_values import UNKNOWN

pytest_plugins = ["test_pack_over_grpc"]
LOW, HIGH, NOW = "scalingConfig.minSize", "scalingConfig.maxSize", "scalingConfig.desiredSize"


def changes_of(record: Resource, pool: Resource) -> dict[str, int]:
    judge = Judge(RULES)
    judge.of_resource(record)
    return judge.planned_counts(pool)


class TestNodeGroups:  # the plan has 2, 2, and 4 nodes
    @pytest.mark.parametrize(
        ("counts", "changes"),
        [
            ((2, 2, 4), {}),
            ((2, 2, 3), {HIGH: 4}),
            ((0, 0, 1), {LOW: 2, NOW: 2, HIGH: 4}),
            ((0, 3, 9), {LOW: 2, HIGH: 4}),  # three run
            ((0, 6, 9), {LOW: 2, HIGH: 6}),  # six run: the maximum stays above them
        ],
    )
    def test_counts_match_the_plan(
        self, declare: SimpleNamespace, counts: Any, changes: dict[str, int]
    ) -> None:
        assert changes_of(declare.record(), declare.node_group(counts=counts)) == changes

    def test_a_count_managed_by_an_autoscaler_stays(self, declare: SimpleNamespace) -> None:
        pool = declare.node_group(counts=(1, 3, 3), ignore_changes=("scalingConfig.desiredSize",))

        assert changes_of(declare.record(), pool) == {LOW: 2, HIGH: 4}

    def test_the_minimum_never_exceeds_the_autoscalers_count(
        self, declare: SimpleNamespace
    ) -> None:
        pool = declare.node_group(counts=(0, 1, 3), ignore_changes=("scalingConfig.desiredSize",))

        assert changes_of(declare.record(), pool) == {LOW: 1, HIGH: 4}

    def test_unknown_counts_are_unchanged(self, declare: SimpleNamespace) -> None:
        assert changes_of(declare.record(), declare.node_group(scalingConfig=UNKNOWN)) == {}

    def test_pools_outside_the_plan_are_unchanged(self, declare: SimpleNamespace) -> None:
        assert (
            changes_of(declare.record(), declare.node_group(pool="other", counts=(1, 1, 1))) == {}
        )
        assert Judge(RULES).planned_counts(declare.node_group(counts=(1, 1, 1))) == {}
        assert Judge(RULES).planned_counts(declare.record()) == {}


class TestNodePools:  # the plan has 2 and 4 nodes in one zone
    def test_total_counts_are_set(self, declare: SimpleNamespace) -> None:
        pool = declare.node_pool(autoscaling={"totalMinNodeCount": 0, "totalMaxNodeCount": 3})

        assert changes_of(declare.record(cloud="gke"), pool) == {
            "autoscaling.totalMinNodeCount": 2,
            "autoscaling.totalMaxNodeCount": 4,
        }

    def test_counts_per_zone_are_set(self, declare: SimpleNamespace) -> None:
        zones = ["us-central1-a", "us-central1-b"]
        scaled = {"minNodeCount": 0, "maxNodeCount": 1}
        pool = declare.node_pool(autoscaling=scaled, nodeLocations=zones, initialNodeCount=1)

        assert changes_of(declare.record(cloud="gke"), pool) == {
            "autoscaling.minNodeCount": 1,
            "autoscaling.maxNodeCount": 2,
        }

    def test_a_total_not_divisible_by_zones_is_unchanged(self, declare: SimpleNamespace) -> None:
        zones = [f"us-central1-{letter}" for letter in "abf"]
        scaled = {"minNodeCount": 0, "maxNodeCount": 1}

        pool = declare.node_pool(autoscaling=scaled, nodeLocations=zones, initialNodeCount=0)
        assert changes_of(declare.record(cloud="gke"), pool) == {}

    def test_initial_node_count_is_never_set(self, declare: SimpleNamespace) -> None:
        """Another `initialNodeCount` would replace the pool."""
        pool = declare.node_pool(initialNodeCount=1)

        assert "initialNodeCount" not in changes_of(declare.record(cloud="gke"), pool)


class TestOverGrpc:
    @pytest.fixture
    def remediating(self, analyzer: Any) -> Any:
        config = messages.PolicyConfig(enforcementLevel=messages.REMEDIATE)
        analyzer.Configure(
            messages.ConfigureAnalyzerRequest(policyConfig={"pool-differs-from-plan": config})
        )
        yield analyzer
        level = messages.PolicyConfig(enforcementLevel=messages.MANDATORY)
        analyzer.Configure(
            messages.ConfigureAnalyzerRequest(policyConfig={"pool-differs-from-plan": level})
        )

    def remediated(self, analyzer: Any, resource: Resource) -> list[Any]:
        request = messages.AnalyzeRequest(
            type=resource.type,
            urn=resource.urn,
            name=resource.name,
            properties=struct(resource.props.values),
        )
        return list(analyzer.Remediate(request).remediations)

    def test_secrets_and_unknown_values_are_returned_unchanged(
        self, remediating: Any, declare: SimpleNamespace
    ) -> None:
        secret = {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": "hidden"}
        pool = declare.node_group(
            counts=(2, 2, 3), tags={"key": secret}, nodeRoleArn=UNKNOWN_STRING_VALUE
        )
        analyze(remediating, declare.record())

        (done,) = self.remediated(remediating, pool)

        assert done.properties["scalingConfig"]["maxSize"] == 4
        assert dict(done.properties["tags"]["key"]) == secret
        assert done.properties["nodeRoleArn"] == UNKNOWN_STRING_VALUE
        assert "hidden" not in done.diagnostic + done.description
        assert set(done.properties) == set(pool.props.values)

    def test_correct_counts_are_unchanged(self, remediating: Any, declare: SimpleNamespace) -> None:
        analyze(remediating, declare.record())

        assert self.remediated(remediating, declare.node_group()) == []

    def test_remediation_is_off_by_default(self, analyzer: Any, declare: SimpleNamespace) -> None:
        analyze(analyzer, declare.record())

        assert self.remediated(analyzer, declare.node_group(counts=(2, 2, 3))) == []


def test_a_rule_without_remediation_is_rejected() -> None:
    with pytest.raises(
        PlannerError, match=("use remediate only for these rules: pool-differs-from-plan")
    ):
        parse_configuration("rules: {claim-fits-no-pool: remediate}")
