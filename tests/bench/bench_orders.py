"""Pod arrival orders on PACK-10: pods pending on the packing's nodes, the nodes that plans build
instead, and the price of counts that fit every order.

ORDER: separate orders for each arrival model and each scoring. ANY: a pool for each kind of pods,
on which no order leaves pods pending. If an aim is missed, the row also contains what
`order_bounds` proves about pods that arrive workload by workload, for any scheduler, and about
pools on which no order leaves pods pending. REACH: nodes whose pods, placed one by one in the order
of the plan, get the planned devices. `python tests/bench/bench_orders.py [ORDERS] [PODS]`; the
reference benchmark uses 200 orders of 1,000 pods.
"""

from __future__ import annotations

import sys
import time
from decimal import Decimal
from pathlib import Path

from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parent))

from order_bounds import price_in_any_order, price_in_turn
from pack_instances import CLASSES, MINOR, pack

from dra_planner.allocation import Placement, open_offer, place, sight_of
from dra_planner.model import Demand
from dra_planner.offers import Offer
from dra_planner.releases import features_of
from dra_planner.simulation import (
    DEFAULT,
    MOST_ALLOCATED,
    ArrivalOrder,
    CountQuestion,
    Profile,
    SimulatedPool,
    Simulator,
    predicted_nodes,
    simulate_counts,
)
from dra_planner.sizing import Sizing, node_costs, size_pools

ORDERS, PODS = 4, 300
SEEDS = (1, 2, 3)
MODELS = {
    "shuffled pods": "random",
    "controllers race": "at-once",
    "one after the other": "settled",
}
SCORINGS = {"LeastAllocated": DEFAULT, "MostAllocated": MOST_ALLOCATED}
STEPS = 10**8
# prices relative to the bound: with MostAllocated, and with a pool for each kind of pods
AIM_OF_ORDER, AIM_OF_ANY = 1.03, 1.05


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def in_order(demand: Demand, offers: tuple[Offer, ...], sizing: Sizing, orders: int) -> None:
    """Print, for each scoring and model, the share of pending pods, and the price at which all pods
    are placed.
    """
    counts = {pool.name: pool.plan for pool in sizing.pools}
    pods = sum(shape.figures.steady for shape in demand.shapes)
    for scoring, profile in SCORINGS.items():
        for model, name in MODELS.items():
            tried = tuple(ArrivalOrder(name, seed) for seed in range(1, orders + 1))  # type: ignore[arg-type]
            simulator = Simulator.of(
                demand,
                predicted_nodes(offers, counts),
                CLASSES,
                features_of(MINOR),
                profile=profile,
            )
            start = time.process_time()
            left = [float(len(simulator.run(order).pending)) / pods for order in tried]
            speed = pods * orders / (time.process_time() - start)
            price = built(demand, offers, sizing, tried, profile)
            shares = f"{percentile(left, 0.5):9.2%}{percentile(left, 0.95):9.2%}"
            result = met(price, AIM_OF_ORDER) if profile is MOST_ALLOCATED else ""
            if result == "missed" and name == "settled":
                result += least(price_in_turn(demand, offers), sizing, AIM_OF_ORDER)
            print(
                f"  {scoring:>15} {model:>20}{shares}{price:>8}{speed:10,.0f}  {result}".rstrip(),
                flush=True,
            )


def met(price: str, aim: float) -> str:
    """Return whether a price is within an aim."""
    return "met" if price != "–" and float(price) <= aim else "missed"


def least(usd: float, sizing: Sizing, aim: float) -> str:
    """Return the proven minimum price relative to the bound, if an aim was missed."""
    price = usd / float(sizing.hourly_bound or 1)
    return (
        f", and out of reach: nothing costs less than {price:.3f}"
        if price > aim
        else f"; proved is {price:.3f}"
    )


