"""PersistentVolumeClaims in the manifests, with the access that they allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.clouds import VolumeDriver, cloud, names
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.fields import text_of
from dra_planner.model import ObjectKey

ONE_POD: Final = "ReadWriteOncePod"
_ONE_NODE: Final = "ReadWriteOnce"


class VolumeClaim(Struct, frozen=True):
    """How many pods can use a volume: only one, or only pods on one node.

    `is_attached` means that the volume's driver certainly attaches it to a node.
    """

    for_one_pod: bool = False
    for_one_node: bool = False
    is_attached: bool = False


class VolumeClaims:
    """The PersistentVolumeClaims of the manifests, and the drivers of their volumes."""

    def __init__(self) -> None:
        self._claims: dict[ObjectKey, Mapping[str, Any]] = {}
        self._drivers: dict[tuple[str, str], str] = {}

    def note(self, item: KubernetesObject) -> bool:
        """Store the access modes of a claim, or the driver of a class or volume. Return False for
        other objects.
        """
        spec = _mapping(item.data.get("spec"))
        match item.kind:
            case "PersistentVolumeClaim":
                self._claims[item.key] = spec
            case "PersistentVolume":
                driver = text_of(_mapping(spec.get("csi")).get("driver"))
                self._drivers[item.kind, item.name] = driver
            case "StorageClass":
                self._drivers[item.kind, item.name] = text_of(item.data.get("provisioner"))
            case _:
                return False
        return True

    def found(self) -> Mapping[ObjectKey, VolumeClaim]:
        """Return every claim. Only some drivers attach volumes to nodes. Other volumes, such as
        network file systems, can be mounted on every node, regardless of their access modes.
        """
        return {key: self._claim(spec) for key, spec in self._claims.items()}

    def _claim(self, spec: Mapping[str, Any]) -> VolumeClaim:
        known = [driver.zonal for driver in self._drivers_of(spec)]
        return VolumeClaim(
            for_one_pod=spec.get("accessModes") == [ONE_POD],
            for_one_node=spec.get("accessModes") == [_ONE_NODE] and all(known),
            is_attached=bool(known) and all(known),
        )

    def _drivers_of(self, spec: Mapping[str, Any]) -> Iterator[VolumeDriver]:
        """Yield the known driver of a claim's volume."""
        name = text_of(spec.get("storageClassName"))
        of_volume = self._drivers.get(("PersistentVolume", text_of(spec.get("volumeName"))))
        provisioner = of_volume or self._drivers.get(("StorageClass", name))
        for each in names():
            for driver in cloud(each).volume_drivers:
                if driver.provisioner == provisioner or (
                    not provisioner and name in driver.classes
                ):
                    yield driver


def _mapping(data: Any) -> Mapping[str, Any]:
    return data if isinstance(data, Mapping) else {}
