"""Reasons: 50 edits of PACK-10 after which some pods don't fit, and whether the plan reports the
smallest reason.

For a limit that is too small, everything fits with the reported value, but not with a value that is
lower by one. For pods that no node fits, every reported pool names the edited setting. `python
tests/bench/bench_reasons.py`.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parent))

from pack_instances import CLASSES, GPU_DRIVER, MINOR, ZONE, pack

from dra_planner.model import (
    CelSelector,
    Demand,
    NodeSelector,
    NodeSelectorTerm,
    Requirement,
    Shape,
    SharedLimit,
)
from dra_planner.offers import Offer
from dra_planner.releases import features_of
from dra_planner.sizing import Sizing, size_pools

SEEDS = range(1, 6)
SHAPES, PODS = 10, 1_000
_POOL = re.compile(r'(?:the maximum|the count) of pool "([^"]+)" to (\d+)')
_LIMIT = re.compile(r"raise (quota \w+) to ([\d,]+) ")

Limits = tuple[SharedLimit, ...]
Edit = tuple[str, Demand, tuple[Offer, ...], Limits, tuple[str, str]]
"""The name of an edit, what is sized, and, if no node fits the pods, the workload and the words
that its reasons must contain.
"""


def sized(demand: Demand, offers: Sequence[Offer], limits: Limits) -> Sizing:
    return size_pools(demand, offers, CLASSES, features_of(MINOR), limits=limits)


def edits(seed: int, shapes: int = SHAPES, pods: int = PODS) -> Iterator[Edit]:
    """Yield ten edits of one instance: maximums, quotas, and pods that don't fit on any node."""
    demand, offers = pack(shapes, 5, pods, seed)
    plan = {pool.name: pool.plan for pool in sized(demand, offers, ()).pools}
    used = [name for name, nodes in plan.items() if nodes]
    for at in range(3):
        name = used[at % len(used)]
        less = {**plan, name: plan[name] - 1 - at // len(used)}
        tight = tuple(replace(offer, count_max=less[offer.name]) for offer in offers)
        yield f"maximum of {name}", demand, tight, (), ("", "")
    for unit, takes in (
        ("node", dict.fromkeys(plan, 1)),
        ("GPU", {each.name: gpus(each) for each in offers}),
    ):
        takes = {name: amount for name, amount in takes.items() if amount}
        most = sum(amount * plan[name] for name, amount in takes.items()) // 2
        quota = SharedLimit(name="quota q", most=most, unit=unit, takes=takes)
        yield f"quota of {unit}s", demand, offers, (quota,), ("", "")
    for name, change, words in POD_EDITS:
        shape = next(
            each for each in demand.shapes if bool(each.claims) == (name not in ("cpu", "memory"))
        )
        changed = tuple(change(each) if each is shape else each for each in demand.shapes)
        yield name, replace(demand, shapes=changed), offers, (), (shape.id, words)


def gpus(offer: Offer) -> int:
    return sum(
        each.attributes.get("type") == "gpu" for part in offer.slices for each in part.devices
    )


def requesting(name: str, amount: int) -> Callable[[Shape], Shape]:
    def change(shape: Shape) -> Shape:
        (container,) = shape.pod.containers
        wanted = replace(container, requests={**container.requests, name: amount})
        return replace(shape, pod=replace(shape.pod, containers=(wanted,)))

    return change


def of_no_model(shape: Shape) -> Shape:
    (claim,) = shape.claims
    first, *others = claim.spec.requests
    assert first.exactly is not None
    selector = CelSelector(f'device.attributes["{GPU_DRIVER}"].model == "B200"')
    exactly = replace(first.exactly, selectors=(selector,))
    spec = replace(claim.spec, requests=(replace(first, exactly=exactly), *others))
    return replace(shape, claims=(replace(claim, spec=spec),))


def in_no_zone(shape: Shape) -> Shape:
    terms = (NodeSelectorTerm((Requirement(ZONE, "In", ("z",)),)),)
    return replace(shape, pod=replace(shape.pod, node_affinity=NodeSelector(terms)))


def tolerating_nothing(shape: Shape) -> Shape:
    return replace(shape, pod=replace(shape.pod, tolerations=()))


POD_EDITS: Sequence[tuple[str, Callable[[Shape], Shape], str]] = (
    ("cpu", requesting("cpu", 1_000_000), "cpu"),
    ("memory", requesting("memory", 2**50), "memory"),
    ("model", of_no_model, "device"),
    ("zone", in_no_zone, "node affinity"),
    ("taint", tolerating_nothing, "taint"),
)


def fault(edit: Edit, before: Sizing) -> str:
    """Return the error in the reasons for an edit, or "" if the smallest reason is reported."""
    _, demand, offers, limits, (workload, words) = edit
    found = sized(demand, offers, limits)
    if found.verdict != "does-not-fit":
        return f"the verdict is {found.verdict}"
    reasons = [(each.workload.name, reason) for each in found.workloads for reason in each.reasons]
    if workload:
        return silence(found, workload, words, before)
    named = "\n".join(reason.fix for _, reason in reasons)
    pools = {name: int(nodes) for name, nodes in _POOL.findall(named)}
    most = {name: int(amount.replace(",", "")) for name, amount in _LIMIT.findall(named)}
    if not pools and not most:
        return "names no limit"
    if sized(demand, raised(offers, pools), limited(limits, most)).verdict != "fits":
        return f"{named}: is not enough"
    for name in pools:
        less = {**pools, name: pools[name] - 1}
        if sized(demand, raised(offers, less), limited(limits, most)).verdict == "fits":
            return f"{named}: one node less of {name} is enough"
    for name in most:
        less = {**most, name: most[name] - 1}
        if sized(demand, raised(offers, pools), limited(limits, less)).verdict == "fits":
            return f"{named}: one less of {name} is enough"
    return ""


def silence(found: Sizing, workload: str, words: str, before: Sizing) -> str:
    """Return the error in the reasons of the pools that fit the pods before the edit. Other pools
    have additional reasons.
    """
    others = sorted(
        {
            each.workload.name
            for each in found.workloads
            if each.pending and each.workload.name != workload
        }
    )
    if others:
        return f"{others} are pending"
    (mine,) = (each for each in found.workloads if each.workload.name == workload)
    takers = {
        pool
        for each in before.workloads
        if each.workload.name == workload
        for pool, fits in each.fits
        if fits == "fits"
    }
    for pool in sorted(takers):
        messages = [reason.message for reason in mine.reasons if reason.pool == pool]
        if not messages or not all(words in message for message in messages):
            return f"pool {pool} says {messages}"
    return "" if takers else "no pool took it"


def raised(offers: Sequence[Offer], nodes: dict[str, int]) -> tuple[Offer, ...]:
    return tuple(
        replace(offer, count_max=nodes.get(offer.name, offer.count_max)) for offer in offers
    )


def limited(limits: Limits, most: dict[str, int]) -> Limits:
    return tuple(replace(limit, most=most.get(limit.name, limit.most)) for limit in limits)


def main() -> None:
    start, right, number = time.process_time(), 0, 0
    for seed in SEEDS:
        before = sized(*pack(SHAPES, 5, PODS, seed), ())
        for edit in edits(seed):
            number += 1
            wrong = fault(edit, before)
            right += not wrong
            if wrong:
                print(f"seed {seed}, {edit[0]}: {wrong}")
    print(f"EXPLAIN: the least reason is named for {right} of {number} edits, aim {number}; "
          f"{time.process_time() - start:.1f} s of CPU")  # fmt: skip


if __name__ == "__main__":
    main()
