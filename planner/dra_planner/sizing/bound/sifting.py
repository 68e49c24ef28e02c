"""The linear relaxation over many pools, reduced to the few that matter ("sifting").

The program over a few pools gives prices of items and of rows. At these prices, nodes of most other
pools are worth at most their cost. Pools with a higher worth are added, and the program is solved
again. The bound holds for all pools: the certificate covers every pool, with the row prices of the
pool with the most similar cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

from msgspec import Struct

from dra_planner.sizing.bound.exact import BoundModel, Certificate, component
from dra_planner.sizing.bound.relaxation import Relaxation
from dra_planner.sizing.bound.reused_prices import Gains, RowPrices

_UNIT = 2**60  # prices are integers, in this fraction of the unit of the costs
_ROUNDS = 8
_FEWEST = 8  # number of pools in the first program
_MOST_JOINING = 10  # number of pools added in a round
# a pool isn't added if its worth exceeds its cost by less than this share
_LITTLE = 10_000

MOST_SIFTED = 6_000
"""Maximum number of pairs of items and pools in a program that is solved."""


class Sifted(Struct, frozen=True, kw_only=True):
    """The bound of the prices for all pools, and the cheapest plan's item counts by (item, pool).

    `pools` are the pools in the solved program.
    """

    pools: frozenset[int]
    certificate: Certificate
    placed: Mapping[tuple[int, int], float]


def sift(
    model: BoundModel, cheap: Sequence[Collection[int]], costs: Sequence[int], solver: Any
) -> Sifted | None:
    """Return the relaxation of the model, or None if the initial pools can't hold the demand.

    `cheap` lists suitable pools for every item, starting with pools that are cheap for most items.
    The initial program contains at least one of them for each item, and all pools with a minimum.
    """
    chosen = _first(cheap) | {at for at, pool in enumerate(model.pools) if pool.minimum}
    found: Sifted | None = None
    for _ in range(_ROUNDS):
        if sum(len(model.pools[pool].most) for pool in chosen) > MOST_SIFTED:
            return found
        solved = Relaxation(component(model, chosen), solver).cheapest(
            [float(cost) for cost in costs]
        )
        if solved is None:
            return found
        certificate, placed = solved
        prices = {item: _whole(price) for item, price in certificate.items.items()}
        lent = RowPrices(model, costs, {pool: _rows(model, certificate, pool) for pool in chosen})
        gains: Gains = {}
        worths = {
            pool: lent.worth(pool, prices, gains)
            for pool, each in enumerate(model.pools)
            if each.most
        }
        rows = {
            pool: {at: price for at, price in enumerate(priced) if price}
            for pool, (_, priced) in worths.items()
        }
        found = Sifted(
            pools=frozenset(chosen), certificate=Certificate(items=prices, rows=rows), placed=placed
        )
        over = {
            pool: worth - costs[pool] * _UNIT
            for pool, (worth, _) in worths.items()
            if pool not in chosen
        }
        joining = [pool for pool, more in over.items() if more * _LITTLE > costs[pool] * _UNIT]
        if not joining:
            break
        joining.sort(key=lambda pool: (-Fraction(over[pool], max(1, costs[pool])), pool))
        chosen.update(joining[:_MOST_JOINING])
    return found


def _first(cheap: Sequence[Collection[int]]) -> set[int]:
    chosen: set[int] = set()
    for pool, _ in sorted(Counter(chain(*cheap)).items(), key=lambda each: (-each[1], each[0])):
        if len(chosen) < _FEWEST or any(
            pool in pools and chosen.isdisjoint(pools) for pools in cheap
        ):
            chosen.add(pool)
    return chosen


def _rows(model: BoundModel, certificate: Certificate, pool: int) -> list[int]:
    priced = certificate.rows.get(pool, {})
    return [_whole(priced.get(at, Fraction(0))) for at in range(len(model.pools[pool].rows))]


def _whole(price: Fraction | int) -> int:
    return round(price * _UNIT)
