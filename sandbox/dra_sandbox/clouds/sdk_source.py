"""Read classes from the source files of a typed Pulumi SDK without importing it.

Importing a cloud's SDK takes seconds and hundreds of megabytes. Its files are generated and
regular, so only the requested class is cut out of its file and parsed.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from dra_sandbox.clouds.sdk_schema import PropertySpec, TypeSpec

_CLASS = re.compile(r"^class (\w+)\b", re.MULTILINE)
_NEXT_STATEMENT = re.compile(
    r"^(?:@|class |def |if |elif |else|[A-Za-z_]\w*\s*[:=(])", re.MULTILINE
)
_REGISTRY = re.compile(r'resource_(?:modules|packages)="""(.*?)"""', re.DOTALL)
_RELATIVE_IMPORT = re.compile(r"^from (\.+)(\w*) import (\w+)(?: as (\w+))?$", re.MULTILINE)
# The wording in the documentation of bridged providers for a property that can't be changed in
# place.
_REPLACES = re.compile(
    r"forces?(?: the creation of)?(?: an?)? new|forces? replacement|forces? recreation"
    r"|changing this (?:value )?(?:creates|requires|will)|(?:is|are) immutable|cannot be "
    r"(?:changed|updated|modified)",
    re.IGNORECASE,
)
_SCALARS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}


class ClassSource(Struct, frozen=True):
    """A class of the SDK: the folder of its module, and its syntax tree."""

    folder: Path
    tree: ast.ClassDef


@functools.cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@functools.cache
def _class_offsets(path: Path) -> dict[str, int]:
    return {found.group(1): found.start() for found in _CLASS.finditer(_text(path))}


def read_class(path: Path, name: str) -> ClassSource | None:
    """Return the class `name` of the file `path`, or None."""
    start = _class_offsets(path).get(name)
    if start is None:
        return None
    text = _text(path)
    end = _NEXT_STATEMENT.search(text, start + 1)
    body = text[start : end.start() if end else len(text)]
    tree = ast.parse(body).body[0]
    assert isinstance(tree, ast.ClassDef)
    return ClassSource(path.parent, tree)


def resource_classes(package: Path) -> dict[str, tuple[Path, str]]:
    """Return the folder and class of each type token of the SDK in `package`, from the list that it
    registers when it's imported.
    """
    found: dict[str, tuple[Path, str]] = {}
    for listing in _REGISTRY.findall(_text(package / "__init__.py")):
        for entry in json.loads(listing):
            folder = package.parent.joinpath(*entry["fqn"].split("."))
            if "token" in entry:
                found[entry["token"]] = (folder, entry["class"])
            for token, name in entry.get("classes", {}).items():
                found[token] = (folder, name)
    return found


def file_of_class(folder: Path, name: str) -> Path | None:
    """Return the file in `folder` that defines the resource `name`."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    likely = [folder / f"{snake}.py", folder / f"{name}.py"]
    for path in [*likely, *sorted(folder.glob("*.py"))]:
        if name in _class_offsets(path):
            return path
    return None


def properties_of(
    source: ClassSource, *, inputs: bool
) -> Iterator[tuple[str, PropertySpec, list[str]]]:
    """Return the wire name and specification of every property, with the object types that it uses.

    An input is required if the constructor has no default for it. An output always exists unless
    it's optional.
    """
    required = _required_arguments(source.tree) if inputs else None
    seen: set[str] = set()
    for node in source.tree.body:
        if not isinstance(node, ast.FunctionDef) or node.returns is None or node.name in seen:
            continue
        wire = _wire_name(node)
        if wire is None:
            continue
        seen.add(node.name)
        mentioned: list[str] = []
        type_, optional = _type(node.returns, source.folder, mentioned)
        must = node.name in required if required is not None else not optional
        text = ast.get_docstring(node, clean=False) or ""
        yield wire, PropertySpec(type_, must, bool(_REPLACES.search(text))), mentioned


