"""Pods that quotas admit: the first pods in every pod arrival order, regardless of the pods that
the plan omits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from allocation_builders import CLASSES, shape
from clusters import F36, bare, offer, workload

from dra_planner.model import Demand, Figures, ObjectKey, PodQuotas, Shape
from dra_planner.simulation import REVERSED, SETTLED, ArrivalOrder, Simulator, observed_nodes

PODS = ObjectKey("default", "q"), "pods"
WIDE = {"cpu": 6_000}


def placed(
    made: Sequence[Shape],
    room: int,
    order: ArrivalOrder = SETTLED,
    *,
    refused: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Return the number of running pods of each workload on a node with eight CPUs and a quota for
    `room` pods.

    The quota counts the pods of its namespace. `refused` contains the pods that the demand omits,
    by workload.
    """
    pod_sets = [(each.members[0].workload, "") for each in made]
    quotas = PodQuotas(
        room={PODS: 1000 * room},
        charges={key: {PODS: 1000} for key in pod_sets if key[0].namespace == "default"},
        refused={key: Figures.fixed((refused or {}).get(key[0].name, 0)) for key in pod_sets},
    )
    nodes = observed_nodes([offer(cpu=8_000)])
    outcome = Simulator.of(Demand(shapes=tuple(made)), nodes, CLASSES, F36, quotas=quotas).run(
        order
    )
    return {ref.name: each.placed for ref, each in outcome.workloads.items()}


def test_pods_use_a_quota_in_arrival_order() -> None:
    made = [
        workload(shape(), 2, name="web", at=0),
        workload(shape(), 0, kind="Job", name="job", at=1),
    ]
    assert placed(made, 3, refused={"web": 2, "job": 2}) == {"web": 3, "job": 0}
    assert placed(made, 3, REVERSED, refused={"web": 2, "job": 2}) == {"web": 1, "job": 2}


def test_stateful_set_uses_the_remaining_quota() -> None:
    made = [
        workload(shape(), 3, name="web", at=0),
        workload(shape(), 4, kind="StatefulSet", name="set", at=1),
    ]
    assert placed(made, 5) == {"web": 3, "set": 2}


def test_pending_pod_also_uses_quota() -> None:
    made = [
        workload(shape(requests=WIDE), 2, name="wide", at=0),
        workload(shape(), 2, name="web", at=1),
    ]
    assert placed(made, 3) == {"wide": 1, "web": 1}


def test_preempted_pods_release_quota_but_bare_pods_are_not_retried() -> None:
    """A pod in another namespace preempts the first pod. The controller then creates the waiting
    pod, but nothing re-creates the rejected pod.
    """
    made = [
        bare(shape(requests=WIDE, priority=-10), name="low", at=0),
        bare(shape(), name="refused", at=1),
        workload(shape(), 1, name="waiting", at=2),
        workload(shape(requests=WIDE, namespace="other"), 1, name="high", at=3),
    ]
    assert placed(made, 1) == {"low": 0, "refused": 0, "waiting": 1, "high": 1}
