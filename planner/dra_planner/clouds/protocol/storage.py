"""Drivers, classes, and keys that a cloud has for volumes and for disks of nodes."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field


class VolumeDriver(Struct, frozen=True, kw_only=True):
    """A CSI driver: its provisioner, and how a cluster gets it.

    `classes` are the StorageClasses that come with it, and `immediate` those of them that create a
    volume before its pod is scheduled. Volumes that aren't `zonal` can be mounted in every zone.
    `zone_key` is the driver's name of a zone in allowedTopologies.
    `addon` is the add-on, or part of the name of a chart, that installs it; `switch` is a property
    of clusters, the value that turns it on, and whether it's on by default. Without either,
    clusters always have it. `disk_type` is a parameter of classes with the type of their disks, and
    `disk_types` are the types of the driver's own classes.
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
    """Keys of the user for disks of nodes, which the cloud's own identity must be allowed to use.

    `used_by` are properties that name a key, each with the resource that has it. `tokens` are
    resources that are such keys. `grants` are the resources that grant a right to it, each with the
    property that names the key or its identity. `policy` is the property of a key with the text of
    its policy, and the part of it that names the cloud's identity.
    """

    used_by: tuple[tuple[str, str], ...]
    tokens: tuple[str, ...]
    grants: tuple[tuple[str, str], ...]
    policy: tuple[str, str] = ("", "")
    identity: str
    fix: str
