"""Rules of volumes and their sources."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from dra_planner.manifests.parsing.fields import parse_quantity
from dra_planner.manifests.validation.checks import (
    always_formatted,
    between,
    choice,
    formatted,
    named,
    needed,
    pointed_choice,
)
from dra_planner.manifests.validation.fields.formats import (
    descending_path,
    dns_label,
    dns_subdomain,
    length_of,
    local_path,
    without_backsteps,
)
from dra_planner.manifests.validation.fields.names import check_driver
from dra_planner.manifests.validation.rules import (
    Data,
    PodFacts,
    Scope,
    StructRules,
    Table,
    check_struct,
    each,
)
from dra_planner.manifests.validation.violations import (
    Violations,
    duplicate,
    each_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
)

# in the server's order: the first source is the volume's source, and each further source is an
# error
SOURCES: Final = (
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
)
# names in messages about an additional source
_CALLED: Final = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
_ISCSI: Final = (
    ("iqn", re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)\Z", re.ASCII)),
    ("eui", re.compile(r"\Aeui.[A-Za-z0-9]{16}\Z", re.ASCII)),
    ("naa", re.compile(r"\Anaa.[A-Za-z0-9]{32}\Z", re.ASCII)),
)
_MOST_INITIATOR: Final = 64
_BLOCK_FORMS: Final = (
    "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",
)
_MANAGED_FORMS: Final = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
)
_MODE: Final = between(0, 0o777)
_PARTITION: Final = between(0, 255)


def check_volumes(
    volumes: Any, path: str, scope: Scope, table: Table
) -> tuple[list[Any], dict[str, Data]]:
    """Return the errors in the volumes, and the volumes that mounts can use."""
    found: list[Any] = []
    valid: dict[str, Data] = {}
    pod = scope.pod
    created = set()
    if pod.is_pod and pod.name:
        created = {
            f"{pod.name}-{item.get('name') or ''}"
            for item, _ in each(volumes, path)
            if item.get("ephemeral") is not None
        }
    for item, where in each(volumes, path):
        name = item.get("name") or ""
        faults = list(check_struct(item, "core.Volume", where, scope, table))
        if name in valid:
            faults.append(duplicate(f"{where}.name", name))
        if not faults:
            valid[name] = item
        found += faults
        claim = (item.get("persistentVolumeClaim") or {}).get("claimName") or ""
        if claim in created:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            found.append(invalid(f"{where}.persistentVolumeClaim.claimName", claim, detail))
    return found, valid


def _first_source(data: Data, scope: Scope) -> Collection[str]:
    """Return the source that is checked: `emptyDir` if it's set, otherwise the first source."""
    return [name for name in SOURCES if data.get(name) is not None][:1]


def _check_sources(data: Data, path: str, scope: Scope) -> Violations:
    given = [name for name in SOURCES if data.get(name) is not None]
    for name in given[1:]:
        yield forbidden(
            f"{path}.{_CALLED.get(name, name)}", "may not specify more than 1 volume type"
        )
    yield from _check_initiator(data, path)
    if given[:1] == ["ephemeral"]:
        yield from _check_claim_name(data.get("name") or "", path, scope.pod)


def _check_initiator(data: Data, path: str) -> Violations:
    iscsi, name = data.get("iscsi") or {}, data.get("name") or ""
    together = f"{name}:{iscsi.get('targetPortal') or ''}"
    if iscsi.get("initiatorName") is not None and length_of(together) > _MOST_INITIATOR:
        detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters"
        yield invalid(f"{path}.name", name, f"{detail} if iscsi.initiatorName is specified.")


def _check_claim_name(name: str, path: str, pod: PodFacts) -> Violations:
    """Check the name of an ephemeral volume's claim, which consists of the names of pod
    and volume.
    """
    if pod.is_pod and pod.name and name:
        for detail in dns_subdomain(f"{pod.name}-{name}"):
            yield invalid(f"{path}.name", name, f'PVC name "{pod.name}-{name}": {detail}')


def _check_size(value: Any, path: str, scope: Scope) -> Violations:
    if value is not None and parse_quantity(value).sign < 0:
        yield forbidden(path, "SizeLimit field must be a valid resource quantity")


def _check_host_path(data: Data, path: str, scope: Scope) -> Violations:
    if not data.get("path"):
        yield required(f"{path}.path")
        return
    yield from each_invalid(f"{path}.path", data["path"], without_backsteps(data["path"]))
    yield from _HOST_PATH_TYPE(data.get("type"), f"{path}.type", scope)


_HOST_PATH_TYPE: Final = choice(
    "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"
)


