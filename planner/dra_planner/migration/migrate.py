"""Migrate files: read every document, determine the result for each object in it, and change its
text in place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.tree import Map
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.drivers.protocol.device_plugin import PluginFacts
from dra_planner.errors import Place
from dra_planner.manifests.metric_readers import read_metrics
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.rewriting.document_edits import Unwritable, block_text
from dra_planner.manifests.rewriting.document_texts import cut
from dra_planner.migration.chart_values import migrate_values
from dra_planner.migration.device_plugins import class_of, is_device, read_plugin_facts
from dra_planner.migration.editor import Editor, NotEditable, Path
from dra_planner.migration.kueue import Queues, is_queue_object, migrate_queue_object
from dra_planner.migration.limit_ranges import device_defaults, migrate_limit_range
from dra_planner.migration.monitoring import monitoring_notes
from dra_planner.migration.other_limits import migrate_volcano_queue, other_limit_notes
from dra_planner.migration.outcome import (
    MigratedFile,
    Migration,
    ObjectChange,
    Result,
    TemplateOutcome,
)
from dra_planner.migration.patch_files import PatchFile, list_claims
from dra_planner.migration.priorities import device_priorities
from dra_planner.migration.quotas import migrate_quota
from dra_planner.migration.target_cluster import Target
from dra_planner.migration.workloads import WorkloadMigrator
from dra_planner.sources import Source

_GPU: Final = "nvidia.com/gpu"
"""The resource that known charts use."""
_LOGICAL_NAMES: Final = "claimed-gpus", "claimed-mig-devices"


def migrate(
    sources: Sequence[Source],
    target: Target,
    answers: PluginFacts | None = None,
    patches: Mapping[str, PatchFile] | None = None,
) -> Migration:
    """Return all sources with claims instead of extended resources, as far as the conversion keeps
    their meaning. `answers` are facts about the source cluster from the user. `patches` are the
    sources that Kustomize applies as patches, by name. Documents that can't be read stay unchanged.
    """
    files = [_File(source) for source in sources]
    objects = [
        item for file in files for document in file.documents for _, item in document.objects
    ]
    facts = read_plugin_facts(objects, answers)
    target = target.with_classes(objects)
    names = {(item.kind, item.namespace, item.name) for item in objects}
    workloads = WorkloadMigrator(
        facts=facts,
        target=target,
        queues=Queues.of(objects),
        defaults=device_defaults(objects, is_device),
        priorities=device_priorities(objects),
        names=names,
    )
    readers = {(each.title, each.place): each for each in read_metrics(objects)}
    documents = [document for file in files for document in file.documents]
    for document in documents:
        _migrate_document(document, workloads)
        for _, item in document.objects:
            if reader := readers.get((str(item), item.place)):
                document.report(item, monitoring_notes(reader), is_changed=False)
    for document in documents:
        _migrate_queues(document, workloads)
    uses_devices = any(document.templates for document in documents)
    listed = list_claims(
        (patch, added)
        for file in files
        if (patch := (patches or {}).get(file.source.name)) and (added := file.take_added())
    )
    changes = (change for document in documents for change in document.changes)
    return Migration(
        files=(*(MigratedFile(file.source, file.text()) for file in files), *listed.files),
        templates=tuple(outcome for document in documents for outcome in document.templates),
        changes=(*changes, *listed.changes),
        assumptions=_assumptions(facts) if uses_devices else (),
    )


def _assumptions(facts: PluginFacts) -> tuple[str, ...]:
    if facts.is_known:
        return ()
    return (
        "The migration assumes that each unit of an extended resource is a whole device, because "
        "the input doesn't show how the device plugin shares devices. To be sure, pass the source "
        "cluster's nodes (`kubectl get nodes -o yaml`) or the plugin's ConfigMap.",
    )


class _Document(Struct):
    """One document of a file: its objects with their paths, and the result.

    `added` is inserted before the document.
    """

    before: str
    editor: Editor
    place: Place
    objects: list[tuple[Path, KubernetesObject]] = []
    added: list[Mapping[str, Any]] = []
    templates: list[TemplateOutcome] = []
    changes: list[ObjectChange] = []

    def report(
        self, item: KubernetesObject, what: Iterable[str], *, is_changed: bool = True
    ) -> None:
        """Report changes of an object, or changes that only its owner can make."""
        self.changes += [
            ObjectChange(place=item.place, object=str(item), what=each, is_changed=is_changed)
            for each in what
        ]

    def text(self) -> str:
        if not self.added:
            return self.before + self.editor.text
        if self.editor.text.lstrip().startswith("{"):
            return (
                self.before
                + "".join(f"{json.dumps(each, indent=2)}\n" for each in self.added)
                + self.editor.text
            )
        comment, rest = _leading_comment(self.editor.text)
        parts = "".join(f"{block_text(dict(each))}---\n" for each in self.added)
        return self.before + comment + parts + rest


class _File:
    """A source that is split into documents."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents: list[_Document] = []
        line = 1
        for before, text in cut(source.text):
            line += before.count("\n")
            place = Place(source.name, line)
            self.documents.append(
                _Document(before, Editor(text), place, list(_objects(text, source.name, line)))
            )
            line += text.count("\n")

    def take_added(self) -> list[Mapping[str, Any]]:
        """Return the objects to insert, and insert none of them."""
        added = [each for document in self.documents for each in document.added]
        for document in self.documents:
            document.added = []
        return added

    def text(self) -> str:
        return "".join(document.text() for document in self.documents)


