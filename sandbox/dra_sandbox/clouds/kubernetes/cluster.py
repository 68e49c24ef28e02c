"""Which cluster is behind the simulated Kubernetes provider: one in memory, or a control plane of the sandbox."""

from __future__ import annotations

import os
from pathlib import Path

from dra_sandbox.clouds.kubernetes.backend import ClusterBackend, MemoryCluster

CONTROL_PLANE = "DRA_SANDBOX_CONTROL_PLANE"
"""Environment variable with the folder of the control plane that every kubeconfig of the stack leads to."""


def chosen_cluster() -> ClusterBackend:
    """Return the cluster that the environment names, one in memory where it names none."""
    folder = os.environ.get(CONTROL_PLANE)
    if not folder:
        return MemoryCluster()
    from dra_sandbox.clouds.kubernetes.api_cluster import ApiCluster
    from dra_sandbox.control_plane import ApiServer
    from dra_sandbox.control_plane.plane import read_plane

    return ApiCluster(ApiServer.of(read_plane(Path(folder))))
