"""CustomResourceDefinitions of the driver's chart, which Helm installs once and never upgrades."""

from typing import Any, cast

import pulumi
import pulumi_kubernetes as k8s
import yaml

from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader

GROUP = "resource.nvidia.com"


def read_crds(read: InputReader, key: str) -> list[dict[str, Any]]:
    """Return the definitions in the text of a manifest file. Errors are recorded in `read`."""
    text = read.text(key, "")
    try:
        documents: list[Any] = [
            document for document in yaml.safe_load_all(text) if document is not None
        ]
    except yaml.YAMLError as error:
        problem = str(error).split("\n")[0]
        read.refuse(key, f"isn't valid YAML: {problem}")
        return []
    found: list[dict[str, Any]] = []
    for index, document in enumerate(documents):
        definition = _mapping(document)
        spec, metadata = _mapping(definition.get("spec")), _mapping(definition.get("metadata"))
        kind = (definition.get("apiVersion"), definition.get("kind"))
        if kind != ("apiextensions.k8s.io/v1", "CustomResourceDefinition"):
            read.refuse(
                key,
                f"document {index + 1} isn't a CustomResourceDefinition in apiextensions.k8s.io/v1",
            )
        elif spec.get("group") != GROUP or not metadata.get("name"):
            read.refuse(
                key, f"document {index + 1} doesn't define a kind of the driver's group {GROUP}"
            )
        else:
            found.append(definition)
    if read.has(key) and not documents:
        read.refuse(key, "doesn't contain a manifest")
    return found


def declare_crds(
    component: str, definitions: list[dict[str, Any]], children: Children
) -> list[pulumi.Resource]:
    """Declare the definitions and return them, because the release must come after them.

    They are patches, because a cluster that had a release before already has definitions, and they
    are forced, because Helm manages those. They stay when the driver is deleted, because deleting a
    definition deletes all objects of its kind.
    """
    declared: list[pulumi.Resource] = []
    for definition in definitions:
        given, spec = _mapping(definition["metadata"]), definition["spec"]
        metadata: Any = {
            "name": given["name"],
            "annotations": {**_mapping(given.get("annotations")), "pulumi.com/patchForce": "true"},
            "labels": given.get("labels"),
        }
        declared.append(
            k8s.apiextensions.v1.CustomResourceDefinitionPatch(
                f"{component}-{given['name'].partition('.')[0]}",
                metadata=metadata,
                spec=spec,
                opts=children.options(retain_on_delete=True),
            )
        )
    return declared


def _mapping(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
