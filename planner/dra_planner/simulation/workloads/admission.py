"""Admission by quotas: pods are created while quota is left, and deleted pods free their quota for
the next request.

Source of the behavior: kubernetes/apiserver:pkg/admission/plugin/resourcequota/controller.go
@v0.36.3. A controller retries rejected pods, but a bare pod isn't applied again.
"""

from __future__ import annotations

from dra_planner.model import PodQuotas
from dra_planner.simulation.cluster.cluster import SimulatedPod
from dra_planner.simulation.workloads.controllers import Controller, Runs


class Admission:
    """Tracks the free quota while pods are created and deleted."""

    def __init__(self, quotas: PodQuotas) -> None:
        """Store the free quota at the start."""
        self._room = dict(quotas.room)

    def create(self, controller: Controller, runs: Runs) -> list[SimulatedPod]:
        """Return the admitted pods that a controller creates now."""
        charges = controller.charges
        if not charges:
            return controller.create(runs)
        room = min(max(0, self._room[limit]) // amount for limit, amount in charges.items())
        pods = controller.create(runs, room)
        self._charge(controller, len(pods))
        return pods

    def release(self, controller: Controller) -> None:
        """Record the deletion of a controller's pod."""
        self._charge(controller, -1)

    def _charge(self, controller: Controller, pods: int) -> None:
        for limit, amount in controller.charges.items():
            self._room[limit] -= amount * pods
