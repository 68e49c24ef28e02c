"""Check the certificate of a plan: that no fleet costs less than the claimed bound, and that the
nodes of its packing have enough capacity.

    pulumi-dra plan examples/workloads --stack eks-dev --certificate plan.certificate.json
    python conformance/certificate/check.py plan.certificate.json

This script shares no code with the planner, and needs only the standard library. It doesn't check
the rows of the model, which contain the capacity of a node and the requests of pods. Their origin
is in the output of `pulumi-dra slices` and `pulumi-dra explain`.

    weak duality    Each item has a price π. No node of pool p is worth more than V_p. Let N_p be
                    the nodes of each pool in a fleet that holds the demand d. Then
                    Σ V_p·N_p ≥ D = Σ π·d. Therefore, for every θ ≥ 0, the fleet costs at least
                    θ·D + Σ_p min over minimum ≤ N ≤ maximum of (c_p − θ·V_p)·N.
    limits          Pools can share an amount L, of which a node uses w_p. For every price ρ ≥ 0,
                    the cost is at least the cost with c_p + ρ·w_p instead of c_p, less ρ·L.
    cases           A part can be divided into two cases: at most k nodes of a pool, or more. The
                    smallest bound of the cases is the bound of the part.
    V_p             It is checked with the prices of rows. If they aren't sufficient, every set of
                    pods is tried.

The exit status is 0 if all statements are proven. Otherwise, it is 1, and every statement that
isn't true is printed. It is 2 if FILE can't be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, prod
from pathlib import Path
from typing import Any

MOST_STEPS = 3_000_000
"""Maximum number of sets of pods on one node to try. If there are more sets, a claim counts as not
proven.
"""

MOST_FLEETS = 100_000
"""Maximum number of fleets with whole nodes to check in one part."""

Document = dict[str, Any]


def faults(document: Document) -> Iterator[str]:
    """Yield the statements of the certificate that aren't true."""
    pools = {pool["name"]: pool for pool in document["pools"]}
    for pool in pools.values():
        yield from _false_rows(pool)
    named = [name for part in document["parts"] for name in part["pools"]]
    if sorted(named) != sorted(pools):
        yield "the parts do not name every pool once"
    for part in document["parts"]:
        yield from _false_worths(part, pools, document["demand"])
        for case, _ in _cases(part, pools):
            yield from _false_worths(case, pools, document["demand"])
    yield from _false_claim(document, pools)
    yield from _false_packing(document, pools)


def _false_rows(pool: Document) -> Iterator[str]:
    """Yield the wrong rows of a pool. Rounded rows must be rounded as in Fekete and Schepers:
    u_k(x) = x if x·(k+1) is an integer, otherwise floor(x·(k+1)) / k.
    """
    plain = {row["name"]: row for row in pool["rows"]}
    for row in pool["rounded"]:
        name, _, times = row["name"].rpartition(", rounded ")
        base, k = plain.get(name), int(times)
        if base is None:
            yield f"pool {pool['name']}: row {row['name']} is rounded from no row"
            continue
        capacity = base["capacity"]
        for item, need in row["needs"].items():
            whole, rest = divmod(base["needs"].get(item, 0) * (k + 1), capacity)
            if need > (whole * capacity if rest else base["needs"].get(item, 0) * k):
                yield f"pool {pool['name']}: row {row['name']} takes too much of {item}"
        if row["capacity"] < capacity * k:
            yield f"pool {pool['name']}: row {row['name']} has too little"


def _false_worths(
    part: Document, pools: Mapping[str, Document], demand: Mapping[str, int]
) -> Iterator[str]:
    for name in part["pools"]:
        pool, claimed = pools[name], part["worth"].get(name, 0)
        values = {
            item: price
            for item, price in part["items"].items()
            if item in pool["most"] and demand.get(item)
        }
        shown = _is_worth_at_most(claimed, values, part["rows"].get(name, {}), pool, demand)
        if shown is None:
            yield f"pool {name}: it is not shown that no node is worth more than {claimed}"
        elif not shown:
            yield f"pool {name}: a node is worth more than {claimed}"
    for item in part["items"]:
        if any(item in pools[name]["most"] for name in pools if name not in part["pools"]):
            yield f"item {item} can go to pools outside of its part"


