"""Releases of umbrella charts → their relevant subcharts, each with its values."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from dra_policies.stack.releases import (
    DEVICE_PLUGIN_CHARTS,
    DRIVER_CHARTS,
    OPERATOR_CHARTS,
    RELEASES,
    chart_name,
)
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN, Properties, as_mapping

_KNOWN = DEVICE_PLUGIN_CHARTS | DRIVER_CHARTS | OPERATOR_CHARTS


def with_subcharts(resource: Resource) -> Iterator[Resource]:
    """Yield a resource, and the known subcharts for which a release has values.

    Helm passes the values below a subchart's name to the subchart. Dependencies usually have the
    condition `enabled`.
    """
    yield resource
    if resource.type not in RELEASES or chart_name(resource) in _KNOWN:
        return
    for name, values in (as_mapping(resource.props.at("values")) or {}).items():
        own = as_mapping(values)
        if name in _KNOWN and own is not None and own.get("enabled") is not False:
            props = {**resource.props.values, "chart": name, "version": UNKNOWN, "values": own}
            yield replace(resource, props=Properties(props))
