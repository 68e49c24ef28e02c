"""Sets of GPU jobs for which to buy machines, and every fleet that could be cheaper. Doesn't share
code with the search.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import cache
from itertools import islice, permutations, product
from typing import Any, NamedTuple

from dra_planner.fleet import read_fleet
from dra_planner.offers import Offer
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.sources import Source

WHERE = (("eks", "us-east-1"), ("gke", "us-central1"), ("aks", "eastus"))
GIB = 2**30
MOST_ORDERS = 24
TAINT = "pulumi-dra/prefer-other-pools"
JOB = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu-%(name)s}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: %(gpus)d}}]}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: %(name)s}
spec:
  parallelism: %(pods)d
  completions: %(pods)d
  template:
    spec:
      restartPolicy: Never
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu-%(name)s}]
      containers:
      - name: main
        image: registry.example/train:1
        resources: {requests: {cpu: "%(cpu)d", memory: %(gib)dGi}, claims: [{name: gpu}]}
"""


class Work(NamedTuple):
    """Identical pods: the GPUs, CPU, and GiB of each."""

    name: str
    pods: int
    gpus: int = 1
    cpu: int = 1
    gib: int = 4

    @property
    def source(self) -> Source:
        return Source(f"{self.name}.yaml", JOB % self._asdict())


def draw(seed: int) -> list[Work]:
    """Return one to three kinds of pods, with a few pods of each."""
    chance = random.Random(seed)
    made = []
    for at in range(chance.randint(1, 3)):
        gpus = chance.choice((1, 1, 1, 2, 4, 8))
        pods = chance.randint(1, 6 if gpus < 4 else 3)
        made.append(
            Work(
                f"w{at}",
                pods,
                gpus,
                chance.choice((1, 2, 3, 6)) * gpus,
                chance.choice((4, 8, 20, 60)) * gpus,
            )
        )
    return made


Pods = tuple[int, ...]


class Machine(NamedTuple):
    """The price of one node, and every way to fill it."""

    offer: Offer
    price: Decimal
    fills: tuple[Pods, ...]


def machines_for(offers: Sequence[Offer], work: Sequence[Work]) -> list[Machine]:
    """Return the machines that hold at least one pod, cheapest first."""
    held = ((offer, tuple(_fills(offer, work))) for offer in offers)
    made = [Machine(offer, offer.hourly_usd or Decimal(0), fills) for offer, fills in held if fills]
    return sorted(made, key=lambda each: each.price)


def _fills(offer: Offer, work: Sequence[Work]) -> Iterator[Pods]:
    """Yield every combination of pods of each kind that fits on one node."""
    free = offer.node.allocatable
    gpus = sum(
        device.attributes.get("type") == "gpu" for part in offer.slices for device in part.devices
    )
    for counts in product(*(range(each.pods + 1) for each in work)):
        takes = [(count, each) for count, each in zip(counts, work, strict=True)]
        if (
            any(counts)
            and sum(count * each.gpus for count, each in takes) <= gpus
            and sum(count * each.cpu * 1000 for count, each in takes) <= free["cpu"]
            and sum(count * each.gib * GIB for count, each in takes) <= free["memory"]
            and sum(counts) <= free["pods"]
        ):
            yield counts


def least_price(machines: Sequence[Machine]) -> Callable[[Pods], Decimal | None]:
    """Return a function that computes the price of the cheapest nodes for these numbers of pods, or
    None if no nodes hold them.
    """

    @cache
    def least(wanted: Pods) -> Decimal | None:
        if not any(wanted):
            return Decimal(0)
        first = next(at for at, pods in enumerate(wanted) if pods)
        held = (
            (machine.price, fill) for machine in machines for fill in machine.fills if fill[first]
        )
        found = ((price, least(_left(wanted, fill))) for price, fill in held)
        return min((price + rest for price, rest in found if rest is not None), default=None)

    return least


def _left(wanted: Pods, fill: Pods) -> Pods:
    return tuple(max(0, pods - held) for pods, held in zip(wanted, fill, strict=True))


def fleets_below(
    machines: Sequence[Machine], wanted: Pods, price: Decimal
) -> Iterator[Counter[str]]:
    """Yield every cheaper fleet, as node counts by machine type, whose nodes fit this number of
    pods.
    """
    least = least_price(machines)

    def add(
        first: int, left: Decimal, rests: set[Pods], nodes: tuple[str, ...]
    ) -> Iterator[Counter[str]]:
        if any(not any(rest) for rest in rests):
            yield Counter(nodes)
        for at in range(first, len(machines)):
            spare = left - machines[at].price
            if spare <= 0:
                return
            after = {_left(rest, fill) for rest in rests for fill in machines[at].fills}
            within = {
                rest for rest in after for usd in [least(rest)] if usd is not None and usd < spare
            }
            if within:
                yield from add(at, spare, within, (*nodes, machines[at].offer.machine))

    return add(0, price, {wanted}, ())


def runs(document: dict[str, Any], nodes: Counter[str], work: Sequence[Work]) -> bool:
    """Return whether the plan for this number of nodes has the verdict *fits*, in the given form or
    with the pools in another order.

    `document` is a fleet for the same cloud. Taints that all pods tolerate set the order of the
    pools.
    """
    sources = tuple(each.source for each in work)
    orders = islice(permutations(range(len(nodes))), MOST_ORDERS) if len(nodes) > 1 else ()
    for levels in ((0,) * len(nodes), *orders):
        pools = [
            {
                "name": f"p{at}",
                "machine": machine,
                "count": count,
                "taints": [_taint(each) for each in range(level)],
            }
            for at, ((machine, count), level) in enumerate(zip(nodes.items(), levels, strict=True))
        ]
        fleet = read_fleet({**document, "pools": pools})
        if make_plan(PlanRequest(sources=sources, fleet=fleet, with_fixes=False)).verdict == "fits":
            return True
    return False


def _taint(level: int) -> dict[str, str]:
    return {"key": f"{TAINT}{level or ''}", "value": "true", "effect": "PreferNoSchedule"}