def built(
    demand: Demand,
    offers: tuple[Offer, ...],
    sizing: Sizing,
    orders: tuple[ArrivalOrder, ...],
    profile: Profile,
) -> str:
    """Return the price of counts that place all pods in each order, relative to the bound."""
    pools = tuple(
        SimulatedPool(
            offer=offer, packing=sizing.pool(offer.name).plan, maximum=offer.count_max, cost=cost
        )
        for offer, cost in zip(offers, node_costs(offers), strict=True)
    )
    question = CountQuestion(
        demand=demand,
        pools=pools,
        classes=CLASSES,
        features=features_of(MINOR),
        orders=orders,
        profile=profile,
    )
    found = simulate_counts(question, STEPS, scale=1)
    if found.counts is None or not sizing.hourly_bound:
        return "–"
    usd = sum(
        (found.counts[offer.name] * (offer.hourly_usd or Decimal(0)) for offer in offers),
        Decimal(0),
    )
    return f"{usd / sizing.hourly_bound:.3f}"


def apart(demand: Demand, offers: tuple[Offer, ...], bound: Decimal) -> tuple[float, int]:
    """Return the price of one pool for each kind of pods, relative to the bound, and the number of
    pods that any order leaves pending there.
    """
    usd, stranded = Decimal(0), 0
    for shape in demand.shapes:
        alone = Demand(shapes=(shape,))
        sizing = size_pools(alone, offers, CLASSES, features_of(MINOR))
        usd += sizing.hourly_plan or 0
        nodes = predicted_nodes(offers, {pool.name: pool.plan for pool in sizing.pools})
        simulator = Simulator.of(alone, nodes, CLASSES, features_of(MINOR))
        stranded += sum(len(simulator.run(ArrivalOrder("random", seed)).pending) for seed in (1, 2))
    return float(usd / bound), stranded


def reached(demand: Demand, offers: tuple[Offer, ...], sizing: Sizing) -> tuple[int, int]:
    """Return the nodes that the allocator fills according to the plan, pod by pod, and all nodes
    with pods.
    """
    shapes = {shape.id: shape for shape in demand.shapes}
    by_name = {offer.name: offer for offer in offers}
    good = total = 0
    for pattern in sizing.patterns:
        state = open_offer(
            by_name[pattern.pool], CLASSES, features_of(MINOR), sight_of(demand.shapes)
        )
        fits = True
        for name, pods in pattern.pods:
            for _ in range(pods):
                answer = place(shapes[name], state)
                fits = fits and isinstance(answer, Placement)
                if isinstance(answer, Placement):
                    state = answer.node
        total += pattern.nodes
        good += pattern.nodes * fits
    return good, total


def main(orders: int, pods: int) -> None:
    for seed in SEEDS:
        demand, offers = pack(10, 5, pods, seed)
        offers = tuple(replace(offer, count_max=10_000) for offer in offers)
        sizing = size_pools(demand, offers, CLASSES, features_of(MINOR))
        assert sizing.hourly_bound
        gap = float((sizing.hourly_plan or 0) / sizing.hourly_bound)
        print(
            f"PACK-10/{pods}, seed {seed}: {sizing.nodes_plan} nodes, {gap:.4f} of the bound; "
            f"{orders} orders each"
        )
        print(
            f"  {'ORDER':>15} "
            f"{'pending on packing':>20}{'p50':>9}{'p95':>9}{'price':>8}{'pods/s':>10}"
        )
        in_order(demand, offers, sizing, orders)
        price, stranded = apart(demand, offers, sizing.hourly_bound)
        result = met(f"{price:.3f}", AIM_OF_ANY)
        if result == "missed":
            result += least(price_in_any_order(demand, offers), sizing, AIM_OF_ANY)
        print(
            f"  ANY: a pool for each kind of pods costs {price:.3f}, leaves {stranded} pods "
            f"pending, aim {AIM_OF_ANY}: {result}"
        )
        good, total = reached(demand, offers, sizing)
        print(f"  REACH: {good} of {total} nodes are filled as planned, aim all")
    print(
        "price: of counts that place all pods in every order, relative to the bound; aim "
        f"{AIM_OF_ORDER} with MostAllocated"
    )


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:3]]
    main(*(*given, *(ORDERS, PODS)[len(given) :]))
