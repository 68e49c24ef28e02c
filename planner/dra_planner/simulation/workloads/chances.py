"""Moments that differ between runs of the same cluster, drawn from the seed of an order. Only the
runs with lags, which explain rehearsals, use them.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from msgspec import Struct

from dra_planner.simulation.workloads.controllers import Controller

_LATE_SHARE: Final = 0.5
"""Probability that a controller whose pods need quota waits for its next retry."""
_LATE_PODS: Final = 0.25
"""Probability that a pod gets its claims only after other pods of its workload have ended."""
_EARLY_EVENTS: Final = 0.25
"""Probability that pending pods are retried directly after a pod gets its node."""
_LATE_REPLACEMENTS: Final = 0.25
"""Probability that preempted pods end before their replacements have their claims."""
_UNSEEN_NOMINATIONS: Final = 0.25
"""Probability that the scheduler retries a pod before it sees the pod's nomination."""


class Chances(Struct, frozen=True):
    """The chances of one order, by its seed."""

    seed: int | None

    def split_retries(
        self, controllers: Sequence[Controller], turn: int
    ) -> tuple[Sequence[Controller], Sequence[Controller]]:
        """Return the controllers that create pods now, and the controllers that retry only when
        nothing else happens: the back-off after a refusal by a quota has a random length.
        """
        chance = Random(f"{self.seed}/{turn}/retries")
        prompt: list[Controller] = []
        late: list[Controller] = []
        for each in controllers:
            waits = each.charges and chance.random() < _LATE_SHARE
            (late if waits else prompt).append(each)
        return prompt, late

    def is_event_early(self, pods: int) -> bool:
        """Return whether the scheduler retries pending pods before it tries the next pod, when the
        cluster has this number of pods.

        The pods of a workload reach the scheduler one after another, because each pod first gets
        its claims. A pending pod with a rule about these pods may be retried in between. Source of
        the behavior: kubernetes/kubernetes:pkg/scheduler/backend/queue/scheduling_queue.go @v1.36.3
        (AssignedPodAdded).
        """
        return Random(f"{self.seed}/{pods}/events").random() < _EARLY_EVENTS

    def is_replacement_late(self, turn: int) -> bool:
        """Return whether other pending pods are retried before the replacements of preempted pods
        arrive, because a pod arrives only with its claims. Source of the behavior:
        kubernetes/kubernetes:pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go
        @v1.36.3 (PreEnqueue).
        """
        return Random(f"{self.seed}/{turn}/replacements").random() < _LATE_REPLACEMENTS

    def is_pod_late(self, number: int) -> bool:
        """Return whether the pod with this number of created pods reaches the scheduler only after
        the next pods have ended, because its claims are created late. Source of the behavior:
        kubernetes/kubernetes:pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go
        @v1.36.3 (PreEnqueue).
        """
        return Random(f"{self.seed}/{number}/pods").random() < _LATE_PODS

    def is_nomination_known(self, turn: int) -> bool:
        """Return whether the scheduler keeps the node free for the pod that preempted pods there.

        A retry takes the nomination from the pod's status. If the scheduler hasn't seen its own
        update of the status yet, it forgets the nomination, and other pods can use the node.
        Source: kubernetes/kubernetes:pkg/scheduler/backend/queue/nominator.go @v1.34.9
        (addNominatedPodUnlocked).
        """
        return Random(f"{self.seed}/{turn}/nominations").random() >= _UNSEEN_NOMINATIONS
