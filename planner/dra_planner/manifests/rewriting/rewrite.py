"""Convert manifests of all DRA versions to v1, file by file.

An object is converted if that keeps its meaning. Otherwise, or if the API server would reject the
result, the object stays unchanged and is reported with the reason. All other text stays exactly the
same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.tree import Map
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import Place
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.rewriting import (
    classic_dra,
    replacement_examples,
    spans,
    structured_parameters,
    vendor_parameters,
)
from dra_planner.manifests.rewriting.document_edits import Layout, Unwritable
from dra_planner.manifests.rewriting.document_texts import cut
from dra_planner.manifests.rewriting.old_forms import GROUP, V1, NotConvertible, Old, section
from dra_planner.manifests.validation.context import CheckSelector, Context
from dra_planner.manifests.validation.verdict import judge
from dra_planner.releases import Features, served_since
from dra_planner.sources import Source

_VERSIONS: Final = frozenset({"v1alpha3", "v1beta1", "v1beta2", "v1"})
_CONVERT: Final[dict[str, Callable[[Old, Layout], bool]]] = {
    "ResourceClaim": structured_parameters.convert_claim,
    "ResourceClaimTemplate": structured_parameters.convert_template,
    "DeviceClass": structured_parameters.convert_class,
    "ResourceSlice": structured_parameters.convert_slice,
    "DeviceTaintRule": lambda old, layout: False,
}
_CONVERT_CLASSIC: Final[dict[str, Callable[[Old, Layout, classic_dra.ClassicObjects], bool]]] = {
    "ResourceClass": classic_dra.convert_class,
    "ResourceClaim": classic_dra.convert_claim,
    "ResourceClaimTemplate": classic_dra.convert_template,
}
_MISTAKEN: Final = frozenset({"", "resource.kubernetes.io"})
"""Wrong group names in guides for the group of claims: no name, and the domain of its
attributes.
"""
_COMMENT: Final = re.compile(r"(?:^|\s)(?P<comment>#.*)$")
_SUCCESSORS: Final = {"ResourceClass": "DeviceClass"}


class RewrittenObject(Struct, frozen=True):
    """A converted object.

    `now` is its new apiVersion, or empty if the object is now part of other objects.
    """

    place: Place
    name: str
    was: str
    now: str
    notes: tuple[str, ...] = ()


class KeptObject(Struct, frozen=True):
    """An object in an older form that stays unchanged, with the reason, and instructions to convert
    it by hand.
    """

    place: Place
    name: str
    was: str
    reason: str
    example: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.name}: {self.was} isn't changed: {self.reason}"


class Rewriting(Struct, frozen=True):
    """A source, its text with all possible conversions, and the notes about them."""

    source: Source
    text: str
    changes: tuple[RewrittenObject, ...] = ()
    refusals: tuple[KeptObject, ...] = ()

    @property
    def is_changed(self) -> bool:
        return self.text != self.source.text


def rewrite(
    sources: Sequence[Source],
    features: Features,
    *,
    check_selector: CheckSelector,
    needs_acceptance: bool = True,
) -> tuple[Rewriting, ...]:
    """Return the sources in the form of v1, as far as the conversion keeps their meaning.

    Parameters of the classic model are looked up in all sources. `features` describe the version
    whose API server must accept the result, including selectors. If acceptance isn't required, the
    result is written even if the server would reject it. Documents that can't be read stay
    unchanged.
    """
    files = [_File(source) for source in sources]
    library = classic_dra.ClassicObjects.of(old for file in files for old in file.objects())
    context = Context(features=features, check_selector=check_selector)
    for file in files:
        for document in file.documents:
            document.convert(library, context, needs_acceptance=needs_acceptance)
    refused = {
        id(old) for file in files for document in file.documents for old, _ in document.refused
    }
    for file in files:
        for document in file.documents:
            document.settle_parameters(library, refused)
    return tuple(file.result() for file in files)


class _File:
    """A source and its documents."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents: list[_Document] = []
        line = 1
        for before, text in cut(source.text):
            line += before.count("\n")
            self.documents.append(_Document(before, text, source.name, line))
            line += text.count("\n")

    def objects(self) -> Iterator[Old]:
        return (old for document in self.documents for old in document.objects)

    def result(self) -> Rewriting:
        text = "".join(document.before + document.result() for document in self.documents)
        changes = [change for document in self.documents for change in document.changes()]
        refusals = [
            KeptObject(old.place, str(old), old.api_version, refused.reason, refused.example)
            for document in self.documents
            for old, refused in document.refused
        ]
        return Rewriting(self.source, text, tuple(changes), tuple(refusals))


