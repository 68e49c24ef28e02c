"""Subnets that a network declares in a list → resources, as if declared separately."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from dra_planner.clouds import cloud, names
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import Properties, as_mapping

_INSIDE = "\0"
"""Separates a resource's URN from the position of a nested resource. URNs never contain it."""


def with_inline_resources(resources: Sequence[Resource]) -> list[Resource]:
    """Return all resources and the resources nested in them. If a resource contains only one nested
    resource, its outputs also count as outputs of the nested resource.
    """
    inside = {each.urn: list(_inside(each, resources)) for each in resources}
    only = {urn: listed[0].urn for urn, listed in inside.items() if len(listed) == 1}
    outer = [_with_sources(each, only) for each in resources]
    return [*outer, *(each for listed in inside.values() for each in listed)]


def declared_urn(urn: str) -> str:
    """Return the URN of the resource that declares a nested resource, or the URN itself."""
    return urn.partition(_INSIDE)[0]


def _inside(resource: Resource, resources: Sequence[Resource]) -> Iterator[Resource]:
    for kind in (cloud(name).node_network.addresses for name in names()):
        if kind is None or not kind.inside or resource.type != kind.network_token:
            continue
        # A network returns subnets that are separate resources in the same list.
        separate = {
            each.props.at(path)
            for each in resources
            if each.type == kind.token and resource.urn in each.sources.get(kind.network, ())
            for path in kind.ranges
            if isinstance(each.props.at(path), str)
        }
        items = resource.props.items(kind.inside)
        for index, item in enumerate(items or ()):
            if any(item.text(path) in separate for path in kind.ranges):
                continue
            if values := as_mapping(item.values):
                name = item.text("name") or str(index)
                sources = resource.sources.get(kind.inside, ())
                yield Resource(
                    urn=f"{resource.urn}{_INSIDE}{kind.inside}[{index}]",
                    type=kind.token,
                    name=name,
                    props=Properties(values),
                    sources={**dict.fromkeys(values, sources), kind.network: (resource.urn,)},
                )


def _with_sources(resource: Resource, only: dict[str, str]) -> Resource:
    """Return a resource that also names the resources inside its sources."""
    sources = {
        key: (*urns, *(only[urn] for urn in urns if urn in only))
        for key, urns in resource.sources.items()
    }
    return resource if sources == resource.sources else replace(resource, sources=sources)
