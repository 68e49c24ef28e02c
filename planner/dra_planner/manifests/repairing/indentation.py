"""Restore the indentation of documents from the fields of each kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.manifests.schema import ApiType, fields_of, struct_of

_MOST_STEPS: Final = 20_000
_LINE: Final = re.compile(
    r"^(?P<marker>(?:-\s+)?)(?P<key>[\w./-]+|\"[^\"]*\"):(?:\s+(?P<value>\S.*))?$"
)
_SCALAR_ITEM: Final = re.compile(r"^-\s+(?P<value>\S.*)$")
_IDENTITY: Final = re.compile(r"^(apiVersion|kind):\s*[\"']?([\w./-]+)[\"']?\s*$", re.MULTILINE)
_STRUCT: Final = "struct"


class _Frame(Struct, frozen=True):
    """A mapping, a list, or a key that doesn't have a value yet (`is_open`), and its
    indentation.
    """

    type: ApiType
    indent: int
    keys: frozenset[str] = frozenset()
    is_open: bool = False


class _Steps(Struct):
    left: int = _MOST_STEPS


def indentations(text: str, minor: int) -> Iterator[str]:
    """Yield the document with every indentation that the types of its kind allow. If it's already
    indented or its kind is unknown, yield it unchanged.
    """
    lines = text.split("\n")
    written = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    identity = dict(_IDENTITY.findall(text))
    struct = struct_of(identity.get("apiVersion", ""), identity.get("kind", ""))
    is_flat = all(line == line.lstrip() for line in written)
    if (
        struct is None
        or not is_flat
        or any(line.rstrip().endswith(("|", ">", "|-", ">-")) for line in written)
    ):
        yield text
        return
    root = _Frame(ApiType(_STRUCT, name=struct), 0)
    for done in _place(lines, 0, (root,), (), minor, _Steps()):
        yield "\n".join(done)


def _place(
    lines: list[str],
    at: int,
    stack: tuple[_Frame, ...],
    done: tuple[str, ...],
    minor: int,
    steps: _Steps,
) -> Iterator[tuple[str, ...]]:
    steps.left -= 1
    if steps.left < 0:
        return
    if at == len(lines):
        yield done
        return
    line = lines[at].rstrip()
    if not line or line.startswith("#"):
        yield from _place(lines, at + 1, stack, (*done, line), minor, steps)
        return
    for placed, below in _ways(line, stack, minor):
        yield from _place(lines, at + 1, below, (*done, placed), minor, steps)


def _ways(
    line: str, stack: tuple[_Frame, ...], minor: int
) -> Iterator[tuple[str, tuple[_Frame, ...]]]:
    """Yield the indented line and the open parts below it, for every open part that accepts the
    line, starting with the innermost part.
    """
    match = _LINE.match(line)
    for depth in range(len(stack) - 1, -1, -1):
        frame, outer = stack[depth], stack[:depth]
        if match is None:
            yield from _scalar_item(line, frame, outer)
        elif match["marker"]:
            yield from _item(match, frame, outer, minor)
        else:
            yield from _key(match, frame, outer, minor)
        if frame.is_open and frame.type.kind not in (_STRUCT, "list", "map"):
            return  # a scalar without its value, so nothing is lost


def _key(
    match: re.Match[str], frame: _Frame, outer: tuple[_Frame, ...], minor: int
) -> Iterator[tuple[str, tuple[_Frame, ...]]]:
    key, value = match["key"].strip('"'), match["value"]
    inner = _type_of(frame.type, key, minor)
    if inner is None or key in frame.keys:
        return
    indent = frame.indent + 2 if frame.is_open else frame.indent
    outside = (*outer, replace(frame, indent=indent, is_open=False, keys=frame.keys | {key}))
    if (value is None) == (inner.kind in (_STRUCT, "list", "map")) or _is_flow(value):
        below = (*outside, _Frame(inner, indent, is_open=True)) if value is None else outside
        yield " " * indent + match[0], below


def _item(
    match: re.Match[str], frame: _Frame, outer: tuple[_Frame, ...], minor: int
) -> Iterator[tuple[str, tuple[_Frame, ...]]]:
    item = frame.type.item
    key, value = match["key"].strip('"'), match["value"]
    inner = _type_of(item, key, minor) if frame.type.kind == "list" and item is not None else None
    if item is None or inner is None:
        return
    a_list = replace(frame, is_open=False)
    mapping = _Frame(item, frame.indent + 2, frozenset({key}))
    if (value is None) == (inner.kind in (_STRUCT, "list", "map")) or _is_flow(value):
        below = (*outer, a_list, mapping)
        opened = (*below, _Frame(inner, frame.indent + 2, is_open=True)) if value is None else below
        yield f"{' ' * frame.indent}- {key}:{f' {value}' if value is not None else ''}", opened


def _scalar_item(
    line: str, frame: _Frame, outer: tuple[_Frame, ...]
) -> Iterator[tuple[str, tuple[_Frame, ...]]]:
    match = _SCALAR_ITEM.match(line)
    if match is not None and frame.type.kind == "list":
        item = frame.type.item
        if item is not None and (
            item.kind not in (_STRUCT, "list", "map") or _is_flow(match["value"])
        ):
            yield " " * frame.indent + line, (*outer, replace(frame, is_open=False))


def _type_of(kind: ApiType, key: str, minor: int) -> ApiType | None:
    if kind.kind == _STRUCT:
        return fields_of(kind.name, minor).get(key)
    return kind.item if kind.kind == "map" else None


def _is_flow(value: str | None) -> bool:
    return value is not None and value[:1] in "[{"
