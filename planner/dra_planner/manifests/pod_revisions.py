"""Find pods of a cluster that run an old template of their workload.

The status of workloads and their ReplicaSets contains the newest template.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_planner.documents.plain_values import number
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.model import ObjectMeta, WorkloadRef

TEMPLATE_HASH: Final = "pod-template-hash"
_REVISION_HASH: Final = "controller-revision-hash"
# The template hash on a DaemonSet's pods, and the DaemonSet's annotation for new pods. Source:
# kubernetes/kubernetes:pkg/controller/daemon/util/daemonset_util.go@v1.36.3 (IsPodUpdated).
_GENERATION: Final = "pod-template-generation"
_NEW_GENERATION: Final = "deprecated.daemonset.template.generation"
_REVISION: Final = "deployment.kubernetes.io/revision"
_NO_HASH: Final = "none"  # the hash of a template from which no object was created


class Revisions:
    """The newest template of each workload in a cluster, identified by the label on its pods."""

    def __init__(self) -> None:
        self._wanted: dict[WorkloadRef, Mapping[str, Any]] = {}  # templates of Deployments
        # hashes for which ReplicaSets exist
        self._made: dict[WorkloadRef, dict[str, Mapping[str, Any]]] = {}
        self._newest: dict[WorkloadRef, tuple[int, str]] = {}  # revision number and template hash
        # the hash of the newest template, cached by workload
        self._known: dict[WorkloadRef, str] = {}

    def note(self, item: KubernetesObject, owner: WorkloadRef | None) -> None:
        """Store the template hashes of a Deployment, ReplicaSet, StatefulSet, or DaemonSet. Other
        objects are ignored.
        """
        if item.kind == "StatefulSet":
            ref = WorkloadRef(item.kind, item.namespace, item.name)
            self._newest[ref] = 0, str((item.data.get("status") or {}).get("updateRevision") or "")
        elif item.kind == "DaemonSet":
            made = str((item.metadata.get("annotations") or {}).get(_NEW_GENERATION, ""))
            self._newest[WorkloadRef(item.kind, item.namespace, item.name)] = 0, made
        elif item.kind == "Deployment":
            self._wanted[WorkloadRef(item.kind, item.namespace, item.name)] = _template_of(item)
        elif item.kind == "ReplicaSet" and owner is not None:
            revision = number((item.metadata.get("annotations") or {}).get(_REVISION))
            made = str((item.metadata.get("labels") or {}).get(TEMPLATE_HASH, ""))
            self._made.setdefault(owner, {})[made] = _template_of(item)
            if revision is not None:
                self._newest[owner] = max(self._newest.get(owner, (0, "")), (revision, made))

    def is_outdated(self, pod: ObjectMeta, owner: WorkloadRef | None) -> bool:
        """Return True if the workload of a pod has a newer template. Call this after all objects
        are stored.
        """
        if owner is not None and owner not in self._known:
            self._known[owner] = self._newest_of(owner)
        newest = self._known[owner] if owner is not None else ""
        own = pod.labels.get(TEMPLATE_HASH) or pod.labels.get(_REVISION_HASH)
        if owner is not None and owner.kind == "DaemonSet":
            own = pod.labels.get(_GENERATION)
        return bool(newest and own) and own != newest

    def _newest_of(self, ref: WorkloadRef) -> str:
        """Return the hash of a workload's newest template. If no ReplicaSet has this template yet,
        return a hash that no pod has.
        """
        wanted, made = self._wanted.get(ref), self._made.get(ref, {})
        if wanted and made and all(made.values()) and wanted not in made.values():
            return _NO_HASH  # as in a paused Deployment, where all pods have the old template
        return self._newest.get(ref, (0, ""))[1]


def maker_of(replica_set: WorkloadRef, pod: ObjectMeta) -> WorkloadRef:
    """Return the owner of a ReplicaSet that isn't in the snapshot, from its name and one of its
    pods: a Deployment, or None.
    """
    suffix = f"-{pod.labels.get(TEMPLATE_HASH, '')}"
    if len(suffix) == 1 or not replica_set.name.endswith(suffix):
        return replica_set
    return WorkloadRef("Deployment", replica_set.namespace, replica_set.name.removesuffix(suffix))


def _template_of(item: KubernetesObject) -> Mapping[str, Any]:
    """Return the pod template of a cluster object, without the label that distinguishes the pods of
    ReplicaSets.
    """
    template = (item.data.get("spec") or {}).get("template") or {}
    meta = template.get("metadata") or {}
    labels = {
        key: value for key, value in (meta.get("labels") or {}).items() if key != TEMPLATE_HASH
    }
    return {**template, "metadata": {**meta, "labels": labels}} if template else {}
