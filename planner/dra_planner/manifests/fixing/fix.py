"""Repair one source: correct invalid values, and add missing tolerations to pods."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.manifests.amount_units import corrected_amount, possible_amounts
from dra_planner.manifests.fixing.comparisons import with_compare_to, with_units
from dra_planner.manifests.rewriting import spans
from dra_planner.manifests.rewriting.document_edits import Kept, Layout, New, Unwritable
from dra_planner.manifests.rewriting.document_texts import cut
from dra_planner.sources import Source
from dra_planner.wording import either

_AMOUNTS: Final = frozenset({"requests", "limits"})
_ANCHORS: Final = "uses YAML anchors; replace the anchors with their values first"
_Repair = tuple[int, str, bool]
"""The offset and the text of a repair, and whether it is written."""
IsRefused = Callable[[str], bool]
"""Returns True if the API server rejects a selector."""


class LineRepair(Struct, frozen=True):
    """A change in a line of the original text (1-based), or the reason why the change isn't
    written.
    """

    line: int
    what: str
    is_written: bool = True


class Fixed(Struct, frozen=True):
    """A repaired text, its repairs, and the repairs that aren't written."""

    text: str
    repairs: tuple[LineRepair, ...] = ()
    unwritten: tuple[LineRepair, ...] = ()


def fix_values(source: Source, is_refused: IsRefused) -> Fixed:
    """Return a source with selectors that compare by `compareTo`, and amounts in units of
    Kubernetes.

    Only selectors that the API server rejects change.
    """
    return _each_document(source, lambda root, layout: _values(root, layout, is_refused))


def add_tolerations(source: Source, wanted: Sequence[tuple[int, Mapping[str, str]]]) -> Fixed:
    """Return a source whose pods with claims have additional tolerations.

    The tolerations are given by the first line of each object. Objects with anchors, and objects in
    braces with comments, aren't changed.
    """
    return _each_document(source, lambda root, layout: (), wanted)


def _each_document(
    source: Source,
    change: Callable[[spans.Node, Layout], Iterator[_Repair] | tuple[()]],
    wanted: Sequence[tuple[int, Mapping[str, str]]] = (),
) -> Fixed:
    parts: list[str] = []
    repairs: list[LineRepair] = []
    line = 1
    for before, text in cut(source.text):
        line += before.count("\n")
        layout = Layout(text)
        root = _compose(text)
        if root is not None:
            found = [*change(root, layout), *_tolerations(root, layout, line, wanted)]
            repairs += [
                LineRepair(line + text.count("\n", 0, at), what, is_written)
                for at, what, is_written in found
            ]
        parts += [before, layout.result()]
        line += text.count("\n")
    return Fixed(
        "".join(parts),
        tuple(each for each in repairs if each.is_written),
        tuple(each for each in repairs if not each.is_written),
    )


def _compose(text: str) -> spans.Node | None:
    try:
        data, _ = read_yaml(text)
    except Fault:
        return None
    return None if data is None else spans.compose(text)


def _values(node: spans.Node, layout: Layout, is_refused: IsRefused) -> Iterator[_Repair]:
    if isinstance(node, spans.Mapping):
        for pair in node.pairs:
            key, value = pair.key.text, pair.value
            if key == "cel" and isinstance(value, spans.Mapping):
                yield from _selector(value.get("expression"), layout, is_refused)
            elif key in _AMOUNTS and isinstance(value, spans.Mapping):
                yield from _amounts(value, layout)
            else:
                yield from _values(value, layout, is_refused)
    elif isinstance(node, spans.List):
        for item in node.items:
            yield from _values(item, layout, is_refused)


