"""Changes of one field at a time, based on the schema that the server publishes."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

from field_values import pick, pick_key
from msgspec import Struct

from vocabulary import (
    AMOUNTS,
    BAD_QUANTITIES,
    NUMBERS,
    PLAIN,
    QUANTITIES,
    STRINGS,
    Plain,
)

Json = dict[str, Any]
Path = tuple[str | int, ...]
# Fields that the reader checks: all of DRA's own kinds, and the fields of pods that affect claims
# and devices.
_METADATA: Final = (
    "name",
    "generateName",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
)
_CONTAINER_FIELDS: Final = ("name", "image", "resources")
_POD_FIELDS: Final = ("resourceClaims", "resources", "priorityClassName", "priority")
_WRONG: Final[tuple[Any, ...]] = (
    "x",
    "1",
    1,
    0,
    -1,
    1.5,
    True,
    False,
    [],
    {},
    ["x"],
    {"x": 1},
    [None],
    "",
    [[]],
    [{}],
)
_SIZES: Final = (2, 4, 5, 8, 9, 10, 11, 16, 17, 32, 33, 48, 49, 64, 65, 128, 129)
_UNKNOWN: Final = ("unknown", "Name", "x-y", "", "spec", "basic", "driverName", "a.b")


class Node(Struct, frozen=True):
    """A value inside an object: its path, its schema, and the name of its field."""

    path: Path
    schema: Json
    field: str


class Mutator:
    """Changes objects. `schemas` are the server's schemas, by name. If `everywhere` is True, it
    also changes fields of pods and workloads that don't affect devices.
    """

    def __init__(self, schemas: Json, *, everywhere: bool = False) -> None:
        self._schemas = schemas
        self._everywhere = everywhere
        self._kinds = {
            (entry["group"], entry["version"], entry["kind"]): name
            for name, schema in schemas.items()
            for entry in schema.get("x-kubernetes-group-version-kind", ())
        }

    def mutate(self, rng: random.Random, document: Json) -> Json:
        """Return a copy with one change."""
        made = copy.deepcopy(document)
        nodes = list(self._nodes(made))
        if not nodes:
            return made
        for _ in range(20):
            node = rng.choice(nodes)
            change = rng.choice(_CHANGES)
            if change(self, rng, made, node):
                return made
        return made

    def _nodes(self, document: Json) -> Iterator[Node]:
        group, _, version = str(document.get("apiVersion")).rpartition("/")
        name = self._kinds.get((group, version, str(document.get("kind"))))
        if name is None:
            return
        whole = self._everywhere or group == "resource.k8s.io"
        for node in self._walk(document, self._schemas[name], (), ""):
            path = node.path
            if not path or path[0] in ("apiVersion", "kind", "status"):
                continue
            if path[0] == "metadata":
                if whole and len(path) > 1 and path[1] in _METADATA:
                    yield node
            elif whole or _decides_about_devices(path):
                yield node

    def _walk(self, value: Any, schema: Json, path: Path, field: str) -> Iterator[Node]:
        schema = self.resolve(schema)
        yield Node(path, schema, field)
        if isinstance(value, dict):
            for key, item in value.items():
                inner = schema.get("properties", {}).get(key)
                if inner is not None:
                    yield from self._walk(item, inner, (*path, key), key)
                elif "additionalProperties" in schema:
                    yield from self._walk(item, schema["additionalProperties"], (*path, key), field)
        elif isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value[:6]):
                yield from self._walk(item, schema["items"], (*path, index), field)

    def resolve(self, schema: Json) -> Json:
        """Return a schema with resolved references. Quantities and similar types keep their name as
        `title`.
        """
        while True:
            reference = schema.get("$ref") or (schema.get("allOf") or [{}])[0].get("$ref")
            if reference is None:
                return schema
            name = reference.rpartition("/")[2]
            schema = {**self._schemas.get(name, {}), "title": name.rpartition(".")[2]}

    def value(
        self, rng: random.Random, schema: Json, field: str, bad: float, depth: int = 0
    ) -> Any:
        """Return a random value of a schema."""
        schema = self.resolve(schema)
        title, kind = schema.get("title"), schema.get("type")
        if title == "Quantity":
            return rng.choice(BAD_QUANTITIES if rng.random() < bad else QUANTITIES)
        if title == "RawExtension":
            return pick(rng, "parameters", bad)
        if "enum" in schema:
            known = rng.choice(schema["enum"])
            return rng.choice(_NEAR_ENUM)(known) if rng.random() < bad else known
        if title == "IntOrString":
            return rng.choice(AMOUNTS)
        if kind == "array":
            return [
                self.value(rng, schema["items"], field, bad, depth + 1)
                for _ in range(rng.choice((0, 1, 1, 2)))
            ]
        if kind == "boolean":
            return rng.random() < 0.7
        if "properties" in schema:
            if depth > 6:
                return {}
            required = schema.get("required", ())
            known = self._known(schema)
            names = [name for name in known if name in required or rng.random() < 0.35]
            return {
                name: self.value(rng, schema["properties"][name], name, bad, depth + 1)
                for name in names
            }
        if "additionalProperties" in schema:
            inner = schema["additionalProperties"]
            return {
                pick_key(rng, field, bad): self.value(rng, inner, field, bad, depth + 1)
                for _ in range(rng.choice((0, 1, 1, 2)))
            }
        if kind == "integer" and self._everywhere:
            return rng.choice(NUMBERS)
        if kind == "integer":
            return pick(
                rng,
                field if field in ("generation", "resourceSliceCount", "int", "ints") else "count",
                bad,
            )
        return pick(rng, field, bad)

    def _known(self, schema: Json) -> Iterable[str]:
        """Return the names of the fields that are set at random in a struct."""
        if schema.get("title") == "Container" and not self._everywhere:
            return _CONTAINER_FIELDS
        known: Iterable[str] = schema["properties"]
        return known

    def remove(self, rng: random.Random, document: Json, node: Node) -> bool:
        holder, key = _holder(document, node.path)
        del holder[key]
        return True

    def null(self, rng: random.Random, document: Json, node: Node) -> bool:
        return _put(document, node, None)

    def add_field(self, rng: random.Random, document: Json, node: Node) -> bool:
        """Add a field that the object doesn't have yet."""
        value, properties = _at(document, node.path), node.schema.get("properties")
        if not isinstance(value, dict) or not properties:
            return False
        known = self._known(node.schema)
        missing = [name for name in known if name not in value]
        if not missing:
            return False
        name = rng.choice(missing)
        value[name] = self.value(rng, properties[name], name, rng.choice((0.0, 0.1, 0.5)))
        return True

    def replace(self, rng: random.Random, document: Json, node: Node) -> bool:
        return _put(document, node, self.value(rng, node.schema, node.field, 0.7))

    def wrong_type(self, rng: random.Random, document: Json, node: Node) -> bool:
        return _put(document, node, copy.deepcopy(rng.choice(_WRONG)))

    def plain(self, rng: random.Random, document: Json, node: Node) -> bool:
        return not node.schema.get("properties") and _put(document, node, Plain(rng.choice(PLAIN)))

    def unknown(self, rng: random.Random, document: Json, node: Node) -> bool:
        value = _at(document, node.path)
        if not isinstance(value, dict):
            return False
        name = rng.choice(_UNKNOWN)
        # the same name in a different case, which Go's JSON decoder would accept, but the API
        # doesn't
        if rng.random() < 0.4 and value:
            name = str(rng.choice(list(value))).upper()
        value[name] = rng.choice((1, "x", {}, None, [{"a": 1}]))
        return True

    def repeat(self, rng: random.Random, document: Json, node: Node) -> bool:
        """Repeat an item once, or until the list reaches or exceeds its limit. Sometimes the copies
        get different names.
        """
        value = _at(document, node.path)
        if not isinstance(value, list) or not value:
            return False
        item, size = rng.choice(value), rng.choice((len(value) + 1, len(value) + 1, *_SIZES))
        rename = rng.random() < 0.7
        while len(value) < size:
            more = copy.deepcopy(item)
            if rename:
                more = (
                    {**more, "name": f"n{len(value)}"}
                    if isinstance(more, dict) and "name" in more
                    else more
                )
                more = f"n{len(value)}" if isinstance(more, str) else more
            value.append(more)
        return True

    def grow(self, rng: random.Random, document: Json, node: Node) -> bool:
        """Add entries to a mapping until it reaches or exceeds its limit."""
        value = _at(document, node.path)
        if not isinstance(value, dict) or not value or "additionalProperties" not in node.schema:
            return False
        item, size = rng.choice(list(value.values())), rng.choice(_SIZES)
        while len(value) < size:
            value[f"k{len(value)}"] = copy.deepcopy(item)
        return True

    def rekey(self, rng: random.Random, document: Json, node: Node) -> bool:
        value = _at(document, node.path)
        if not isinstance(value, dict) or not value or "additionalProperties" not in node.schema:
            return False
        key = rng.choice(list(value))
        value[pick_key(rng, node.field, 0.7)] = value.pop(key)
        return True

    def shuffle(self, rng: random.Random, document: Json, node: Node) -> bool:
        value = _at(document, node.path)
        if not isinstance(value, list) or len(value) < 2:
            return False
        rng.shuffle(value)
        return True

    def text(self, rng: random.Random, document: Json, node: Node) -> bool:
        value = _at(document, node.path)
        if not isinstance(value, str):
            return False
        longer = value + rng.choice("-._/ A\né0")
        return _put(
            document,
            node,
            rng.choice(
                (longer, value[:-1], value.upper(), value * 2, " " + value, rng.choice(STRINGS))
            ),
        )


