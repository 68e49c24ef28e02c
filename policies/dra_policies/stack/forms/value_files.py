"""Chart values in files → a single mapping, merged in the same way as by Helm.

Source: pulumi/pulumi-kubernetes:provider/pkg/provider/helm_release.go (decodeRelease): later files
replace keys of earlier ones, and `values` replaces keys of all files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN, Properties, as_mapping

VALUE_FILES: Final = "valueYamlFiles"
_CHARTS: Final = "kubernetes:helm.sh/"


def with_merged_values(resource: Resource) -> Resource:
    """Return a release whose `values` contain the values from its files. If a file is unknown, the
    release doesn't change.
    """
    if not resource.type.startswith(_CHARTS) or not resource.props.items(VALUE_FILES):
        return resource
    files = [each.text("text") for each in resource.props.items(VALUE_FILES) or ()]
    read = [values_in(text) for text in files]
    own = resource.props.below("values").values
    if own is UNKNOWN or any(each is None for each in read):
        return resource
    values = merged_values(*(each or {} for each in read), as_mapping(own) or {})
    props = {key: value for key, value in resource.props.values.items() if key != VALUE_FILES}
    return replace(resource, props=Properties({**props, "values": values}))


def values_in(text: str | None) -> Mapping[str, Any] | None:
    """Return the values in a YAML text, or None if it isn't known or isn't a mapping."""
    if not text:
        return None
    try:
        tree, _ = read_yaml(text)
    except Fault:
        return None
    return {} if tree is None else as_mapping(tree)


def merged_values(*layers: Mapping[str, Any], null_removes: bool = False) -> dict[str, Any]:
    """Return values in which each layer replaces keys of the earlier ones.

    In values of users, a null stays, because it removes a default of the chart. `null_removes`: the
    first layer has these defaults, so a null removes its key.
    """
    result: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            below, above = as_mapping(result.get(key)), as_mapping(value)
            if null_removes and value is None:
                result.pop(key, None)
            elif below is not None and above is not None:
                result[key] = merged_values(below, above, null_removes=null_removes)
            else:
                result[key] = value
    return result


def nested(keys: Iterable[str], value: Any) -> dict[str, Any]:
    """Return a value below keys, outermost first."""
    first, *rest = keys
    return {first: nested(rest, value) if rest else value}
