"""Select the checks for each kind of cluster configuration file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.setup import node_pools, scheduler_configs
from dra_planner.manifests.setup.chart_objects import KINDS, chart_findings
from dra_planner.manifests.setup.cluster_tools.eksctl import eksctl_findings
from dra_planner.manifests.setup.cluster_tools.gpu_operator import operator_findings
from dra_planner.manifests.setup.cluster_tools.kind import kind_findings
from dra_planner.manifests.setup.cluster_tools.kubeadm import kubeadm_findings, kubelet_findings
from dra_planner.manifests.setup.cluster_tools.kubermatic import kubermatic_findings
from dra_planner.manifests.setup.cluster_tools.kueue import KUEUE_CONFIG, kueue_findings
from dra_planner.manifests.setup.plugin_sharing import sharing_in_config_map


def config_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield settings of a cluster configuration that no longer work or never worked.

    Yields nothing for other objects.
    """
    find = _READERS.get((item.group, item.kind))
    if find is not None:
        yield from find(item)


def _config_map_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    return chain(sharing_in_config_map(item), scheduler_configs.in_config_map(item))


def _scheduler_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    return scheduler_configs.scheduler_findings(item.data, item.place)


_READERS: Final[dict[tuple[str, str], Callable[[KubernetesObject], Iterable[Diagnostic]]]] = {
    ("kind.x-k8s.io", "Cluster"): kind_findings,
    ("kubelet.config.k8s.io", "KubeletConfiguration"): kubelet_findings,
    ("kubeadm.k8s.io", "ClusterConfiguration"): kubeadm_findings,
    ("eksctl.io", "ClusterConfig"): eksctl_findings,
    ("nvidia.com", "ClusterPolicy"): operator_findings,
    ("", "ConfigMap"): _config_map_findings,
    (scheduler_configs.GROUP, scheduler_configs.KIND): _scheduler_findings,
    ("kubermatic.k8c.io", "KubermaticConfiguration"): kubermatic_findings,
    **dict.fromkeys(node_pools.KINDS, node_pools.pool_findings),
    **dict.fromkeys(KINDS, chart_findings),
    KUEUE_CONFIG: kueue_findings,
}
