"""Read an installed SDK: its version, and the schema of each resource and function, which is
cached.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from dra_sandbox.cache import cache_folder
from dra_sandbox.clouds.sdk_schema import Properties, PropertySpec, Schema, TypeSpec
from dra_sandbox.clouds.sdk_source import (
    ClassSource,
    file_of_class,
    properties_of,
    read_class,
    resource_classes,
)

# Part of the cache key. Increase this number when the code that reads the sources changes.
_READING = 1


class UnknownType(Exception):
    """The SDK doesn't have this resource or function."""


class Sdk:
    """The SDK `pulumi_<name>` of this interpreter."""

    def __init__(self, name: str) -> None:
        """Find the SDK. Raises ModuleNotFoundError if it isn't installed."""
        spec = importlib.util.find_spec(f"pulumi_{name}".replace("-", "_"))
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"pulumi-{name} isn't installed; install pulumi-dra[all]")
        self.name = name
        self.version = importlib.metadata.version(f"pulumi-{name}")
        self._package = Path(spec.origin).parent
        self._schemas: dict[str, Schema] = {}

    def resource(self, token: str) -> Schema:
        """Return the schema of the resource with the type `token`.

        Raises UnknownType if the SDK doesn't have it.
        """
        return self._load(token, self._read_resource)

    def function(self, token: str) -> Schema:
        """Return the arguments (as inputs) and the result (as outputs) of the function `token`.

        Raises UnknownType if the SDK doesn't have it.
        """
        return self._load(token, self._read_function)

    def tokens(self) -> frozenset[str]:
        """Return the type tokens of all resources."""
        return frozenset(resource_classes(self._package))

    def _load(self, token: str, read: Callable[[str], Schema]) -> Schema:
        known = self._schemas.get(token)
        if known is not None:
            return known
        path = self._cache_file(token)
        try:
            schema = Schema.from_json(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            schema = read(token)
            _write_atomically(path, json.dumps(schema.to_json(), separators=(",", ":")))
        self._schemas[token] = schema
        return schema

    def _cache_file(self, token: str) -> Path:
        folder = cache_folder() / "sdk" / f"{self.name}-{self.version}-{_READING}"
        return folder / (re.sub(r"[^\w.-]", "_", token) + ".json")

    def _read_resource(self, token: str) -> Schema:
        folder, name = resource_classes(self._package).get(token, (None, ""))
        path = file_of_class(folder, name) if folder is not None else None
        if path is None:
            raise UnknownType(
                f"pulumi-{self.name} {self.version} doesn't have the resource {token}"
            )
        arguments = read_class(path, f"{name}InitArgs") or read_class(path, f"{name}Args")
        resource = read_class(path, name)
        assert arguments is not None, f"{path} doesn't have arguments for {name}"
        assert resource is not None, f"{path} does not define {name}"
        objects: dict[str, Properties] = {}
        return Schema(
            token,
            self._properties(arguments, objects, inputs=True),
            self._properties(resource, objects, inputs=False),
            objects,
        )

    def _read_function(self, token: str) -> Schema:
        """Read a function's file, which assigns its arguments to `__args__[wire name]` and has a
        class for the result.
        """
        module, _, function = token.partition(":")[2].partition(":")
        place = module.split("/")[:-1] or [module]
        folder = self._package.joinpath(*(part for part in place if part != "index"))
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", function).lower()
        path = folder / f"{snake}.py"
        if not path.is_file():
            raise UnknownType(
                f"pulumi-{self.name} {self.version} doesn't have the function {token}"
            )
        result = read_class(path, f"{function[0].upper()}{function[1:]}Result")
        assert result is not None, f"{path} does not look like an SDK's function"
        arguments = {name: PropertySpec(TypeSpec("any")) for name in _argument_names(path)}
        objects: dict[str, Properties] = {}
        return Schema(token, arguments, self._properties(result, objects, inputs=False), objects)

    def _properties(
        self, source: ClassSource, objects: dict[str, Properties], *, inputs: bool
    ) -> Properties:
        """Return the properties of a class. The object types that they use are added to
        `objects`.
        """
        found: dict[str, PropertySpec] = {}
        waiting: list[str] = []
        for name, spec, mentioned in properties_of(source, inputs=inputs):
            found[name] = spec
            waiting += mentioned
        while waiting:
            key = waiting.pop()
            if key in objects:
                continue
            path, _, class_name = key.rpartition(":")
            member = read_class(Path(path), class_name)
            assert member is not None
            mine: dict[str, PropertySpec] = {}
            for name, spec, mentioned in properties_of(
                member, inputs=Path(path).name == "_inputs.py"
            ):
                mine[name] = spec
                waiting += mentioned
            objects[key] = mine
        return found


def _argument_names(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        str(node.slice.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "__args__"
        and isinstance(node.slice, ast.Constant)
    ]


def _write_atomically(path: Path, text: str) -> None:
    """Write `path` so that other processes see either the complete file or nothing.

    A cache that isn't writable isn't an error.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, delete=False, encoding="utf-8"
        ) as handle:
            handle.write(text)
        os.replace(handle.name, path)
    except OSError:
        return
