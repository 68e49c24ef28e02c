"""What to buy: 20 sets of workloads, against every number of every machine of the region.

The optimum is found by a search of its own over what nodes hold: GPUs, cpu, memory and pods of each machine. What is
suggested places everything in every order of arrival that is simulated, so it may cost more. `python
tests/bench/bench_suggest.py [SETS]`.
"""

from __future__ import annotations

import random
import sys
import time
from decimal import Decimal
from functools import cache
from itertools import product
from typing import NamedTuple

from dra_planner.offers import Offer
from dra_planner.plan.suggesting import SuggestRequest, suggest_fleets
from dra_planner.sources import Source

SETS = 20
WHERE = (("eks", "us-east-1"), ("gke", "us-central1"), ("aks", "eastus"))
AIM = 5.0  # CPU seconds of one set
GIB, MIB = 2**30, 2**20
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
    """Pods alike: GPUs, cpu and GiB of each."""

    name: str
    pods: int
    gpus: int
    cpu: int
    gib: int

    @property
    def source(self) -> Source:
        return Source(f"{self.name}.yaml", JOB % self._asdict())


def draw(seed: int) -> list[Work]:
    """Return one to three kinds of pods, few of each."""
    chance = random.Random(seed)
    made = []
    for at in range(chance.randint(1, 3)):
        gpus = chance.choice((1, 1, 1, 2, 4, 8))
        pods = chance.randint(1, 6 if gpus < 4 else 3)
        made.append(
            Work(f"w{at}", pods, gpus, chance.choice((1, 2, 3, 6)) * gpus, chance.choice((4, 8, 20, 60)) * gpus)
        )
    return made


def optimum(offers: tuple[Offer, ...], work: list[Work]) -> Decimal | None:
    """Return the price of the cheapest nodes, of whatever machines, that hold all pods; None where none do."""
    fills: dict[tuple[int, ...], Decimal] = {}
    for offer in offers:
        for fill in _fills(offer, work):
            price = offer.hourly_usd or Decimal(0)
            fills[fill] = min(price, fills.get(fill, price))
    kept = [(fill, price) for fill, price in fills.items() if not _is_dominated(fill, price, fills)]

    @cache
    def least(wanted: tuple[int, ...]) -> Decimal | None:
        if not any(wanted):
            return Decimal(0)
        first = next(at for at, pods in enumerate(wanted) if pods)
        found = []
        for fill, price in kept:
            if fill[first]:
                rest = least(tuple(max(0, pods - held) for pods, held in zip(wanted, fill, strict=True)))
                if rest is not None:
                    found.append(price + rest)
        return min(found, default=None)

    return least(tuple(each.pods for each in work))


def _fills(offer: Offer, work: list[Work]) -> list[tuple[int, ...]]:
    """Return how many pods of each kind one node holds together, every way."""
    free = offer.node.allocatable
    gpus = sum(device.attributes.get("type") == "gpu" for part in offer.slices for device in part.devices)
    held = []
    for counts in product(*(range(each.pods + 1) for each in work)):
        takes = [(count, each) for count, each in zip(counts, work, strict=True)]
        if (
            any(counts)
            and sum(count * each.gpus for count, each in takes) <= gpus
            and sum(count * each.cpu * 1000 for count, each in takes) <= free["cpu"]
            and sum(count * each.gib * GIB for count, each in takes) <= free["memory"]
            and sum(counts) <= free["pods"]
        ):
            held.append(counts)
    return held


def _is_dominated(fill: tuple[int, ...], price: Decimal, fills: dict[tuple[int, ...], Decimal]) -> bool:
    return any(
        other != fill and usd <= price and all(more >= less for more, less in zip(other, fill, strict=True))
        for other, usd in fills.items()
    )


def main(sets: int) -> None:
    equal = least = 0
    most = 0.0
    for seed in range(sets):
        work, (cloud, region) = draw(seed), WHERE[seed % len(WHERE)]
        start = time.process_time()
        request = SuggestRequest(
            sources=tuple(each.source for each in work), cloud=cloud, region=region, kubernetes="1.34"
        )
        found = suggest_fleets(request)
        spent = time.process_time() - start
        most = max(most, spent)
        best = optimum(found.plan.offers, work)
        usd = None if found.best is None else found.best.hourly_usd
        packed = found.plan.judgement.sizing.hourly_plan
        equal += usd == best
        least += best is None or packed == best
        told = " + ".join(f"{each.pods}×({each.gpus} GPU, {each.cpu} cpu, {each.gib} GiB)" for each in work)
        print(f"{cloud:>4} {spent:6.2f} s  suggested {usd}, packing {packed}, optimum {best}: {told}", flush=True)
    print(
        f"suggested = optimum in {equal} of {sets} sets, packing = optimum in {least}; "
        f"at most {most:.2f} s of CPU, aim {AIM}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2] or [SETS]))