def _check_nfs_path(value: Any, path: str, scope: Scope) -> Violations:
    if not value:
        yield required(path)
    if not (value or "").startswith("/"):
        yield invalid(path, value or "", "must be an absolute path")


def _check_iqn(value: Any, path: str, scope: Scope) -> Violations:
    if not value:
        yield required(path)
    elif not _is_iscsi_name(value):
        yield invalid(path, value, "must be valid format starting with iqn, eui, or naa")


def _check_initiator_name(data: Data, path: str, scope: Scope) -> Violations:
    name = data.get("initiatorName")
    if name is not None and not _is_iscsi_name(name):
        yield invalid(
            f"{path}.initiatorname", name, "must be valid format starting with iqn, eui, or naa"
        )


def _is_iscsi_name(text: str) -> bool:
    return any(text.startswith(prefix) and form.search(text) is not None for prefix, form in _ISCSI)


def _check_chap(data: Data, path: str, scope: Scope) -> Violations:
    if (data.get("chapAuthDiscovery") or data.get("chapAuthSession")) and data.get(
        "secretRef"
    ) is None:
        yield required(f"{path}.secretRef")


def _check_channels(data: Data, path: str, scope: Scope) -> Violations:
    names, identifiers = data.get("targetWWNs") or (), data.get("wwids") or ()
    if not names and not identifiers:
        yield required(
            f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both"
        )
    if names and identifiers:
        yield invalid(
            f"{path}.targetWWNs",
            list(names),
            "targetWWNs and wwids can not be specified simultaneously",
        )
    if names and data.get("lun") is None:
        yield required(f"{path}.lun", "lun is required if targetWWNs is specified")
    elif names:
        yield from _PARTITION(data["lun"], f"{path}.lun", scope)


def _check_flocker(data: Data, path: str, scope: Scope) -> Violations:
    name, identifier = data.get("datasetName") or "", data.get("datasetUUID") or ""
    if not name and not identifier:
        yield required(path, "one of datasetName and datasetUUID is required")
    if name and identifier:
        yield invalid(
            path, "resource", "datasetName and datasetUUID can not be specified simultaneously"
        )
    if "/" in name:
        yield invalid(f"{path}.datasetName", name, "must not contain '/'")


def _check_quobyte(data: Data, path: str, scope: Scope) -> Violations:
    registry, detail = (
        data.get("registry") or "",
        "must be a host:port pair or multiple pairs separated by commas",
    )
    if not registry:
        yield required(f"{path}.registry", detail)
    elif len((data.get("tenant") or "").encode()) >= 65:
        yield required(
            f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters"
        )
    else:
        for pair in registry.split(","):
            if not _is_host_and_port(pair):
                yield invalid(f"{path}.registry", registry, detail)


def _is_host_and_port(text: str) -> bool:
    """Return True if a text is a host and a port. Source: Go's net.SplitHostPort."""
    host, colon, _ = text.rpartition(":")
    if not colon:
        return False
    if host.startswith("["):
        return host.endswith("]") and "[" not in host[1:] and "]" not in host[:-1]
    return ":" not in host and "[" not in text and "]" not in text


def _check_options(value: Any, path: str, scope: Scope) -> Violations:
    for key in value or ():
        domain = "." + key.split("/", 1)[0].lower()
        if domain.endswith((".kubernetes.io", ".k8s.io")):
            yield invalid(f"{path}[{key}]", key, "kubernetes.io and k8s.io namespaces are reserved")


def _check_disk_address(data: Data, path: str, scope: Scope) -> Violations:
    kind, address = data.get("kind"), data.get("diskURI") or ""
    if kind is None:  # the default is Shared
        kind = "Shared"
    if kind == "Managed" and not address.startswith("/subscriptions/"):
        yield not_supported(f"{path}.diskURI", address, _MANAGED_FORMS)
    if kind != "Managed" and not address.startswith("https://"):
        yield not_supported(f"{path}.diskURI", address, _BLOCK_FORMS)


def _check_driver(value: Any, path: str, scope: Scope) -> Violations:
    yield from [required(path)] if not value else check_driver(value, path, scope.features)


def _check_publish_secret(data: Data, path: str, scope: Scope) -> Violations:
    reference = data.get("nodePublishSecretRef")
    name = (reference or {}).get("name") or ""
    if reference is not None and not name:
        yield required(f"{path}.nodePublishSecretRef.name")
    elif name:
        yield from each_invalid(f"{path}.name", name, dns_subdomain(name))


def _check_secret_reference(data: Data, path: str, scope: Scope) -> Violations:
    reference = data.get("secretRef")
    if reference is not None and not reference.get("name"):
        yield required(f"{path}.secretRef.name")


