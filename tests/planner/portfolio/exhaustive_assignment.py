"""The cheapest assignment of tiny instances, found by trying every one; shares no code with the
planner.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

from msgspec import Struct


class Pool(Struct, frozen=True):
    """A machine with this number of GPUs, its maximum number, and its price."""

    machine: str
    gpus: int
    most: int
    price: int  # cents per hour


class Load(Struct, frozen=True):
    """Pods that each use this number of GPUs of one machine type. `may` contains the clusters that
    can run a movable load.
    """

    name: str
    pods: int
    gpus: int
    may: tuple[int, ...] = ()


class Instance(Struct, frozen=True):
    pools: tuple[tuple[Pool, ...], ...]  # by cluster
    own: tuple[tuple[Load, ...], ...]
    movable: tuple[Load, ...]


def cheapest(instance: Instance) -> int | None:
    """Return the cost of the cheapest assignment in cents per hour, or None if no assignment places
    everything.
    """
    costs = []
    for targets in product(*(load.may for load in instance.movable)):
        total = 0
        for at, pools in enumerate(instance.pools):
            loads = [
                *instance.own[at],
                *(load for load, to in zip(instance.movable, targets, strict=True) if to == at),
            ]
            cost = cost_of(pools, loads)
            if cost is None:
                break
            total += cost
        else:
            costs.append(total)
    return min(costs, default=None)


def cost_of(pools: Sequence[Pool], loads: Sequence[Load]) -> int | None:
    """Return the least that one cluster costs with these loads: node by node, every way to fill
    it.
    """
    sizes = tuple(sorted({load.gpus for load in loads}, reverse=True))
    pods = tuple(sum(load.pods for load in loads if load.gpus == size) for size in sizes)

    @cache
    def least(left: tuple[int, ...], free: tuple[int, ...]) -> int | None:
        if not any(left):
            return 0
        best: int | None = None
        for at, pool in enumerate(pools):
            if not free[at]:
                continue
            fewer = (*free[:at], free[at] - 1, *free[at + 1 :])
            for taken in fillings(pool.gpus, sizes, left):
                rest = least(
                    tuple(have - put for have, put in zip(left, taken, strict=True)), fewer
                )
                if rest is not None and (best is None or pool.price + rest < best):
                    best = pool.price + rest
        return best

    return least(pods, tuple(pool.most for pool in pools))


def fillings(room: int, sizes: Sequence[int], left: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the ways to fill a node to which no pod that is left can be added."""

    def extend(at: int, free: int, taken: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if at == len(sizes):
            full = all(taken[i] == left[i] or sizes[i] > free for i in range(len(sizes)))
            if any(taken) and full:
                yield taken
            return
        for count in range(min(left[at], free // sizes[at]) + 1):
            yield from extend(at + 1, free - count * sizes[at], (*taken, count))

    yield from extend(0, room, ())


MACHINES = (("g6.2xlarge", 1), ("g6.12xlarge", 4), ("g6.48xlarge", 8))


def draw(seed: int) -> Instance:
    """Return a random instance: 2 or 3 clusters, 2 to 4 movable loads."""
    dice = random.Random(seed)
    clusters = dice.randint(2, 3)
    pools = tuple(
        tuple(
            Pool(machine, gpus, dice.randint(1, 3), dice.randint(60, 140) * gpus)
            for machine, gpus in dice.sample(MACHINES, dice.randint(1, 2))
        )
        for _ in range(clusters)
    )
    own = tuple(
        (Load(f"own{at}", dice.randint(1, 2), dice.choice((1, 2, 3))),)
        if dice.random() < 0.6
        else ()
        for at in range(clusters)
    )
    movable = tuple(
        Load(
            f"mov{at}",
            dice.randint(1, 3),
            dice.choice((1, 1, 2, 3, 4)),
            tuple(sorted(dice.sample(range(clusters), dice.randint(1, clusters)))),
        )
        for at in range(dice.randint(2, 4))
    )
    return Instance(pools, own, movable)
