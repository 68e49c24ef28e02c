"""The content of a typed SDK about a resource or function: properties, types, and
required inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class TypeSpec(Struct, frozen=True):
    """The type of a value in the engine's protocol.

    `kind` is one of string, integer, number, boolean, any, asset, list, map, object, union, enum,
    constant. `of` contains the element type of a list or map, or the members of a union.
    `object_name` is the key of an object's properties in its schema's `objects`. `values` are the
    possible values of an enum or constant.
    """

    kind: str
    of: tuple[TypeSpec, ...] = ()
    object_name: str = ""
    values: tuple[str | float | bool, ...] = ()

    def to_json(self) -> list[Any]:
        """Return the type as a value for JSON."""
        return [
            self.kind,
            [member.to_json() for member in self.of],
            self.object_name,
            list(self.values),
        ]

    @classmethod
    def from_json(cls, data: list[Any]) -> TypeSpec:
        """Parse the result of `to_json`."""
        kind, of, object_name, values = data
        return cls(kind, tuple(cls.from_json(member) for member in of), object_name, tuple(values))


class PropertySpec(Struct, frozen=True):
    """One property: its type, whether it's required, and whether the SDK's description states that
    a change replaces the resource.
    """

    type: TypeSpec
    required: bool = False
    replaces: bool = False


Properties = Mapping[str, PropertySpec]


class Schema(Struct, frozen=True):
    """A resource or function by its wire names: inputs, outputs, and the object types that they
    use.
    """

    token: str
    inputs: Properties
    outputs: Properties
    objects: Mapping[str, Properties] = {}

    def to_json(self) -> dict[str, Any]:
        """Return the schema as a value for JSON."""
        return {
            "token": self.token,
            "inputs": _properties_to_json(self.inputs),
            "outputs": _properties_to_json(self.outputs),
            "objects": {name: _properties_to_json(found) for name, found in self.objects.items()},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Schema:
        """Parse the result of `to_json`."""
        return cls(
            data["token"],
            _properties_from_json(data["inputs"]),
            _properties_from_json(data["outputs"]),
            {name: _properties_from_json(found) for name, found in data["objects"].items()},
        )


def _properties_to_json(properties: Properties) -> dict[str, Any]:
    return {
        name: [spec.type.to_json(), spec.required, spec.replaces]
        for name, spec in properties.items()
    }


def _properties_from_json(data: dict[str, Any]) -> Properties:
    return {
        name: PropertySpec(TypeSpec.from_json(type_), required, replaces)
        for name, (type_, required, replaces) in data.items()
    }
