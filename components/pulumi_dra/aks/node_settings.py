"""Settings for the kubelet, the kernel, and disks on AKS nodes. AKS can't change these settings in
an existing pool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pulumi
from msgspec import Struct

from pulumi_dra.inputs.pool_inputs import KubeletPolicies, read_kubelet_policies
from pulumi_dra.inputs.reader import InputReader

if TYPE_CHECKING:
    # The SDK's own types, imported only for type checking.
    from pulumi_azure_native.containerservice import KubeletConfigArgsDict, LinuxOSConfigArgsDict

OS_DISKS = ("Managed", "Ephemeral")
KUBELET_DISKS = ("OS", "Temporary")
SYSCTLS: Mapping[str, str] = {
    "fs.aio-max-nr": "fs_aio_max_nr",
    "fs.file-max": "fs_file_max",
    "fs.inotify.max_user_watches": "fs_inotify_max_user_watches",
    "fs.nr_open": "fs_nr_open",
    "kernel.threads-max": "kernel_threads_max",
    "net.core.netdev_max_backlog": "net_core_netdev_max_backlog",
    "net.core.rmem_max": "net_core_rmem_max",
    "net.core.somaxconn": "net_core_somaxconn",
    "net.core.wmem_max": "net_core_wmem_max",
    "vm.max_map_count": "vm_max_map_count",
    "vm.swappiness": "vm_swappiness",
    "vm.vfs_cache_pressure": "vm_vfs_cache_pressure",
}
"""Kernel parameters → the fields of SysctlConfig (Azure REST API, Agent Pools, 2025-09-01) that GPU
nodes use.
"""


class AgentPoolSettings(Struct, frozen=True, kw_only=True):
    """The checked settings. Unset ones aren't sent."""

    kubelet: KubeletPolicies
    pod_max_pids: int | None
    sysctls: Mapping[str, int]
    os_disk_type: str
    kubelet_disk_type: str  # "" for Azure's
    fips: bool
    pod_subnet_id: pulumi.Input[str] | None

    def agent_pool(self) -> dict[str, Any]:
        """Return the inputs of an agent pool."""
        settings: dict[str, Any] = {"os_disk_type": self.os_disk_type}
        if kubelet := self._kubelet():
            settings["kubelet_config"] = kubelet
        if self.sysctls:
            sysctls = {SYSCTLS[name]: value for name, value in self.sysctls.items()}
            linux: LinuxOSConfigArgsDict = {"sysctls": sysctls}  # pyright: ignore[reportAssignmentType]  # keys are the SDK's
            settings["linux_os_config"] = linux
        if self.kubelet_disk_type:
            settings["kubelet_disk_type"] = self.kubelet_disk_type
        if self.fips:
            settings["enable_fips"] = True
        if self.pod_subnet_id is not None:
            settings["pod_subnet_id"] = self.pod_subnet_id
        return settings

    def _kubelet(self) -> KubeletConfigArgsDict:
        config: KubeletConfigArgsDict = {}
        if self.kubelet.cpu_manager:
            config["cpu_manager_policy"] = self.kubelet.cpu_manager
        if self.kubelet.topology_manager:
            config["topology_manager_policy"] = self.kubelet.topology_manager
        if self.pod_max_pids is not None:
            config["pod_max_pids"] = self.pod_max_pids
        return config


def read_node_settings(read: InputReader) -> AgentPoolSettings:
    """Return the settings of a pool's nodes, and record errors in `read`."""
    return AgentPoolSettings(
        kubelet=read_kubelet_policies(read),
        pod_max_pids=read.whole("pod_max_pids", 32, least=32, most=4_194_304)
        if read.has("pod_max_pids")
        else None,
        sysctls=_read_sysctls(read),
        os_disk_type=read.choice("os_disk_type", OS_DISKS, "Managed"),
        kubelet_disk_type=read.choice("kubelet_disk_type", KUBELET_DISKS, "")
        if read.has("kubelet_disk_type")
        else "",
        fips=read.flag("fips", False),
        pod_subnet_id=read.identifier("pod_subnet_id"),
    )


def _read_sysctls(read: InputReader) -> dict[str, int]:
    values: dict[str, int] = {}
    for name, value in read.labels("sysctls", check=_sysctl_fault).items():
        if isinstance(value, str) and value.isdigit():
            values[name] = int(value)
    return values


def _sysctl_fault(name: str, value: str) -> str:
    if name not in SYSCTLS:
        return f"isn't a kernel parameter that AKS can set; use one of: {', '.join(SYSCTLS)}"
    return "" if value.isdigit() else "must be an integer"
