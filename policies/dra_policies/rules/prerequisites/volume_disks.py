"""Volumes on disks that no GPU node in the stack can attach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import Cloud
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import Properties, as_mapping
from dra_policies.view.gpu_pods import GPU
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredResource, StackView

_CLAIM: Final = "kubernetes:core/v1:PersistentVolumeClaim"
_CLASS: Final = "kubernetes:storage.k8s.io/v1:StorageClass"


def volumes_not_attachable(view: StackView, of_cloud: Cloud) -> Iterator[Finding]:
    """Yield volumes of GPU pods, if no GPU pool's machine type attaches their disks."""
    machines = [
        known_machine(pool.cloud, pool.machine)
        for pool in view.pools
        if pool.cloud == of_cloud.name and pool.has_gpus is not False
    ]
    if not machines or None in machines:
        return
    names = sorted({machine.instance_type for machine in machines if machine})
    for title, urn, name in _volumes(view):
        disk = _disk_of(view, of_cloud, name)
        if disk and not any(of_cloud.attaches_disk(each, disk) for each in names):
            yield Finding(
                message=f'{title} uses StorageClass "{name}", whose disks ({disk}) can\'t be '
                f"attached to {' or '.join(names)}, so GPU pods that use this "
                "volume don't start",
                fix="use a StorageClass with disks that the machine type supports, or a shared file "
                "system",
                urn=urn,
            )


def _volumes(view: StackView) -> Iterator[tuple[str, str, str]]:
    """Yield the title, URN, and class of each volume of the stack that GPU pods mount."""
    claims = {
        (_namespace_of(each), _name_of(each)): each for each in view.objects if each.type == _CLAIM
    }
    yielded = set[str]()
    for each in view.objects:
        pod = each.props.below("spec.template.spec")
        if not pod.items("resourceClaims") and not _requests_gpus(pod):
            continue
        for item in each.props.items("spec.volumeClaimTemplates") or ():
            title = f'a volume of {each.type.rpartition(":")[2]} "{each.name}"'
            yield title, each.urn, item.text("spec.storageClassName") or ""
        for volume in pod.items("volumes") or ():
            claim = claims.get(
                (_namespace_of(each), volume.text("persistentVolumeClaim.claimName"))
            )
            if claim is not None and claim.urn not in yielded:
                yielded.add(claim.urn)
                yield (
                    f'PersistentVolumeClaim "{claim.name}"',
                    claim.urn,
                    claim.props.text("spec.storageClassName") or "",
                )


def _requests_gpus(pod: Properties) -> bool:
    """Return whether a container of a pod requests GPUs from a device plugin."""
    limits = [each.at("resources.limits") for each in pod.items("containers") or ()]
    return any(GPU in (as_mapping(each) or {}) for each in limits)


def _disk_of(view: StackView, of_cloud: Cloud, name: str) -> str:
    """Return the disk type of a StorageClass, or "" if it's unknown."""
    own = [each for each in view.objects if each.type == _CLASS and _name_of(each) == name]
    for driver in of_cloud.volume_drivers:
        for each in own:
            if each.props.text("provisioner") == driver.provisioner and driver.disk_type:
                return each.props.text(f"parameters.{driver.disk_type}") or ""
        if not own and name in driver.disk_types:
            return driver.disk_types[name]
    return ""


def _namespace_of(resource: DeclaredResource) -> str | None:
    if resource.props.has("metadata.namespace") is False:
        return "default"
    return resource.props.text("metadata.namespace")


def _name_of(resource: DeclaredResource) -> str | None:
    return resource.props.text("metadata.name")
