"""Small fleets solved by exhaustive search: devices, partitions, aligned NICs, minimums, maximums,
and quotas.

Doesn't share code with the sizing. A node fits the pods if any choice of devices works, regardless
of the allocator's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

from msgspec import Struct

SLICES = 4  # of one partitioned GPU
PARTITIONS = {
    "quarter": (1, (0, 1, 2, 3)),
    "half": (2, (0, 2)),
    "most": (3, (0,)),
    "whole": (4, (0,)),
}
"""Profile: slices, first slices where it may start."""


class Kind(Struct, frozen=True):
    """A pod: cores, whole GPUs, pairs of a GPU and a NIC below one root, and at most one
    partition.
    """

    cpu: int
    gpus: int = 0
    pairs: int = 0
    partition: str = ""
    count: int = 1


class Pool(Struct, frozen=True):
    """Equal nodes with two GPUs per PCIe root. The first `nics` roots have a NIC. Each node uses
    `draws` of the shared quota.
    """

    cpu: int
    gpus: int
    nics: int
    least: int
    most: int
    price: int
    draws: int = 0


Pods = tuple[int, ...]


def cheapest(pools: Sequence[Pool], kinds: Sequence[Kind], quota: int | None = None) -> int | None:
    """Return the price of the cheapest fleet within the limits that fits all pods, or None if there
    is no such fleet.
    """
    best: int | None = None
    patterns = [tuple(_patterns(pool, kinds)) for pool in pools]
    wanted = tuple(kind.count for kind in kinds)
    for counts in product(*(range(pool.least, pool.most + 1) for pool in pools)):
        price = sum(count * pool.price for count, pool in zip(counts, pools, strict=True))
        if (
            quota is not None
            and sum(count * pool.draws for count, pool in zip(counts, pools, strict=True)) > quota
        ):
            continue
        if (best is None or price < best) and _hold(counts, patterns, wanted):
            best = price
    return best


def _hold(counts: tuple[int, ...], patterns: Sequence[Sequence[Pods]], wanted: Pods) -> bool:
    nodes = [pool for pool, count in enumerate(counts) for _ in range(count)]

    @cache
    def rest(at: int, left: Pods) -> bool:
        if not any(left):
            return True
        if at == len(nodes):
            return False
        tried = {tuple(map(min, pattern, left)) for pattern in patterns[nodes[at]]}
        return any(
            rest(at + 1, tuple(a - b for a, b in zip(left, taken, strict=True))) for taken in tried
        )

    return rest(0, wanted)


def _patterns(pool: Pool, kinds: Sequence[Kind]) -> Iterator[Pods]:
    """Yield every set of pods that fits on one node."""
    for pods in product(*(range(kind.count + 1) for kind in kinds)):
        cpu = sum(kind.cpu * count for kind, count in zip(kinds, pods, strict=True))
        if cpu <= pool.cpu and _has_devices(pool, kinds, pods):
            yield pods


def _has_devices(pool: Pool, kinds: Sequence[Kind], pods: Pods) -> bool:
    wanted: list[str] = []
    for kind, count in zip(kinds, pods, strict=True):
        wanted += (
            ["pair"] * kind.pairs * count + ["whole"] * kind.gpus * count + [kind.partition] * count
        )
    names = sorted(
        (name for name in wanted if name), key=["pair", "whole", "most", "half", "quarter"].index
    )

    @cache
    def place(at: int, gpus: tuple[int, ...], nics: int) -> bool:
        """`gpus` are the slices in use of each GPU, as bits; `nics` the roots whose NIC is in
        use.
        """
        if at == len(names):
            return True
        for gpu, used in enumerate(gpus):
            root = gpu // 2
            if names[at] == "pair" and (root >= pool.nics or nics >> root & 1):
                continue
            size, starts = PARTITIONS["whole" if names[at] == "pair" else names[at]]
            for start in starts:
                bits = ((1 << size) - 1) << start
                if not used & bits:
                    after = (*gpus[:gpu], used | bits, *gpus[gpu + 1 :])
                    if place(at + 1, after, nics | (1 << root if names[at] == "pair" else 0)):
                        return True
        return False

    return place(0, (0,) * pool.gpus, 0)
