"""Reject inputs that the SDK's types don't allow: unknown and missing properties, and values of the
wrong type.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from msgspec import Struct

from dra_sandbox.clouds.sdk_schema import Properties, Schema, TypeSpec
from dra_sandbox.clouds.wire_values import Value, Values, is_asset, is_unknown

# Names that bridges and the engine add to the properties.
_BESIDE_PROPERTIES = frozenset({"__defaults", "__meta"})


class PropertyFailure(Struct, frozen=True):
    """One rejected property: its path, and the reason as a sentence."""

    path: str
    reason: str


def check_values(schema: Schema, values: Values) -> Iterator[PropertyFailure]:
    """Return the problems with the inputs of a resource, outermost first. Unknown values are
    accepted.
    """
    yield from _check_object(schema, schema.inputs, values, "")


def with_plural_names(values: Values, properties: Properties) -> Values:
    """Return the inputs with lists under their names in the SDK.

    A bridged provider also accepts the singular name, because both names stand for the same
    Terraform block. Source: pulumi/pulumi-terraform-bridge:pkg/tfbridge/names.go.
    """
    named: Values = {}
    for name, value in values.items():
        plural = f"{name}s"
        is_list = (
            name not in properties
            and plural in properties
            and properties[plural].type.kind == "list"
        )
        named[plural if is_list else name] = (
            [value] if is_list and not isinstance(value, list) else value
        )
    return named


def check_allowed(
    allowed: Mapping[str, frozenset[str]], values: Values
) -> Iterator[PropertyFailure]:
    """Return the problems with values that aren't in `allowed`, a table of allowed values by path.

    `[*]` in a path stands for every element.
    """
    for path, choices in allowed.items():
        for place, value in values_at(values, path):
            if isinstance(value, str) and not is_unknown(value) and value not in choices:
                yield PropertyFailure(
                    place, f'"{value}" is not one of {", ".join(sorted(choices))}'
                )


def values_at(values: Value, path: str, place: str = "") -> Iterator[tuple[str, Value]]:
    """Return every value at a path such as `taints[*].effect`, with the exact path of the value."""
    name, _, rest = path.partition(".")
    each = name.endswith("[*]")
    key = name.removesuffix("[*]")
    if not isinstance(values, dict) or key not in values:
        return
    found = values[key]
    here = f"{place}.{key}" if place else key
    members = list(enumerate(found)) if each and isinstance(found, list) else []
    if not each:
        yield from values_at(found, rest, here) if rest else [(here, found)]
    for index, member in members:
        spot = f"{here}[{index}]"
        yield from values_at(member, rest, spot) if rest else [(spot, member)]


def _check_object(
    schema: Schema, properties: Properties, values: Values, path: str
) -> Iterator[PropertyFailure]:
    for name, value in values.items():
        if name in _BESIDE_PROPERTIES or value is None:
            continue
        here = f"{path}.{name}" if path else name
        spec = properties.get(name)
        if spec is None:
            yield PropertyFailure(here, f'unknown property "{name}"{_closest(name, properties)}')
        else:
            yield from _check_type(schema, spec.type, value, here)
    for name, spec in properties.items():
        if spec.required and values.get(name) is None:
            here = f"{path}.{name}" if path else name
            yield PropertyFailure(here, f'missing required property "{name}"')


def _check_type(
    schema: Schema, spec: TypeSpec, value: Value, path: str
) -> Iterator[PropertyFailure]:
    if is_unknown(value) or value is None or spec.kind == "any":
        return
    if spec.kind == "union":
        attempts = [list(_check_type(schema, member, value, path)) for member in spec.of]
        if all(attempts):
            yield min(attempts, key=len)[0] if _is_structured(value) else _wrong(spec, value, path)
    elif spec.kind == "object" and isinstance(value, dict):
        yield from _check_object(schema, schema.objects[spec.object_name], value, path)
    elif spec.kind == "map" and isinstance(value, dict) and not is_asset(value):
        for key, member in value.items():
            yield from _check_type(schema, spec.of[0], member, f"{path}.{key}")
    elif spec.kind == "list" and isinstance(value, list):
        for index, member in enumerate(value):
            yield from _check_type(schema, spec.of[0], member, f"{path}[{index}]")
    elif not _is_scalar_of(spec, value):
        yield _wrong(spec, value, path)


def _is_scalar_of(spec: TypeSpec, value: Value) -> bool:
    if spec.kind in {"enum", "constant"}:
        return value in spec.values
    if spec.kind == "asset":
        return is_asset(value)
    if spec.kind == "string":
        return isinstance(value, str)
    if spec.kind == "boolean":
        return isinstance(value, bool)
    if spec.kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return spec.kind == "number" and isinstance(value, (int, float)) and not isinstance(value, bool)


def _wrong(spec: TypeSpec, value: Value, path: str) -> PropertyFailure:
    shown = (
        "an object"
        if isinstance(value, dict)
        else "a list"
        if isinstance(value, list)
        else repr(value)
    )
    return PropertyFailure(path, f"expected {_phrase(spec)}, got {shown}")


def _phrase(spec: TypeSpec) -> str:
    if spec.kind in {"enum", "constant"}:
        return ("one of " if len(spec.values) > 1 else "") + ", ".join(map(repr, spec.values))
    if spec.kind == "union":
        return " or ".join(_phrase(member) for member in spec.of)
    article = "an" if spec.kind[0] in "aeiou" else "a"
    return f"{article} {spec.kind}"


def _is_structured(value: Value) -> bool:
    return isinstance(value, (dict, list))


def _closest(name: str, properties: Properties) -> str:
    near = difflib.get_close_matches(name, properties, n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else ""
