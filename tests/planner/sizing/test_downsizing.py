"""The pods of a node move to a cheaper node on which they fit, if the maximums allow this node."""

from __future__ import annotations

from collections import defaultdict

import pytest
from sizing_builders import CLASSES, demand, pool, workload

from dra_planner.releases import features_of
from dra_planner.sizing import Sizer
from dra_planner.sizing.bound.rows import pool_rows, row_weights
from dra_planner.sizing.items import split_demand
from dra_planner.sizing.packing.compatibility import find_compatibility
from dra_planner.sizing.packing.downsizing import downsize
from dra_planner.sizing.packing.first_fit import NodeClass, Packing
from dra_planner.sizing.packing.patterns import Patterns
from dra_planner.sizing.packing.strategies import Market

# GPUs of a pod, pods of a node, the small pool's maximum, the large one's minimum: (large, small)
# after
CASES = {
    "both nodes move": (2, 1, 5, 0, (0, 2)),
    "a maximum keeps one": (2, 1, 1, 0, (1, 1)),
    "a minimum keeps one": (2, 1, 5, 1, (1, 1)),
    "minimum nodes keep their pods": (2, 1, 5, 2, (2, 0)),
    "two pods are too many for a small node": (2, 2, 5, 0, (2, 0)),
    "a pod that is too large stays": (3, 1, 5, 0, (2, 0)),
}


@pytest.mark.parametrize("case", CASES)
def test_large_nodes_are_replaced_by_small_ones_if_cheaper(case: str) -> None:
    gpus, pods, most, least, after = CASES[case]
    offers = [
        pool("large", gpus=8, usd="9", at_least=least),
        pool("small", gpus=2, usd="2", at_most=most),
    ]
    wanted = demand(workload("web", 2 * pods, gpus=gpus))
    sizer = Sizer.of(wanted, offers, CLASSES, features_of(36))
    limits = [(offer.name, offer.count_min, offer.count_max) for offer in sizer.offers]
    found = find_compatibility(split_demand(wanted, "steady").items, (), sizer.nodes, limits)
    market = Market.of(found, sizer.costs, row_weights(found, pool_rows(found)))
    patterns = Patterns(found, sizer.filling)
    stage, history = patterns.fill(0, {0: pods})
    packing = Packing(
        [NodeClass(0, stage, 2, history)], [2, 0], defaultdict(int, {(0, 0): 2 * pods})
    )
    downsize(packing, market, patterns)
    assert tuple(packing.opened) == after
    assert tuple(packing.used_nodes(found.rooms)) == after
    assert sum(packing.placed.values()) == 2 * pods
    assert (packing.placed[0, 0], packing.placed[0, 1]) == (after[0] * pods, after[1] * pods)
