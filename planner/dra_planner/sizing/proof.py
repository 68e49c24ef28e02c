"""What is proved about one level of demand: the least nodes per pool and in all, and what can never fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib import import_module
from math import ceil
from typing import Any

from dra_planner.sizing.bound import BoundModel, Certificate, Worth, apply, area_certificates, strongest
from dra_planner.sizing.packing import Packing
from dra_planner.sizing.relaxation import Relaxation

MOST_ENTRIES = 300_000
"""Matrix entries times pools up to which every pool gets a program of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Nodes that any plan needs, and the items of which more are wanted than the pools can hold."""

    nodes: tuple[int, ...]  # per pool
    nodes_in_all: int
    cost: Fraction  # in the unit of the costs given
    excessive: frozenset[int]
    worths: tuple[tuple[Certificate, Worth], ...] = field(repr=False)


@cache
def load_solver() -> Any | None:
    """Return the module highspy, None when it is not installed."""
    try:
        return import_module("highspy")
    except ImportError:
        return None


def prove_by_area(model: BoundModel, costs: Sequence[Fraction]) -> Proof:
    """Return what one row or one item alone proves: instant, and needs no solver."""
    return _conclude(model, [(each, apply(each, model)) for each in area_certificates(model)], costs)


def prove_by_solver(
    programs: Relaxation,
    model: BoundModel,
    proof: Proof,
    packing: Packing,
    used: Sequence[int],
    costs: Sequence[Fraction],
) -> Proof:
    """Return what the linear relaxation proves besides."""
    solved = _solved(programs, model, proof, packing, used, costs)
    return _conclude(model, [*proof.worths, *((each, apply(each, model)) for each in solved)], costs)


def has_gap(proof: Proof, packing: Packing, used: Sequence[int]) -> bool:
    """Whether a better bound could change what is said: pods pending without proof, or more nodes than proved."""
    if any(item not in proof.excessive for item in packing.pending):
        return True
    return not packing.pending and (proof.nodes_in_all < sum(used) or any(map(int.__lt__, proof.nodes, used)))


def _solved(
    programs: Relaxation,
    model: BoundModel,
    proof: Proof,
    packing: Packing,
    used: Sequence[int],
    costs: Sequence[Fraction],
) -> list[Certificate]:
    found: list[Certificate | None] = []
    if packing.pending:
        found.append(programs.shortage())
    found.append(programs.cheapest([1.0] * len(model.pools)))
    if any(cost != 1 for cost in costs):
        greatest = max(costs) or Fraction(1)
        found.append(programs.cheapest([float(cost / greatest) for cost in costs]))
    entries = sum(len(pool.most) * (1 + len(pool.rows)) for pool in model.pools)
    gaps = [pool for pool, (bound, count) in enumerate(zip(proof.nodes, used, strict=True)) if bound < count]
    if entries * len(gaps) <= MOST_ENTRIES:
        found.extend(programs.least_of(pool) for pool in gaps)
    return [certificate for certificate in found if certificate is not None]


def _conclude(
    model: BoundModel, worths: Sequence[tuple[Certificate, Worth]], costs: Sequence[Fraction]
) -> Proof:
    plain = [worth for _, worth in worths]
    nodes = tuple(
        max([pool.minimum, *(worth.nodes_of(model, index) for worth in plain)])
        for index, pool in enumerate(model.pools)
    )
    infeasible = [certificate for certificate, worth in worths if worth.is_infeasible(model)]
    limited = not infeasible
    in_all = ceil(strongest(plain, model, [Fraction(1)] * len(model.pools), limited=limited))
    cost = strongest(plain, model, costs, limited=limited)
    if not infeasible:  # then every pool needs its own bound at the same time
        in_all = max(in_all, sum(nodes))
        cost = max(cost, sum((c * n for c, n in zip(costs, nodes, strict=True)), Fraction(0)))
    return Proof(
        nodes=nodes,
        nodes_in_all=in_all,
        cost=cost,
        excessive=frozenset(
            item for certificate in infeasible for item, price in certificate.items.items() if price > 0
        ),
        worths=tuple(worths),
    )
