"""A plan put to the test: its nodes are built as objects, the workloads applied, the scheduler
simulated on them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from msgspec import Struct
from random_instances import Instance, Json

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.records import equality
from dra_planner.simulation import ArrivalOrder, Simulator, observed_nodes, standard_orders
from dra_planner.sources import Source
from dra_sandbox.rehearsal.cluster import cluster_of

ORDERS = standard_orders(4)
STEPS = 2_000_000


@equality(ignored=("plan",))
class Replay(Struct, frozen=True):
    """A plan, and how many pods each arrival order leaves pending on its nodes, or on as many as
    are allowed.
    """

    instance: Instance
    plan: Plan
    pending: Mapping[ArrivalOrder, int]

    @property
    def contradiction(self) -> str:
        """Return the contradictions between plan and replay; "" if there are none."""
        left = {order: pods for order, pods in self.pending.items() if pods}
        if self.plan.verdict == "fits" and left:
            return f"fits, and {left} pending"
        if self.plan.verdict == "does-not-fit" and not left:
            return "does not fit, and everything is placed in every order"
        return ""


def planned(case: Instance) -> Plan:
    """Plan an instance with up to `STEPS` simulation steps."""
    return make_plan(
        PlanRequest(sources=(_source(case),), fleet=read_fleet(case.fleet), steps=STEPS)
    )


def replay(case: Instance) -> Replay:
    """Plan an instance, and simulate it on the built nodes. If it doesn't fit, use the maximum of
    all pools.
    """
    plan = planned(case)
    fits = plan.verdict == "fits"
    sizes = {pool.name: pool.nodes.desired if fits else pool.maximum for pool in plan.pools}
    return Replay(case, plan, pending_on(case, plan, sizes))


def pending_on(case: Instance, plan: Plan, sizes: Mapping[str, int]) -> dict[ArrivalOrder, int]:
    """Return the pods that each pod arrival order leaves without a node, or that are never created,
    on this number of nodes.
    """
    assert plan.fleet is not None
    cluster = cluster_of(plan.fleet, plan.offers, plan.classes, sizes)
    snapshot = Source("cluster", _text(cluster.objects))
    seen = make_plan(
        PlanRequest(
            sources=(_source(case),), observed=(snapshot,), kubernetes=case.fleet["kubernetes"]
        )
    )
    judged = seen.judgement
    demand, nodes = judged.demand, observed_nodes(judged.offers)
    simulator = Simulator.of(demand, nodes, judged.classes, judged.features, quotas=demand.quotas)
    wanted = sum(size.wanted or 0 for size in judged.sizing.workloads)
    return {
        order: wanted - sum(each.placed for each in simulator.run(order).workloads.values())
        for order in ORDERS
    }


def _source(case: Instance) -> Source:
    return Source("workloads", _text(case.objects))


def _text(objects: Iterable[Json]) -> str:
    return "\n---\n".join(map(json.dumps, objects))