class _Document(Struct):
    """One document: its objects, and the converted, removed, and unchanged ones."""

    before: str
    text: str
    file: str
    line: int
    objects: list[Old] = []
    written: dict[int, Layout] = {}  # by the object's ID
    # the object that contains the removed object now, by the removed object's ID
    removed: dict[int, str] = {}
    refused: list[tuple[Old, NotConvertible]] = []
    root: spans.Node | None = None

    def __post_init__(self) -> None:
        try:
            data, _ = read_yaml(self.text, self.line)
        except Fault:
            return
        if data is not None:
            self.root = spans.compose(self.text)
            self.objects = list(_objects(data, self.root, self.file))

    def convert(
        self, library: classic_dra.ClassicObjects, context: Context, *, needs_acceptance: bool
    ) -> None:
        """Convert all objects that can be converted. If acceptance is required, objects whose new
        form the API server would reject stay unchanged.
        """
        for old in self.objects:
            layout = Layout(self.text)
            try:
                if _convert(old, layout, library, context.features):
                    if layout.edits and spans.has_anchors(old.node):
                        raise NotConvertible(
                            "the file uses YAML anchors; replace the anchors with their values "
                            "first"
                        )
                    self.written[id(old)] = layout
            except Unwritable as error:
                self.refused.append((old, NotConvertible(str(error))))
            except NotConvertible as refused:
                self.refused.append((old, refused))
        for old, reason in self._refused_by_server(context) if needs_acceptance else ():
            del self.written[id(old)]
            self.refused.append(
                (old, NotConvertible(f"the API server would reject its v1 form: {reason}"))
            )

    def settle_parameters(self, library: classic_dra.ClassicObjects, refused: set[int]) -> None:
        """Remove parameters that were inserted into every object that referred to them."""
        for old in self.objects:
            if not classic_dra.is_parameters(old):
                continue
            users = library.users.get(id(old), [])
            kept = [user for user in users if id(user) in refused]
            if not users:
                problem = (
                    "v1 doesn't have this kind, and these files don't refer to the object; delete "
                    "the object, or add the claims that use it"
                )
                self.refused.append((old, NotConvertible(problem, replacement_examples.CLAIM)))
            elif kept:
                self.refused.append(
                    (old, NotConvertible(f"{kept[0]} refers to this object and isn't changed"))
                )
            else:
                self.removed[id(old)] = ", ".join(dict.fromkeys(_new_name(user) for user in users))

    def result(self) -> str:
        """Return the text with all changes."""
        if self.removed and len(self.objects) == 1:
            (old,) = self.objects
            comment = f"# {old} is part of {self.removed[id(old)]} now\n"
            return f"{_leading_comments(self.text)}{comment}{_inner_comments(self.text)}"
        layout = self._merged()
        items = self.root.pair("items") if isinstance(self.root, spans.Mapping) else None
        if self.removed and items is not None:
            gone = {id(old.node) for old in self.objects if id(old) in self.removed}
            layout.remove_items(items, gone)
        return layout.result()

    def changes(self) -> Iterator[RewrittenObject]:
        for old in self.objects:
            if id(old) in self.removed:
                yield RewrittenObject(
                    old.place,
                    str(old),
                    old.api_version,
                    "",
                    (f"part of {self.removed[id(old)]} now",),
                )
            elif id(old) in self.written:
                now = V1 if _is_of_group(old) else old.api_version
                yield RewrittenObject(old.place, str(old), old.api_version, now, tuple(old.notes))

    def _merged(self) -> Layout:
        parts = self.written.values()
        edits = [edit for part in parts for edit in part.edits]
        return Layout(self.text, edits, [edit for part in parts for edit in part.inline])

    def _refused_by_server(self, context: Context) -> list[tuple[Old, str]]:
        if not self.written:
            return []
        data, _ = read_yaml(self._merged().result())
        found: list[tuple[Old, str]] = []
        for old, new in zip(self.objects, _data(data), strict=True):
            if id(old) in self.written:
                item = KubernetesObject(
                    str(new.get("apiVersion")), str(new.get("kind")), new, old.place
                )
                verdict = judge(item, context)
                if not verdict.accepted:
                    found.append((old, "; ".join(str(each) for each in verdict.violations)))
        return found


def _convert(
    old: Old, layout: Layout, library: classic_dra.ClassicObjects, features: Features
) -> bool:
    """Request the changes that convert an object to v1. Return True if there are any. Raises
    NotConvertible.
    """
    if sum(pair.key.text == "apiVersion" for pair in old.node.pairs) > 1:
        raise NotConvertible(
            "two objects aren't separated; add a line with --- before the second apiVersion"
        )
    if not _is_of_group(old):
        if vendor_parameters.is_state(old.group, old.kind):
            raise NotConvertible(
                "a driver of classic DRA stored its state in this object, and current drivers "
                "ignore it; delete the object"
            )
        return (
            structured_parameters.convert_pod(old, layout)
            if not classic_dra.is_parameters(old)
            else False
        )
    if classic_dra.is_parameters(old):
        return False  # determined after all claims and classes have been converted
    if not _is_rewritten(old, features):
        return False
    # The form follows from the fields, not from the version, because people copy new fields below
    # an old apiVersion, and vice versa. The version is set first. Then the fields are converted
    # from the form that was found.
    if old.api_version != V1:
        _set(old, layout, "apiVersion", V1)
    if old.kind in _SUCCESSORS:
        _set(old, layout, "kind", _SUCCESSORS[old.kind])
    if _is_classic(old):
        if old.version not in classic_dra.CLASSIC:
            old.notes.append("the object has fields of v1alpha2, which don't match its apiVersion")
        return _CONVERT_CLASSIC[old.kind](old, layout, library)
    if old.version in classic_dra.CLASSIC:
        old.notes.append(
            "the object has fields from v1alpha3 or later, which don't match its apiVersion"
        )
    return _CONVERT[old.kind](old, layout) or old.api_version != V1


