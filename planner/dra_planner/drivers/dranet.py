"""DRANET: the network interfaces of a node that pods can claim in addition to a GPU.

Source: kubernetes-sigs/dranet@f258477 (attribute names) and the metadata that ships with Karpenter
(values).
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from dra_planner.catalog import Machine, NetworkInterface, network_interfaces
from dra_planner.catalog.tables import read_table
from dra_planner.clouds import cloud_of
from dra_planner.documents.models import StrictDocument, refused_by
from dra_planner.drivers.protocol.driver import ConfigFault, Driver, DriverNode
from dra_planner.drivers.protocol.network_config import network_config_faults
from dra_planner.drivers.protocol.neuron_groups import efa_groups
from dra_planner.drivers.protocol.versions import chart_version_fault
from dra_planner.model import AttributeValue, Device, ResourceSlice, Unknown

NETWORK_DRIVER = "dra.net"
RDMA = "dra.net/rdma"
_ONLY_THE_NODE_KNOWS = (
    "dra.net/ifName",
    "dra.net/pciAddress",
    "dra.net/mac",
    "dra.net/mtu",
    "dra.net/type",
    "dra.net/state",
    "dra.net/alias",
    "dra.net/encapsulation",
    "dra.net/ipv4",
    "dra.net/ipv6",
    "dra.net/rdmaDevice",
    "dra.net/virtual",
    "dra.net/ebpf",
    "dra.net/tcFilterNames",
    "dra.net/tcxProgramNames",
    "dra.net/sriov",
    "dra.net/sriovVfs",
    "dra.net/isSriovVf",
    "resource.kubernetes.io/numaNode",  # only from a version that the clouds might not run yet
)


class DranetSettings(StrictDocument):
    """DRANET, which publishes network interfaces that pods can claim together with GPUs. On EKS,
    DRANET publishes EFA interfaces. GKE runs its own DRANET.
    """

    version: Annotated[str, refused_by(chart_version_fault)] = Field(
        default="",
        description="EKS: version of the aws-dranet chart. On GKE, omit this key, because GKE manages "
        "its own DRANET.",
    )


class DranetDriver(Driver[DranetSettings]):
    """DRANET, installed from a chart or run by the cloud."""

    name = "dranet"
    title = "DRANET"
    domains: ClassVar[tuple[str, ...]] = (NETWORK_DRIVER,)
    options = DranetSettings
    meaning = (
        "DRANET, the driver for network interfaces. Set to true, or set its options. If pods "
        "intentionally don't use the interfaces, set this key to false, so that the plan "
        "omits the note about unused interfaces."
    )
    written_when_off = True
    is_network = True
    proposals = (("drivers.dranet=true",),)

    def serves(self, machine: Machine) -> bool:
        return bool(network_interfaces(machine))

    def slices(self, options: DranetSettings, node: DriverNode) -> tuple[ResourceSlice, ...]:
        return predict_network_slices(node.machine, node_name=node.name)

    def assumptions(self, options: DranetSettings, node: DriverNode) -> tuple[str, ...]:
        return network_assumptions(node.machine)

    def config_faults(
        self, domain: str, parameters: Mapping[str, Any], options: DranetSettings | None
    ) -> Iterator[ConfigFault]:
        yield from network_config_faults(parameters)

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        return "NIC"


def predict_network_slices(machine: Machine, *, node_name: str) -> tuple[ResourceSlice, ...]:
    """Return the devices that DRANET publishes on a node of this machine type.

    The result is empty if pods can't claim any of its interfaces.

    Only additional interfaces are predicted: EFA on EKS, because the chart publishes only these,
    and RDMA and gVNIC interfaces of the additional networks on GKE. If a PCIe root is public, its
    value is `Unknown` with the same group as the GPUs below it, so that both can be claimed
    together. Otherwise, nothing is known about the root.
    """
    interfaces = network_interfaces(machine)
    if not interfaces:
        return ()
    groups = efa_groups(machine) or ({},) * len(interfaces)
    devices = tuple(
        _device(machine, index, interface, groups[index])
        for index, interface in enumerate(interfaces)
    )
    name = f"00000-{NETWORK_DRIVER}-{node_name}"
    return (
        ResourceSlice(
            name=name, driver=NETWORK_DRIVER, pool=node_name, node_name=node_name, devices=devices
        ),
    )


def _device(
    machine: Machine, index: int, interface: NetworkInterface, groups: Mapping[str, AttributeValue]
) -> Device:
    attributes: dict[str, AttributeValue] = {
        "dra.net/pciDevice": interface.pci_device or Unknown(),
        "dra.net/pciSubsystem": interface.pci_subsystem or Unknown(),
        "dra.net/pciVendor": interface.pci_vendor or Unknown(),
        RDMA: interface.is_rdma,
        "dra.net/numaNode": Unknown() if interface.numa_node is None else interface.numa_node,
        "resource.kubernetes.io/pcieRoot": Unknown(interface.pcie_root or ""),
    }
    attributes |= {name: Unknown() for name in _ONLY_THE_NODE_KNOWS}
    attributes |= {**_attributes_of_cloud(machine), **groups}
    return Device(name=f"{interface.kind}-{index}", attributes=attributes)


def _attributes_of_cloud(machine: Machine) -> dict[str, AttributeValue]:
    """Return the attributes that DRANET publishes for every interface on this cloud. Most values
    are known only at run time.
    """
    known: dict[str, AttributeValue] = {"machine-type": machine.instance_type}
    rows = (row for row in read_table("network_attributes") if row["cloud"] == machine.cloud)
    return {row["attribute"]: known.get(row["value"], Unknown()) for row in rows}


def network_assumptions(machine: Machine) -> tuple[str, ...]:
    """Return the assumptions and unknown facts of `predict_network_slices` for such a node, as
    sentences.
    """
    interfaces = network_interfaces(machine)
    name = machine.name
    if not interfaces:
        if cloud_of(machine).knows_network_interfaces(machine):
            return ()
        return (
            f"{name}: the number of network interfaces that pods can claim is unknown, so the "
            "plan doesn't include them",
        )
    sentences = [f"{name}: DRANET publishes its {len(interfaces)} attached network interfaces"]
    if all(each.pcie_root is None for each in interfaces):
        sentences.append(
            f"{name}: the PCIe roots that its network interfaces share with GPUs are unknown"
        )
    elif not all(each.is_observed for each in interfaces):
        sentences.append(
            f"{name}: the positions of its network interfaces are derived from several sources"
        )
    return tuple(sentences)


DRIVER = DranetDriver()
