"""What DRANET publishes of the network interfaces of a node: those that pods can claim beside a GPU.

Source: kubernetes-sigs/dranet@f258477 (attribute names) and the metadata that ships with Karpenter (values).
"""

from __future__ import annotations

from dra_planner.catalog import Machine, NetworkInterface, network_interfaces
from dra_planner.model import AttributeValue, Device, ResourceSlice, Unknown

NETWORK_DRIVER = "dra.net"
_ONLY_THE_NODE_KNOWS = (
    "ifName",
    "pciAddress",
    "mac",
    "mtu",
    "state",
    "alias",
    "encapsulation",
    "ipv4",
    "ipv6",
    "rdmaDevice",
)


def predict_network_slices(machine: Machine, *, node_name: str) -> tuple[ResourceSlice, ...]:
    """Return what DRANET publishes on a node of this machine type; none where the interfaces' places are not public.

    Only interfaces beside the node's own are predicted (EFA on EKS). The PCIe root is `Unknown` with the same
    group as that of the GPUs below the same root, so that both can be claimed together.
    """
    interfaces = network_interfaces(machine)
    if not interfaces:
        return ()
    devices = tuple(_device(index, interface) for index, interface in enumerate(interfaces))
    name = f"00000-{NETWORK_DRIVER}-{node_name}"
    return (ResourceSlice(name=name, driver=NETWORK_DRIVER, pool=node_name, node_name=node_name, devices=devices),)


def _device(index: int, interface: NetworkInterface) -> Device:
    attributes: dict[str, AttributeValue] = {
        "pciDevice": interface.pci_device,
        "pciSubsystem": interface.pci_subsystem,
        "pciVendor": interface.pci_vendor,
        "rdma": interface.is_rdma,
        "numaNode": Unknown() if interface.numa_node is None else interface.numa_node,
        "resource.kubernetes.io/pcieRoot": Unknown(interface.pcie_root or ""),
    }
    attributes |= {name: Unknown() for name in _ONLY_THE_NODE_KNOWS}
    return Device(name=f"{interface.kind}-{index}", attributes=attributes)
