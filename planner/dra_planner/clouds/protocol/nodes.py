"""Properties of a cloud's nodes: resources, labels, taints, images, disks, and addresses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dra_planner.catalog import Machine
from dra_planner.catalog.image_parts import image_parts
from dra_planner.clouds.protocol.allocatable import (
    Allocatable,
    AllocatableSettings,
    reserved_cpu_milli,
)
from dra_planner.clouds.protocol.facts import CloudFacts
from dra_planner.clouds.protocol.labels import (
    NodeLabel,
    NodeOrigin,
    contract_labels,
    contract_taints,
)
from dra_planner.clouds.protocol.settings import CountStep
from dra_planner.errors import RejectedValue
from dra_planner.model import Taint

_ARCHITECTURES = {"arm64": "ARM_64", "amd64": "x86_64"}  # architectures in image names


class CloudNodes(CloudFacts):
    """Properties of one cloud's nodes. Defaults apply to most clouds."""

    @abstractmethod
    def allocatable(
        self, machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
    ) -> Allocatable:
        """Return kubelet's allocatable resources for a machine type of that size. Raises
        CatalogError for an invalid setting.
        """

    def reserved_cpu_milli(self, vcpus: int) -> int:
        """Return the kubelet's CPU reservation in thousandths of a core."""
        return reserved_cpu_milli(vcpus)

    def labels(self, nodes: NodeOrigin) -> tuple[NodeLabel, ...]:
        """Return the labels that this project sets on a pool's nodes, in addition to the
        owner's.
        """
        return contract_labels(nodes)

    def taints(self, nodes: NodeOrigin) -> tuple[Taint, ...]:
        """Return the taints that this project sets on a pool's nodes, in addition to the
        owner's.
        """
        return contract_taints(nodes)

    @property
    def reserved_labels(self) -> frozenset[str]:
        """Label keys that this project sets on pools, so that users can't set them."""
        nodes = NodeOrigin(name="", machine=None)
        return frozenset(label.key for label in self.labels(nodes))

    def added_labels(self, nodes: NodeOrigin) -> dict[str, str]:
        """Return the labels that the cloud adds to nodes, with values that are known in advance."""
        return {}

    def added_taints(self, nodes: NodeOrigin) -> tuple[Taint, ...]:
        """Return the taints that the cloud adds to nodes."""
        return ()

    def interface_faults(
        self, interfaces: Sequence[Mapping[str, object]], machine: Machine | None
    ) -> Iterator[RejectedValue]:
        """Yield why the cloud rejects network interfaces of a template. None means that a value is
        unknown.
        """
        return iter(())

    def image_fault(self, machine: Machine, image: str) -> RejectedValue | None:
        """Return why a machine type can't run a node image, or None if no problem is known."""
        return None

    def keeps_device_plugin(self, image: str, boot_script: str) -> bool | None:
        """Return True if nodes with an image that contains a device plugin run it, or None if it's
        unknown.
        """
        return None

    def own_dra_driver(
        self, pool: Mapping[str, Any], image: str = "", boot_script: str = ""
    ) -> str:
        """Return the setting with which nodes run a DRA driver of the cloud or of their image, or
        "" if they don't.
        """
        return ""

    def image_labels(self, machine: Machine) -> dict[str, str]:
        """Return the labels of every node for its machine type and image, with or without GPUs."""
        return {}

    def knows_network_interfaces(self, machine: Machine) -> bool:
        """Return whether the catalog has the number of claimable network interfaces of a machine
        type.
        """
        return True

    def image_arch(self, image: str) -> str:
        """Return the architecture of an image, or "" if its name doesn't contain it."""
        return next((arch for arch, part in _ARCHITECTURES.items() if part in image), "")

    def image_of_parameter(self, name: str) -> str | None:
        """Return the image that a parameter of the cloud names, or None if the parameter is
        unknown.
        """
        return None

    def image_ended(self, image: str) -> int | None:
        """Return the last minor version of an image, or None if it's still published."""
        return next(
            (
                int(part.gone_since.partition(".")[2]) - 1
                for part in image_parts(self.name)
                if part.kind == "image" and image.startswith(part.images)
            ),
            None,
        )

    def boot_disk_types(self, instance_type: str) -> tuple[str, ...]:
        """Return the boot disk types of a machine type, starting with the default.

        The result is empty if they are unknown.
        """
        return ()

    def attaches_disk(self, instance_type: str, disk_type: str) -> bool:
        """Return False if the machine type certainly doesn't attach volumes of a disk type."""
        return True

    def subnet_addresses(
        self, machine: Machine, settings: AllocatableSettings, pods: int
    ) -> int | None:
        """Return how many addresses of its subnet a node needs, with this number of pods that don't
        use the host network.

        Returns None if it's unknown.
        """
        return None

    def pod_range_addresses(self, settings: AllocatableSettings) -> int | None:
        """Return how many addresses of the pods' separate range a node needs.

        Returns None if it's unknown, and 0 if pods use addresses of the subnet.
        """
        return None

    def count_step(self, zones: int, *, autoscaled: bool) -> CountStep:
        """Return the number of which a pool's node count must be a multiple, with this number of
        zones.
        """
        return CountStep()

    def capacity_assumptions(self, kind: str) -> tuple[str, ...]:
        """Return the assumptions of a plan about a pool's capacity type."""
        return ()
