"""The documents in a text, split as kubectl splits them: a stream of YAML documents, or a stream of
JSON values.

Source of the behavior: kubernetes/apimachinery:pkg/util/yaml/decoder.go@v0.32.0 (YAMLReader,
YAMLOrJSONDecoder).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from dra_planner.documents.json_reader import decode_json
from dra_planner.documents.limits import MAX_DEPTH, MAX_DOCUMENTS
from dra_planner.documents.stream import split_stream
from dra_planner.documents.yaml_reader import Fault, Remark, read_yaml

if TYPE_CHECKING:
    from dra_planner.documents.json_reader import JsonValue

_JSON_SPACE: Final = re.compile(r"\s*")
_JSON_KEY: Final = re.compile(r'\s*\{\s*"')


class TextDocument(Struct, frozen=True):
    """A document that isn't empty: its number in the text (from 0), its first line, and its
    tree.
    """

    index: int
    line: int
    tree: Any


class TextDocuments(Struct, frozen=True):
    """The documents in a text, remarks about unusual syntax, and why other documents can't be
    read.
    """

    documents: tuple[TextDocument, ...] = ()
    remarks: tuple[Remark, ...] = ()
    faults: tuple[Fault, ...] = ()


def read_text(text: str) -> TextDocuments:
    """Return all documents in a text, in order."""
    documents: list[TextDocument] = []
    remarks: list[Remark] = []
    faults: list[Fault] = []
    for index, part in enumerate(_parts(text)):
        if index >= MAX_DOCUMENTS:
            faults.append(Fault(f"contains more than {MAX_DOCUMENTS} documents", part.line))
            break
        try:
            tree, found = part.read()
        except Fault as fault:
            faults.append(fault.with_traceback(None))  # the traceback would keep the text's tree
            continue
        if tree is not None:
            remarks += found
            line = getattr(tree, "line", part.line)
            documents.append(TextDocument(index, line, tree))
    return TextDocuments(tuple(documents), tuple(remarks), tuple(faults))


class _Part(Struct, frozen=True):
    """The text of one document, or its value, and its first line.

    `fault` is set if the document can't be separated from the text.
    """

    text: str
    line: int
    value: JsonValue | None = None
    fault: Fault | None = None

    def read(self) -> tuple[Any, list[Remark]]:
        if self.fault is not None:
            raise self.fault
        return read_yaml(self.text, self.line) if self.value is None else self.value.tree(self.line)


def _parts(text: str) -> Iterator[_Part]:
    if text.lstrip().startswith("{"):
        yield from _json_parts(text)
    else:
        yield from _yaml_parts(text, 1)


def _yaml_parts(text: str, line: int) -> Iterator[_Part]:
    """Yield the documents between lines that begin with `---`.

    After `---`, these lines can contain only spaces and a comment.
    """
    for part, separator in split_stream(text):
        if separator:
            rest = separator[3:].strip()
            if rest and not rest.startswith("#"):
                fix = "use only three hyphens on this line: ---"
                yield _Part(
                    "", line, fault=Fault(f"invalid Yaml document separator: {rest}", line, fix)
                )
            line += 1
        if part:
            yield _Part(part, line)
            line += part.count("\n")


def _json_parts(text: str) -> Iterator[_Part]:
    """Yield the values of a JSON stream. After a line `---`, the text is YAML."""
    position, line = 0, 1
    while True:
        match = _JSON_SPACE.match(text, position)
        begin = match.end() if match else position
        line += text.count("\n", position, begin)
        if begin >= len(text):
            return
        if text.startswith("---", begin):
            yield from _yaml_parts(text[begin:], line)
            return
        try:
            value = decode_json(text, begin)
        except json.JSONDecodeError as error:
            if not text[:begin].strip() and _is_yaml(text):
                yield from _yaml_parts(text, 1)
                return
            at = line + text.count("\n", begin, error.pos)
            yield _Part("", line, fault=Fault(f"JSON: {error.msg}", at, _json_fix(text, error.pos)))
            return
        except RecursionError:
            yield _Part("", line, fault=Fault(f"is nested more than {MAX_DEPTH} levels deep", line))
            return
        position = value.end
        yield _Part("", line, value=value)
        line += text.count("\n", begin, position)


def _is_yaml(text: str) -> bool:
    """Return True if a text that begins with a brace is YAML instead of JSON, up to its first
    `---`.

    A text whose first key has double quotes counts as JSON, in which kubectl rejects a trailing
    comma.
    """
    if _JSON_KEY.match(text):
        return False
    first, _ = next(split_stream(text))
    try:
        read_yaml(first)
    except Fault:
        return False
    return True


def _json_fix(text: str, position: int) -> str:
    if text[:position].rstrip().endswith(",") and text[position:].lstrip()[:1] in ("}", "]"):
        return "remove the comma before the closing bracket"
    return "write valid JSON, or one YAML mapping in braces"
