"""Convert the workloads of a plan to objects that can be applied.

If a controller of the control plane supports the kind, the original object is applied. Otherwise,
the pods that its own controller would create are applied.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct

from dra_planner.manifests import Manifests, render_pod_template
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.model import DemandLevel, Workload, WorkloadRef
from dra_planner.sources import Source

Json = dict[str, Any]

ANNOTATION: Final = "pulumi-dra/workload"
"""Annotation on every pod of a workload: its kind, namespace, and name, separated by slashes."""

_TEMPLATES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("apps/v1", "Deployment"): ("spec", "template"),
    ("apps/v1", "ReplicaSet"): ("spec", "template"),
    ("apps/v1", "StatefulSet"): ("spec", "template"),
    ("apps/v1", "DaemonSet"): ("spec", "template"),
    ("batch/v1", "Job"): ("spec", "template"),
    ("v1", "ReplicationController"): ("spec", "template"),
    ("v1", "Pod"): (),
}
"""The kinds for which a control plane creates pods, and the path of their pod template."""

_FIRST: Final = frozenset(
    {
        ("", "Namespace"),
        ("", "ResourceQuota"),
        ("", "LimitRange"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("policy", "PodDisruptionBudget"),
        ("node.k8s.io", "RuntimeClass"),
        ("resource.k8s.io", "DeviceClass"),
        ("resource.k8s.io", "ResourceClaim"),
        ("resource.k8s.io", "ResourceClaimTemplate"),
        ("resource.k8s.io", "DeviceTaintRule"),
    }
)
"""Kinds without pods that affect whether pods are created and where they can run: (group, kind)."""


class WorkloadOrder(NamedTuple):
    """The order in which workloads arrive: document order, reversed, or shuffled with a seed."""

    kind: Literal["document", "reversed", "random"] = "document"
    seed: int = 0

    @classmethod
    def parse(cls, text: str) -> WorkloadOrder:
        """Return the order that `document`, `reversed`, or `random:N` names.

        Raises ValueError for any other text.
        """
        name, colon, seed = text.partition(":")
        if name == "random" and seed.isdecimal():
            return cls("random", int(seed))
        if name in ("document", "reversed") and not colon:
            return cls("document" if name == "document" else "reversed")
        raise ValueError(
            f'"{text}" isn\'t a pod arrival order; use document, reversed, or random:N'
        )

    def __str__(self) -> str:
        return f"random:{self.seed}" if self.kind == "random" else self.kind

    def arrange(self, arrivals: Iterable[Arrival]) -> list[Arrival]:
        """Return the arrivals in this order."""
        found = list(arrivals)
        if self.kind == "reversed":
            found.reverse()
        elif self.kind == "random":
            random.Random(self.seed).shuffle(found)
        return found


DOCUMENT_ORDER: Final = WorkloadOrder()


class Arrival(Struct, frozen=True):
    """A workload and the objects that create its pods.

    If its controller doesn't run here, these objects are the pods themselves, and `made_here` is
    True.
    """

    workload: WorkloadRef
    objects: tuple[Json, ...]
    made_here: bool = False


class Workloads(Struct, frozen=True):
    """The objects to apply: first the objects that workloads need, then the workloads, in document
    order.

    `left_out` counts the omitted objects by kind. These objects don't create pods and don't affect
    the result.
    """

    first: tuple[Json, ...]
    arrivals: tuple[Arrival, ...]
    left_out: Mapping[str, int] = {}


def read_workloads(
    sources: Iterable[Source], manifests: Manifests, level: DemandLevel = "steady"
) -> Workloads:
    """Return the objects to apply for the manifests in `sources`.

    `manifests` is the result of reading them. For a kind whose controller doesn't run here, `level`
    determines the number of pods. Raises ManifestError if a manifest is invalid.
    """
    objects = read_objects(read_documents(sources)[0])
    known = {workload.ref: workload for workload in manifests.workloads}
    first: list[Json] = []
    arrivals: list[Arrival] = []
    left_out: dict[str, int] = {}
    for each in objects:
        ref = WorkloadRef(each.kind, each.namespace, each.name)
        if (each.group, each.kind) in _FIRST:
            first.append(_plain(each))
        elif (each.api_version, each.kind) in _TEMPLATES:
            arrivals.append(Arrival(ref, (_marked(each, ref),)))
        elif ref in known:
            pods = tuple(_stamped(known[ref], level))
            arrivals.append(Arrival(ref, pods, made_here=True))
        else:
            left_out[each.kind] = left_out.get(each.kind, 0) + 1
    return Workloads((*_namespaces(first, arrivals), *first), tuple(arrivals), left_out)


def workload_of(pod: Json) -> WorkloadRef:
    """Return the workload whose name is on a pod."""
    kind, namespace, name = pod["metadata"]["annotations"][ANNOTATION].split("/", 2)
    return WorkloadRef(kind, namespace, name)


def is_ready(pod: Json) -> bool:
    """Return True if a pod has the condition Ready."""
    conditions = pod.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def template_of(document: Json) -> Json:
    """Return the pod template of an object, or the pod itself."""
    found: Json = document
    for step in _TEMPLATES[document["apiVersion"], document["kind"]]:
        found = found[step]
    return found


def made_by(arrivals: Iterable[Arrival]) -> dict[WorkloadRef, WorkloadRef]:
    """Return the workloads of the pods that the rehearsal itself created, by pod name."""
    return {
        WorkloadRef(
            "Pod", each["metadata"]["namespace"], each["metadata"]["name"]
        ): arrival.workload
        for arrival in arrivals
        if arrival.made_here
        for each in arrival.objects
    }


def _plain(item: KubernetesObject) -> Json:
    document: Json = copy.deepcopy(dict(item.data))
    document.pop("status", None)
    return document


def _marked(item: KubernetesObject, ref: WorkloadRef) -> Json:
    """Return the object with the workload's name on its pods, and without volumes that need a
    provisioner.
    """
    document = _plain(item)
    pod: Any = document
    for step in _TEMPLATES[item.api_version, item.kind]:
        pod = pod.get(step) if isinstance(pod, dict) else None
    if isinstance(pod, dict):
        metadata = pod["metadata"] = dict(pod.get("metadata") or {})
        metadata["annotations"] = {**(metadata.get("annotations") or {}), ANNOTATION: "/".join(ref)}
        _without_provisioning(pod.get("spec"))
    if isinstance(document.get("spec"), dict):
        document["spec"].pop("volumeClaimTemplates", None)
    return document


def _without_provisioning(spec: Any) -> None:
    for volume in spec.get("volumes") or [] if isinstance(spec, dict) else []:
        if isinstance(volume, dict) and (
            "persistentVolumeClaim" in volume or "ephemeral" in volume
        ):
            volume.pop("persistentVolumeClaim", None)
            volume.pop("ephemeral", None)
            volume["emptyDir"] = {}


def _stamped(workload: Workload, level: DemandLevel) -> Iterator[Json]:
    """Yield the pods of a workload whose controller doesn't run here."""
    for pod_set in workload.pod_sets:
        template = render_pod_template(pod_set.template)
        metadata = dict(template.get("metadata") or {})
        metadata["annotations"] = {
            **metadata.get("annotations", {}),
            ANNOTATION: "/".join(workload.ref),
        }
        metadata["namespace"] = workload.meta.namespace
        spec = {name: value for name, value in template["spec"].items() if name != "volumes"}
        for containers in ("containers", "initContainers"):
            if containers in spec:
                spec[containers] = [{"image": "rehearsed", **each} for each in spec[containers]]
        own = "" if len(workload.pod_sets) == 1 else f"-{pod_set.name}"
        for index in range(pod_set.figures.at(level) or pod_set.figures.steady):
            name = f"{workload.meta.name}{own}-{index}"
            yield {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {**metadata, "name": name},
                "spec": spec,
            }


def _namespaces(first: Iterable[Json], arrivals: Iterable[Arrival]) -> Iterator[Json]:
    """Yield the namespaces of the objects, except namespaces that a manifest declares."""
    declared = {each["metadata"]["name"] for each in first if each["kind"] == "Namespace"} | {
        "default"
    }
    everything = [*first, *(one for arrival in arrivals for one in arrival.objects)]
    used = dict.fromkeys(
        str((each.get("metadata") or {}).get("namespace") or "default") for each in everything
    )
    for name in used:
        if name not in declared:
            yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
