"""Handle YAML manifests that programs pass to the provider as text: decode them for the SDK, or
register each object.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator
from pathlib import Path

import grpc
import yaml
from pulumi.runtime.proto import provider_pb2, resource_pb2, resource_pb2_grpc

from dra_sandbox.clouds.kubernetes.kinds import token_of
from dra_sandbox.clouds.kubernetes.objects import key_of
from dra_sandbox.clouds.wire_values import Values, from_wire, is_unknown, to_wire
from dra_sandbox.plugin_server import CHANNEL_OPTIONS

COMPONENTS = frozenset({"kubernetes:yaml/v2:ConfigGroup", "kubernetes:yaml/v2:ConfigFile"})


class InvalidManifest(Exception):
    """The text isn't a valid manifest. The message contains the problem."""


def decode(text: str) -> list[Values]:
    """Return the objects of a multi-document text.

    Lists are expanded, and empty documents are skipped. Raises InvalidManifest if the text isn't
    valid.
    """
    try:
        documents = list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        raise InvalidManifest(f"the YAML can't be read: {error}") from error
    objects: list[Values] = []
    for document in documents:
        if document is None:
            continue
        if (
            not isinstance(document, dict)
            or not document.get("kind")
            or not document.get("apiVersion")
        ):
            raise InvalidManifest("every YAML document must be an object with apiVersion and kind")
        if str(document["kind"]).endswith("List") and isinstance(document.get("items"), list):
            objects += [item for item in document["items"] if isinstance(item, dict)]
        else:
            objects.append(document)
    return objects


def construct(request: provider_pb2.ConstructRequest) -> provider_pb2.ConstructResponse:
    """Register a ConfigGroup or ConfigFile of `yaml/v2` with its objects as its children.

    Raises InvalidManifest if a text isn't valid.
    """
    inputs = from_wire(request.inputs)
    objects = None if _any_unknown(inputs) else list(_objects(inputs))
    with grpc.insecure_channel(request.monitorEndpoint, options=CHANNEL_OPTIONS) as channel:
        monitor = resource_pb2_grpc.ResourceMonitorStub(channel)
        component = monitor.RegisterResource(
            resource_pb2.RegisterResourceRequest(
                type=request.type,
                name=request.name,
                parent=request.parent,
                object=request.inputs,
                dependencies=request.dependencies,
                acceptSecrets=True,
                providers=request.providers,
            )
        )
        children: list[str] = []
        earlier: list[str] = []
        for manifest in _in_order(objects or []):
            child = monitor.RegisterResource(
                _child(request, inputs, component.urn, manifest, earlier)
            )
            children.append(child.urn)
            if manifest.get("kind") in {"Namespace", "CustomResourceDefinition"}:
                earlier.append(child.urn)
        monitor.RegisterResourceOutputs(
            resource_pb2.RegisterResourceOutputsRequest(urn=component.urn, outputs=to_wire({}))
        )
    return provider_pb2.ConstructResponse(urn=component.urn, state=to_wire({"resources": []}))


def _child(
    request: provider_pb2.ConstructRequest,
    inputs: Values,
    parent: str,
    manifest: Values,
    earlier: list[str],
) -> resource_pb2.RegisterResourceRequest:
    key = key_of(manifest)
    prefix = inputs.get("resourcePrefix") or request.name
    return resource_pb2.RegisterResourceRequest(
        type=token_of(key.api_version, key.kind),
        name=f"{prefix}:{key.id}",
        parent=parent,
        custom=True,
        object=to_wire(manifest),
        provider=request.providers.get("kubernetes", ""),
        dependencies=[*request.dependencies, *earlier],
        acceptSecrets=True,
    )


def _in_order(objects: list[Values]) -> list[Values]:
    """Return the objects with namespaces and definitions first, because the other objects can
    depend on them.
    """
    return sorted(
        objects,
        key=lambda found: found.get("kind") not in {"Namespace", "CustomResourceDefinition"},
    )


def _objects(inputs: Values) -> Iterator[Values]:
    """Yield every object in the inputs of a ConfigGroup or ConfigFile."""
    texts = inputs.get("yaml") or []
    for text in [texts] if isinstance(texts, str) else texts:
        yield from decode(text)
    files = inputs.get("files") or inputs.get("file") or []
    for pattern in [files] if isinstance(files, str) else files:
        paths = sorted(glob.glob(pattern))
        if not paths:
            raise InvalidManifest(f"no file matches {pattern}")
        for path in paths:
            yield from decode(Path(path).read_text(encoding="utf-8"))
    given = inputs.get("objs") or []
    yield from [given] if isinstance(given, dict) else given


def _any_unknown(inputs: Values) -> bool:
    return any(
        is_unknown(value)
        or (isinstance(value, list) and any(is_unknown(member) for member in value))
        for value in inputs.values()
    )
