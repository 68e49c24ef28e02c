"""Figures of HTML reports: a letter has one color on the page, boxes and texts list letters in
the same order, and captions name the number that a figure shows.
"""

from __future__ import annotations

import re

import pytest
from command_project import Project

from dra_command.plan_report.html.parts import Drawer, OutcomeView, PoolView
from dra_planner.model import WorkloadRef
from dra_planner.plan.nodes.devices import NodeDevice
from dra_planner.plan.nodes.groups import FilledNodes, NodeGroup
from dra_planner.plan.nodes.order_outcomes import HeldDevices, OrderOutcome, OutcomeNodes

A, B, C, D, E = (WorkloadRef("Deployment", "ml", name) for name in "abcde")
LETTERS = {A: "A", B: "B", C: "C", D: "D"}  # E doesn't have a letter


class _Pool:
    def __init__(self, name: str) -> None:
        self.name = self.machine = name


class _Judgement:
    is_observed = True  # so that pools don't have charts


class _Plan:
    """Contains only the fields that figures of nodes read."""

    pools = (_Pool("l4"), _Pool("h100"))
    judgement = _Judgement()


def gpu(*users: WorkloadRef) -> NodeDevice:
    return NodeDevice(
        name=f"gpu-{users}",
        driver="gpu.nvidia.com",
        kind="GPU",
        counted_as="",
        state="used" if users else "free",
        holders=users,
    )


def node(pool: str, *users: tuple[WorkloadRef, ...]) -> NodeGroup:
    return NodeGroup(pool=pool, nodes=1, pods=(), devices=tuple(gpu(*each) for each in users))


NODES = (
    node("l4", (B,), (B,), (A,)),
    node("l4", (C,), (C,), (B,), (B,)),
    node("h100", (D,), (D,), (C,), (A, D), (E,), ()),
)


@pytest.fixture
def drawer() -> Drawer:
    return Drawer(_Plan(), FilledNodes(source="packing", groups=NODES), LETTERS)  # type: ignore[arg-type]


def pool(drawer: Drawer, at: int) -> PoolView:
    return drawer.pool(_Plan.pools[at])  # type: ignore[arg-type]


def letters(view: PoolView | OutcomeView) -> list[tuple[str, str]]:
    """Return the (letter, style) of the boxes of a pool or of a pod arrival order."""
    figures = (
        [figure for group in view.groups for figure in group.figures]
        if isinstance(view, PoolView)
        else [figure for figure, _ in view.nodes]
    )
    return [(box.letter, box.style) for figure in figures for box in figure.boxes if box.letter]


def outcome(drawer: Drawer, **held: list[tuple[WorkloadRef | None, int]]) -> OutcomeView:
    nodes = tuple(
        OutcomeNodes(name, 1, tuple(HeldDevices("GPU", ref, count) for ref, count in devices))
        for name, devices in held.items()
    )
    return drawer.outcome(OrderOutcome(("settled",), (), nodes))


def test_a_letter_has_one_color_in_all_pools_orders_and_lists(drawer: Drawer) -> None:
    few = outcome(drawer, l4=[(A, 3)], h100=[(D, 1)])
    many = outcome(drawer, l4=[(A, 1), (B, 4)], h100=[(C, 8), (D, 1), (E, 1)])
    seen = {
        each for view in (pool(drawer, 0), pool(drawer, 1), few, many) for each in letters(view)
    } | {(key.letter, f"f{key.rank}") for key in map(drawer.key, (A, B, C, D, E))}
    assert sorted(seen) == [
        ("*", "f2"),
        ("+", "f3"),
        ("A", "f3"),
        ("B", "f1"),
        ("C", "f2"),
        ("D", "f1"),
    ]


def test_letters_have_the_order_of_the_boxes(drawer: Drawer) -> None:
    assert [group.description for group in pool(drawer, 0).groups] == [
        "B 2 GPUs, A 1 GPU",
        "C 2 GPUs, B 2 GPUs",
    ]
    (shared,) = pool(drawer, 1).groups
    assert shared.description == ("D 3 GPUs, C 1 GPU, Deployment ml/e 1 GPU, A 1 GPU, 1 GPU free")


def test_boxes_of_orders_are_sorted_by_letter() -> None:
    swapped = {A: "B", B: "A"}
    drawer = Drawer(_Plan(), FilledNodes(source="packing", groups=NODES), swapped)  # type: ignore[arg-type]
    found = outcome(drawer, l4=[(A, 1), (B, 2), (None, 1)])
    ((figure, _),) = found.nodes
    assert [box.letter for box in figure.boxes] == ["A", "A", "B", ""]


@pytest.mark.parametrize(
    ("simulate", "figure", "workloads", "claims"),
    [
        (
            "2",
            "Devices, sized by memory, as simulated, order settled",
            "pool: as simulated, order settled",
            "devices from the packing, not from the simulation above; ",
        ),
        (
            "off",
            "Devices, sized by memory, from the packing",
            "pool: from the packing",
            "devices from the packing; ",
        ),
    ],
)
def test_captions_name_the_number_that_figures_show(
    simulate: str, figure: str, workloads: str, claims: str, project: Project
) -> None:
    words = ("plan", "--stack", "dev", "--detail", "--simulate", simulate, "--format", "html")
    page = project.run(*words).out
    (section,) = re.findall(r'<section aria-labelledby="details">.*?</section>', page, re.DOTALL)
    captions = set(re.findall("<figcaption>(Devices.*?)</figcaption>", page))
    assert captions == {figure}
    assert workloads in page
    assert f"{claims}the scheduler might choose other devices" in section
