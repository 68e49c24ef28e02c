"""Select the cluster of the simulated Kubernetes provider: a cluster in memory, or a control plane
of the sandbox.
"""

from __future__ import annotations

import os
from pathlib import Path

from dra_sandbox.cache import cache_folder
from dra_sandbox.clouds.kubernetes.api_cluster import ApiCluster
from dra_sandbox.clouds.kubernetes.backend import ClusterBackend, MemoryCluster
from dra_sandbox.clouds.kubernetes.helm_releases import HelmReleases
from dra_sandbox.control_plane import ApiServer
from dra_sandbox.control_plane.plane import read_plane
from dra_sandbox.tools.charts import Charts

CONTROL_PLANE = "DRA_SANDBOX_CONTROL_PLANE"
"""Environment variable with the folder of the control plane that all kubeconfigs of the stack use.
"""
HELM = "DRA_SANDBOX_HELM"
"""Environment variable with the Helm command that installs releases there. Without it, releases are
only recorded.
"""
CHARTS = "DRA_SANDBOX_CHARTS"
"""Environment variable with a folder of charts that take precedence over published ones."""


def chosen_cluster() -> ClusterBackend:
    """Return the cluster that the environment variable names, or a cluster in memory."""
    folder = os.environ.get(CONTROL_PLANE)
    if not folder:
        return MemoryCluster()
    plane, helm, given = read_plane(Path(folder)), os.environ.get(HELM), os.environ.get(CHARTS)
    charts = (
        Charts(Path(helm), cache_folder() / "charts", Path(given) if given else None)
        if helm
        else None
    )
    return ApiCluster(ApiServer.of(plane), HelmReleases(plane.folder, plane.kubeconfig, charts))
