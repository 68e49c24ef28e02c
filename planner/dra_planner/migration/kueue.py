"""Kueue's queues: quotas of extended resources become quotas of devices in claims, and flavors
select DRA nodes.

Source: kubernetes-sigs/kueue:keps/2941-DRA@ff69552 (deviceClassMappings, claim templates only).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dra_planner.documents.plain_values import blocks, indexed_blocks, labels, listed, text, texts
from dra_planner.drivers.protocol.device_plugin import LabelTerm
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.editor import Editor, Path
from dra_planner.migration.plugins import is_about_devices

QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
_GROUP: Final = "kueue.x-k8s.io"
_DRA_NODES: Final = {"nvidia.com/gpu.dra": "true"}


@dataclass(slots=True)
class Queues:
    """Kueue's objects, and which flavors' node labels hold for the pods of a queue."""

    flavors: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    cluster_queues: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    local_queues: dict[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, objects: Iterable[KubernetesObject]) -> Queues:
        """Return the queues among objects."""
        found = cls()
        for item in objects:
            spec = item.data.get("spec")
            if item.group != _GROUP or not isinstance(spec, Mapping):
                continue
            if item.kind == "ResourceFlavor":
                found.flavors[item.name] = spec
            elif item.kind == "ClusterQueue":
                found.cluster_queues[item.name] = spec
            elif item.kind == "LocalQueue":
                found.local_queues[item.namespace, item.name] = str(spec.get("clusterQueue", ""))
        return found

    def device_terms(self, item: KubernetesObject, resources: Iterable[str]) -> list[LabelTerm]:
        """Return the conditions on device labels that Kueue adds to the pods of an object when it
        admits them.

        Raises NotOneFlavor if several flavors offer the resource on different devices.
        """
        queue = labels(item.metadata.get("labels")).get(QUEUE_LABEL, "")
        name = self.local_queues.get((item.namespace, queue), queue)
        spec = self.cluster_queues.get(name)
        if spec is None:
            return []
        wanted = set(resources)
        alternatives = []
        for group in blocks(spec, "resourceGroups"):
            if wanted & set(texts(group.get("coveredResources"))):
                alternatives = [
                    self._terms(text(flavor.get("name"))) for flavor in blocks(group, "flavors")
                ]
        distinct = {tuple(each) for each in alternatives}
        if len(distinct) > 1:
            raise NotOneFlavor(
                f"the queue {name} offers flavors with different devices, and a claim names one "
                "kind"
            )
        return list(next(iter(distinct), ()))

    def _terms(self, flavor: str) -> tuple[LabelTerm, ...]:
        found = labels(self.flavors.get(flavor, {}).get("nodeLabels"))
        terms = [LabelTerm(key, "In", (value,)) for key, value in found.items()]
        return tuple(term for term in terms if is_about_devices(term.key))


class NotOneFlavor(Exception):
    """A queue whose flavors differ in devices; the message says which."""


def is_queue_object(item: KubernetesObject) -> bool:
    """Return whether an object is one of Kueue's that a migration may change."""
    return item.group == _GROUP and item.kind in ("ResourceFlavor", "ClusterQueue")


def migrate_queue_object(
    editor: Editor,
    prefix: Path,
    item: KubernetesObject,
    logical_name: Callable[[str], tuple[str, str]],
) -> Iterator[str]:
    """Change a flavor or cluster queue; yield what changed. `logical_name` gives a resource's quota
    name and class.
    """
    if item.kind == "ResourceFlavor":
        yield from _migrate_flavor(editor, prefix)
        return
    groups = editor.get((*prefix, "spec", "resourceGroups"))
    for number, group in indexed_blocks(groups):
        for index, resource in enumerate(listed(group.get("coveredResources"))):
            new, device_class = logical_name(str(resource))
            if not new:
                continue
            path: Path = (*prefix, "spec", "resourceGroups", number)
            editor.replace_text((*path, "coveredResources", index), new)
            for flavor, entry in indexed_blocks(group.get("flavors")):
                for place, quota in indexed_blocks(entry.get("resources")):
                    if quota.get("name") == resource:
                        editor.replace_text(
                            (*path, "flavors", flavor, "resources", place, "name"), new
                        )
            yield (
                f"{new} replaces {resource}: add {{name: {new}, deviceClassNames: "
                f"[{device_class}]}} to resources.deviceClassMappings in Kueue's "
                "configuration (Kueue 0.18 or later)"
            )


def _migrate_flavor(editor: Editor, prefix: Path) -> Iterator[str]:
    path: Path = (*prefix, "spec", "nodeLabels")
    found = labels(editor.get(path))
    gone = [key for key in found if is_about_devices(str(key))]
    if not gone:
        return
    editor.set(
        path, {**{key: value for key, value in found.items() if key not in gone}, **_DRA_NODES}
    )
    listed = " and ".join(map(str, gone))
    yield (
        f"it selects DRA nodes, because {listed} may be missing there; the claims of its jobs "
        "select the devices"
    )
