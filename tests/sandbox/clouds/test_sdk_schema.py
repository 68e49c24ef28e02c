"""What the simulated providers read from the source code of the installed SDKs."""

from __future__ import annotations

import importlib
import inspect

import pytest

from dra_sandbox.clouds.sdk import Sdk, UnknownType
from dra_sandbox.clouds.sdk_schema import Schema, TypeSpec

STRING = TypeSpec("string")


def members(schema: Schema, type_: TypeSpec) -> dict[str, TypeSpec]:
    return {name: spec.type for name, spec in schema.objects[type_.object_name].items()}


def test_a_node_group_has_required_and_optional_inputs() -> None:
    schema = Sdk("aws").resource("aws:eks/nodeGroup:NodeGroup")

    required = {name for name, spec in schema.inputs.items() if spec.required}
    assert required == {"clusterName", "nodeRoleArn", "scalingConfig", "subnetIds"}
    assert schema.inputs["diskSize"].type == TypeSpec("integer")
    assert schema.inputs["labels"].type == TypeSpec("map", (STRING,))
    assert schema.inputs["subnetIds"].type == TypeSpec("list", (STRING,))


def test_nested_objects_are_resolved() -> None:
    schema = Sdk("gcp").resource("gcp:container/nodePool:NodePool")

    node_config = members(schema, schema.inputs["nodeConfig"].type)
    accelerator = members(schema, node_config["guestAccelerators"].of[0])
    installation = members(schema, accelerator["gpuDriverInstallationConfig"])
    assert installation == {"gpuDriverVersion": STRING}


def test_objects_of_other_modules_and_constants_are_resolved() -> None:
    schema = Sdk("kubernetes").resource("kubernetes:resource.k8s.io/v1:DeviceClass")

    assert schema.inputs["apiVersion"].type == TypeSpec("constant", values=("resource.k8s.io/v1",))
    metadata = members(schema, schema.inputs["metadata"].type)
    assert metadata["labels"] == TypeSpec("map", (STRING,))
    assert schema.inputs["spec"].required


def test_computed_outputs_differ_from_optional_outputs() -> None:
    schema = Sdk("aws").resource("aws:eks/cluster:Cluster")

    assert schema.outputs["endpoint"].required
    assert not schema.outputs["encryptionConfig"].required
    assert "endpoint" not in schema.inputs


def test_arguments_and_results_of_functions_are_read() -> None:
    schema = Sdk("aws").function("aws:index/getAvailabilityZones:getAvailabilityZones")

    assert {"state", "excludeNames"} <= set(schema.inputs)
    assert schema.outputs["names"].type == TypeSpec("list", (STRING,))


@pytest.mark.parametrize(
    "token", ["aws:eks/nodeGroups:NodeGroups", "aws:eks/nodeGroup", "gcp:eks/x:Y"]
)
def test_an_unknown_type_is_rejected(token: str) -> None:
    with pytest.raises(UnknownType, match="doesn't have the resource"):
        Sdk("aws").resource(token)


def test_a_schema_survives_the_cache() -> None:
    schema = Sdk("kubernetes").resource("kubernetes:apps/v1:DaemonSet")

    assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize(
    ("module", "name", "token"),
    [
        (
            "pulumi_kubernetes.resource.v1",
            "ResourceClaimTemplate",
            "kubernetes:resource.k8s.io/v1:ResourceClaimTemplate",
        ),
        ("pulumi_kubernetes.core.v1", "ResourceQuota", "kubernetes:core/v1:ResourceQuota"),
    ],
)
def test_the_parsed_schema_matches_the_imported_class(module: str, name: str, token: str) -> None:
    """The constructor of the imported class has the same arguments."""
    resource = getattr(importlib.import_module(module), name)
    imported = set(inspect.signature(resource._internal_init).parameters) - {
        "__self__",
        "resource_name",
        "opts",
        "__props__",
    }

    read = Sdk("kubernetes").resource(token).inputs

    assert {argument.replace("_", "") for argument in imported} == {wire.lower() for wire in read}
