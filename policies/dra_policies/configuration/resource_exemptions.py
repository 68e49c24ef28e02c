"""Names of a stack's resources in exemptions, and the exemptions in their annotations."""

from __future__ import annotations

from collections.abc import Collection

from dra_planner.errors import NOWHERE
from dra_planner.manifests.objects import KubernetesObject
from dra_policies.configuration.exemptions import Excuse
from dra_policies.configuration.inline_exemptions import ANNOTATION, read_beside
from dra_policies.rules import Finding
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import as_mapping


def names_of_resource(resource: Resource) -> tuple[str, ...]:
    """Return the names of a resource, the best known first: the object's name in a cluster,
    `NodeGroup l4` by its name in the stack, and its URN.
    """
    kind = resource.type.rpartition(":")[2]
    own = (f"{kind} {resource.name}", resource.urn)
    metadata = (
        as_mapping(resource.props.values.get("metadata")) if _is_in_cluster(resource) else None
    )
    if metadata is None or not isinstance(metadata.get("name"), str):
        return own
    texts = {key: value for key, value in metadata.items() if isinstance(value, str)}
    return (str(KubernetesObject("", kind, {"metadata": texts}, NOWHERE)), *own)


def beside_resource(
    resource: Resource, custom: Collection[str] = ()
) -> tuple[Excuse | Finding, ...]:
    """Return the exemptions in a resource's annotations, and the errors in them."""
    metadata = (
        as_mapping(resource.props.values.get("metadata")) if _is_in_cluster(resource) else None
    )
    annotations = as_mapping((metadata or {}).get("annotations")) or {}
    text = annotations.get(ANNOTATION)
    if not isinstance(text, str):
        return ()
    return tuple(read_beside(text, names_of_resource(resource)[0], NOWHERE, resource.urn, custom))


def _is_in_cluster(resource: Resource) -> bool:
    return resource.type.startswith("kubernetes:")