_NEAR_ENUM: Final[tuple[Callable[[str], str], ...]] = (
    str.lower,
    str.upper,
    lambda text: f"{text}s",
    lambda text: "",
    lambda text: "Other",
    lambda text: f" {text}",
)
_CHANGES: Final = (
    *(Mutator.replace,) * 6,
    *(Mutator.add_field,) * 6,
    *(Mutator.text,) * 2,
    *(Mutator.repeat,) * 3,
    Mutator.remove,
    Mutator.remove,
    Mutator.null,
    Mutator.wrong_type,
    Mutator.unknown,
    Mutator.rekey,
    Mutator.rekey,
    Mutator.grow,
    Mutator.shuffle,
    Mutator.plain,
)


def _decides_about_devices(path: Path) -> bool:
    """Return True if the reader checks this field of a pod or of a workload's pods. The reader
    doesn't check the pod's own resources.
    """
    if any(pair == ("spec", "resources") for pair in pairwise(path)):
        return False
    return any(field in path for field in _POD_FIELDS) or path[-1] in (
        "containers",
        "initContainers",
    )


def _at(document: Any, path: Path) -> Any:
    for key in path:
        document = document[key]
    return document


def _holder(document: Any, path: Path) -> tuple[Any, Any]:
    return _at(document, path[:-1]), path[-1]


def _put(document: Any, node: Node, value: Any) -> bool:
    holder, key = _holder(document, node.path)
    holder[key] = value
    return True
