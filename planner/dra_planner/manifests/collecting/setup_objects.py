"""Objects that describe the setup of a cluster, or its queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra_planner.errors import Diagnostic
from dra_planner.manifests.collecting.device_objects import DeviceObjects
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.queues import parse_queues
from dra_planner.manifests.setup import config_findings, queue_findings
from dra_planner.manifests.workloads.queue_labels import has_other_scheduler, is_queued
from dra_planner.model import QueueSetup, Workload

_GROUPS: Final = frozenset(
    {
        "kind.x-k8s.io",
        "kubeadm.k8s.io",
        "kubelet.config.k8s.io",
        "config.kueue.x-k8s.io",
        "kueue.x-k8s.io",
        "eksctl.io",
        "karpenter.sh",
        "karpenter.k8s.aws",
        "config.openshift.io",
        "kubermatic.k8c.io",
        "kubescheduler.config.k8s.io",
        "batch.volcano.sh",
        "nvidia.com",
        "argoproj.io",
        "helm.toolkit.fluxcd.io",
        "helm.cattle.io",
    }
)


_TOO_OLD: Final = "kubernetes-too-old"


class SetupObjects:
    """Configurations of clusters, queues, and charts."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self._diagnostics = diagnostics
        self._objects: list[KubernetesObject] = []
        self._old_clusters: list[Diagnostic] = []

    def note(self, item: KubernetesObject) -> None:
        """Store an object if it configures the cluster, and report its problems."""
        if item.group in _GROUPS or item.kind == "ConfigMap":
            self._objects.append(item)
            for each in config_findings(item):
                is_old = (each.code, each.severity) == (_TOO_OLD, "warning")
                (self._old_clusters if is_old else self._diagnostics).append(each)

    def check_versions(self, workloads: Sequence[Workload], *, has_claims: bool) -> None:
        """Report clusters whose version doesn't support claims, unless no workload uses claims."""
        specs = [pods.template.spec for workload in workloads for pods in workload.pod_sets]
        if not workloads or has_claims or any(each.resource_claims for each in specs):
            self._diagnostics += self._old_clusters

    def check_queues(self, workloads: Sequence[Workload], devices: DeviceObjects) -> None:
        """Report workloads and queues that don't match."""
        if self._objects or any(is_queued(each) or has_other_scheduler(each) for each in workloads):
            self._diagnostics += queue_findings(
                self._objects, workloads, devices.claims, devices.templates
            )

    def queues(self) -> QueueSetup:
        """Return the queues and their quotas."""
        return parse_queues(self._objects)
