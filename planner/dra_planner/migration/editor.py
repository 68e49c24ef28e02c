"""Edit one YAML or JSON document by path, and keep its comments, order, quotes, and indentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from dra_planner.documents.yaml_reader import read_yaml
from dra_planner.manifests.rewriting import spans
from dra_planner.manifests.rewriting.document_edits import Kept, Layout, New, block_text, flow_text

Step = str | int
Path = tuple[Step, ...]


class NotEditable(Exception):
    """A part that can't be edited without losing information. The message contains the part and the
    reason.
    """


class Editor(Struct):
    """The text of one document.

    Each edit reads the text again, so edits can build on earlier edits.
    """

    text: str

    @property
    def data(self) -> Any:
        """The document as plain data in its current state."""
        return read_yaml(self.text)[0]

    def get(self, path: Path) -> Any:
        """Return the data at a path, or None if it doesn't exist."""
        found = self.data
        for step in path:
            if isinstance(step, int):
                found = found[step] if isinstance(found, list) and step < len(found) else None
            else:
                found = found.get(step) if isinstance(found, dict) else None
        return found

    def set(self, path: Path, value: Any) -> None:
        """Set the value at a path. Missing parent mappings are created.

        Raises NotEditable if a parent is written with YAML anchors, or isn't a mapping.
        """
        parent, key = path[:-1], str(path[-1])
        if not isinstance(self.get(parent), dict) or not self.get(parent):
            self.set(parent, {key: value})
            return
        node = self._mapping(parent)
        layout = Layout(self.text)
        old = node.pair(key)
        if old is None:
            layout.reshape(node, [*map(Kept, node.pairs), New(key, value)])
        else:
            new = New(key, value, [old])
            layout.reshape(node, [new if each is old else Kept(each) for each in node.pairs])
        self.text = layout.result()

    def append(self, path: Path, values: Sequence[Any]) -> None:
        """Append values to the list at a path, which is created if it's missing."""
        node = self._node(path)
        if not isinstance(node, spans.List) or not node.items:
            self.set(path, list(values))
            return
        if spans.has_anchors(node):
            raise NotEditable(f"{dotted(path)} uses YAML anchors")
        layout = Layout(self.text)
        for value in values:
            _append(layout, node, value)
        self.text = layout.result()

    def remove(self, path: Path) -> None:
        """Remove a key or list item, and each parent that would be left empty.

        Comment lines of a removed parent stay.
        """
        before = self.text
        self._remove(path)
        self.text = _with_comments(before, self.text)

    def _remove(self, path: Path) -> None:
        parent, step = path[:-1], path[-1]
        if len(self.get(parent)) == 1 and parent:
            self._remove(parent)
            return
        layout = Layout(self.text)
        if isinstance(step, int):
            pair = self._mapping(parent[:-1]).pair(str(parent[-1]))
            assert pair is not None
            assert isinstance(pair.value, spans.List)
            layout.remove_items(pair, {id(pair.value.items[step])})
        else:
            layout.remove(self._mapping(parent), step)
        self.text = layout.result()

    def replace_text(self, path: Path, value: str) -> None:
        """Replace a scalar in place, so that the rest of its line doesn't change."""
        node = self._node(path)
        if not isinstance(node, spans.Scalar) or node.style in ("|", ">"):
            self.set(path, value)
            return
        layout = Layout(self.text)
        layout.set_scalar(node, value)
        self.text = layout.result()

    def _mapping(self, path: Path) -> spans.Mapping:
        node = self._node(path)
        if not isinstance(node, spans.Mapping):
            raise NotEditable(f"{dotted(path)} isn't a mapping")
        if spans.has_anchors(node):
            raise NotEditable(f"{dotted(path)} uses YAML anchors")
        return node

    def _node(self, path: Path) -> spans.Node | None:
        node = spans.compose(self.text)
        for step in path:
            if isinstance(step, int) and isinstance(node, spans.List) and step < len(node.items):
                node = node.items[step]
            elif isinstance(step, str) and isinstance(node, spans.Mapping):
                node = node.get(step)
            else:
                return None
        return node


def _append(layout: Layout, node: spans.List, value: Any) -> None:
    if node.is_flow or layout.is_json:
        layout.edits.append(
            (
                node.items[-1].end,
                node.items[-1].end,
                f", {flow_text(value, as_json=layout.is_json)}",
            )
        )
        return
    begin = layout.text.rfind("\n", 0, node.start) + 1
    end = layout.text.find("\n", node.end)
    at = len(layout.text) if end < 0 else end
    pad = " " * (node.start - begin)
    lines = block_text([value]).rstrip("\n").splitlines()
    layout.edits.append((at, at, "".join(f"\n{pad}{line}" for line in lines)))


def _with_comments(before: str, after: str) -> str:
    """Return a text after a removal, and restore the comment lines that were removed too."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    kept = new[same : len(new) - tail]
    lost = [
        line
        for line in old[same : len(old) - tail]
        if line.lstrip().startswith("#") and line not in kept
    ]
    return "".join((*new[: len(new) - tail], *lost, *new[len(new) - tail :]))


def dotted(path: Path) -> str:
    """Return a path in the form of messages, for example `spec.containers[0].resources`."""
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path]
    return "".join(parts).removeprefix(".") or "the document"
