"""Karpenter's own benchmark as demand and pools: its six kinds of pods and its machine types, and
its rule.

Kinds of pods, their amounts and labels, and the types' sizes and prices are those of
kubernetes-sigs/karpenter:
pkg/controllers/provisioning/scheduling/scheduling_benchmark_test.go@008f465 (makeDiversePods) and
pkg/cloudprovider/fake/instancetype.go@0ac0991 (InstanceTypes, PriceFromResources). Random values
come from Python's generator, so the pods have the same kinds but aren't identical. All nodes are in
one zone, which offers every type.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from dra_planner.model import (
    Container,
    Demand,
    Figures,
    LabelSelector,
    Member,
    Node,
    ObjectMeta,
    PodAffinityTerm,
    PodSpec,
    Requirement,
    Shape,
    TopologySpreadConstraint,
    WorkloadRef,
)
from dra_planner.offers import Offer

GIB, MIB = 2**30, 2**20
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
KINDS = ("generic", "spread-zone", "spread-host", "affinity-host", "affinity-zone", "anti-affinity")
_CPU = (100, 250, 500, 1000, 1500)
_MEMORY = (100, 256, 512, 1024, 2048, 4096)
_LABELS = "abcdefg"


class Pod(NamedTuple):
    """A random pod: kind, CPU in thousandths, memory in bytes, label, and the label that its rule
    selects.
    """

    kind: str
    cpu: int
    memory: int
    label: str = ""
    selects: str = ""


def karpenter(
    pods: int, types: int, seed: int = 42, kinds: Iterable[str] = KINDS
) -> tuple[Demand, tuple[Offer, ...]]:
    """Return this number of pods, as shapes, in equal parts of these kinds, and one pool for each
    machine type.
    """
    drawn = Counter(draw_pods(pods, seed, tuple(kinds)))
    shapes = tuple(
        _shape(number, pod, count) for number, (pod, count) in enumerate(sorted(drawn.items()))
    )
    return Demand(shapes=shapes), tuple(_offer(number) for number in range(types))


def draw_pods(pods: int, seed: int = 42, kinds: tuple[str, ...] = KINDS) -> list[Pod]:
    """Return the pods one by one, as Karpenter's benchmark creates them.

    The remaining pods after the division into kinds are generic.
    """
    chance = random.Random(seed)
    of_kind = [kind for kind in kinds for _ in range(pods // len(kinds))]
    return [_draw(kind, chance) for kind in [*of_kind, *["generic"] * (pods - len(of_kind))]]


def _draw(kind: str, chance: random.Random) -> Pod:
    label = chance.choice(_LABELS) if kind != "anti-affinity" else ""
    selects = chance.choice(_LABELS) if kind not in ("anti-affinity", "generic") else ""
    return Pod(kind, chance.choice(_CPU), chance.choice(_MEMORY) * MIB, label, selects)


def _labels(kind: str, value: str) -> dict[str, str]:
    if kind == "anti-affinity":
        return {"app": "nginx"}
    return {"my-affinity" if kind.startswith("affinity") else "my-label": value}


def _shape(number: int, pod: Pod, count: int) -> Shape:
    labels = _labels(pod.kind, pod.label)
    selected = _labels(pod.kind, pod.selects)
    selector = LabelSelector(
        tuple(Requirement(key, "In", (value,)) for key, value in selected.items())
    )
    term = PodAffinityTerm(
        topology_key=ZONE if pod.kind.endswith("zone") else HOSTNAME, label_selector=selector
    )
    spread = TopologySpreadConstraint(
        max_skew=1, topology_key=term.topology_key, label_selector=selector
    )
    name = f"pods-{number:04}"
    member = Member(
        workload=WorkloadRef("Deployment", "default", name),
        pod_set="",
        figures=Figures.fixed(count),
    )
    return Shape(
        id=name,
        namespace="default",
        labels=labels,
        pod=PodSpec(
            containers=(Container(name="main", requests={"cpu": pod.cpu, "memory": pod.memory}),),
            pod_affinity=(term,) if pod.kind.startswith("affinity") else (),
            pod_anti_affinity=(term,) if pod.kind == "anti-affinity" else (),
            topology_spread=(spread,) if pod.kind.startswith("spread") else (),
        ),
        claims=(),
        members=(member,),
    )


def allocatable(number: int) -> tuple[int, int, int]:
    """Return the CPU in thousandths, memory in bytes and pods that are left for pods on the type of
    a number.
    """
    return (number + 1) * 1000 - 100, (number + 1) * 2 * GIB - 10 * MIB, (number + 1) * 10


def hourly_usd(number: int) -> Decimal:
    """Return the price of the type of a number: a tenth of a dollar a CPU and a billion bytes."""
    return (number + 1) * (Decimal(1) + Decimal(2 * GIB) / 10**9) / 10


def _offer(number: int) -> Offer:
    cpu, memory, pods = allocatable(number)
    name = f"type-{number:03}"
    return Offer(
        name=name,
        origin="predicted",
        node=Node(
            meta=ObjectMeta(name=f"{name}-0", labels={ZONE: "test-zone-1", HOSTNAME: f"{name}-0"}),
            allocatable={"cpu": cpu, "memory": memory, "pods": pods},
        ),
        slices=(),
        count_min=0,
        count_max=10**9,
        hourly_usd=hourly_usd(number),
        zones=("test-zone-1",),
    )


def karpenter_rule(pods: Iterable[Pod], types: int) -> Decimal:
    """Return the cost of the nodes according to Karpenter's rule (re-implemented), which places one
    pod at a time, sorted by CPU and then memory, largest first.

    A pod runs on the planned node with the fewest pods that has enough capacity, or otherwise on a
    new node. Each node has the cheapest type that fits its pods. Among the rules between pods, the
    function applies only anti-affinity. The other rules could only increase the cost.
    """
    # pods, CPU, memory, and whether there is a pod with anti-affinity to the others
    nodes: list[list[int]] = []
    most = allocatable(types - 1)
    for pod in sorted(pods, key=lambda pod: (-pod.cpu, -pod.memory)):
        alone = pod.kind == "anti-affinity"
        found = None
        for node in nodes:
            if (alone and node[3]) or node[1] + pod.cpu > most[0] or node[2] + pod.memory > most[1]:
                continue
            if node[0] < most[2] and (found is None or node[0] < found[0]):
                found = node
        if found is None:
            found = [0, 0, 0, 0]
            nodes.append(found)
        found[0] += 1
        found[1] += pod.cpu
        found[2] += pod.memory
        found[3] |= alone
    sizes = [allocatable(number) for number in range(types)]
    total = Decimal(0)
    for count, cpu, memory, _ in nodes:
        smallest = next(
            n
            for n, each in enumerate(sizes)
            if cpu <= each[0] and memory <= each[1] and count <= each[2]
        )
        total += hourly_usd(smallest)
    return total