def _check_image(data: Data, path: str, scope: Scope) -> Violations:
    # later versions also let controllers set the reference in a pod
    if scope.pod.is_pod and not data.get("reference"):
        yield required(f"{path}.reference")


def _check_template(value: Any, path: str, scope: Scope) -> Violations:
    if value is None:
        yield required(path)


_NEEDED: Final = needed()
VOLUMES: Final[Table] = {
    "core.Volume": StructRules(
        fields={"name": named(dns_label)},
        whole=(_check_sources,),
        into=_first_source,
        paths={"gcePersistentDisk": "persistentDisk"},
    ),
    "core.EmptyDirVolumeSource": StructRules(fields={"sizeLimit": _check_size}),
    "core.HostPathVolumeSource": StructRules(whole=(_check_host_path,)),
    "core.GitRepoVolumeSource": StructRules(
        fields={"repository": _NEEDED, "directory": formatted(descending_path)}
    ),
    "core.GCEPersistentDiskVolumeSource": StructRules(
        fields={"pdName": _NEEDED, "partition": _PARTITION}
    ),
    "core.AWSElasticBlockStoreVolumeSource": StructRules(
        fields={"volumeID": _NEEDED, "partition": _PARTITION}
    ),
    "core.SecretVolumeSource": StructRules(fields={"secretName": _NEEDED, "defaultMode": _MODE}),
    "core.ConfigMapVolumeSource": StructRules(fields={"name": _NEEDED, "defaultMode": _MODE}),
    "core.KeyToPath": StructRules(
        fields={"key": _NEEDED, "path": (_NEEDED, always_formatted(local_path)), "mode": _MODE}
    ),
    "core.NFSVolumeSource": StructRules(fields={"server": _NEEDED, "path": _check_nfs_path}),
    "core.ISCSIVolumeSource": StructRules(
        fields={"targetPortal": _NEEDED, "iqn": _check_iqn, "lun": _PARTITION},
        whole=(_check_initiator_name, _check_chap),
    ),
    "core.GlusterfsVolumeSource": StructRules(fields={"endpoints": _NEEDED, "path": _NEEDED}),
    "core.FlockerVolumeSource": StructRules(whole=(_check_flocker,)),
    "core.PersistentVolumeClaimVolumeSource": StructRules(fields={"claimName": _NEEDED}),
    "core.RBDVolumeSource": StructRules(fields={"monitors": _NEEDED, "image": _NEEDED}),
    "core.CinderVolumeSource": StructRules(
        fields={"volumeID": _NEEDED}, whole=(_check_secret_reference,)
    ),
    "core.CephFSVolumeSource": StructRules(fields={"monitors": _NEEDED}),
    "core.QuobyteVolumeSource": StructRules(fields={"volume": _NEEDED}, whole=(_check_quobyte,)),
    "core.FCVolumeSource": StructRules(whole=(_check_channels,)),
    "core.FlexVolumeSource": StructRules(fields={"driver": _NEEDED, "options": _check_options}),
    "core.AzureFileVolumeSource": StructRules(fields={"secretName": _NEEDED, "shareName": _NEEDED}),
    "core.VsphereVirtualDiskVolumeSource": StructRules(fields={"volumePath": _NEEDED}),
    "core.PhotonPersistentDiskVolumeSource": StructRules(fields={"pdID": _NEEDED}),
    "core.PortworxVolumeSource": StructRules(fields={"volumeID": _NEEDED}),
    "core.AzureDiskVolumeSource": StructRules(
        fields={
            "diskName": _NEEDED,
            "diskURI": _NEEDED,
            "cachingMode": pointed_choice("None", "ReadOnly", "ReadWrite"),
            "kind": pointed_choice("Shared", "Dedicated", "Managed"),
        },
        whole=(_check_disk_address,),
    ),
    "core.StorageOSVolumeSource": StructRules(
        fields={"volumeName": named(dns_label), "volumeNamespace": formatted(dns_label)},
        whole=(_check_secret_reference,),
    ),
    "core.ScaleIOVolumeSource": StructRules(
        fields={"gateway": _NEEDED, "system": _NEEDED, "volumeName": _NEEDED}
    ),
    "core.CSIVolumeSource": StructRules(
        fields={"driver": _check_driver}, whole=(_check_publish_secret,)
    ),
    "core.EphemeralVolumeSource": StructRules(fields={"volumeClaimTemplate": _check_template}),
    "core.ImageVolumeSource": StructRules(
        fields={"pullPolicy": choice("Always", "IfNotPresent", "Never")}, whole=(_check_image,)
    ),
}
