"""Walking classes of nodes gives what walking nodes and pods one by one gives."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from sizing_builders import CLASSES, FEATURES, pool, workload

from dra_planner.allocation import NodeState, Placement, open_node, place
from dra_planner.model import Shape
from dra_planner.offers import Offer
from dra_planner.sizing.items import Item, ShapePods
from dra_planner.sizing.packing.filling import Filling
from dra_planner.sizing.packing.first_fit import Room, pack

Choice = tuple[int, int]


def rooms_of(offers: Sequence[Offer], filling: Filling) -> list[Room]:
    return [
        Room(
            name=offer.name,
            empty=filling.open(open_node(offer.node, offer.slices, CLASSES, FEATURES)),
            minimum=offer.count_min,
            maximum=offer.count_max,
        )
        for offer in offers
    ]


def one_by_one(shapes: Sequence[tuple[Shape, int]], rooms: Sequence[Room]) -> list[NodeState]:
    """Place each pod on the first open node that fits, or otherwise on a new node of the first pool
    that fits.
    """
    nodes = [room.empty.state for room in rooms for _ in range(room.minimum)]
    opened = [room.minimum for room in rooms]
    for shape, pods in shapes:
        for _ in range(pods):
            for index, node in enumerate(nodes):
                after = place(shape, node)
                if isinstance(after, Placement):
                    nodes[index] = after.node
                    break
            else:
                for index, room in enumerate(rooms):
                    after = place(shape, room.empty.state)
                    if isinstance(after, Placement) and opened[index] < (room.maximum or 0):
                        opened[index] += 1
                        nodes.append(after.node)
                        break
    return nodes


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 6), st.integers(2, 9), st.integers(0, 2), st.integers(0, 4)),
        min_size=1,
        max_size=3,
    ),
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 5), st.integers(0, 12)), min_size=1, max_size=5
    ),
)
def test_bulk_first_fit_equals_first_fit(
    pool_rows: list[tuple[int, int, int, int]], shape_rows: list[tuple[int, int, int]]
) -> None:
    filling = Filling()
    rooms = rooms_of(
        [
            pool(f"p{i}", gpus=gpus, cpu=cpu * 1000, at_least=least, at_most=least + more)
            for i, (gpus, cpu, least, more) in enumerate(pool_rows)
        ],
        filling,
    )
    shapes = [
        (workload(f"w{i}", pods, gpus=g, cpu=c * 1000), pods)
        for i, (g, c, pods) in enumerate(shape_rows)
    ]
    items = [Item((ShapePods(shape, 1),), pods) for shape, pods in shapes]
    fills = {
        (item, index): filling.fill(items[item], room.empty, 100)[0]
        for item in range(len(items))
        for index, room in enumerate(rooms)
    }

    takers = [range(len(rooms))] * len(items)

    def first_pool(item: int, left: int, room: Sequence[int | None]) -> Choice | None:
        for index, free in enumerate(room):
            if free and fills[item, index]:
                return index, min(free, max(1, left // fills[item, index]))
        return None

    packing = pack(
        items,
        range(len(items)),
        rooms,
        [room.minimum for room in rooms],
        takers,
        filling,
        first_pool,
    )
    bulk = [group.stage.state.key for group in packing.classes for _ in range(group.count)]
    assert bulk == [state.key for state in one_by_one(shapes, rooms)]


def test_node_class_splits_into_at_most_three() -> None:
    filling = Filling()
    rooms = rooms_of([pool("a", gpus=4, at_least=10, at_most=10)], filling)
    item = Item((ShapePods(workload("w", 10, gpus=1), 1),), 10)
    packing = pack([item], [0], rooms, [10], [(0,)], filling, lambda *_: None)
    assert [group.count for group in packing.classes] == [2, 1, 7]
