"""A real Kubernetes control plane on this machine, with a simulated kubelet.

`control_plane` runs a control plane while a block runs. `start` and `stop` keep a control plane
running between commands. All servers listen only on the loopback interface, and every client needs
the token.
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
