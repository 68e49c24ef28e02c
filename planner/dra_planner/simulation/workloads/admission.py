"""Admission by quotas: pods are created while quota is left, and deleted pods free their quota for
the next request.

Source of the behavior: kubernetes/apiserver:pkg/admission/plugin/resourcequota/controller.go
@v0.36.3. A controller retries rejected pods, but a bare pod isn't applied again.
"""

from __future__ import annotations

from collections.abc import Mapping

from dra_planner.model import ObjectKey, PodQuotas, QuotaLimit
from dra_planner.simulation.cluster.cluster import SimulatedPod
from dra_planner.simulation.workloads.controllers import Controller, Runs


class Admission:
    """Tracks the free quota while pods are created and deleted."""

    def __init__(
        self, quotas: PodQuotas, replaced: Mapping[ObjectKey, Mapping[QuotaLimit, int]]
    ) -> None:
        """Store the free quota at the start, and the amounts that running pods of an earlier
        template free, because these can differ from the amounts of their replacements.
        """
        self._room, self._replaced = dict(quotas.room), replaced

    def create(self, controller: Controller, runs: Runs) -> list[SimulatedPod]:
        """Return the admitted pods that a controller creates now."""
        charges = controller.charges
        if not charges:
            return controller.create(runs)
        room = min(max(0, self._room[limit]) // amount for limit, amount in charges.items())
        pods = controller.create(runs, room)
        self._charge(charges, len(pods))
        return pods

    def release(self, controller: Controller, pod: SimulatedPod) -> None:
        """Record the deletion of a controller's pod."""
        self._charge(self._replaced.get(pod.name, controller.charges), -1)

    def _charge(self, charges: Mapping[QuotaLimit, int], pods: int) -> None:
        for limit, amount in charges.items():
            self._room[limit] -= amount * pods
