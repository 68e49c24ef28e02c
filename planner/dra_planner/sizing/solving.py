"""Find a packing of items into compatible pools, and its bound. Each step runs only while there is
a gap between them.

- area: a single row or a single item proves the bound; first-fit finds the packing
- relaxation: a linear program over items and pools, solved by HiGHS if it's installed
- cases: the same for fewer and for more nodes of a pool, so that parts of nodes don't count
- columns: a linear program over filled nodes with exact prices; its whole nodes are the packing
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct

from dra_planner.sizing.bound.exact import BoundModel
from dra_planner.sizing.bound.proof import (
    BoundProof,
    conclude,
    has_gap,
    prove_by_area,
    prove_by_cases,
    prove_by_columns,
    prove_by_solver,
)
from dra_planner.sizing.bound.relaxation import Relaxation
from dra_planner.sizing.bound.rounding import raise_to_whole_nodes
from dra_planner.sizing.bound.sifting import sift
from dra_planner.sizing.packing.filling import Filling
from dra_planner.sizing.packing.first_fit import Packing
from dra_planner.sizing.packing.mix_rounding import Mixing
from dra_planner.sizing.packing.patterns import Patterns
from dra_planner.sizing.packing.strategies import (
    Market,
    best_packing,
    cheap_pools,
    pack_assigned,
    quick_packing,
    rank,
)

MOST_COMPARED = 600
"""Maximum number of (item, pool) pairs for which many packings are compared before a solver is
used.
"""

MOST_RELAXED = 12_000
"""Maximum number of (item, pool) pairs for which the linear relaxation is solved before columns are
generated.
"""

LEAST_DIVIDED = Fraction(1, 500)
"""Cases are divided if a node of at least one pool costs at least this share of the packing.
Otherwise, fractions of nodes cost little.
"""


class Solving(Struct, kw_only=True):
    """One level of demand on its pools.

    `plain` are the rows of each pool's model that aren't rounded from others. `proof` is the bound
    so far. `costs` are the bound's costs, one per pool. `is_certain` is set if nodes have exactly
    the model's resources.
    """

    market: Market
    filling: Filling
    model: BoundModel
    plain: Sequence[int]
    proof: BoundProof
    costs: Sequence[Fraction]
    is_certain: bool
    solver: Callable[[], Any | None]  # the module highspy, which is imported on demand
    gap: float
    _packing: Packing | None = None
    _few: frozenset[int] = frozenset()  # only the relevant pools, if there are many

    def solve(self) -> tuple[Packing, BoundProof]:
        """Return the best packing found and its bound."""
        is_small = len(self.market.weights) <= MOST_COMPARED
        if is_small:
            self._compare()
            if not (self._has_gap() or self._is_dear()):
                return self._result()
        solver = self.solver()
        if solver is None:
            if not is_small:
                self._compare()
            return self._result()
        if len(self.market.weights) <= MOST_RELAXED or not self._is_priced():
            self._relax(solver, is_small=is_small)
            self._divide(solver)
        else:
            self._sift(solver)
        if self._is_dear() and self._is_priced():
            self._generate(solver)
        if not is_small and self._result()[0].pending:
            self._offer(
                best_packing(self.market, self.filling, self.proof.nodes, self.market.found.rooms)
            )
        return self._result()

    def _is_priced(self) -> bool:
        return any(cost != 1 for cost in self.costs)

    def _result(self) -> tuple[Packing, BoundProof]:
        if self._packing is None:
            self._packing = quick_packing(self.market, self.filling, self.proof.nodes)
        return self._packing, self.proof

    def _offer(self, packing: Packing) -> None:
        if self._packing is None or rank(self.market, packing) < rank(self.market, self._packing):
            self._packing = packing

    def _has_gap(self) -> bool:
        packing, proof = self._result()
        return has_gap(proof, packing, packing.used_nodes(self.market.found.rooms))

    def cost_bound(self) -> Fraction:
        """Return the proven cost, raised to a possible cost of whole nodes if everything is
        placed.
        """
        packing, proof = self._result()
        if packing.pending:
            return proof.cost
        costs = [int(cost) for cost in self.costs]
        most = sum(cost * count for cost, count in zip(costs, self._used(), strict=True))
        return raise_to_whole_nodes(
            min(proof.cost, Fraction(most)), most, proof.nodes, self.model, costs
        )

    def _used(self) -> list[int]:
        return self._result()[0].used_nodes(self.market.found.rooms)

    def _is_dear(self) -> bool:
        """Return whether a packing could cost less than the best one by more than the allowed
        gap.
        """
        cost = sum(
            (each * count for each, count in zip(self.costs, self._used(), strict=True)),
            Fraction(0),
        )
        packing, proof = self._result()
        takers = self.market.found.takers
        if any(takers[item] and item not in proof.excessive for item in packing.pending):
            return True
        return not packing.pending and cost > self.cost_bound() * (1 + Fraction(self.gap))

    def _compare(self) -> None:
        """Prove bounds by area, and compare first-fit packings while there is a gap."""
        self.proof = prove_by_area(self.proof.parts, self.costs)
        self._offer(quick_packing(self.market, self.filling, self.proof.nodes))
        rooms = self.market.found.rooms
        # The quick packing ignores shared limits and priorities.
        ranks = any(room.limits for room in rooms) or len(self.market.priorities) > 1
        crowded = bool(self._result()[0].pending) and ranks
        if crowded or self._has_gap() or self._is_dear():
            self._offer(
                best_packing(self.market, self.filling, self.proof.nodes, self.market.found.rooms)
            )

    def _relax(self, solver: Any, *, is_small: bool) -> None:
        """Prove bounds with the linear relaxation, and follow its assignment of items."""
        programs = Relaxation(self.model, solver)
        prices = [float(cost[0]) for cost in self.market.costs]
        before = self.proof
        cheapest = programs.cheapest(prices)
        if cheapest is not None:
            self._offer(pack_assigned(self.market, self.filling, cheapest[1]))
        packing, _ = self._result()
        used = self._used()
        prices_of_items = None if cheapest is None else cheapest[0]
        self.proof = prove_by_solver(
            programs, prices_of_items, self.proof, packing, used, self.costs
        )
        if not is_small:
            return
        whole = programs.whole(prices)
        if whole is not None:
            self._offer(pack_assigned(self.market, self.filling, whole))
        if before.nodes != self.proof.nodes:
            self._offer(
                best_packing(self.market, self.filling, self.proof.nodes, self.market.found.rooms)
            )

    def _divide(self, solver: Any) -> None:
        """Prove bounds with cases of node counts, up to the cost of the packing."""
        packing, _ = self._result()
        used = self._used()
        total = sum(map(Fraction.__mul__, self.costs, map(Fraction, used)), Fraction(0))
        if (
            self._is_priced()
            and not packing.pending
            and max(self.costs) >= LEAST_DIVIDED * total
            and self._is_dear()
        ):
            self.proof = prove_by_cases(self.proof, solver, used, self.costs)

    def _sift(self, solver: Any) -> None:
        """Prove bounds with the linear relaxation over many pools, and follow its assignment of
        items.
        """
        demand = self.model.demand
        cheap = [cheap_pools(self.market, item, demand[item]) for item in sorted(demand)]
        sifted = sift(self.model, cheap, [int(cost) for cost in self.costs], solver)
        if sifted is not None:
            self.proof = conclude(
                [part.with_certificates([sifted.certificate]) for part in self.proof.parts],
                self.costs,
            )
            self._offer(pack_assigned(self.market, self.filling, sifted.placed))
            self._few = sifted.pools

    def _generate(self, solver: Any) -> None:
        """Generate columns by part, prove bounds with their prices, and pack their whole nodes."""
        mixing = Mixing(
            self.market,
            self.filling,
            Patterns(self.market.found, self.filling),
            self.plain,
            self.costs,
            solver,
            self.is_certain,
            self.gap,
            self._few,
        )
        for part in self.proof.parts:
            if part.model.demand:
                made = mixing.generate(part, self._result()[0])
                self.proof = prove_by_columns(
                    self.proof, part, made.certificate, made.worth, self.costs
                )
        for packing in mixing.packings():
            self._offer(packing)
            if not self._is_dear():
                break
