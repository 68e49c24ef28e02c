"""Pool properties that newer provider versions store in a different place."""

from __future__ import annotations

from functools import cache

from msgspec.structs import replace

from dra_planner.clouds import cloud, names
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import Properties, as_mapping


def with_aliases(resource: Resource) -> Resource:
    """Return a pool whose newer properties are also in the place that rules read."""
    for newer, older in _aliases().get(resource.type, ()):
        if resource.props.has(newer) and resource.props.has(older) is False:
            head, _, rest = older.rpartition(".")
            values = _with(resource.props.values, head.split("."), rest, resource.props.at(newer))
            resource = replace(resource, props=Properties(values))
    return resource


def _with(values: object, path: list[str], key: str, value: object) -> dict[str, object]:
    """Return a mapping with a value at a path."""
    here = as_mapping(values) or {}
    if not path:
        return {**here, key: value}
    return {**here, path[0]: _with(here.get(path[0]), path[1:], key, value)}


@cache
def _aliases() -> dict[str, tuple[tuple[str, str], ...]]:
    pools = [cloud(name).pool for name in names()]
    return {pool.token: pool.aliases for pool in pools if pool.aliases}
