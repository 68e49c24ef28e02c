"""The simulated AWS over gRPC: names, previews, computed outputs, functions, refusals."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from dra_sandbox.clouds.wire_values import UNKNOWN, from_wire, to_wire

CLUSTER = "aws:eks/cluster:Cluster"
GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


@pytest.fixture(scope="module")
def aws(simulated):
    client = simulated("aws")
    client.Configure(provider_pb2.ConfigureRequest(args=to_wire({"region": "eu-west-1"})))
    return client


def urn(token: str, name: str = "trial") -> str:
    return f"urn:pulumi:dev::p::parent:index:C${token}::{name}"


def check(
    aws,
    token: str,
    inputs: dict[str, Any],
    olds: dict[str, Any] | None = None,
    seed: bytes = b"seed",
):
    request = provider_pb2.CheckRequest(
        urn=urn(token),
        news=to_wire(inputs),
        olds=to_wire(olds or {}),
        randomSeed=seed,
        name="trial",
    )
    return aws.Check(request)


def create(aws, token: str, inputs: dict[str, Any], *, preview: bool = False):
    return aws.Create(
        provider_pb2.CreateRequest(urn=urn(token), properties=to_wire(inputs), preview=preview)
    )


def invoke(aws, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
    answer = aws.Invoke(provider_pb2.InvokeRequest(tok=token, args=to_wire(arguments)))
    assert not answer.failures, answer.failures
    return from_wire(getattr(answer, "return"))


def test_automatic_names_are_stable_and_kept(aws) -> None:
    first = from_wire(check(aws, TEMPLATE, {}).inputs)
    again = from_wire(check(aws, TEMPLATE, {}).inputs)
    other = from_wire(check(aws, TEMPLATE, {}, seed=b"other").inputs)
    kept = from_wire(check(aws, TEMPLATE, {}, olds=first, seed=b"other").inputs)
    given = from_wire(check(aws, TEMPLATE, {"name": "mine"}, olds=first).inputs)

    assert first["name"] == again["name"] == kept["name"] != other["name"]
    assert first["name"].startswith("trial-")
    assert len(first["name"]) == len("trial-") + 7
    assert first["__defaults"] == ["name"]
    assert given["name"] == "mine"
    assert given["__defaults"] == []


def test_a_name_that_becomes_too_long_is_rejected(aws) -> None:
    request = provider_pb2.CheckRequest(
        urn=urn("aws:iam/role:Role", "r" * 60),
        news=to_wire({"assumeRolePolicy": "{}"}),
        randomSeed=b"s",
    )

    assert "longer than 64 characters" in aws.Check(request).failures[0].reason


def test_a_role_needs_no_region_but_a_group_does(simulated) -> None:
    client = simulated("aws")
    client.Configure(provider_pb2.ConfigureRequest(args=to_wire({})))

    role = check(client, "aws:iam/role:Role", {"assumeRolePolicy": "{}"})
    template = check(client, TEMPLATE, {})

    assert not role.failures
    assert "aws:region" in template.failures[0].reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"amiType": "AL2023_x86_64_NVIDA"}, "is not one of"),
        ({"capacityType": "RESERVED"}, "CAPACITY_BLOCK"),
        ({"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}]}, "NO_SCHEDULE"),
        ({"diskSize": 100, "launchTemplate": {"id": "lt-1", "version": "1"}}, "launch template"),
    ],
)
def test_a_group_that_the_api_rejects_fails_the_check(
    aws, change: dict[str, Any], reason: str
) -> None:
    inputs = {
        "clusterName": "main",
        "nodeRoleArn": "arn",
        "subnetIds": ["subnet-1"],
        "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 2},
    }

    assert not check(aws, GROUP, inputs).failures
    assert reason in check(aws, GROUP, {**inputs, **change}).failures[0].reason


def test_a_preview_shows_inputs_but_no_computed_outputs(aws) -> None:
    inputs = {
        "name": "main",
        "roleArn": UNKNOWN,
        "vpcConfig": {"subnetIds": [UNKNOWN, "subnet-2"]},
        "version": "1.34",
    }

    answer = create(aws, CLUSTER, inputs, preview=True)
    outputs = from_wire(answer.properties)

    assert answer.id == ""
    assert outputs["endpoint"] == UNKNOWN
    assert outputs["certificateAuthority"] == {"data": UNKNOWN}
    assert outputs["vpcConfig"]["subnetIds"] == [UNKNOWN, "subnet-2"]
    assert outputs["vpcConfig"]["clusterSecurityGroupId"] == UNKNOWN
    assert outputs["version"] == "1.34"
    assert outputs["region"] == "eu-west-1"
    assert outputs["tagsAll"] == {}


def test_a_cluster_has_the_outputs_that_a_kubeconfig_needs(aws) -> None:
    answer = create(
        aws, CLUSTER, {"name": "main", "roleArn": "arn", "vpcConfig": {"subnetIds": ["subnet-1"]}}
    )
    outputs = from_wire(answer.properties)

    assert answer.id == "main"
    assert outputs["arn"] == "arn:aws:eks:eu-west-1:123456789012:cluster/main"
    assert outputs["endpoint"].startswith("https://")
    assert outputs["identities"][0]["oidcs"][0]["issuer"].startswith(
        "https://oidc.eks.eu-west-1.amazonaws.com/id/"
    )
    assert outputs["certificateAuthority"]["data"]


def test_an_update_keeps_outputs_and_increments_the_template_version(aws) -> None:
    inputs = {"name": "gpu", "imageId": "ami-1", "tags": {"a": "1"}}
    state = from_wire(create(aws, TEMPLATE, inputs).properties)
    changed = {"name": "gpu", "imageId": "ami-2", "tags": {"a": "2"}}

    def update(preview: bool) -> dict[str, Any]:
        request = provider_pb2.UpdateRequest(
            id=state["id"],
            urn=urn(TEMPLATE),
            olds=to_wire(state),
            old_inputs=to_wire(inputs),
            news=to_wire(changed),
            preview=preview,
        )
        return from_wire(aws.Update(request).properties)

    planned, done = update(True), update(False)
    assert planned["latestVersion"] == UNKNOWN
    assert (state["latestVersion"], done["latestVersion"]) == (1, 2)
    assert planned["arn"] == done["arn"] == state["arn"]
    assert done["tagsAll"] == {"a": "2"}


def test_a_type_without_a_row_works_from_its_schema(aws) -> None:
    token = "aws:sqs/queue:Queue"
    checked = check(aws, token, {"visibilityTimeoutSeconds": 30})
    answer = create(
        aws, token, {k: v for k, v in from_wire(checked.inputs).items() if k != "__defaults"}
    )

    assert not checked.failures
    assert answer.id
    assert from_wire(answer.properties)["arn"]
    assert "did you mean" in check(aws, token, {"visibilityTimeoutSecond": 30}).failures[0].reason


def test_only_an_explicit_name_forces_deletion_before_replacement(aws) -> None:
    def diff(defaults: list[str]) -> provider_pb2.DiffResponse:
        frame = {"nodeGroupName": "gpu", "__defaults": defaults}
        return aws.Diff(
            provider_pb2.DiffRequest(
                urn=urn(GROUP),
                old_inputs=to_wire({**frame, "instanceTypes": ["g6.2xlarge"]}),
                news=to_wire({**frame, "instanceTypes": ["g6.4xlarge"]}),
            )
        )

    assert list(diff([]).replaces) == list(diff(["nodeGroupName"]).replaces) == ["instanceTypes"]
    assert diff([]).deleteBeforeReplace
    assert not diff(["nodeGroupName"]).deleteBeforeReplace


@pytest.mark.parametrize(
    ("path", "replaces"),
    [
        ("amiType", True),
        ("capacityType", True),
        ("nodeRoleArn", True),
        ("subnetIds", True),
        ("launchTemplate.id", True),
        ("launchTemplate.version", False),
        ("scalingConfig.desiredSize", False),
        ("labels.a", False),
        ("version", False),
    ],
)
def test_changes_that_replace_a_node_group(aws, path: str, replaces: bool) -> None:
    def inputs(value: str) -> dict[str, Any]:
        nested: Any = value
        for part in reversed(path.split(".")):
            nested = {part: nested}
        return nested

    answer = aws.Diff(
        provider_pb2.DiffRequest(
            urn=urn(GROUP), old_inputs=to_wire(inputs("a")), news=to_wire(inputs("b"))
        )
    )

    assert bool(answer.replaces) is replaces
    assert list(answer.detailedDiff) == [path]


@pytest.mark.parametrize(
    ("version", "differs"), [("3", False), ("$Latest", True), ("$Default", True)]
)
def test_template_version_latest_always_differs(aws, version: str, differs: bool) -> None:
    same = to_wire({"launchTemplate": {"id": "lt-1", "version": version}})
    answer = aws.Diff(provider_pb2.DiffRequest(urn=urn(GROUP), old_inputs=same, news=same))
    assert list(answer.detailedDiff) == (["launchTemplate.version"] if differs else [])
    assert list(answer.replaces) == []


@pytest.mark.parametrize(("key", "differs"), [("alias/secrets", True), ("key/1", False)])
def test_a_key_alias_for_secrets_always_differs(aws, key: str, differs: bool) -> None:
    config = {
        "provider": {"keyArn": f"arn:aws:kms:eu-west-1:123456789012:{key}"},
        "resources": ["secrets"],
    }
    same = to_wire({"name": "main", "encryptionConfig": config})
    answer = aws.Diff(provider_pb2.DiffRequest(urn=urn(CLUSTER), old_inputs=same, news=same))
    assert list(answer.detailedDiff) == (["encryptionConfig.provider.keyArn"] if differs else [])
    assert list(answer.replaces) == []


def test_deletion_protection_prevents_deletion(aws) -> None:
    def delete(protected: bool) -> None:
        state = to_wire({"deletionProtection": protected})
        aws.Delete(provider_pb2.DeleteRequest(id="main", urn=urn(CLUSTER), properties=state))

    delete(False)
    with pytest.raises(grpc.RpcError, match="set deletionProtection to false"):
        delete(True)


def test_a_policy_document_matches_the_real_providers_format(aws) -> None:
    statements = [
        {
            "sid": "Assume",
            "actions": ["sts:TagSession", "sts:AssumeRole"],
            "principals": [{"type": "Service", "identifiers": ["pods.eks.amazonaws.com"]}],
            "conditions": [
                {
                    "test": "StringEquals",
                    "variable": "aws:SourceAccount",
                    "values": ["123456789012"],
                }
            ],
        },
        {
            "effect": "Deny",
            "actions": ["*"],
            "resources": ["*"],
            "principals": [{"type": "*", "identifiers": ["*"]}],
        },
    ]

    answer = invoke(aws, "aws:iam/getPolicyDocument:getPolicyDocument", {"statements": statements})

    assert (
        json.loads(answer["json"])
        == json.loads(answer["minifiedJson"])
        == {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Sid": "Assume",
                    "Effect": "Allow",
                    "Action": ["sts:TagSession", "sts:AssumeRole"],
                    "Principal": {"Service": "pods.eks.amazonaws.com"},
                    "Condition": {"StringEquals": {"aws:SourceAccount": "123456789012"}},
                },
                {"Effect": "Deny", "Action": "*", "Resource": "*", "Principal": "*"},
            ],
        }
    )


@pytest.mark.parametrize(
    ("region", "names"),
    [("us-east-1", list("abcdef")), ("eu-west-1", list("abc")), ("ap-northeast-1", list("acd"))],
)
def test_zones_belong_to_the_region(simulated, region: str, names: list[str]) -> None:
    client = simulated("aws")
    client.Configure(provider_pb2.ConfigureRequest(args=to_wire({"region": region})))

    zones = invoke(
        client, "aws:index/getAvailabilityZones:getAvailabilityZones", {"state": "available"}
    )

    assert zones["names"] == [region + letter for letter in names]


def test_unsupported_functions_and_arguments_are_rejected(aws) -> None:
    with pytest.raises(grpc.RpcError, match="doesn't support the function"):
        invoke(aws, "aws:s3/getBucket:getBucket", {"bucket": "b"})
    request = provider_pb2.InvokeRequest(
        tok="aws:eks/getClusterAuth:getClusterAuth", args=to_wire({"cluster": "main"})
    )
    assert [failure.property for failure in aws.Invoke(request).failures] == ["cluster"]


def test_an_unknown_provider_setting_is_rejected(aws) -> None:
    answer = aws.CheckConfig(
        provider_pb2.CheckRequest(news=to_wire({"region": "eu-west-1", "regoin": "x"}))
    )

    assert [failure.property for failure in answer.failures] == ["regoin"]


def test_only_changed_content_creates_a_template_version(cloud: Any) -> None:
    token = "aws:ec2/launchTemplate:LaunchTemplate"
    given = {"name": "nodes", "instanceType": "g6.2xlarge", "userData": "QQ=="}
    made = cloud.create(token, **given)
    tagged = cloud.update(token, made, **given, tags={"team": "ml"})
    other = cloud.update(
        token, {**tagged, "id": made["id"]}, name="nodes", instanceType="g6.2xlarge"
    )
    assert [each["latestVersion"] for each in (made, tagged, other)] == [1, 1, 2]