def _is_of_group(old: Old) -> bool:
    """Return True if an object belongs to DRA, even if its apiVersion has no group or a wrong
    group.
    """
    return old.group == GROUP or (
        old.group in _MISTAKEN and old.kind in {*_CONVERT, *_CONVERT_CLASSIC}
    )


def _is_classic(old: Old) -> bool:
    """Return True if an object has the form of the first model, according to its version, or to
    fields that only this model had.
    """
    is_old = old.version in classic_dra.CLASSIC and not _is_ahead(old)
    return old.kind in _CONVERT_CLASSIC and (is_old or classic_dra.has_its_fields(old))


def _is_ahead(old: Old) -> bool:
    """Return True if an object with a version of the first model has the form of a later model."""
    spec = section(old.data, "spec")
    return old.kind == "DeviceClass" or "devices" in (
        spec if old.kind == "ResourceClaim" else section(spec, "spec")
    )


def _is_rewritten(old: Old, features: Features) -> bool:
    """Return True if an object has, or might have, an older form.

    Raises NotConvertible for kinds with an older form that were removed.
    """
    if old.kind in ("PodScheduling", "PodSchedulingContext"):
        raise NotConvertible(
            "the scheduler created this object for drivers with a controller, but current programs "
            "don't read it; delete the object"
        )
    if _is_classic(old) or (old.version in classic_dra.CLASSIC and _is_ahead(old)):
        return True
    if old.version in classic_dra.CLASSIC:
        if old.kind == "ResourceSlice":
            raise NotConvertible(
                "drivers publish their own slices; install a driver version that publishes v1"
            )
        if old.kind not in _CONVERT_CLASSIC:
            raise NotConvertible(f"{GROUP}/{old.version} had no {old.kind}")
    elif old.kind not in _CONVERT:
        if old.version in _VERSIONS - {"v1"}:
            raise NotConvertible(f"{GROUP}/{old.version} had no {old.kind}")
        return False
    elif old.version not in _VERSIONS:
        raise NotConvertible(f"{old.api_version} never existed")
    elif old.kind not in features.resource_kinds and old.version != "v1":
        problem = (
            f"Kubernetes {features.version} doesn't have {old.kind} in v1; Kubernetes "
            f"{served_since(old.kind)} and later serve it"
        )
        raise NotConvertible(problem, replacement_examples.TAINT_RULE)
    return True


def _set(old: Old, layout: Layout, key: str, value: str) -> None:
    node = old.node.get(key)
    if not isinstance(node, spans.Scalar):
        raise NotConvertible(
            f"its {key} is set only in the list that contains the object; set apiVersion and kind "
            "in every item"
        )
    layout.set_scalar(node, value)


def _objects(data: Any, node: spans.Node | None, file: str) -> Iterator[Old]:
    """Yield the objects of a document with their text, including the items of each List."""
    if not isinstance(data, Map) or not isinstance(node, spans.Mapping):
        return
    items: Any = data.get("items")
    written = node.get("items")
    version, kind = str(data.get("apiVersion") or ""), str(data.get("kind") or "")
    if not _is_list(data):
        yield Old(Place(file, data.line), version, kind, data, node)
    elif isinstance(written, spans.List):
        for item, part in zip(items, written.items, strict=True):
            if isinstance(item, Map) and isinstance(part, spans.Mapping):
                own = (
                    str(item.get("apiVersion") or version),
                    str(item.get("kind") or kind.removesuffix("List")),
                )
                yield Old(Place(file, item.line), *own, item, part)


def _data(data: Any) -> Iterator[Any]:
    items = data.get("items") if _is_list(data) else None
    yield from (
        (item for item in items if isinstance(item, Map)) if isinstance(items, list) else [data]
    )


def _is_list(data: Any) -> bool:
    return str(data.get("kind", "")).endswith("List") and isinstance(data.get("items"), list)


def _new_name(old: Old) -> str:
    return f"{_SUCCESSORS.get(old.kind, old.kind)} {old.name}"


def _inner_comments(text: str) -> str:
    """Return the comments of a removed document, each on a separate line."""
    inside = text.removeprefix(_leading_comments(text))
    found = (_COMMENT.search(line) for line in inside.splitlines())
    return "".join(
        f"{match['comment']}\n"
        for match in found
        if match is not None and _is_outside_quotes(match)
    )


def _is_outside_quotes(match: re.Match[str]) -> bool:
    before = match.string[: match.start("comment")]
    return before.count('"') % 2 == 0 and before.count("'") % 2 == 0


def _leading_comments(text: str) -> str:
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.strip() and not line.lstrip().startswith("#"):
            break
        lines.append(line)
    return "".join(lines)
