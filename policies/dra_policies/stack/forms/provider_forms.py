"""Resources of other providers → the equivalent resources of the cloud's main provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.clouds.other_providers import FORMS
from dra_planner.clouds.other_providers.resource_form import ResourceForm
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN, Properties, as_list, as_mapping

_FORMS: Final = {form.token: form for form in FORMS}


def of_own_provider(resource: Resource) -> Resource:
    """Return a resource with the type and properties of its cloud's main provider. Resources of
    other types don't change.
    """
    form = _FORMS.get(resource.type)
    if form is None:
        return resource
    values: dict[str, Any] = {}
    for key, value in (as_mapping(resource.props.values) or {}).items():
        inside = _inside(value, form.parts[key]) if key in form.parts else value
        _put(values, form.names.get(key, key), inside)
    return replace(
        resource,
        type=form.becomes,
        props=Properties(form.finish(values)),
        ignore_changes=tuple(form.names.get(each, each) for each in resource.ignore_changes),
        sources=_sources(resource, form),
        # the schema of the main provider doesn't apply
        of_outputs=frozenset(values),
    )


def _sources(resource: Resource, form: ResourceForm) -> dict[str, tuple[str, ...]]:
    """Return the sources with the new property names. If a property is split into several, each of
    them might have the source.
    """
    found: dict[str, tuple[str, ...]] = {}
    for key, urns in resource.sources.items():
        head = key.partition(".")[0].partition("[")[0]
        new = form.names.get(head, head).partition(".")[0]
        inside = as_mapping(resource.props.at(head)) or {}
        parts = form.parts.get(head, {})
        for each in (new,) if new else {parts.get(part, part) for part in inside}:
            found[each] = (*found.get(each, ()), *urns)
    return found


def _inside(value: Any, names_of_parts: Mapping[str, str]) -> Any:
    if (items := as_list(value)) is not None:
        return [_inside(item, names_of_parts) for item in items]
    mapping = as_mapping(value)
    if mapping is None:
        return value
    result: dict[str, Any] = {}
    for key, item in mapping.items():
        _put(result, names_of_parts.get(key, key), item)
    return result


def _put(values: dict[str, Any], path: str, value: Any) -> None:
    """Set a value at a path. If there is already a structure, the two are merged."""
    first, _, rest = path.partition(".")
    if not first:
        values.update(as_mapping(value) or {})
    elif rest:
        below = values.setdefault(first, {})
        if below is not UNKNOWN:
            _put(below, rest, value)
    else:
        both = as_mapping(values.get(first)), as_mapping(value)
        values[first] = {**both[0], **both[1]} if both[0] and both[1] else value
