"""Pictures of pod arrival orders: nodes that aren't drawn are counted."""

from __future__ import annotations

import pytest

from dra_command.plan_report.html.parts import Drawer
from dra_planner.model import WorkloadRef
from dra_planner.plan.nodes.groups import FilledNodes
from dra_planner.plan.nodes.order_outcomes import HeldDevices, OrderOutcome, OutcomeNodes

WEB = WorkloadRef("Deployment", "ml", "web")


class _PlanWithoutPools:
    pools = ()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        pytest.param(12, "all pods placed", id="all rows are drawn"),
        pytest.param(13, "all pods placed (2 more nodes not shown)", id="one row too many"),
    ],
)
def test_rows_that_are_not_drawn_are_counted(rows: int, words: str) -> None:
    held = HeldDevices("gpu", WEB, 1)
    nodes = tuple(OutcomeNodes(f"pool-{at}", 2, (held,)) for at in range(rows))
    filled = FilledNodes(source="packing", groups=())
    drawer = Drawer(_PlanWithoutPools(), filled, {WEB: "A"})  # type: ignore[arg-type]  # reads only the pools

    view = drawer.outcome(OrderOutcome(("settled",), (), nodes))

    assert (view.words, len(view.nodes)) == (words, 12)