def _objects(text: str, file: str, line: int) -> Iterator[tuple[Path, KubernetesObject]]:
    """Yield the objects of a document with their paths, including each item of a List."""
    try:
        data, _ = read_yaml(text, line)
    except Fault:
        return
    if not isinstance(data, Map) or not data.get("kind"):
        return
    items = data.get("items")
    if str(data["kind"]).endswith("List") and isinstance(items, list):
        for index, item in enumerate(items):
            if isinstance(item, Map):
                yield ("items", index), _object(item, file)
    else:
        yield (), _object(data, file)


def _object(data: Map, file: str) -> KubernetesObject:
    return KubernetesObject(
        str(data.get("apiVersion", "")), str(data.get("kind", "")), data, Place(file, data.line)
    )


def _migrate_document(document: _Document, workloads: WorkloadMigrator) -> None:
    if not document.objects:
        _migrate_values(document, workloads.target)
    for path, item in document.objects:
        with _unchanged_on_error(document, item):
            document.report(item, _changes(document.editor, path, item, workloads))
            document.report(item, other_limit_notes(item, is_device), is_changed=False)
            outcomes, templates = workloads.migrate(document.editor, path, item)
            document.templates += outcomes
            document.added += templates


def _migrate_queues(document: _Document, workloads: WorkloadMigrator) -> None:
    """Change the queues of a document. The changes depend on the results of all workloads."""
    for path, item in document.objects:
        if is_queue_object(item):
            with _unchanged_on_error(document, item):
                found = migrate_queue_object(
                    document.editor,
                    path,
                    item,
                    workloads.queues,
                    lambda name: _logical_name(name, workloads.facts),
                )
                document.report(item, found.changes)
                document.added += found.flavors


@contextmanager
def _unchanged_on_error(document: _Document, item: KubernetesObject) -> Iterator[None]:
    """Restore a document whose text can't be edited for an object, and report the problem."""
    before = document.editor.text
    try:
        yield
    except (NotEditable, Unwritable) as error:
        document.editor.text = before
        document.report(item, [f"isn't changed, because {error}"], is_changed=False)


def _changes(
    editor: Editor, path: Path, item: KubernetesObject, workloads: WorkloadMigrator
) -> Iterator[str]:
    """Change an object that isn't a workload, and yield the changes."""
    if item.kind == "ResourceQuota":
        yield from migrate_quota(editor, path, lambda name: class_of(name, workloads.facts))
    elif item.kind == "Queue":
        yield from migrate_volcano_queue(
            editor, path, item, lambda name: class_of(name, workloads.facts)
        )
    elif item.kind == "LimitRange":
        yield from migrate_limit_range(editor, path, is_device)


def _logical_name(resource: str, facts: PluginFacts) -> tuple[str, str]:
    device_class = class_of(resource, facts)
    return (_LOGICAL_NAMES["mig" in device_class], device_class) if device_class else ("", "")


def _migrate_values(document: _Document, target: Target) -> None:
    """Migrate a document that contains the values of a known chart."""
    try:
        found = migrate_values(document.editor)
    except (Fault, NotEditable, Unwritable):
        return
    if found is None:
        return
    name = f"values for the chart {found.chart}"
    document.changes += [
        ObjectChange(place=document.place, object=name, what=each) for each in found.changes
    ]
    for each in found.device_classes:
        what = f"needs the DeviceClass {each['metadata']['name']}:\n{block_text(dict(each))}"
        document.changes.append(
            ObjectChange(place=document.place, object=name, what=what, is_changed=False)
        )
    if found.reason or found.devices:
        served = _GPU in target.served
        result = (
            Result.REWRITTEN if not found.reason else Result.SERVED if served else Result.CANNOT
        )
        document.templates.append(
            TemplateOutcome(
                place=document.place,
                object=name,
                pods="",
                result=result,
                devices=found.devices,
                resources=(_GPU,),
                reason=found.reason,
                served={_GPU: target.served[_GPU]} if result is Result.SERVED else {},
                alternatives=tuple(found.alternatives),
            )
        )


def _leading_comment(text: str) -> tuple[str, str]:
    """Return the comments and blank lines at the top of a document, and the rest."""
    lines = text.splitlines(keepends=True)
    count = next(
        (i for i, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0
    )
    return "".join(lines[:count]), "".join(lines[count:])