def _is_worth_at_most(
    claimed: int,
    values: Mapping[str, int],
    prices: Mapping[str, int],
    pool: Document,
    demand: Mapping[str, int],
) -> bool | None:
    """Return True if no set of pods within the rows is worth more than `claimed`, and None if too
    many sets would have to be tried.
    """
    rows = {row["name"]: row for row in (*pool["rows"], *pool["rounded"])}
    if any(price < 0 for price in (*values.values(), *prices.values())) or not set(prices) <= set(
        rows
    ):
        return False
    total = sum(price * rows[name]["capacity"] for name, price in prices.items())
    choices = []
    for item, value in values.items():
        reduced = value - sum(
            price * rows[name]["needs"].get(item, 0) for name, price in prices.items()
        )
        needs = [
            (at, row["needs"][item])
            for at, row in enumerate(pool["rows"])
            if row["needs"].get(item)
        ]
        choices.append((reduced, value, min(pool["most"][item], demand[item]), needs))
    if total + sum(max(0, reduced) * most for reduced, _, most, _ in choices) <= claimed:
        return True
    choices.sort(
        key=lambda each: max(
            (need / pool["rows"][at]["capacity"] for at, need in each[3]), default=0
        )
    )
    later = [0]
    for reduced, _, most, _ in choices:
        later.append(later[-1] + max(0, reduced) * most)
    open_sets = [(len(choices), 0, [row["capacity"] for row in pool["rows"]], total)]
    for _ in range(MOST_STEPS):
        if not open_sets:
            return True
        left, value, free, rest = open_sets.pop()
        if value > claimed:
            return False
        if not left or value + rest + later[left] <= claimed:
            continue
        reduced, worth, most, needs = choices[left - 1]
        most = min([most, *(free[at] // need for at, need in needs)])
        for count in range(most + 1):
            after = list(free)
            for at, need in needs:
                after[at] -= count * need
            open_sets.append(
                (left - 1, value + count * worth, after, rest - count * (worth - reduced))
            )
    return None


def _false_claim(document: Document, pools: Mapping[str, Document]) -> Iterator[str]:
    if document["claim"] == "infeasible":
        if not any(
            _worth(part, document) > _room(part, pools, document["limits"])
            for part in document["parts"]
        ):
            yield "no part has more demand than its pools can hold"
        return
    proved = [
        max(_bound(part, document, pools), _bound_of_cases(part, document, pools))
        for part in document["parts"]
    ]
    for part, shown in zip(document["parts"], proved, strict=True):
        if Fraction(part["bound"]) > shown:
            yield (
                f"pools {', '.join(part['pools'])}: a bound of {part['bound']} is claimed, "
                f"{shown} is shown"
            )
    if Fraction(document["bound"]) > sum(proved):
        yield f"a bound of {document['bound']} is claimed, {sum(proved)} is shown"


def _worth(part: Document, document: Document) -> int:
    return sum(price * document["demand"].get(item, 0) for item, price in part["items"].items())


def _room(part: Document, pools: Mapping[str, Document], limits: Sequence[Document]) -> Fraction:
    """Return the maximum worth of the pools of a part. Each limit is applied separately."""
    worth = {name: part["worth"].get(name, 0) for name in part["pools"]}
    room = Fraction(sum(value * pools[name]["maximum"] for name, value in worth.items()))
    for limit in limits:
        takes = limit["takes"]
        left = Fraction(
            max(
                0,
                limit["most"] - sum(each * pools[name]["minimum"] for name, each in takes.items()),
            )
        )
        held = Fraction(0)
        for name, value in sorted(
            worth.items(), key=lambda each: -Fraction(each[1], takes.get(each[0], 1))
        ):
            further = Fraction(pools[name]["maximum"] - pools[name]["minimum"])
            if name in takes:
                further = min(further, left / takes[name])
                left -= further * takes[name]
            held += value * (pools[name]["minimum"] + further)
        room = min(room, held)
    return room


def _bound(part: Document, document: Document, pools: Mapping[str, Document]) -> Fraction:
    prices = {name: max(Fraction(0), Fraction(price)) for name, price in part["limits"].items()}
    costs = {name: Fraction(pools[name]["cost"]) for name in part["pools"]}
    paid = Fraction(0)
    for limit in document["limits"]:
        price = prices.get(limit["name"], Fraction(0))
        paid += price * limit["most"]
        for name, takes in limit["takes"].items():
            if name in costs:
                costs[name] += price * takes
            elif price:
                return Fraction(0)  # other pools also use this limit
    inside = [(pools[name], costs[name], part["worth"].get(name, 0)) for name in part["pools"]]
    scales = {Fraction(0), *(cost / worth for _, cost, worth in inside if worth)}
    best = Fraction(sum(pools[name]["cost"] * pools[name]["minimum"] for name in part["pools"]))
    for scale in scales:
        total = scale * _worth(part, document) - paid
        for pool, cost, worth in inside:
            back = cost - scale * worth
            total += back * (pool["minimum"] if back >= 0 else pool["maximum"])
        best = max(best, total)
    return best


def _cases(
    part: Document, pools: Mapping[str, Document]
) -> Iterator[tuple[Document, dict[str, Document]]]:
    """Yield the cases that aren't divided further, each with the node ranges of its pools."""
    waiting = [(part["cases"], dict(pools))] if "cases" in part else []
    while waiting:
        case, inside = waiting.pop()
        if "fewer" not in case:
            yield {**case, "pools": part["pools"]}, inside
            continue
        pool = inside[case["pool"]]
        waiting.append((case["fewer"], {**inside, case["pool"]: {**pool, "maximum": case["at"]}}))
        waiting.append(
            (case["more"], {**inside, case["pool"]: {**pool, "minimum": case["at"] + 1}})
        )


def _bound_of_cases(part: Document, document: Document, pools: Mapping[str, Document]) -> Fraction:
    """Return the proven minimum of a case. Cases whose pools can't hold the demand are excluded."""
    shown = [
        _bound(case, document, inside)
        for case, inside in _cases(part, pools)
        if _worth(case, document) <= _room(case, inside, document["limits"])
    ]
    return min(shown, default=Fraction(0))


def _integer_bound(part: Document, document: Document, pools: Mapping[str, Document]) -> Fraction:
    """Return the minimum cost of whole nodes with enough capacity for the demand. If there are too
    many fleets to check, return the bound.
    """
    bound, demand = Fraction(part["bound"]), _worth(part, document)
    inside = [(pools[name], part["worth"].get(name, 0)) for name in part["pools"]]
    ranges = [
        range(
            pool["minimum"],
            max(pool["minimum"], min(pool["maximum"], -(-demand // worth) if worth else 0)) + 1,
        )
        for pool, worth in inside
    ]
    if prod(map(len, ranges)) > MOST_FLEETS:
        return bound
    costs = (
        sum(pool["cost"] * count for (pool, _), count in zip(inside, counts, strict=True))
        for counts in product(*ranges)
        if sum(worth * count for (_, worth), count in zip(inside, counts, strict=True)) >= demand
        and not any(_exceeded(document, dict(zip(part["pools"], counts, strict=True))))
    )
    return max(bound, Fraction(min(costs, default=0)))


def _exceeded(document: Document, nodes: Mapping[str, int]) -> Iterator[str]:
    """Yield the limits that this number of nodes exceeds."""
    for limit in document["limits"]:
        if (
            sum(takes * nodes.get(name, 0) for name, takes in limit["takes"].items())
            > limit["most"]
        ):
            yield limit["name"]


def _false_packing(document: Document, pools: Mapping[str, Document]) -> Iterator[str]:
    placed, used = dict.fromkeys(document["demand"], 0), dict.fromkeys(pools, 0)
    for group in document["packing"]:
        pool = pools[group["pool"]]
        used[pool["name"]] += group["nodes"]
        for row in pool["rows"]:
            taken = sum(row["needs"].get(item, 0) * count for item, count in group["items"].items())
            if taken > row["capacity"]:
                yield (
                    f"a node of pool {pool['name']} holds {taken} of {row['capacity']} "
                    f"{row['name']}"
                )
        for item, count in group["items"].items():
            if item in placed:
                placed[item] += count * group["nodes"]
                if count > pool["most"].get(item, 0):
                    yield f"a node of pool {pool['name']} holds {count} of {item}"
    for name, nodes in used.items():
        if nodes > pools[name]["maximum"]:
            yield f"pool {name} has {nodes} nodes, at most {pools[name]['maximum']} are allowed"
    for name in _exceeded(
        document, {name: max(count, pools[name]["minimum"]) for name, count in used.items()}
    ):
        yield f"{name} is exceeded"
    for item, count in document["demand"].items():
        if placed[item] > count or (
            placed[item] < count and document["claim"] == "cost" and not document["pending"]
        ):
            yield f"{placed[item]} of {count} of {item} are placed"


def main() -> int:
    """Check one file, and print the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", metavar="FILE", help="a file of `plan --certificate FILE`")
    path = parser.parse_args().file
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        parser.error(f"{path} can't be read: {error}")
    found = list(faults(document))
    for fault in found:
        print(fault)
    if found:
        return 1
    if document["claim"] == "infeasible":
        print("shown: the pools at their maximums cannot hold the demand")
        return 0
    costs = {pool["name"]: (pool["cost"], pool["minimum"]) for pool in document["pools"]}
    nodes = dict.fromkeys(costs, 0)
    for group in document["packing"]:
        nodes[group["pool"]] += group["nodes"]
    cost = sum(each * max(nodes[name], minimum) for name, (each, minimum) in costs.items())
    pools = {pool["name"]: pool for pool in document["pools"]}
    bound = sum(_integer_bound(part, document, pools) for part in document["parts"])
    print(f"shown: no fleet costs less than {ceil(bound):,} {document['unit']}")
    incomplete = " and is incomplete" if document["pending"] else ""
    print(f"shown: the packing costs {cost:,} {document['unit']}{incomplete}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
