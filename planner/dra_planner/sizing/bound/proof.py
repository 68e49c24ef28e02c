"""The proven facts about one level of demand: minimum nodes per pool and in total, and demand that
can never fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.records import equality
from dra_planner.sizing.bound.cases import Case, divide_cases
from dra_planner.sizing.bound.exact import (
    BoundModel,
    Certificate,
    Worth,
    apply,
    area_certificates,
    component,
    components,
    strongest,
)
from dra_planner.sizing.bound.relaxation import Relaxation
from dra_planner.sizing.bound.rounding import least_in_whole_nodes
from dra_planner.sizing.packing.first_fit import Packing

MOST_ENTRIES = 300_000
"""Number of matrix entries times pools up to which every pool gets its own program."""


@equality(ignored=("cases", "_whole"))
class ConnectedPools(Struct, frozen=True):
    """Pools that no item connects with others, and the results of certificates and cases
    for them.
    """

    pools: tuple[int, ...]
    model: BoundModel
    worths: tuple[tuple[Certificate, Worth], ...] = ()
    cases: Case | None = None
    _whole: dict[int, int | None] = {}

    def least_in_whole_nodes(self, costs: Sequence[Fraction]) -> int | None:
        """Return the minimum cost of whole nodes by the strongest certificate, or None if it isn't
        found.
        """
        best = max(
            range(len(self.worths)),
            key=lambda at: self.worths[at][1].estimate(self.model, costs),
            default=None,
        )
        if best is None:
            return None
        if best not in self._whole:
            worth = self.worths[best][1]
            self._whole[best] = least_in_whole_nodes(
                worth, self.model, [int(cost) for cost in costs]
            )
        return self._whole[best]

    def with_certificates(self, certificates: Iterable[Certificate]) -> ConnectedPools:
        """Return the part with additional certificates that apply to it."""
        return replace(
            self, worths=(*self.worths, *((each, apply(each, self.model)) for each in certificates))
        )


class BoundProof(Struct, frozen=True, kw_only=True):
    """The nodes that any plan within the maximums needs.

    If items are `excessive` (their demand exceeds the pools), the bounds instead hold for plans of
    pools without maximums.
    """

    nodes: tuple[int, ...]  # per pool
    nodes_in_all: int
    cost: Fraction  # in the unit of the given costs
    excessive: frozenset[int]
    parts: tuple[ConnectedPools, ...]


def split(model: BoundModel) -> tuple[ConnectedPools, ...]:
    """Return the parts of a model, without results."""
    groups = components(model)
    if len(groups) == 1:
        return (ConnectedPools(groups[0], model),)
    return tuple(ConnectedPools(pools, component(model, pools)) for pools in groups)


def prove_by_area(parts: Sequence[ConnectedPools], costs: Sequence[Fraction]) -> BoundProof:
    """Return the bounds of single rows and single items. This is fast and needs no solver."""
    return conclude(
        [part.with_certificates(area_certificates(part.model)) for part in parts], costs
    )


def prove_by_solver(
    programs: Relaxation,
    cheapest: Certificate | None,
    proof: BoundProof,
    packing: Packing,
    used: Sequence[int],
    costs: Sequence[Fraction],
) -> BoundProof:
    """Return additional bounds of the linear relaxation. `cheapest` is its result for these
    costs.
    """
    solved = [
        *_solved(programs, proof, packing, used, costs),
        *([] if cheapest is None else [cheapest]),
    ]
    return conclude([part.with_certificates(solved) for part in proof.parts], costs)


def prove_by_columns(
    proof: BoundProof,
    part: ConnectedPools,
    certificate: Certificate,
    worth: Worth,
    costs: Sequence[Fraction],
) -> BoundProof:
    """Return additional bounds of column generation for one part."""
    grown = replace(part, worths=(*part.worths, (certificate, worth)))
    return conclude([grown if each.pools == part.pools else each for each in proof.parts], costs)


def prove_by_cases(
    proof: BoundProof, solver: Any, used: Sequence[int], costs: Sequence[Fraction]
) -> BoundProof:
    """Return additional bounds of cases, up to the cost of a packing with these node counts."""
    return conclude([_with_cases(part, solver, used, costs) for part in proof.parts], costs)


def _with_cases(
    part: ConnectedPools, solver: Any, used: Sequence[int], costs: Sequence[Fraction]
) -> ConnectedPools:
    if not part.model.demand:
        return part
    goal = sum(
        (costs[pool] * max(used[pool], part.model.pools[pool].minimum) for pool in part.pools),
        Fraction(0),
    )
    return replace(
        part, cases=divide_cases(Relaxation(part.model, solver), part.pools, costs, goal)
    )


def has_gap(proof: BoundProof, packing: Packing, used: Sequence[int]) -> bool:
    """Return whether a better bound could change the answer: pending pods without proof, or more
    nodes than the bound.
    """
    if any(item not in proof.excessive for item in packing.pending):
        return True
    return not packing.pending and (
        proof.nodes_in_all < sum(used) or any(map(int.__lt__, proof.nodes, used))
    )


def _solved(
    programs: Relaxation,
    proof: BoundProof,
    packing: Packing,
    used: Sequence[int],
    costs: Sequence[Fraction],
) -> list[Certificate]:
    model = programs.model
    found: list[Certificate | None] = []
    if packing.pending:
        found.append(programs.shortage())
    if any(cost != 1 for cost in costs):
        fewest = programs.cheapest([1.0] * len(model.pools))
        found.append(None if fewest is None else fewest[0])
    entries = sum(len(pool.most) * (1 + len(pool.rows)) for pool in model.pools)
    gaps = [
        pool
        for pool, (bound, count) in enumerate(zip(proof.nodes, used, strict=True))
        if bound < count
    ]
    gaps = [pool for pool in gaps if not model.is_spared(pool)]
    if entries * len(gaps) <= MOST_ENTRIES:
        found.extend(programs.least_of(pool) for pool in gaps)
    return [certificate for certificate in found if certificate is not None]


def conclude(parts: Sequence[ConnectedPools], costs: Sequence[Fraction]) -> BoundProof:
    """Return the combined bounds of all parts' certificates."""
    pools = sorted(pool for part in parts for pool in part.pools)
    nodes = dict.fromkeys(pools, 0)
    excessive: set[int] = set()
    for part in parts:
        for pool in part.pools:
            nodes[pool] = part.model.pools[pool].minimum
        for _, worth in part.worths:
            for pool, count in worth.nodes_of(part.model, part.pools).items():
                nodes[pool] = max(nodes[pool], count)
        for certificate, worth in part.worths:
            if worth.is_infeasible(part.model):
                excessive.update(item for item, price in certificate.items.items() if price > 0)
    limited = not excessive
    in_all, cost = 0, Fraction(0)
    one_each = [Fraction(1)] * len(costs)
    for part in parts:
        worths = [worth for _, worth in part.worths]
        least = ceil(strongest(worths, part.model, one_each, limited=limited))
        paid = strongest(worths, part.model, costs, limited=limited)
        if limited:  # within maximums, all pools' bounds apply at the same time
            least = max(least, sum(nodes[pool] for pool in part.pools))
            paid = max(paid, sum((costs[pool] * nodes[pool] for pool in part.pools), Fraction(0)))
            whole = part.least_in_whole_nodes(costs)
            paid = paid if whole is None else max(paid, Fraction(whole))
            by_cases = None if part.cases is None else part.cases.bound
            paid = paid if by_cases is None else max(paid, by_cases)
        in_all, cost = in_all + least, cost + paid
    return BoundProof(
        nodes=tuple(nodes[pool] for pool in pools),
        nodes_in_all=in_all,
        cost=cost,
        excessive=frozenset(excessive),
        parts=tuple(parts),
    )
