"""Whom quotas let in: pods are made as far as there is room, and those that go leave theirs to who
asks next.

Source of the behaviour: kubernetes/apiserver:pkg/admission/plugin/resourcequota/controller.go
@v0.36.3. A controller whose pods are refused tries again; nobody applies a bare pod a second time.
"""

from __future__ import annotations

from dra_planner.model import PodQuotas
from dra_planner.simulation.cluster.cluster import SimulatedPod
from dra_planner.simulation.workloads.controllers import Controller, Runs


class Admission:
    """The room of quotas as pods come and go."""

    def __init__(self, quotas: PodQuotas) -> None:
        """Take note of the room at the start."""
        self._room = dict(quotas.room)

    def create(self, controller: Controller, runs: Runs) -> list[SimulatedPod]:
        """Return the pods that a controller makes now and that are let in."""
        charges = controller.charges
        if not charges:
            return controller.create(runs)
        room = min(max(0, self._room[limit]) // amount for limit, amount in charges.items())
        pods = controller.create(runs, room)
        self._charge(controller, len(pods))
        return pods

    def release(self, controller: Controller) -> None:
        """Take note that a pod of a controller has gone."""
        self._charge(controller, -1)

    def _charge(self, controller: Controller, pods: int) -> None:
        for limit, amount in controller.charges.items():
            self._room[limit] -= amount * pods