def _selector(node: spans.Node | None, layout: Layout, is_refused: IsRefused) -> Iterator[_Repair]:
    """Correct units of amounts, and comparisons that need `compareTo`, even if the selector has
    further faults.
    """
    if not isinstance(node, spans.Scalar):
        return
    value, raw = with_units(node.text), with_units(layout.text[node.start : node.end])
    if is_refused(value):
        value, raw = with_compare_to(value), with_compare_to(raw)
    if value == node.text:
        return
    change = f"`{' '.join(node.text.split())}` → `{' '.join(value.split())}`"
    if node.anchor:
        yield node.start, f"{change}: {_ANCHORS}", False
        return
    layout.inline.append((node.start, node.end, raw))
    yield node.start, change, True


def _amounts(node: spans.Mapping, layout: Layout) -> Iterator[_Repair]:
    for pair in node.pairs:
        value = pair.value
        if not isinstance(value, spans.Scalar):
            continue
        was = f"{pair.key.text}: {value.text}"
        if meanings := possible_amounts(value.text):
            yield value.start, f"{was} is ambiguous; use {either(meanings)}", False
        elif now := corrected_amount(value.text):
            if not value.anchor:
                layout.set_scalar(value, now)
            note = f": {_ANCHORS}" if value.anchor else ""
            yield value.start, f"{was} → {now}{note}", not value.anchor


def _tolerations(
    root: spans.Node, layout: Layout, first: int, wanted: Sequence[tuple[int, Mapping[str, str]]]
) -> Iterator[_Repair]:
    objects = list(_objects(root))
    lines = [first + layout.text.count("\n", 0, each.start) for each in objects]
    for line, toleration in wanted:
        for each, at in zip(objects, lines, strict=True):
            if at != line:
                continue
            change = f"tolerations: {_flow(toleration)}"
            if spans.has_anchors(each):
                yield each.start, f"{change}: the object {_ANCHORS}", False
                continue
            for spec in _pod_specs(each):
                try:
                    _add(spec, toleration, layout)
                except Unwritable as error:
                    yield spec.start, f"{change}: the pod {error}", False
                    continue
                yield spec.start, change, True


def _objects(root: spans.Node) -> Iterator[spans.Mapping]:
    if isinstance(root, spans.Mapping):
        items = root.items("items")
        yield from items or [root]


def _pod_specs(node: spans.Node) -> Iterator[spans.Mapping]:
    """Yield the pod specs below a node that name claims."""
    if isinstance(node, spans.Mapping):
        if isinstance(node.get("containers"), spans.List):
            if isinstance(node.get("resourceClaims"), spans.List):
                yield node
            return
        for pair in node.pairs:
            yield from _pod_specs(pair.value)
    elif isinstance(node, spans.List):
        for item in node.items:
            yield from _pod_specs(item)


def _add(spec: spans.Mapping, toleration: Mapping[str, str], layout: Layout) -> None:
    pair = spec.pair("tolerations")
    if pair is None:
        layout.reshape(spec, [*map(Kept, spec.pairs), New("tolerations", [dict(toleration)])])
    elif isinstance(pair.value, spans.List):
        _append(pair.value, toleration, layout)
    else:
        new = New("tolerations", [dict(toleration)], [pair])
        layout.reshape(spec, [new if each is pair else Kept(each) for each in spec.pairs])


def _append(node: spans.List, toleration: Mapping[str, str], layout: Layout) -> None:
    text = json.dumps(toleration) if layout.is_json else _flow(toleration)
    if node.is_flow:
        at = node.items[-1].end if node.items else node.start + 1
        layout.edits.append((at, at, f", {text}" if node.items else text))
        return
    begin = layout.text.rfind("\n", 0, node.start) + 1
    end = layout.text.find("\n", node.end)
    at = len(layout.text) if end < 0 else end
    layout.edits.append((at, at, f"\n{' ' * (node.start - begin)}- {text}"))


def _flow(toleration: Mapping[str, Any]) -> str:
    shown = (
        f'{key}: "{value}"' if key == "value" else f"{key}: {value}"
        for key, value in toleration.items()
    )
    return f"{{{', '.join(shown)}}}"
