"""Volumes of pods that nothing provides, or that only a single node can use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from dra_planner.clouds import Cloud, VolumeDriver, cloud, names
from dra_planner.wording import either
from dra_policies.rules.prerequisites.volume_disks import volumes_not_attachable
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import DeclaredResource, StackView

_CLAIM: Final = "kubernetes:core/v1:PersistentVolumeClaim"
_EPHEMERAL: Final = "ephemeral.volumeClaimTemplate.spec"
_CLASS: Final = "kubernetes:storage.k8s.io/v1:StorageClass"
_VOLUME: Final = "kubernetes:core/v1:PersistentVolume"
_POD_SPECS: Final = ("spec.template.spec", "spec.jobTemplate.spec.template.spec", "spec")
_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"
_CHARTS: Final = frozenset({"aws-ebs-csi-driver", "rook-ceph", "longhorn", "openebs"})
"""Charts that might install a default StorageClass."""
_OF_ONE_NODE: Final = ("ReadWriteOnce", "ReadWriteOncePod")
_PODS: Final[Mapping[str, str]] = {
    "kubernetes:apps/v1:Deployment": "spec.replicas",
    "kubernetes:apps/v1:StatefulSet": "spec.replicas",
    "kubernetes:batch/v1:Job": "spec.parallelism",
}


class _Claim(NamedTuple):
    title: str
    urn: str
    spec: Properties
    pods: str = "pods that use this volume"


def check(view: StackView) -> Iterator[Finding]:
    clusters = [
        (cloud(name), each)
        for name in names()
        for each in view.declared
        if each.type == cloud(name).cluster.token
    ]
    if view.complete and len(clusters) == 1:
        of_cloud, cluster = clusters[0]
        for claim in _claims(view):
            yield from _class(view, of_cloud, cluster, claim)
        yield from _named_drivers(view, of_cloud, cluster)
        yield from volumes_not_attachable(view, of_cloud)
    if view.complete:
        yield from _shared(view)


def _claims(view: StackView) -> Iterator[_Claim]:
    """Yield the PersistentVolumeClaims of the stack, and those that StatefulSets create."""
    for each in view.objects:
        if each.type == _CLAIM:
            yield _Claim(
                f'PersistentVolumeClaim "{each.name}"',
                each.urn,
                each.props.below("spec"),
                "pods that use this PersistentVolumeClaim",
            )
        for item in each.props.items("spec.volumeClaimTemplates") or ():
            yield _Claim(f'a volume of StatefulSet "{each.name}"', each.urn, item.below("spec"))
        for volume in each.props.items("spec.template.spec.volumes") or ():
            if volume.has("ephemeral"):
                kind, spec = each.type.rpartition(":")[2], volume.below(_EPHEMERAL)
                yield _Claim(f'an ephemeral volume of {kind} "{each.name}"', each.urn, spec)


def _class(
    view: StackView, of_cloud: Cloud, cluster: DeclaredResource, claim: _Claim
) -> Iterator[Finding]:
    """Yield a PersistentVolumeClaim whose class doesn't exist, or whose class doesn't have a
    driver.
    """
    if claim.spec.text("volumeName") != "":
        return
    declared = {
        each.props.text("metadata.name"): each.props.text("provisioner")
        for each in view.objects
        if each.type == _CLASS
    }
    if None in declared or None in declared.values():
        return
    name = claim.spec.text("storageClassName")
    if claim.spec.has("storageClassName") is False:
        name = of_cloud.default_storage_class
        if name == "" and not _has_default(view):
            yield Finding(
                message=f"{claim.title} doesn't set a StorageClass, and the cluster doesn't "
                f"have a default StorageClass, so {claim.pods} stay pending",
                fix="set storageClassName, or declare a default StorageClass",
                urn=claim.urn,
            )
    if not name:
        return
    builtin = {each: driver for driver in of_cloud.volume_drivers for each in driver.classes}
    if name not in declared and name not in builtin and not view.charts & {"", name}:
        yield Finding(
            message=f'{claim.title} uses StorageClass "{name}", which neither this stack nor '
            f"{of_cloud.title} creates, so {claim.pods} stay pending",
            fix=f'declare StorageClass "{name}", or set storageClassName to {either(sorted(builtin))}',
            urn=claim.urn,
        )
        return
    driver = builtin.get(name) or next(
        (each for each in of_cloud.volume_drivers if each.provisioner == declared.get(name)), None
    )
    if driver is not None:
        needs = f"{claim.title} needs"
        yield from _missing_driver(view, of_cloud, cluster, driver, needs, claim.pods, claim.urn)


def _named_drivers(
    view: StackView, of_cloud: Cloud, cluster: DeclaredResource
) -> Iterator[Finding]:
    """Yield volumes that refer to a driver directly: inline volumes of pods, and
    PersistentVolumes.
    """
    drivers = {each.provisioner: each for each in of_cloud.volume_drivers}
    for each in view.objects:
        kind = each.type.rpartition(":")[2]
        if each.type == _VOLUME:
            named = {each.props.text("spec.csi.driver") or ""}
        else:
            named = {
                volume.text("csi.driver") or ""
                for path in _POD_SPECS
                for volume in each.props.items(f"{path}.volumes") or ()
            }
        needs, pods = (
            ("needs", "pods that use this PersistentVolume")
            if each.type == _VOLUME
            else ("has a volume that uses", "its pods")
        )
        for name in sorted(named & drivers.keys()):
            subject = f'{kind} "{each.name}" {needs}'
            yield from _missing_driver(
                view, of_cloud, cluster, drivers[name], subject, pods, each.urn
            )


def _missing_driver(
    view: StackView,
    of_cloud: Cloud,
    cluster: DeclaredResource,
    driver: VolumeDriver,
    subject: str,
    pods: str,
    urn: str,
) -> Iterator[Finding]:
    if _has_driver(view, of_cloud, cluster, driver) is False:
        is_addon = driver.switch is None and of_cloud.cluster.addons is not None
        fix = f"install the {driver.addon} add-on" if is_addon else f"install {driver.addon}"
        yield Finding(
            message=f"{subject} CSI driver {driver.provisioner}, which isn't installed in cluster "
            f'"{cluster.name}", so {pods} stay pending',
            fix=f"set {driver.switch[0]} to true" if driver.switch else fix,
            urn=urn,
        )


def _has_default(view: StackView) -> bool:
    """Return True if a StorageClass in the stack is, or might be, the default."""
    marks = [
        (each.props.mapping("metadata.annotations") or {}).get(_DEFAULT, "")
        for each in view.objects
        if each.type.startswith(_CLASS)  # this includes a patch of a class that the cloud creates
    ]
    return any(mark in ("true", None) for mark in marks) or bool(view.charts & _CHARTS)


def _has_driver(
    view: StackView, of_cloud: Cloud, cluster: DeclaredResource, driver: VolumeDriver
) -> bool | None:
    if driver.switch is not None:
        path, value, default = driver.switch
        found = cluster.props.flag(path, default)
        if found is None or found == value or not driver.addon:
            return None if found is None else found == value
    if not driver.addon:
        return True
    addons = of_cloud.cluster.addons
    listed = [
        each.props.text(addons.name)
        for each in view.declared
        if addons is not None and each.type == addons.token
    ]
    names = (*listed, *view.charts, *(each.name for each in view.objects))
    if any(driver.addon in (name or "") for name in names):
        return True
    managed = addons is not None and cluster.props.flag(addons.managed, False) is not False
    return None if None in listed or managed else False


def _shared(view: StackView) -> Iterator[Finding]:
    """Yield workloads with several pods that share a volume that only one node can use."""
    single = {
        each.props.text("metadata.name"): each
        for each in view.objects
        if each.type == _CLAIM
        and (modes := each.props.texts("spec.accessModes"))
        and all(mode in _OF_ONE_NODE for mode in modes)
    }
    for each in view.objects:
        path = _PODS.get(each.type, "")
        pods = each.props.count(path, 1) if path else 0
        for volume in each.props.items("spec.template.spec.volumes") or ():
            claim = single.get(volume.text("persistentVolumeClaim.claimName") or "")
            if pods and pods > 1 and claim is not None:
                yield Finding(
                    message=f'{each.type.rpartition(":")[2]} "{each.name}" has {pods} pods, '
                    f'which share PersistentVolumeClaim "{claim.name}", but only one '
                    "node at a time can use the volume, so pods on other nodes don't "
                    "start",
                    fix="use the ReadWriteMany access mode with a shared file system, or use a "
                    "StatefulSet with one volume per pod",
                    urn=each.urn,
                )


RULE = Rule(
    id="volume-not-provided",
    description="A volume's StorageClass or driver is missing, or the volume can't be shared between "
    "nodes.",
    why="Pods stay pending or don't start, and their GPUs stay idle.",
    fix="Install the driver, declare the class, or choose an access mode that supports multiple "
    "nodes.",
    level="advisory",
    url="https://kubernetes.io/docs/concepts/storage/persistent-volumes/",
    needs="stack",
    check=check,
)
