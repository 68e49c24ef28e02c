"""The minimum nodes and cost of any plan, proven in exact rational arithmetic.

A certificate gives every item a price π and every row of a pool (cpu, devices, …) a price λ. Then
the items on one node of a pool are worth at most

    V = Σ λ·capacity + Σ max(0, π − λ·needs) · most

Therefore, a pool of n nodes holds at most n·V of the demand's worth Σ π·d. Any prices give a valid
bound, and good prices (of a single row, of a single item, or the duals of the linear relaxation)
give a strong bound. This is weak duality: the solver that suggests the prices doesn't have to be
trusted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm

from msgspec import Struct

from dra_planner.records import equality


@equality(unhashed=("needs",))
class CapacityRow(Struct, frozen=True):
    """A limited resource of a node, and each item's minimum need of it."""

    name: str
    capacity: int
    needs: Mapping[int, int]  # item → amount; missing means 0


@equality(unhashed=("most",))
class BoundPool(Struct, frozen=True, kw_only=True):
    """A pool in the bound's model. Items that aren't in `most` don't fit it."""

    minimum: int
    maximum: int
    rows: tuple[CapacityRow, ...]
    most: Mapping[int, int]  # item → maximum number on one node


@equality(unhashed=("takes",))
class BoundLimit(Struct, frozen=True):
    """The shared maximum of some pools, and the use of one node of each pool."""

    name: str
    most: int
    takes: Mapping[int, int]

    def left(self, model: BoundModel) -> int:
        """Return the remainder after the required nodes."""
        return max(
            0,
            self.most
            - sum(takes * model.pools[pool].minimum for pool, takes in self.takes.items()),
        )


