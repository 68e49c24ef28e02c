"""Random small fleets against a solver that tries everything.

A longer run: `python tests/planner/sizing/test_against_referee.py 2000` prints how often packing
and bound are the optimum.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sizing_builders import DRIVER, pool, size, workload

from dra_planner.model import (
    CelSelector,
    ClaimSpec,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceConstraint,
    DeviceRequest,
    ExactDeviceRequest,
    Shape,
    SharedLimit,
)
from dra_planner.offers import Offer
from dra_planner.quantity import Quantity
from dra_planner.sizing import Sizing
from referee import PARTITIONS, SLICES, Kind, Pool, cheapest

FAMILIES = ("claims", "mig", "nic", "limits", "quota")
MOST_TOGETHER = 9


def draw(family: str, chance: random.Random) -> tuple[list[Pool], list[Kind]]:
    """Return a fleet of at most two pools and at most three kinds of pods."""
    pools = []
    for _ in range(chance.randint(1, 3 if family == "quota" else 2)):
        least = (
            chance.randint(0, 2)
            if family == "limits"
            else chance.randint(0, 1)
            if family == "quota"
            else 0
        )
        gpus = chance.randint(1, 2) if family == "mig" else chance.randint(1, 4)
        nics = chance.randint(1, 2) if family == "nic" else 0
        most = chance.randint(least, 3) if family == "limits" else 3
        cpu, price = chance.randint(4, 12), chance.randint(1, 9)
        draws = chance.randint(0, 4) if family == "quota" else 0
        pools.append(Pool(cpu, gpus, min(nics, (gpus + 1) // 2), least, most, price, draws))
    kinds = []
    for _ in range(chance.randint(1, 3)):
        cpu, count = chance.randint(1, 5), chance.randint(1, 4)
        if family == "mig":
            kinds.append(Kind(cpu, partition=chance.choice(["", *PARTITIONS]), count=count))
        elif family == "nic" and chance.random() < 0.5:
            kinds.append(Kind(cpu, pairs=1, count=count))
        else:
            kinds.append(Kind(cpu, gpus=chance.randint(0, 3), count=count))
    return pools, kinds


def quota_of(family: str, seed: int, pools: list[Pool]) -> int | None:
    """Return the quota of all nodes together, which is at least the usage of the required nodes."""
    if family != "quota":
        return None
    return random.Random(f"quota of {seed}").randint(
        sum(each.least * each.draws for each in pools), 12
    )


def sized(
    pools: list[Pool], kinds: list[Kind], *, partitioned: bool, quota: int | None = None
) -> Sizing:
    offers = [_offer(index, each, partitioned=partitioned) for index, each in enumerate(pools)]
    shapes = (_shape(index, kind) for index, kind in enumerate(kinds))
    return size(offers, *shapes, minor=36, limits=_limits(pools, quota))


def _limits(pools: list[Pool], quota: int | None) -> list[SharedLimit]:
    takes = {f"p{index}": each.draws for index, each in enumerate(pools) if each.draws}
    return (
        [] if quota is None else [SharedLimit(name="quota", most=quota, unit="unit", takes=takes)]
    )


def draw_fleet(family: str, seed: int) -> tuple[list[Offer], list[Shape], list[SharedLimit]]:
    """Return the pools and workloads of one instance, and the limits that the pools share."""
    pools, kinds = drawn(family, seed)
    offers = [_offer(index, each, partitioned=family == "mig") for index, each in enumerate(pools)]
    limits = _limits(pools, quota_of(family, seed, pools))
    return offers, [_shape(index, kind) for index, kind in enumerate(kinds)], limits


def drawn(family: str, seed: int) -> tuple[list[Pool], list[Kind]]:
    chance = random.Random(f"{family} {seed}")
    pools, kinds = draw(family, chance)
    while sum(kind.count for kind in kinds) > MOST_TOGETHER:
        pools, kinds = draw(family, chance)
    return pools, kinds


def _offer(index: int, each: Pool, *, partitioned: bool) -> Offer:
    devices: list[Device] = []
    for gpu in range(each.gpus):
        for profile, (slices, starts) in PARTITIONS.items():
            for start in starts if partitioned else (0,):
                taken = {f"slice-{at}": Quantity.from_int(1) for at in range(start, start + slices)}
                draws = (
                    (CounterConsumption(counter_set=f"gpu-{gpu}", counters=taken),)
                    if partitioned
                    else ()
                )
                if partitioned or profile == "whole":
                    attributes = {"type": profile, "root": gpu // 2}
                    name = f"gpu-{gpu}-{profile}-{start}"
                    devices.append(
                        Device(name=name, attributes=attributes, consumes_counters=draws)
                    )
    devices += [
        Device(name=f"nic-{root}", attributes={"type": "nic", "root": root})
        for root in range(each.nics)
    ]
    sets = [
        CounterSet(
            name=f"gpu-{gpu}",
            counters={f"slice-{at}": Quantity.from_int(1) for at in range(SLICES)},
        )
        for gpu in range(each.gpus if partitioned else 0)
    ]
    return pool(
        f"p{index}",
        cpu=each.cpu * 1000,
        devices=devices,
        counters=sets,
        at_least=each.least,
        at_most=each.most,
        usd=str(each.price),
    )


def _shape(index: int, kind: Kind) -> Shape:
    claims = []
    if kind.gpus:
        claims.append(ClaimSpec(requests=(_request("gpu", "whole", kind.gpus),)))
    if kind.partition:
        claims.append(ClaimSpec(requests=(_request("part", kind.partition),)))
    if kind.pairs:
        together = DeviceConstraint(match_attribute=f"{DRIVER}/root")
        claims.append(
            ClaimSpec(
                requests=(_request("gpu", "whole"), _request("nic", "nic")), constraints=(together,)
            )
        )
    return workload(f"w{index}", kind.count, *claims, cpu=kind.cpu * 1000)


def _request(name: str, kind: str, count: int = 1) -> DeviceRequest:
    of_kind = CelSelector(f'device.attributes["{DRIVER}"].type == "{kind}"')
    return DeviceRequest(
        name=name,
        exactly=ExactDeviceRequest(device_class_name="gpu", count=count, selectors=(of_kind,)),
    )


def contradictions(family: str, seed: int) -> tuple[list[str], Sizing, int | None]:
    """Return the results of the sizing that contradict the referee, with both results."""
    pools, kinds = drawn(family, seed)
    quota = quota_of(family, seed, pools)
    best = cheapest(pools, kinds, quota)
    sizing = sized(pools, kinds, partitioned=family == "mig", quota=quota)
    return list(_contradictions(sizing, best)), sizing, best


def _contradictions(sizing: Sizing, best: int | None) -> Iterator[str]:
    if sizing.verdict == "fits" and best is None:
        yield "fits, and no fleet does"
    if sizing.verdict == "does-not-fit" and best is not None:
        yield f"does not fit, and a fleet of {best} does"
    if best is None or sizing.hourly_bound is None or sizing.hourly_plan is None:
        return
    if sizing.hourly_bound > best:
        yield f"bound {sizing.hourly_bound} above the optimum {best}"
    if sizing.verdict == "fits" and sizing.hourly_plan < best:
        yield f"packing {sizing.hourly_plan} below the optimum {best}"


@pytest.mark.parametrize("family", FAMILIES)
def test_verdicts_are_right_and_the_optimum_is_within_the_bounds(family: str) -> None:
    for seed in range(40):
        assert contradictions(family, seed)[0] == [], (family, seed)


def main(count: int) -> None:
    """Print the shares of instances whose packing and bound are optimal, and the errors."""
    for family in FAMILIES:
        counts: Counter[str] = Counter()
        for seed in range(count):
            wrong, sizing, best = contradictions(family, seed)
            for each in wrong:
                print(family, seed, each)
            counts["wrong"] += bool(wrong)
            counts["cannot tell"] += sizing.verdict == "cannot-tell"
            counts["feasible"] += best is not None
            counts["packing"] += (
                best is not None and sizing.verdict == "fits" and sizing.hourly_plan == best
            )
            counts["bound"] += best is not None and sizing.hourly_bound == best
        feasible = max(1, counts["feasible"])
        print(
            f"{family}: {count} instances, {counts['wrong']} wrong, "
            f"{counts['cannot tell'] / count:.2%} cannot tell, "
            f"{counts['feasible']} feasible: packing = optimum {counts['packing'] / feasible:.2%}, "
            f"bound = optimum {counts['bound'] / feasible:.2%}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))
