"""The simulated Kubernetes over gRPC: objects, patches, custom resources, releases, kubeconfigs."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2, status_pb2

from dra_sandbox.clouds.kubernetes.kubeconfig import Unreachable, server_of
from dra_sandbox.clouds.kubernetes.releases import FAILING
from dra_sandbox.clouds.wire_values import UNKNOWN, from_wire, to_wire

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
RELEASE = "kubernetes:helm.sh/v3:Release"
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "c",
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    "clusters": [{"name": "c", "cluster": {"server": "https://cluster.example"}}],
    "users": [{"name": "u", "user": {}}],
}
POD_TEMPLATE = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {
        "containers": [
            {"name": "a", "image": "registry.example/a:1", "resources": {"limits": {"cpu": 2}}}
        ]
    },
}
SET = {"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": POD_TEMPLATE}}


@pytest.fixture(scope="module")
def cluster(simulated):
    client = simulated("kubernetes")
    client.Configure(
        provider_pb2.ConfigureRequest(args=to_wire({"kubeconfig": json.dumps(KUBECONFIG)}))
    )
    return client


def urn(token: str) -> str:
    return f"urn:pulumi:dev::p::{token}::trial"


def check(cluster, token: str, inputs: dict[str, Any], olds: dict[str, Any] | None = None):
    request = provider_pb2.CheckRequest(
        urn=urn(token),
        news=to_wire(inputs),
        olds=to_wire(olds or {}),
        randomSeed=b"seed",
        name="trial",
    )
    return cluster.Check(request)


def checked(
    cluster, token: str, inputs: dict[str, Any], olds: dict[str, Any] | None = None
) -> dict[str, Any]:
    answer = check(cluster, token, inputs, olds)
    assert not answer.failures, answer.failures
    return from_wire(answer.inputs)


def create(cluster, token: str, inputs: dict[str, Any], *, preview: bool = False):
    request = provider_pb2.CreateRequest(
        urn=urn(token), properties=to_wire(inputs), preview=preview
    )
    return cluster.Create(request)


def diff(
    cluster, token: str, old: dict[str, Any], new: dict[str, Any]
) -> provider_pb2.DiffResponse:
    return cluster.Diff(
        provider_pb2.DiffRequest(urn=urn(token), old_inputs=to_wire(old), news=to_wire(new))
    )


def test_an_object_gets_apiversion_kind_name_and_namespace(cluster) -> None:
    inputs = checked(cluster, DAEMON_SET, SET)
    again = checked(cluster, DAEMON_SET, SET, olds=inputs)

    assert (inputs["apiVersion"], inputs["kind"]) == ("apps/v1", "DaemonSet")
    assert inputs["metadata"]["name"].startswith("trial-")
    assert inputs["metadata"]["namespace"] == "default"
    assert inputs["metadata"]["annotations"] == {"pulumi.com/autonamed": "true"}
    assert again == inputs


def test_cluster_scoped_objects_get_no_namespace(cluster) -> None:
    device_class = checked(cluster, "kubernetes:resource.k8s.io/v1:DeviceClass", {"spec": {}})
    custom = checked(
        cluster, "kubernetes:resource.nvidia.com/v1beta1:ComputeDomain", {"spec": {"numNodes": 2}}
    )

    assert "namespace" not in device_class["metadata"]
    # It is unknown whether a custom kind is namespaced.
    assert "namespace" not in custom["metadata"]
    assert custom["apiVersion"] == "resource.nvidia.com/v1beta1"


@pytest.mark.parametrize(
    ("token", "inputs", "path", "reason"),
    [
        (
            DAEMON_SET,
            {"spec": {**SET["spec"], "selektor": {}}},
            "spec.selektor",
            'did you mean "selector"?',
        ),
        (DAEMON_SET, {}, "spec", "missing required"),
        (DAEMON_SET, {**SET, "kind": "Deployment"}, "kind", "DaemonSet"),
        (
            "kubernetes:resource.k8s.io/v1:DeviceClass",
            {"spec": {"selectors": [{"cel": {"expr": "true"}}]}},
            "spec.selectors[0].cel.expr",
            "unknown property",
        ),
        ("kubernetes:apps/v1:DaemonSett", SET, "", "doesn't have the resource"),
        (
            "kubernetes:apps/v1:DaemonSetPatch",
            {"spec": {}},
            "metadata.name",
            "a patch must set metadata.name to identify the object",
        ),
        (RELEASE, {"chart": "c", "valeus": {}}, "valeus", 'did you mean "values"?'),
        (RELEASE, {"version": "1"}, "chart", "missing required"),
    ],
)
def test_invalid_objects_are_rejected(
    cluster, token: str, inputs: dict[str, Any], path: str, reason: str
) -> None:
    failures = check(cluster, token, inputs).failures

    assert path in [failure.property for failure in failures]
    assert any(reason in failure.reason for failure in failures), failures


def test_an_object_gets_and_keeps_server_fields(cluster) -> None:
    inputs = checked(cluster, DAEMON_SET, SET)
    made = create(cluster, DAEMON_SET, inputs)
    state = from_wire(made.properties)

    changed = {**inputs, "metadata": {**inputs["metadata"], "labels": {"a": "b"}}}
    request = provider_pb2.UpdateRequest(
        id=made.id,
        urn=urn(DAEMON_SET),
        olds=to_wire(state),
        old_inputs=to_wire(inputs),
        news=to_wire(changed),
    )
    updated = from_wire(cluster.Update(request).properties)

    assert made.id == f"default/{inputs['metadata']['name']}"
    assert updated["metadata"]["uid"] == state["metadata"]["uid"]
    assert int(updated["metadata"]["resourceVersion"]) > int(state["metadata"]["resourceVersion"])
    assert updated["metadata"]["labels"] == {"a": "b"}

    read = cluster.Read(
        provider_pb2.ReadRequest(
            id=made.id, urn=urn(DAEMON_SET), properties=to_wire(updated), inputs=to_wire(changed)
        )
    )
    assert from_wire(read.properties) == updated

    cluster.Delete(
        provider_pb2.DeleteRequest(id=made.id, urn=urn(DAEMON_SET), properties=to_wire(updated))
    )
    gone = cluster.Read(provider_pb2.ReadRequest(id=made.id, urn=urn(DAEMON_SET)))
    assert gone.id == ""


def test_secrets_stay_secret_in_inputs_and_outputs(cluster) -> None:
    sealed = {
        "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
        "value": {"token": "dG9rZW4="},
    }
    token = "kubernetes:core/v1:Secret"
    request = provider_pb2.CheckRequest(
        urn=urn(token), news=to_wire({"data": sealed}), randomSeed=b"s", name="t"
    )
    answer = cluster.Check(request)

    made = cluster.Create(provider_pb2.CreateRequest(urn=urn(token), properties=answer.inputs))

    for message in (answer.inputs, made.properties):
        assert "4dabf18193072939515e22adb298388d" in message.fields["data"].struct_value.fields
    assert from_wire(made.properties)["data"] == {"token": "dG9rZW4="}


@pytest.mark.parametrize(
    ("token", "path", "replaces"),
    [
        (DAEMON_SET, "spec.selector.matchLabels.app", True),
        (DAEMON_SET, "spec.template.spec.nodeName", False),
        (DAEMON_SET, "metadata.namespace", True),
        (DAEMON_SET, "metadata.labels.a", False),
        ("kubernetes:resource.k8s.io/v1:ResourceClaimTemplate", "spec.spec.devices", True),
        ("kubernetes:resource.k8s.io/v1:DeviceClass", "spec.extendedResourceName", False),
        ("kubernetes:core/v1:ConfigMap", "data.a", True),
        ("kubernetes:core/v1:ResourceQuota", "spec.hard.pods", False),
        (RELEASE, "name", True),
        (RELEASE, "namespace", True),
        (RELEASE, "values.a", False),
        (RELEASE, "version", False),
    ],
)
def test_changes_that_replace_an_object(cluster, token: str, path: str, replaces: bool) -> None:
    def inputs(value: str) -> dict[str, Any]:
        nested: Any = value
        for part in reversed(path.split(".")):
            nested = {part: nested}
        return nested

    answer = diff(cluster, token, inputs("a"), inputs("b"))

    assert bool(answer.replaces) is replaces
    assert answer.changes == provider_pb2.DiffResponse.DIFF_SOME


def test_a_release_counts_its_revisions(cluster) -> None:
    inputs = checked(
        cluster,
        RELEASE,
        {"chart": "repo/driver", "version": "25.8.1", "values": {"a": None, "b": {}}},
    )
    planned = from_wire(create(cluster, RELEASE, inputs, preview=True).properties)
    made = create(cluster, RELEASE, inputs)
    state = from_wire(made.properties)

    request = provider_pb2.UpdateRequest(
        id=made.id,
        urn=urn(RELEASE),
        olds=made.properties,
        old_inputs=to_wire(inputs),
        news=to_wire(inputs),
    )
    upgraded = from_wire(cluster.Update(request).properties)

    assert planned["status"] == UNKNOWN
    assert made.id == f"default/{inputs['name']}"
    assert state["status"]["status"] == "deployed"
    assert (state["status"]["revision"], upgraded["status"]["revision"]) == (1, 2)
    assert state["status"]["chart"] == "driver"


DRIVER = {"chart": "nvidia-dra-driver-gpu", "namespace": "gpu", "name": "driver"}
OVERRIDE = {"gpuResourcesEnabledOverride": True}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "gpuResourcesEnabledOverride"),
        (
            {"chart": "oci://registry.example/charts/dra-driver-nvidia-gpu"},
            "gpuResourcesEnabledOverride",
        ),
        # a flat key has no effect
        ({"values": {"resources.gpus.enabled": False}}, "gpuResourcesEnabledOverride"),
        ({"values": {**OVERRIDE, "namespace": "gpu"}}, "the value namespace isn't supported"),
        ({"values": OVERRIDE, "namespace": "default"}, "allowDefaultNamespace"),
    ],
)
def test_values_that_the_chart_rejects_fail_only_in_an_update(
    cluster, changes: Any, reason: str
) -> None:
    inputs = checked(cluster, RELEASE, {**DRIVER, **changes})
    create(cluster, RELEASE, inputs, preview=True)
    with pytest.raises(grpc.RpcError, match=reason):
        create(cluster, RELEASE, inputs)


@pytest.mark.parametrize(
    "changes",
    [
        {"values": OVERRIDE},
        {"values": {"gpuResourcesEnabledOverride": "false"}},  # a text is true to the template
        {"values": {"resources": {"gpus": {"enabled": False}}}},
        {"values": {**OVERRIDE, "allowDefaultNamespace": True}, "namespace": "default"},
        {"chart": "another", "namespace": "default"},
    ],
)
def test_values_that_the_chart_accepts_are_deployed(cluster, changes: Any) -> None:
    made = create(cluster, RELEASE, checked(cluster, RELEASE, {**DRIVER, **changes}))
    assert from_wire(made.properties)["status"]["status"] == "deployed"


def test_a_failing_release_is_recorded_as_failed(cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FAILING, "other,driver")
    inputs = checked(cluster, RELEASE, {**DRIVER, "values": OVERRIDE})
    with pytest.raises(grpc.RpcError, match="deadline exceeded") as caught:
        create(cluster, RELEASE, inputs)

    (details,) = (
        value for key, value in caught.value.trailing_metadata() if key == "grpc-status-details-bin"
    )
    (detail,) = status_pb2.Status.FromString(details).details
    failed = provider_pb2.ErrorResourceInitFailed()
    assert detail.Unpack(failed)
    assert (failed.id, list(failed.reasons)) == ("gpu/driver", ["context deadline exceeded"])
    assert from_wire(failed.properties)["status"]["status"] == "failed"


def test_a_refresh_imports_the_inputs_of_a_failed_release(cluster) -> None:
    inputs = checked(cluster, RELEASE, {**DRIVER, "values": OVERRIDE})
    made = create(cluster, RELEASE, inputs)

    stale = to_wire({**inputs, "values": {}})
    read = cluster.Read(
        provider_pb2.ReadRequest(
            id=made.id, urn=urn(RELEASE), properties=made.properties, inputs=stale
        )
    )

    assert from_wire(read.inputs)["values"] == OVERRIDE
    assert (
        "4dabf18193072939515e22adb298388d" in made.properties.fields["__inputs"].struct_value.fields
    )


def test_without_a_cluster_a_preview_succeeds_and_creation_fails(simulated) -> None:
    client = simulated("kubernetes")
    client.Configure(
        provider_pb2.ConfigureRequest(args=to_wire({"kubeconfig": "not: [a, kubeconfig"}))
    )
    inputs = checked(client, DAEMON_SET, SET)

    assert from_wire(create(client, DAEMON_SET, inputs, preview=True).properties) == inputs
    with pytest.raises(grpc.RpcError, match="configured Kubernetes cluster is unreachable"):
        create(client, DAEMON_SET, inputs)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"current-context": "other"}, 'doesn.t have the context "other"'),
        ({"clusters": []}, "doesn't have the cluster of context"),
        ({"users": []}, "doesn't have the user of context"),
        ({"clusters": [{"name": "c", "cluster": {}}]}, "doesn't have a server address"),
    ],
)
def test_an_incomplete_kubeconfig_is_reported(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unreachable, match=reason):
        server_of(json.dumps({**KUBECONFIG, **change}))


@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        ({"users": [{"name": "u", "user": {"token": "new"}}]}, []),
        (
            {"clusters": [{"name": "c", "cluster": {"server": "https://other.example"}}]},
            ["kubeconfig"],
        ),
        (UNKNOWN, []),
    ],
    ids=["new credentials", "another server", "not known yet"],
)
def test_another_cluster_replaces_the_provider(cluster, change: Any, replaces: list[str]) -> None:
    kubeconfig = change if change == UNKNOWN else json.dumps({**KUBECONFIG, **change})

    answer = cluster.DiffConfig(
        provider_pb2.DiffRequest(
            old_inputs=to_wire({"kubeconfig": json.dumps(KUBECONFIG)}),
            news=to_wire({"kubeconfig": kubeconfig}),
        )
    )

    assert list(answer.replaces) == replaces
    assert list(answer.detailedDiff) == ["kubeconfig"]


def test_the_cluster_identifier_takes_precedence_over_the_address(cluster) -> None:
    other = json.dumps(
        {**KUBECONFIG, "clusters": [{"name": "c", "cluster": {"server": "https://other.example"}}]}
    )

    def replaced_by(identifier: str) -> list[str]:
        old = {"kubeconfig": json.dumps(KUBECONFIG), "clusterIdentifier": "blue"}
        new = {"kubeconfig": other, "clusterIdentifier": identifier}
        return list(
            cluster.DiffConfig(
                provider_pb2.DiffRequest(old_inputs=to_wire(old), news=to_wire(new))
            ).replaces
        )

    assert replaced_by("blue") == []
    assert replaced_by("green") == ["clusterIdentifier"]


def test_the_server_is_read_from_a_kubeconfig() -> None:
    assert server_of(json.dumps(KUBECONFIG)) == "https://cluster.example"
    with pytest.raises(Unreachable, match="can't read the kubeconfig file"):
        server_of("/does/not/exist")


def test_yaml_is_decoded_for_the_sdk(cluster) -> None:
    text = (
        "kind: List\napiVersion: v1\nitems:\n- {kind: ConfigMap, apiVersion: "
        "v1}\n---\n---\nkind: Pod\napiVersion: v1\n"
    )

    def decode(given: str):
        request = provider_pb2.InvokeRequest(
            tok="kubernetes:yaml:decode", args=to_wire({"text": given})
        )
        return cluster.Invoke(request)

    result = from_wire(getattr(decode(text), "return"))["result"]
    assert [found["kind"] for found in result] == ["ConfigMap", "Pod"]
    assert "apiVersion and kind" in decode("a: 1").failures[0].reason
    assert "can't be read" in decode("a: [").failures[0].reason
