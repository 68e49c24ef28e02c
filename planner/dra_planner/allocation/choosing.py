"""Which of several feasible nodes a pod goes to. The scheduler weighs them and breaks ties by chance.

Source of the behaviour: kubernetes/kubernetes:pkg/scheduler/framework/plugins/noderesources/{least,most}_allocated.go,
dynamicresources/dynamicresources.go (Score) @v1.36.3.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Literal

from dra_planner.allocation.verdicts import Placement

Choice = tuple[str, Placement]
Choose = Callable[[Sequence[Choice]], str]
"""Given feasible nodes and the placements there, in the order of the cluster; returns the node's name."""

Strategy = Literal["least-allocated", "most-allocated", "first"]


def chooser(strategy: Strategy | Choose = "least-allocated", seed: int | None = None) -> Choose:
    """Return how nodes are chosen. With a `seed` ties are broken by (repeatable) chance, else the first node wins.

    An alternative that a request prefers counts before how full a node is.
    """
    if callable(strategy):
        return strategy
    rng = random.Random(seed)

    def choose(choices: Sequence[Choice]) -> str:
        scored = [(score_of(placement, strategy), name) for name, placement in choices]
        best = max(score for score, _ in scored)
        names = [name for score, name in scored if score == best]
        return names[0] if seed is None else rng.choice(names)

    return choose


def score_of(placement: Placement, strategy: Strategy) -> tuple[int, int]:
    """Return how good a node is, larger being better; all are equally good where the first wins."""
    if strategy == "first":
        return 0, 0
    share = placement.free_share
    return placement.rank, share if strategy == "least-allocated" else -share
