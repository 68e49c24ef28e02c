"""The queue that admits an object, the requirements of the queue's flavors, and whether all of the
queue's jobs migrate.

Source: kubernetes-sigs/kueue:keps/2941-DRA@ff69552 (claim templates only),
pkg/controller/constants/constants.go@v0.19.2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.plain_values import block, blocks, labels, number, text, texts
from dra_planner.drivers.protocol.device_plugin import LabelTerm
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.device_plugins import is_about_devices

QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
GROUP: Final = "kueue.x-k8s.io"
_DEFAULT_QUEUE: Final = "default"


class Queues(Struct):
    """Kueue's objects, and the resources that jobs request before and after the migration.

    By ClusterQueue, `moved` contains the resources that rewritten jobs no longer request, and
    `staying` contains the resources that other jobs still request, with these jobs.
    """

    flavors: dict[str, Mapping[str, Any]] = {}
    cluster_queues: dict[str, Mapping[str, Any]] = {}
    cohorts: dict[str, Mapping[str, Any]] = {}
    local_queues: dict[tuple[str, str], str] = {}
    moved: dict[str, set[str]] = {}
    staying: dict[str, dict[str, str]] = {}

    @classmethod
    def of(cls, objects: Iterable[KubernetesObject]) -> Queues:
        """Return the queues among objects."""
        found = cls()
        for item in objects:
            spec = item.data.get("spec")
            if item.group != GROUP or not isinstance(spec, Mapping):
                continue
            if item.kind == "ResourceFlavor":
                found.flavors[item.name] = spec
            elif item.kind == "ClusterQueue":
                found.cluster_queues[item.name] = spec
            elif item.kind == "Cohort":
                found.cohorts[item.name] = spec
            elif item.kind == "LocalQueue":
                found.local_queues[item.namespace, item.name] = str(spec.get("clusterQueue", ""))
        return found

    def queue_of(self, item: KubernetesObject) -> str:
        """Return the ClusterQueue that admits the pods of an object, or "" if none does."""
        label = _queue_label(item.data)
        if label:
            return self.local_queues.get((item.namespace, label), label)
        return self.local_queues.get((item.namespace, _DEFAULT_QUEUE), "")

    def record(self, item: KubernetesObject, resources: Iterable[str], *, is_moved: bool) -> None:
        """Record whether an object still requests resources."""
        queue = self.queue_of(item)
        if queue and is_moved:
            self.moved.setdefault(queue, set()).update(resources)
        elif queue:
            own = self.staying.setdefault(queue, {})
            for resource in resources:
                own.setdefault(resource, str(item))

    def is_moved(self, queues: Iterable[str], resources: Iterable[str]) -> bool:
        """Return whether jobs of the queues requested the resources, but no job requests them
        afterward.
        """
        wanted = set(resources)
        moved = {name for queue in queues for name in self.moved.get(queue, ())}
        return bool(wanted & moved) and not self.still_used(queues, wanted)

    def still_used(self, queues: Iterable[str], resources: Iterable[str]) -> str:
        """Return an object that still requests one of the resources in a queue, or "" if none
        does.
        """
        wanted = set(resources)
        return next(
            (
                user
                for queue in queues
                for resource, user in self.staying.get(queue, {}).items()
                if resource in wanted
            ),
            "",
        )

    def members(self, item: KubernetesObject) -> list[str]:
        """Return the ClusterQueues that use the quotas of a ClusterQueue or Cohort."""
        return [item.name] if item.kind == "ClusterQueue" else list(self._below(item.name, set()))

    def _below(self, cohort: str, seen: set[str]) -> Iterator[str]:
        if cohort in seen:
            return
        seen.add(cohort)
        for name, spec in self.cluster_queues.items():
            if text(spec.get("cohortName") or spec.get("cohort")) == cohort:
                yield name
        for name, spec in self.cohorts.items():
            if text(spec.get("parentName") or spec.get("parent")) == cohort:
                yield from self._below(name, seen)

    def device_terms(self, item: KubernetesObject, resources: Iterable[str]) -> list[LabelTerm]:
        """Return the conditions on device labels that Kueue adds to the pods of an object when it
        admits them.

        Raises NotOneFlavor if several flavors offer the resource on different devices.
        """
        name = self.queue_of(item)
        spec = self.cluster_queues.get(name)
        if spec is None:
            return []
        wanted = set(resources)
        alternatives = []
        for group in blocks(spec, "resourceGroups"):
            if wanted & set(texts(group.get("coveredResources"))):
                alternatives = [
                    self._terms(text(flavor.get("name")))
                    for flavor in blocks(group, "flavors")
                    if _has_quota(flavor, wanted)
                ]
        distinct = {tuple(each) for each in alternatives}
        if len(distinct) > 1:
            raise NotOneFlavor(
                f"the queue {name} has flavors with different devices, but a claim requests only "
                "one kind of device"
            )
        return list(next(iter(distinct), ()))

    def _terms(self, flavor: str) -> tuple[LabelTerm, ...]:
        found = labels(self.flavors.get(flavor, {}).get("nodeLabels"))
        terms = [LabelTerm(key, "In", (value,)) for key, value in found.items()]
        return tuple(term for term in terms if is_about_devices(term.key))


class NotOneFlavor(Exception):
    """A queue whose flavors have different devices. The message contains the difference."""


def _has_quota(flavor: Mapping[str, Any], resources: Collection[str]) -> bool:
    """Return whether a flavor might admit a pod that requests one of the resources."""
    quotas = [
        each.get("nominalQuota")
        for each in blocks(flavor, "resources")
        if text(each.get("name")) in resources
    ]
    return any(number(each) != 0 for each in quotas)


def _queue_label(data: Any) -> str:
    """Return the queue that an object, or a template in it (as in a CronJob), names."""
    if not isinstance(data, Mapping):
        return ""
    own = labels(block(data, "metadata").get("labels")).get(QUEUE_LABEL, "")
    return own or next(
        (
            found
            for key in ("spec", "jobTemplate", "template")
            if (found := _queue_label(data.get(key)))
        ),
        "",
    )
