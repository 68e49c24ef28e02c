"""Quotas of extended resources in namespaces whose pods get their devices through claims, which the
quotas don't count, and queues of a Kueue that doesn't count claims.

Source: kubernetes/kubernetes:pkg/quota/v1/evaluator/core/resource_claims.go@v1.37.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.documents.plain_values import block, text
from dra_planner.drivers import publishers_of
from dra_planner.drivers.nvidia import GPU_CLASSES, GPU_DRIVER
from dra_planner.manifests import Manifests
from dra_planner.manifests.workloads.kind_description import KUEUE_QUEUE
from dra_planner.model import ObjectKey
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.kueue_versions import COUNTING_CLAIMS, KUEUE_VALUE, counts_claims
from dra_policies.view.stack_view import StackView

URL: Final = "https://kubernetes.io/docs/concepts/policy/resource-quotas/"
_OF_CLAIMS: Final = (".deviceclass.resource.k8s.io/devices", "requests.deviceclass.")


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None or view.features is None:
        return
    yield from _of_kueue(view, view.manifests)
    quotas = {_key(each): _hard(each) for each in view.manifests.quotas}
    limited = {
        key.namespace
        for key, hard in quotas.items()
        if any(part in name for name in hard for part in _OF_CLAIMS)
    }
    for key, hard in quotas.items():
        names = [name for name in hard if _is_of_gpus(name)]
        users = _uncounted_users(view, view.manifests, key.namespace)
        if names and users and key.namespace not in limited:
            user, device_class = users[0]
            yield Finding(
                message=f'ResourceQuota "{key.name}" limits {names[0]}, but {user} requests GPUs '
                "through claims, which the quota doesn't count",
                fix=f"also limit {device_class}.deviceclass.resource.k8s.io/devices in "
                f'ResourceQuota "{key.name}"',
                place=view.manifests.quota_places[key],
            )


def _of_kueue(view: StackView, manifests: Manifests) -> Iterator[Finding]:
    """Yield queued workloads whose claims the stack's version of Kueue doesn't count.

    kubernetes-sigs/kueue issue 10504.
    """
    for chart in view.installed_charts:
        if chart.type != "chart:kueue" or counts_claims(chart.version):
            continue
        configuration = chart.props.text(KUEUE_VALUE, "")
        if configuration is None or "deviceClassMappings" in configuration:
            continue
        for workload, pod_set in pod_sets_with_claims(manifests):
            names = [
                each.device_class_name
                for entry in pod_set.template.spec.resource_claims
                if (spec := spec_of(manifests, workload.meta.namespace, entry)) is not None
                for request in spec.requests
                for each in request.alternatives
            ]
            queue = workload.meta.labels.get(KUEUE_QUEUE)
            if queue and names and _covers_devices(manifests, workload.meta.namespace, queue):
                yield Finding(
                    message=f"Kueue {chart.version} doesn't count the devices in the claims of "
                    f"{workload.ref}, so the queue's quota doesn't limit them",
                    fix=f"use Kueue {COUNTING_CLAIMS} or later, and map DeviceClass {names[0]} in "
                    "resources.deviceClassMappings of Kueue's configuration",
                    place=workload.place,
                )
                return


def _covers_devices(manifests: Manifests, namespace: str, queue: str) -> bool:
    """Return whether the ClusterQueue of a queue has a quota for a resource that only some pods
    request.
    """
    name = manifests.queues.local_queues.get(ObjectKey(namespace, queue), "")
    found = manifests.queues.cluster_queues.get(name)
    groups = found.groups if found else ()
    covered = {each for group in groups for each in group.covered}
    return bool(covered - {"cpu", "memory", "pods", "ephemeral-storage"})


def _uncounted_users(
    view: StackView, manifests: Manifests, namespace: str
) -> list[tuple[str, str]]:
    """Return the workloads of a namespace with claims for GPUs that a quota of an extended resource
    doesn't count, and the classes of these claims.
    """
    found: list[tuple[str, str]] = []
    for workload, pod_set in pod_sets_with_claims(manifests):
        if workload.meta.namespace != namespace:
            continue
        for entry in pod_set.template.spec.resource_claims:
            spec = spec_of(manifests, namespace, entry)
            for request in spec.requests if spec else ():
                names = [each.device_class_name for each in request.alternatives]
                found += [(str(workload.ref), name) for name in names if _is_uncounted(view, name)]
    return found


def _is_uncounted(view: StackView, device_class: str) -> bool:
    """Return whether a class is for GPUs and certainly doesn't serve an extended resource."""
    assert view.features is not None
    assert view.manifests is not None
    if device_class not in GPU_CLASSES:
        return False
    given = {**view.classes, **view.manifests.classes}.get(device_class)
    if not view.features.extended_resource:
        return True
    return given is not None and not given.extended_resource_name


def _is_of_gpus(key: str) -> bool:
    resource = key.removeprefix("requests.").removeprefix("limits.")
    return resource != key and "/" in resource and GPU_DRIVER in publishers_of(resource)


def _hard(quota: Mapping[str, Any]) -> Mapping[str, Any]:
    return block(block(quota, "spec"), "hard")


def _key(quota: Mapping[str, Any]) -> ObjectKey:
    metadata = block(quota, "metadata")
    return ObjectKey(text(metadata.get("namespace")) or "default", text(metadata.get("name")))


RULE = Rule(
    id="quota-counts-no-claims",
    description="A GPU quota doesn't count claims.",
    why="A quota for an extended resource doesn't limit claims, so claims can use all GPUs.",
    fix="In the quota, limit the DeviceClass's devices in addition to the extended resource.",
    level="advisory",
    url=URL,
    check=check,
)
