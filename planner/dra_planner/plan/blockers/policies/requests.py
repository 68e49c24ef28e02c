"""The objects about which the API server asks admission policies: written ones, and the pods and
claims that controllers create from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.errors import Place
from dra_planner.manifests import Manifests
from dra_planner.manifests.objects import CLUSTER_SCOPED, KubernetesObject
from dra_planner.model import Workload, WorkloadRef
from dra_planner.records import equality

Json = dict[str, Any]

_CONTAINER: Final[Mapping[str, Any]] = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_POD: Final[Mapping[str, Any]] = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
_OF_PODS: Final[Mapping[str, Any]] = {
    "enableServiceLinks": True,
    "preemptionPolicy": "PreemptLowerPriority",
    "priority": 0,
    "serviceAccountName": "default",
}
_SPECS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Deployment": {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600},
    "ReplicaSet": {"replicas": 1},
    "StatefulSet": {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        "revisionHistoryLimit": 10,
    },
    "DaemonSet": {"revisionHistoryLimit": 10},
    "Job": {
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "completions": 1,
        "parallelism": 1,
        "suspend": False,
    },
}


@equality(unhashed=("labels", "data"))
class AdmissionRequest(Struct, frozen=True, kw_only=True):
    """The creation of one object.

    `title` names the object in messages, and `workloads` are the workloads that need it.
    """

    title: str
    group: str
    version: str
    resource: str
    namespace: str  # "" for a cluster-scoped object
    labels: Mapping[str, str]
    data: Mapping[str, Any]
    place: Place
    workloads: tuple[WorkloadRef, ...] = ()


def requests_of(manifests: Manifests) -> Iterator[AdmissionRequest]:
    """Yield the created objects, followed by the pods of workloads and the claims of templates.

    The objects have the API server's default values. Source:
    kubernetes/kubernetes:pkg/apis/{core,apps,batch}/v1/defaults.go@v1.36.3.
    """
    users = _users_of_claims(manifests)
    refs = {workload.ref for workload in manifests.workloads}
    for item in manifests.admission.created:
        ref = WorkloadRef(item.kind, item.namespace, item.name)
        found = (ref,) if ref in refs else users.get((item.kind, item.namespace, item.name), ())
        yield _request(item, found)
        if item.kind == "ResourceClaimTemplate" and found:
            yield _claim_of(item, found)
    for workload in manifests.workloads:
        if workload.kind != "Pod" and workload.ref not in manifests.existing:
            yield from _pods_of(workload)


def _request(item: KubernetesObject, workloads: tuple[WorkloadRef, ...]) -> AdmissionRequest:
    data: Json = dict(item.data)
    spec = data.get("spec")
    if isinstance(spec, Mapping) and item.kind == "Pod":
        data["spec"] = _with_pod_defaults(spec, is_pod=True)
    elif isinstance(spec, Mapping) and item.kind in _SPECS:
        spec = {**_SPECS[item.kind], **spec}
        template = spec.get("template")
        if isinstance(template, Mapping) and isinstance(template.get("spec"), Mapping):
            spec["template"] = {**template, "spec": _with_pod_defaults(template["spec"])}
        data["spec"] = spec
    labels = item.metadata.get("labels")
    namespace = "" if item.kind in CLUSTER_SCOPED else item.namespace
    data["metadata"] = {**item.metadata, **({"namespace": namespace} if namespace else {})}
    return AdmissionRequest(
        title=f"{item.kind} {item.key}",
        group=item.group,
        version=item.api_version.rpartition("/")[2],
        resource=_plural(item.kind),
        namespace=namespace,
        labels=labels if isinstance(labels, Mapping) else {},
        data=data,
        place=item.place,
        workloads=workloads,
    )


def _claim_of(item: KubernetesObject, workloads: tuple[WorkloadRef, ...]) -> AdmissionRequest:
    """Return the creation of a pod's claim from its template."""
    spec = item.data.get("spec")
    template = spec if isinstance(spec, Mapping) else {}
    found = template.get("metadata")
    metadata: Json = {**(found if isinstance(found, Mapping) else {}), "namespace": item.namespace}
    labels = metadata.get("labels")
    return AdmissionRequest(
        title=f"claims of {item.kind} {item.key}",
        group=item.group,
        version="v1",
        resource="resourceclaims",
        namespace=item.namespace,
        labels=labels if isinstance(labels, Mapping) else {},
        data={
            "apiVersion": item.api_version,
            "kind": "ResourceClaim",
            "metadata": metadata,
            "spec": template.get("spec") or {},
        },
        place=item.place,
        workloads=workloads,
    )


def _pods_of(workload: Workload) -> Iterator[AdmissionRequest]:
    for pods in workload.pod_sets:
        written = pods.template.written
        spec = written.get("spec")
        if not isinstance(spec, Mapping):
            continue
        metadata = written.get("metadata")
        named = {
            **(metadata if isinstance(metadata, Mapping) else {}),
            "namespace": workload.meta.namespace,
            "generateName": f"{workload.meta.name}-",
        }
        yield AdmissionRequest(
            title=f"pods of {workload.ref}",
            group="",
            version="v1",
            resource="pods",
            namespace=workload.meta.namespace,
            labels=pods.template.labels,
            data={
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": named,
                "spec": _with_pod_defaults(spec, is_pod=True),
            },
            place=workload.place,
            workloads=(workload.ref,),
        )


def _with_pod_defaults(spec: Mapping[str, Any], *, is_pod: bool = False) -> Json:
    made: Json = {**_POD, **(_OF_PODS if is_pod else {}), **spec}
    for kind in ("containers", "initContainers"):
        if isinstance(made.get(kind), list):
            made[kind] = [
                {**_CONTAINER, **_pull_policy(each), **each} if isinstance(each, Mapping) else each
                for each in made[kind]
            ]
    return made


def _pull_policy(container: Mapping[str, Any]) -> Json:
    image = str(container.get("image", "")).rpartition("/")[2]
    is_latest = "@" not in image and (":" not in image or image.endswith(":latest"))
    return {"imagePullPolicy": "Always" if is_latest else "IfNotPresent"}


def _users_of_claims(
    manifests: Manifests,
) -> dict[tuple[str, str, str], tuple[WorkloadRef, ...]]:
    users: dict[tuple[str, str, str], tuple[WorkloadRef, ...]] = {}
    for workload in manifests.workloads:
        for pods in workload.pod_sets:
            for entry in pods.template.spec.resource_claims:
                kind, name = "ResourceClaim", entry.resource_claim_name
                if name is None:
                    kind, name = "ResourceClaimTemplate", entry.resource_claim_template_name
                key = (kind, workload.meta.namespace, name or "")
                users[key] = tuple(dict.fromkeys((*users.get(key, ()), workload.ref)))
    return users


def _plural(kind: str) -> str:
    """Return the resource name of a kind, for example "deviceclasses"."""
    name = kind.lower()
    if name.endswith(("s", "x", "ch")):
        return f"{name}es"
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