def _required_arguments(tree: ast.ClassDef) -> set[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            return {argument.arg for argument, default in named if default is None}
    return set()


def _wire_name(node: ast.FunctionDef) -> str | None:
    """Return the wire name of a property from `@pulumi.getter`, or None for a function that isn't a
    property.
    """
    for decorator in node.decorator_list:
        call = decorator.func if isinstance(decorator, ast.Call) else decorator
        if not (isinstance(call, ast.Attribute) and call.attr == "getter"):
            continue
        if isinstance(decorator, ast.Call):
            for keyword in decorator.keywords:
                if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
        return node.name
    return None


def _type(node: ast.expr, folder: Path, mentioned: list[str]) -> tuple[TypeSpec, bool]:
    """Return the type of an annotation, and whether it's optional. The object types that it uses
    are added to `mentioned`.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _named(node.value, folder, mentioned), False
    if isinstance(node, ast.Subscript):
        return _generic(_dotted(node.value).rsplit(".", 1)[-1], node.slice, folder, mentioned)
    name = _dotted(node).rsplit(".", 1)[-1]
    if name in _SCALARS:
        return TypeSpec(_SCALARS[name]), False
    return TypeSpec("asset" if name in {"Asset", "Archive"} else "any"), False


def _generic(
    name: str, argument: ast.expr, folder: Path, mentioned: list[str]
) -> tuple[TypeSpec, bool]:
    members = argument.elts if isinstance(argument, ast.Tuple) else [argument]
    if name == "Literal":
        return TypeSpec(
            "constant", values=tuple(ast.literal_eval(member) for member in members)
        ), False
    types = [_type(member, folder, mentioned) for member in members]
    if name == "Optional":
        return types[0][0], True
    if name in {"Input", "Output", "InputType"}:
        return types[0]
    if name in {"Sequence", "List"}:
        return TypeSpec("list", (types[0][0],)), False
    if name in {"Mapping", "Dict"}:
        return TypeSpec("map", (types[1][0],)), False
    if name == "Union":
        return TypeSpec("union", tuple(member for member, _ in types)), False
    return TypeSpec("any"), False


def _named(reference: str, folder: Path, mentioned: list[str]) -> TypeSpec:
    """Return the type for a quoted name: an object type, an enum, or any."""
    *modules, name = reference.split(".")
    place = folder
    for index, module in enumerate(modules):
        if module == "outputs":
            continue
        place = _imported(folder, module) if index == 0 else place / module
    for file in ("outputs.py",) if "outputs" in modules else ("_inputs.py", "_enums.py"):
        path = place / file
        if name not in _class_offsets(path):
            continue
        if file == "_enums.py":
            return TypeSpec("enum", values=_enum_values(path, name))
        key = f"{path}:{name}"
        mentioned.append(key)
        return TypeSpec("object", object_name=key)
    return TypeSpec("any")


@functools.cache
def _imports(folder: Path) -> dict[str, Path]:
    """Return the modules that the files of `folder` import from other parts of the SDK, by their
    local names.
    """
    found: dict[str, Path] = {}
    for file in ("_inputs.py", "outputs.py"):
        for dots, module, name, alias in _RELATIVE_IMPORT.findall(_text(folder / file)[:20_000]):
            base = folder
            for _ in range(len(dots) - 1):
                base = base.parent
            found[alias or name] = (base / module if module else base) / name
    return found


def _imported(folder: Path, name: str) -> Path:
    return _imports(folder).get(name, folder / name)


@functools.cache
def _enum_values(path: Path, name: str) -> tuple[str | float | bool, ...]:
    source = read_class(path, name)
    assert source is not None
    return tuple(
        ast.literal_eval(node.value)
        for node in source.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Constant, ast.UnaryOp))
    )


def _dotted(node: ast.expr) -> str:
    """Return `a.b.c` as text, or an empty text for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return ""
