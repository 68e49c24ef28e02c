"""Drivers, classes, and keys that a cloud has for volumes and for disks of nodes."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field


class VolumeDriver(Struct, frozen=True, kw_only=True):
    """A CSI driver: its provisioner, and how it is installed in a cluster.

    `classes` are the StorageClasses that are installed with it. `immediate` are the classes among
    them that create a volume before its pod is scheduled. Volumes that aren't `zonal` can be
    mounted in every zone. `zone_key` is the driver's name of a zone in allowedTopologies.

    `addon` is the add-on that installs the driver, or part of the name of a chart that does.
    `switch` contains a property of clusters, the value that enables the driver, and whether it's
    enabled by default. With both, either one installs it. Without `addon` and `switch`, every
    cluster has the driver. `disk_type` is a
    parameter of classes with the type of their disks, and `disk_types` are the disk types of the
    driver's own classes.
    """

    provisioner: str
    classes: tuple[str, ...] = ()
    immediate: tuple[str, ...] = ()
    zonal: bool = True
    zone_key: str = ""
    addon: str = ""
    switch: tuple[str, bool, bool] | None = None
    disk_type: str = ""
    disk_types: Mapping[str, str] = field(default_factory=dict[str, str])


class DiskKeys(Struct, frozen=True, kw_only=True):
    """The user's keys for disks of nodes, which the cloud's own identity must be allowed to use.

    `used_by` are properties that name a key, each with the resource that has the property. `tokens`
    are the types of resources that are such keys. `grants` are the resources that grant a right to
    a key, each with the property that names the key or its identity. `policy` is the property of a
    key with the text of its policy, and the part of this text that names the cloud's identity.
    `grantees` are properties of grants with the identity or a policy, which must contain that part.
    """

    used_by: tuple[tuple[str, str], ...]
    tokens: tuple[str, ...]
    grants: tuple[tuple[str, str], ...]
    grantees: tuple[str, ...] = ()
    policy: tuple[str, str] = ("", "")
    identity: str
    fix: str