@equality(ignored=("_pools_of",), unhashed=("demand",))
class BoundModel(Struct, frozen=True, kw_only=True):
    """Item counts that every pool can evaluate, and the pools with their shared limits."""

    demand: Mapping[int, int]
    pools: tuple[BoundPool, ...]
    limits: tuple[BoundLimit, ...] = ()

    _pools_of: dict[int, tuple[int, ...]] = {}

    def pools_of(self, item: int) -> tuple[int, ...]:
        """Return the pools that the item fits."""
        found = self._pools_of.get(item)
        if found is None:
            found = self._pools_of[item] = tuple(
                index for index, pool in enumerate(self.pools) if item in pool.most
            )
        return found

    def is_spared(self, pool: int) -> bool:
        """Return whether other pools can run all items, with one kind of item on each node.

        In that case, no plan needs nodes of this pool. Items use the pools with the most remaining
        nodes. False can also mean that this method doesn't find a plan.
        """
        if self.limits:
            return False
        left = [each.maximum for each in self.pools]
        for item, count in self.demand.items():
            others = [other for other in self.pools_of(item) if other != pool]
            if not others:
                return False
            roomy = max(others, key=lambda other: left[other])
            left[roomy] -= -(-count // self.pools[roomy].most[item])
        return min(left) >= 0


def components(model: BoundModel) -> tuple[tuple[int, ...], ...]:
    """Return the pools in groups that no item or limit connects, so that each can be evaluated
    separately.
    """
    groups: list[set[int]] = []
    for connected in (
        *map(model.pools_of, sorted(model.demand)),
        *(limit.takes for limit in model.limits),
    ):
        joined = set(connected)
        touching = [group for group in groups if group & joined]
        groups = [group for group in groups if not group & joined]
        groups.append(joined.union(*touching))
    alone = set(range(len(model.pools))).difference(*groups)
    return tuple(tuple(sorted(group)) for group in [*groups, alone] if group)


def component(model: BoundModel, pools: Collection[int]) -> BoundModel:
    """Return the model with only these pools' nodes and items. The other pools stay in it without
    nodes.
    """
    inside = {item for pool in pools for item in model.pools[pool].most}
    nothing = BoundPool(minimum=0, maximum=0, rows=(), most={})
    return BoundModel(
        demand={item: count for item, count in model.demand.items() if item in inside},
        pools=tuple(each if at in pools else nothing for at, each in enumerate(model.pools)),
        limits=tuple(limit for limit in model.limits if not limit.takes.keys().isdisjoint(pools)),
    )


class Certificate(Struct, frozen=True, kw_only=True):
    """Prices of items, and of rows by pool and position. Missing prices are 0."""

    items: Mapping[int, Fraction | int]
    rows: Mapping[int, Mapping[int, Fraction | int]] = {}


@equality(unhashed=("nodes",))
class Worth(Struct, frozen=True):
    """An applied certificate: the worth of the demand, and the maximum that one node of each pool
    can hold.
    """

    demand: int
    nodes: Mapping[int, int]  # pool → V; missing means 0

    def is_infeasible(self, model: BoundModel) -> bool:
        """Return True if the demand is worth more than all pools can hold at their maximums."""
        return self.demand > self._most(model)

    def nodes_of(self, model: BoundModel, pools: Iterable[int]) -> dict[int, int]:
        """Return the required number of nodes of each of these pools if every other pool is at its
        maximum.
        """
        most = 0 if model.limits else self._most(model)
        needed = {}
        for pool in pools:
            if value := self.nodes.get(pool, 0):
                others = (
                    self._most(model, pool)
                    if model.limits
                    else most - model.pools[pool].maximum * value
                )
                needed[pool] = max(0, -((others - self.demand) // value))
        return needed

    def _most(self, model: BoundModel, without: int | None = None) -> int:
        """Return the maximum that all pools except one can hold within each limit."""
        worths = {pool: value for pool, value in self.nodes.items() if pool != without}
        most = sum(model.pools[pool].maximum * value for pool, value in worths.items())
        for limit in model.limits:
            left = Fraction(limit.left(model))
            inside = [
                (Fraction(worths[pool], takes), pool)
                for pool, takes in limit.takes.items()
                if pool in worths
            ]
            lost = Fraction(0)
            for _, pool in sorted(inside, reverse=True):
                further, takes = (
                    model.pools[pool].maximum - model.pools[pool].minimum,
                    limit.takes[pool],
                )
                nodes = min(Fraction(further), left / takes)
                left -= nodes * takes
                lost += (further - nodes) * worths[pool]
            full = sum(model.pools[pool].maximum * value for pool, value in worths.items())
            most = min(most, int(full - lost))
        return most

    def cost(
        self, model: BoundModel, costs: Sequence[Fraction | int], *, limited: bool = True
    ) -> Fraction:
        """Return the minimum of Σ costs·nodes for a plan that places everything (`limited`: within
        maximums).

        Prices can be scaled freely. At scale θ, a pool contributes c − θ·V per node, at its minimum
        if that is positive and at its maximum if it's negative. The bound is concave in θ, so the
        best θ is the first value with a zero contribution of some pool after which the bound
        decreases. Every θ gives a valid bound. Shared limits can have prices too, which their nodes
        pay and which count for the whole limit.
        """
        raised, paid = (
            self._with_limits(model, costs) if limited and model.limits else (costs, Fraction(0))
        )
        best = self._best_scale(model, raised, limited=limited)
        scale = None if best is None else Fraction(raised[best], self.nodes[best])
        floor = Fraction(
            sum(cost * pool.minimum for cost, pool in zip(costs, model.pools, strict=True))
        )
        return max(floor, self._cost_at(scale, model, raised) - paid)

    def estimate(
        self, model: BoundModel, costs: Sequence[Fraction | int], *, limited: bool = True
    ) -> float:
        """Return an estimate of `cost`."""
        if limited and model.limits:
            raised, paid = self._with_limits(model, costs)
            return self._estimate(model, raised, limited=True) - float(paid)
        return self._estimate(model, costs, limited=limited)

    def limit_prices(
        self, model: BoundModel, costs: Sequence[Fraction | int]
    ) -> dict[str, Fraction]:
        """Return the nonzero prices of shared limits with about the strongest bound.

        For each limit in turn, the search tries the prices at which two pools have the same ratio
        of worth to cost.
        """
        prices: dict[str, Fraction] = {}
        raised = [Fraction(cost) for cost in costs]
        for limit in model.limits:
            tried = {Fraction(0), *self._even_prices(limit, raised)}
            best = max(
                tried, key=lambda price: (self._estimate_at(price, limit, model, raised), -price)
            )
            if best:
                prices[limit.name] = best
                raised = _raise(raised, limit, best)
        return prices

    def _even_prices(self, limit: BoundLimit, costs: Sequence[Fraction]) -> Iterator[Fraction]:
        for one, takes in limit.takes.items():
            value = self.nodes.get(one, 0)
            for other, worth in self.nodes.items():
                slope = takes * worth - limit.takes.get(other, 0) * value
                gain = costs[other] * value - costs[one] * worth
                if slope and value and worth and gain * slope > 0:
                    yield gain / slope

    def _estimate_at(
        self, price: Fraction, limit: BoundLimit, model: BoundModel, costs: Sequence[Fraction]
    ) -> float:
        return self._estimate(model, _raise(costs, limit, price), limited=True) - float(
            price * limit.most
        )

    def _with_limits(
        self, model: BoundModel, costs: Sequence[Fraction | int]
    ) -> tuple[Sequence[Fraction | int], Fraction]:
        """Return the nodes' costs including their use of limits, and the worth of all limits."""
        prices = self.limit_prices(model, costs)
        paid = Fraction(0)
        for limit in model.limits:
            if limit.name in prices:
                costs, paid = (
                    _raise(costs, limit, prices[limit.name]),
                    paid + prices[limit.name] * limit.most,
                )
        return costs, paid

    def _estimate(
        self, model: BoundModel, costs: Sequence[Fraction | int], *, limited: bool
    ) -> float:
        best = self._best_scale(model, costs, limited=limited)
        total = sum(
            float(cost) * pool.minimum
            for cost, pool in zip(costs, model.pools, strict=True)
            if pool.minimum
        )
        if best is None:
            return total
        worth, price = self.nodes[best], float(costs[best])
        total += price * (self.demand / worth)
        for index, value in self.nodes.items():
            pool, cost = model.pools[index], float(costs[index])
            back = cost - price * (value / worth)
            total += back * (pool.minimum if back >= 0 else pool.maximum) - cost * pool.minimum
        return total

    def _best_scale(
        self, model: BoundModel, costs: Sequence[Fraction | int], *, limited: bool
    ) -> int | None:
        """Return the pool with a zero contribution at the best scale, or None if an empty demand
        gives the same bound.
        """
        scales = sorted(
            (float(costs[index]) * (self.demand / value), index)
            for index, value in self.nodes.items()
            if value
        )  # worths can be too large for a float, but their quotients aren't
        slope = self.demand - sum(
            model.pools[index].minimum * value for index, value in self.nodes.items()
        )
        if not scales or slope <= 0:
            return None
        for _, index in scales:
            slope -= self.nodes[index] * (model.pools[index].maximum - model.pools[index].minimum)
            if slope <= 0 or not limited:  # without maximums, no pool can reduce the bound
                return index
        return scales[-1][1]

    def _cost_at(
        self, scale: Fraction | None, model: BoundModel, costs: Sequence[Fraction | int]
    ) -> Fraction:
        """Return the exact bound at this scale. Pools without worth add the cost of their
        minimums.
        """
        whole = lcm(*(cost.denominator for cost in costs))
        # integer arithmetic takes a tenth of the time
        parts = [cost.numerator * (whole // cost.denominator) for cost in costs]
        floor = sum(map(int.__mul__, parts, [pool.minimum for pool in model.pools]))
        if scale is None:
            return Fraction(floor, whole)
        times, unit = scale.denominator, scale.numerator * whole
        total = floor * times + unit * self.demand
        for index, value in self.nodes.items():
            pool, paid = model.pools[index], parts[index] * times
            back = paid - unit * value
            total += back * (pool.minimum if back >= 0 else pool.maximum) - paid * pool.minimum
        return Fraction(max(floor * times, total), whole * times)


def _raise(costs: Sequence[Fraction | int], limit: BoundLimit, price: Fraction) -> list[Fraction]:
    return [Fraction(cost + price * limit.takes.get(pool, 0)) for pool, cost in enumerate(costs)]


def apply(certificate: Certificate, model: BoundModel) -> Worth:
    """Return the exact bounds of the certificate for the model.

    Prices are first scaled to integers, because only their proportions matter.
    """
    whole = lcm(
        *(price.denominator for price in certificate.items.values()),
        *(price.denominator for prices in certificate.rows.values() for price in prices.values()),
    )
    priced = {
        item: int(price * whole)
        for item, price in certificate.items.items()
        if price > 0 and model.demand.get(item)
    }
    nodes: dict[int, int] = {}
    for index, pool in enumerate(model.pools):
        inside = [item for item in priced if item in pool.most]
        if not inside:
            continue
        rows = [
            (pool.rows[row], int(price * whole))
            for row, price in certificate.rows.get(index, {}).items()
            if price > 0
        ]
        value = sum(price * row.capacity for row, price in rows)
        for item in inside:
            paid = sum(price * row.needs.get(item, 0) for row, price in rows)
            if priced[item] > paid:
                value += (priced[item] - paid) * pool.most[item]
        nodes[index] = value
    return Worth(sum(price * model.demand[item] for item, price in priced.items()), nodes)


def area_certificates(model: BoundModel) -> Iterator[Certificate]:
    """Yield the certificates that don't need a solver: a single item, and a single row over the
    items restricted to some pools.
    """
    for item in sorted(model.demand):
        yield Certificate(items={item: 1})
    for pools in _pool_sets(model):
        confined = [item for item in sorted(model.demand) if set(model.pools_of(item)) <= pools]
        if len(confined) < 2:
            continue
        names = sorted({row.name for pool in pools for row in model.pools[pool].rows})
        for name in names:
            yield from _row_certificates(model, pools, confined, name)


def _row_certificates(
    model: BoundModel, pools: frozenset[int], items: Sequence[int], name: str
) -> Iterator[Certificate]:
    """Price one row of several pools, by amount (which resource runs out) and by share of a node
    (how many nodes it needs).
    """
    rows: dict[int, tuple[int, CapacityRow]] = {}
    for pool in pools:
        for position, row in enumerate(model.pools[pool].rows):
            if row.name == name:
                rows[pool] = (position, row)
    whole = lcm(*(row.capacity for _, row in rows.values()))
    for by_share in (
        (False, True) if len({row.capacity for _, row in rows.values()}) > 1 else (False,)
    ):
        unit = {pool: whole // row.capacity if by_share else 1 for pool, (_, row) in rows.items()}
        prices: dict[int, int] = {}
        for item in items:
            pools_of = model.pools_of(item)
            if all(pool in rows for pool in pools_of):
                price = min(
                    (rows[pool][1].needs.get(item, 0) * unit[pool] for pool in pools_of), default=0
                )
                if price:
                    prices[item] = price
        if prices:
            yield Certificate(
                items=prices, rows={pool: {rows[pool][0]: unit[pool]} for pool in rows}
            )


def _pool_sets(model: BoundModel) -> list[frozenset[int]]:
    """Return the relevant sets of pools: each pool, the pools of each item, connected components,
    and all.
    """
    sets: set[frozenset[int]] = {frozenset([index]) for index in range(len(model.pools))}
    components: list[frozenset[int]] = []
    for item in sorted(model.demand):
        support = frozenset(model.pools_of(item))
        if support:
            sets.add(support)
            touching = [other for other in components if other & support]
            components = [other for other in components if not other & support]
            components.append(support.union(*touching))
    sets.update(components)
    return sorted(sets, key=sorted)


def strongest(
    worths: Iterable[Worth],
    model: BoundModel,
    costs: Sequence[Fraction | int],
    *,
    limited: bool = True,
) -> Fraction:
    """Return the highest cost bound of these certificates, selected by estimate and proven
    exactly.
    """
    best = max(
        worths,
        key=lambda worth: worth.estimate(model, costs, limited=limited),
        default=Worth(0, {}),
    )
    return best.cost(model, costs, limited=limited)
