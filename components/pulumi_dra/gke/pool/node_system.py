"""Kubelet and kernel settings for GKE nodes that GKE supports. Plain values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import pulumi
from msgspec import Struct

from dra_planner.catalog import Machine
from pulumi_dra.inputs.pool_inputs import KubeletPolicies, read_huge_pages, read_kubelet_policies
from pulumi_dra.inputs.reader import InputReader

if TYPE_CHECKING:
    # The SDK's own types, so that the type checker finds misspelled keys. Imported only for type
    # checking.
    from pulumi_gcp.container import (
        NodePoolNodeConfigArgsDict,
        NodePoolNodeConfigKubeletConfigArgsDict,
        NodePoolNodeConfigLinuxNodeConfigArgsDict,
        NodePoolNodeConfigLinuxNodeConfigHugepagesConfigArgsDict,
    )

SYSCTLS: Mapping[str, str] = MappingProxyType(
    {
        "fs.": "aio-max-nr file-max inotify.max_user_instances inotify.max_user_watches nr_open",
        "kernel.": "dmesg_restrict kptr_restrict perf_event_paranoid sched_rt_runtime_us shmall "
        "shmmax shmmni "
        "softlockup_panic sysrq yama.ptrace_scope",
        "net.core.": "busy_poll busy_read netdev_max_backlog optmem_max rmem_default rmem_max "
        "somaxconn wmem_default "
        "wmem_max",
        "net.ipv4.tcp_": "congestion_control ecn max_orphans max_tw_buckets mtu_probing rmem "
        "syn_retries tw_reuse wmem",
        "net.netfilter.nf_conntrack_": "acct buckets max tcp_timeout_close_wait "
        "tcp_timeout_established "
        "tcp_timeout_time_wait",
        "vm.": "dirty_background_bytes dirty_background_ratio dirty_bytes dirty_expire_centisecs "
        "dirty_ratio "
        "dirty_writeback_centisecs max_map_count min_free_kbytes overcommit_memory "
        "overcommit_ratio swappiness "
        "vfs_cache_pressure watermark_scale_factor",
    }
)
"""Prefixes of the parameters that GKE accepts → their suffixes (GKE API reference, LinuxNodeConfig,
of google-cloud-container 2.67.0, whose text `tests/components/test_gcp_api.py` compares).
"""


class NodeSystem(Struct, frozen=True, kw_only=True):
    """Settings of kubelet and the kernel in addition to GKE's own."""

    kubelet: KubeletPolicies
    # None keeps the settings of the nodes, and an empty value removes them
    sysctls: Mapping[str, str] | None
    huge_pages: Mapping[str, int]  # by size, "2Mi"

    def node_config(self) -> NodePoolNodeConfigArgsDict:
        """Return this part of a node configuration.

        Kubelet's part is always sent, because omitting it would keep an earlier policy. An empty
        CPU policy means "none", and the topology policy has an effect only with static CPUs. An
        omitted quota would be sent as false by older providers, so no CPU limit would apply
        (GoogleCloudPlatform/k8s-config-connector pull request 12658).
        """
        config: NodePoolNodeConfigArgsDict = {}
        kubelet: NodePoolNodeConfigKubeletConfigArgsDict = {
            "cpu_cfs_quota": True,
            "cpu_manager_policy": self.kubelet.cpu_manager,
        }
        if self.kubelet.cpu_manager:
            kubelet["topology_manager"] = {"policy": self.kubelet.topology_manager or "none"}
        config["kubelet_config"] = kubelet
        linux: NodePoolNodeConfigLinuxNodeConfigArgsDict = {}
        if self.sysctls is not None:
            linux["sysctls"] = dict(self.sysctls)
        if self.huge_pages:
            linux["hugepages_config"] = self._huge_pages()
        if linux:
            config["linux_node_config"] = linux
        return config

    def _huge_pages(self) -> NodePoolNodeConfigLinuxNodeConfigHugepagesConfigArgsDict:
        config: NodePoolNodeConfigLinuxNodeConfigHugepagesConfigArgsDict = {}
        if "2Mi" in self.huge_pages:
            config["hugepage_size2m"] = self.huge_pages["2Mi"]
        if "1Gi" in self.huge_pages:
            config["hugepage_size1g"] = self.huge_pages["1Gi"]
        return config


def read_node_system(read: InputReader, machine: Machine | None) -> NodeSystem:
    """Return kubelet policies, `sysctls`, and huge pages. Errors are recorded in `read`."""
    given = read.labels("sysctls", check=_sysctl_fault)
    sysctls = {key: value for key, value in given.items() if isinstance(value, str)}
    for key, value in given.items():
        if isinstance(value, pulumi.Output):
            read.refuse(f"sysctls.{key}", "must be a plain string, not an output")
    return NodeSystem(
        kubelet=read_kubelet_policies(read),
        sysctls=sysctls if read.has("sysctls") else None,
        huge_pages=read_huge_pages(read, machine),
    )


def _sysctl_fault(key: str, value: str) -> str:
    if not any(key == f"{head}{name}" for head, names in SYSCTLS.items() for name in names.split()):
        return "GKE doesn't support this kernel parameter (API reference, LinuxNodeConfig)"
    return "" if value.strip() else "must have a value"
