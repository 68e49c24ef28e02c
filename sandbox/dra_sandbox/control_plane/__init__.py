"""A real Kubernetes control plane on this machine: etcd, API server, scheduler, controller manager,
and our kubelet.

`control_plane` runs one for as long as a block lasts; `start` and `stop` keep one between commands.
Nothing of it listens on anything but loopback, and everybody who calls needs its token.
"""

from __future__ import annotations

from dra_sandbox.control_plane.api import ApiRejection, ApiServer
from dra_sandbox.control_plane.lifetime import control_plane, start, stop
from dra_sandbox.control_plane.plane import ControlPlane, Settings
from dra_sandbox.control_plane.problems import ControlPlaneError, NotReady

__all__ = [
    "ApiRejection",
    "ApiServer",
    "ControlPlane",
    "ControlPlaneError",
    "NotReady",
    "Settings",
    "control_plane",
    "start",
    "stop",
]
