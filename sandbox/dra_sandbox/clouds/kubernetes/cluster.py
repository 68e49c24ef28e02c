"""Which cluster is behind the simulated Kubernetes provider: one in memory, or a control plane of
the sandbox.
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
"""Environment variable with the folder of the control plane that every kubeconfig of the stack
leads to.
"""
HELM = "DRA_SANDBOX_HELM"
"""Environment variable with the Helm that installs releases there; without it they are recorded."""
CHARTS = "DRA_SANDBOX_CHARTS"
"""Environment variable with a folder of charts that are taken before published ones."""


def chosen_cluster() -> ClusterBackend:
    """Return the cluster that the environment names, one in memory where it names none."""
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
