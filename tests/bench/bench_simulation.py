"""Speed of the simulation: pods per second of CPU time on 1,000 nodes with eight GPUs.

For comparison: on two such cores, kube-scheduler 1.36.3 binds 13 pods/s with claims as shipped, and
130 pods/s without client limits. As in the command, the garbage collector rarely runs.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from pathlib import Path

TESTS = Path(__file__).parents[1] / "planner"
sys.path[:0] = [str(TESTS / "simulation"), str(TESTS / "allocation")]

from allocation_builders import GI, claim, request, shape  # noqa: E402
from clusters import CLASSES, F36, offer, workload  # noqa: E402

from dra_planner.model import ClaimSpec, Demand, Shape  # noqa: E402
from dra_planner.simulation import (  # noqa: E402
    SETTLED,
    ArrivalOrder,
    SimulatedNode,
    Simulator,
    observed_nodes,
    predicted_nodes,
)

NODES = 1_000


def one_gpu(cpu: int = 1_000) -> Shape:
    return shape(claim(request()), requests={"cpu": cpu})


def many(count: int, kind: str) -> list[Shape]:
    """Return workloads with 8,000 pods in total. Each workload's pods request slightly more CPU
    than those of the workload before.
    """
    return [workload(one_gpu(1_000 + at), 8_000 // count, kind=kind, at=at) for at in range(count)]


def sizes(count: int) -> list[Shape]:
    """Return Deployments with 6,000 pods in total that differ in GPUs, CPU, and memory."""
    shapes = [
        shape(
            *claims(at % 3),
            requests={"cpu": 250 + 1_250 * (at % 7), "memory": (1 + 5 * (at % 5)) * GI},
        )
        for at in range(count)
    ]
    return [workload(each, 6_000 // count, at=at) for at, each in enumerate(shapes)]


def claims(gpus: int) -> list[ClaimSpec]:
    return [claim(request(count=gpus))] if gpus else []


def measure(
    name: str,
    shapes: Sequence[Shape],
    nodes: Sequence[SimulatedNode],
    order: ArrivalOrder = SETTLED,
) -> None:
    start = time.process_time()
    outcome = Simulator.of(Demand(shapes=tuple(shapes)), nodes, CLASSES, F36).run(order)
    seconds = time.process_time() - start
    pods = sum(each.placed + each.pending for each in outcome.workloads.values())
    print(f"{name:46}{pods / seconds:10.0f} pods/s{seconds:8.2f} s")


if __name__ == "__main__":
    gc.set_threshold(50_000, *gc.get_threshold()[1:])
    equal = predicted_nodes([offer("pool", 8, zone="a", cpu=192_000)], {"pool": NODES})
    own = observed_nodes([offer(f"n{number}", 8, zone="a", cpu=192_000) for number in range(NODES)])
    measure("8 000 equal pods of a Job", many(1, "Job"), equal)
    measure("8 000 equal pods of a Deployment", many(1, "Deployment"), equal)
    measure("20 Deployments, one after the other", many(20, "Deployment"), equal)
    measure(
        "20 Deployments, pods shuffled", many(20, "Deployment"), equal, ArrivalOrder("random", 1)
    )
    roomy = predicted_nodes(
        [offer("pool", 8, zone="a", cpu=192_000, memory=768 * GI)], {"pool": NODES}
    )
    measure(
        "20 Deployments of many sizes, pods shuffled", sizes(20), roomy, ArrivalOrder("random", 1)
    )
    measure(
        "100 Deployments of many sizes, pods shuffled", sizes(100), roomy, ArrivalOrder("random", 1)
    )
    measure("3 000 pods of a Deployment, nodes observed", [workload(one_gpu(), 3_000)], own)
