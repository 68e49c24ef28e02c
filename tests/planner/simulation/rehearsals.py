"""Recorded results of kube-scheduler 1.36 for planned clusters, and simulated results.

A file in `rehearsals/` contains a cluster (existing objects, and nodes by kind with their names),
its workloads in order, and the results in runs of a real control plane. In `settled` runs, each
document was applied after all pods of earlier documents had a result. In `at-once` runs, all
documents were applied in order. In `settled-reversed` runs, the last document came first, including
templates, so pods arrived before the templates of their claims. These pods stayed pending until the
controller retried their claims, and then arrived as if all documents had been applied at once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from dra_planner.claims import expand_claims
from dra_planner.offers import observe_offers
from dra_planner.plan import read_checked
from dra_planner.releases import features_of, parse_version
from dra_planner.simulation import (
    AT_ONCE,
    REVERSED,
    SETTLED,
    ArrivalOrder,
    SimulationOutcome,
    Simulator,
    observed_nodes,
)
from dra_planner.sources import Source

CASES = Path(__file__).parent / "rehearsals"
ORDERS = {
    "settled": (SETTLED, "settled"),
    "at-once": (AT_ONCE, "at-once"),
    "settled-reversed": (REVERSED, "at-once"),
}
"""By recorded arrival: the order without chance, and the one that chance decides."""
SEEDS = range(1, 17)
Json = dict[str, Any]


class Counts(Struct, frozen=True):
    """Pods of one workload: placed, by pool, and pending."""

    placed: int
    pending: int
    pools: Mapping[str, int]

    def __str__(self) -> str:
        pools = ", ".join(f"{pods} {pool}" for pool, pods in sorted(self.pools.items()))
        return f"{self.placed} placed{f' ({pools})' if pools else ''}, {self.pending} pending"


class Comparison(Struct, frozen=True):
    """One recorded run, and the simulated one of the same arrival that comes nearest: ties are
    broken by chance.
    """

    case: str
    arrival: str
    recorded: Mapping[str, Counts]
    simulated: Mapping[str, Counts]

    @property
    def counts_agree(self) -> bool:
        """Whether of each workload as many pods are placed and pending."""
        return all(
            (each.placed, each.pending)
            == (self.simulated[name].placed, self.simulated[name].pending)
            for name, each in self.recorded.items()
        )

    @property
    def pods(self) -> int:
        return sum(each.placed for each in self.recorded.values())

    @property
    def in_right_pool(self) -> int:
        """How many of the placed pods are in the pool in which they were."""
        return sum(
            (Counter(each.pools) & Counter(self.simulated[name].pools)).total()
            for name, each in self.recorded.items()
        )


def case_names() -> list[str]:
    return [path.stem for path in sorted(CASES.glob("*.yaml"))]


def compare(name: str) -> Iterator[Comparison]:
    """Yield each recorded run of a case with the corresponding simulated run."""
    case = yaml.load((CASES / f"{name}.yaml").read_text(), yaml.CSafeLoader)
    for recorded in case["outcomes"]:
        features = features_of(parse_version(recorded["kubernetes"]))
        sources = [
            Source("cluster", _dump(_cluster(case))),
            Source("workloads", _dump(case["workloads"])),
        ]
        manifests = read_checked(sources, features)
        demand = expand_claims(manifests, manifests.classes, features)
        nodes = observed_nodes(observe_offers(manifests, features))
        simulator = Simulator.of(demand, nodes, manifests.classes, features)
        certain, chance = ORDERS[recorded["arrival"]]
        wanted = {
            name: Counts(each["placed"], each["pending"], _by_pool(each["nodes"]))
            for name, each in recorded["workloads"].items()
        }
        runs = map(simulator.run, (certain, *(ArrivalOrder(chance, seed) for seed in SEEDS)))
        found = [
            Comparison(name, recorded["arrival"], wanted, _counts(outcome)) for outcome in runs
        ]
        yield max(found, key=lambda each: (each.counts_agree, each.in_right_pool))


def _counts(outcome: SimulationOutcome) -> dict[str, Counts]:
    return {
        ref.name: Counts(each.placed, each.pending, _by_pool(each.nodes))
        for ref, each in outcome.workloads.items()
    }


def _by_pool(nodes: Mapping[str, int]) -> dict[str, int]:
    pools: Counter[str] = Counter()
    for node, pods in nodes.items():
        pools[node.rsplit("-", 1)[0]] += pods
    return dict(pools)


def _cluster(case: Json) -> list[Json]:
    objects = list(case["given"])
    for kind in case["nodes"]:
        text = json.dumps(kind["objects"])
        for name in kind["names"]:
            objects += json.loads(text.replace("{node}", name))
    return objects


def _dump(documents: list[Json]) -> str:
    return "\n---\n".join(json.dumps(document) for document in documents)
