"""In which order pods arrive. Nobody knows it beforehand, so several are tried."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dra_planner.simulation.cluster import SimulatedPod
from dra_planner.simulation.controllers import BARE_POD, Controller

OrderName = Literal["settled", "at-once", "reversed", "random"]


@dataclass(frozen=True, slots=True)
class Order:
    """An order of arrival; `seed` is that of a random one, and of ties between nodes where it is given.

    settled: a document after all pods of those before have a verdict. reversed: the same from the last document on.
    at-once: all documents together, bare pods before those that a controller has to make first. random: the same,
    with all pods that are made together shuffled.
    """

    name: OrderName
    seed: int | None = None

    def __str__(self) -> str:
        return self.name if self.seed is None else f"{self.name} (seed {self.seed})"

    def phases(self, documents: Sequence[Sequence[Controller]]) -> Iterator[list[Controller]]:
        """Yield the controllers that start together, phase by phase."""
        if self.name in ("settled", "reversed"):
            for document in documents if self.name == "settled" else reversed(documents):
                yield list(document)
            return
        together = [controller for document in documents for controller in document]
        yield sorted(together, key=lambda each: each.workload.kind != BARE_POD)

    def mix(self, pods: list[SimulatedPod], turn: int) -> list[SimulatedPod]:
        """Return pods that were made in the same turn as they arrive."""
        if self.name != "random":
            return pods
        return random.Random(f"{self.seed}/{turn}").sample(pods, len(pods))


SETTLED = Order("settled")
AT_ONCE = Order("at-once")
REVERSED = Order("reversed")


def standard_orders(random_orders: int) -> tuple[Order, ...]:
    """Return the orders that are tried: the three that need no seed, and so many random ones, with seeds from 1 on."""
    return SETTLED, AT_ONCE, REVERSED, *(Order("random", seed) for seed in range(1, random_orders + 1))
