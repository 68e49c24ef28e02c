"""Works that share nodes by even spread: the classes, and room for their pods in any order."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from dra_planner.placement.even_spread import (
    SpreadClass,
    SpreadWork,
    arranged,
    fewest_nodes,
    find_classes,
)

NODE = (100, 4)  # cpu and GPUs


def works_of(*rows: tuple[int, int, int], namespace: str = "ml") -> list[SpreadWork]:
    """Return works from rows of pods, cpu, and GPUs."""
    return [
        SpreadWork(at, pods, (cpu, gpus), namespace) for at, (pods, cpu, gpus) in enumerate(rows)
    ]


CASES = {
    "heavy and light pods share each node": (((10, 60, 1), (30, 10, 1)), 10),
    "pods of four workloads fill one place of each node": (
        ((6, 90, 1), (2, 3, 3), (2, 3, 3), (2, 3, 3)),
        6,
    ),
    "a node takes several pods of one workload": (((12, 25, 1),), 3),
    "a remainder needs its own node": (((13, 25, 1),), 4),
    "each node takes one pod of each size": (((4, 40, 2), (4, 10, 1)), 4),
}


@pytest.mark.parametrize("case", CASES)
def test_minimum_number_of_nodes_is_found(case: str) -> None:
    rows, nodes = CASES[case]
    works = works_of(*rows)
    assert fewest_nodes(arranged(works, NODE), NODE, 1, 100) == nodes
    assert find_classes(arranged(works, NODE), NODE, nodes - 1) is None


def test_pods_of_different_namespaces_are_counted_separately() -> None:
    """Given two workloads that could together use one slot on each node, expect two classes if they
    are in different namespaces.
    """
    first, second = works_of((2, 60, 1), (2, 60, 1))
    assert fewest_nodes(arranged([first, second], NODE), NODE, 1, 100) == 4
    other = SpreadWork(second.at, second.pods, second.need, "other")
    assert find_classes(arranged([first, other], NODE), NODE, 4) is None


def test_pod_larger_than_a_node_has_no_solution() -> None:
    assert fewest_nodes(arranged(works_of((1, 101, 1)), NODE), NODE, 1, 100) is None


@pytest.mark.parametrize("seed", range(40))
def test_every_pod_is_placed_in_any_order(seed: int) -> None:
    """Given random works, classes, and orders, and the worst choice among the nodes that a spread
    constraint allows, expect room for every pod.
    """
    chance = random.Random(seed)
    works = works_of(
        *(
            (chance.randint(1, 30), chance.randint(1, 60), chance.randint(1, 4))
            for _ in range(chance.randint(1, 9))
        )
    )
    pods = [work for work in works for _ in range(work.pods)]
    nodes = fewest_nodes(arranged(works, NODE), NODE, 1, len(pods))
    assert nodes is not None
    classes = find_classes(arranged(works, NODE), NODE, nodes)
    assert classes is not None
    for _ in range(10):
        chance.shuffle(pods)
        place_all(pods, classes, nodes, chance)


def place_all(
    pods: list[SpreadWork], classes: list[SpreadClass], nodes: int, chance: random.Random
) -> None:
    class_of = {work: at for at, each in enumerate(classes) for work in each.works}
    held = [Counter[int]() for _ in range(nodes)]
    free = [list(NODE) for _ in range(nodes)]
    for pod in pods:
        mine = class_of[pod.at]
        least = min(each[mine] for each in held)
        node = chance.choice([at for at in range(nodes) if held[at][mine] == least])
        held[node][mine] += 1
        free[node] = [room - need for room, need in zip(free[node], pod.need, strict=True)]
        assert min(free[node]) >= 0
