"""How many nodes pods need that have nodes to themselves: proofs, and the quick model of the
scheduler.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dra_planner.placement.workload_groups import GroupSizes, WorkloadGroup
from dra_planner.sizing import LevelNeeds, WorkNeeds


def needs_of(
    *works: tuple[int, int, int], cpu: int = 48, gpus: int = 8, plain: bool = True
) -> LevelNeeds:
    """Return needs on one pool: (pods, cpu, GPUs) of each work."""
    return LevelNeeds(
        pools=("pool",),
        works=tuple(
            WorkNeeds(
                shapes=(str(at),),
                count=pods,
                fills={0: min(pods, cpu // each_cpu, gpus // each_gpus)},
                needs={0: (each_cpu, each_gpus)},
                plain=frozenset({0} if plain else ()),
            )
            for at, (pods, each_cpu, each_gpus) in enumerate(works)
        ),
        capacities=((cpu, gpus),),
        devices=((False, True),),
    )


def nodes(needs: LevelNeeds, scoring: str = "spread") -> int | None:
    group = WorkloadGroup(0, frozenset(range(len(needs.works))))
    return GroupSizes(needs, scoring).nodes(group)  # type: ignore[arg-type]  # one of the two


def test_similar_pods_fill_nodes_in_any_order() -> None:
    """Given pods of 1 GPU and little cpu, expect the rows of the bound."""
    assert nodes(needs_of((17, 1, 1))) == 3


def test_different_cpu_is_irrelevant_if_gpus_are_exhausted_first() -> None:
    assert nodes(needs_of((10, 1, 1), (10, 5, 1), (4, 6, 1))) == 3


def test_spread_pods_block_whole_nodes() -> None:
    """Given pods of 1 GPU that come before pods of 8, expect a node for each pod that spreads."""
    assert nodes(needs_of((4, 1, 1), (2, 8, 8))) == 6


def test_packed_pods_leave_whole_nodes_free() -> None:
    assert nodes(needs_of((4, 1, 1), (2, 8, 8)), "pack") == 3


def test_pods_larger_than_half_a_node_do_not_share_one() -> None:
    assert nodes(needs_of((5, 25, 1))) == 5


def test_resource_sums_prove_any_order_only_for_plain_pods() -> None:
    """Given pods of one size that fill nodes, expect a proof, but none with a node fewer, or if
    more than the rows decides.
    """
    group, works = WorkloadGroup(0, frozenset((0, 1))), ((8, 1, 1), (9, 1, 1))
    assert GroupSizes(needs_of(*works)).fits_in_any_order(group, 3)
    assert not GroupSizes(needs_of(*works)).fits_in_any_order(group, 2)
    assert not GroupSizes(needs_of(*works, plain=False)).fits_in_any_order(group, 3)


def test_maximum_that_is_too_low_is_remembered() -> None:
    needs = needs_of((4, 1, 1), (2, 8, 8))
    sizes, group = GroupSizes(needs), WorkloadGroup(0, frozenset((0, 1)))
    assert sizes.nodes(group, 3) is None
    assert sizes.least(group) == 4
    assert sizes.nodes(group, 6) == 6


WORKS = st.lists(
    st.tuples(st.integers(1, 6), st.integers(1, 48), st.sampled_from((1, 2, 4, 8))),
    min_size=1,
    max_size=4,
)


@settings(deadline=None)
@given(WORKS)
def test_counts_are_between_the_lower_bound_and_the_proof(
    works: list[tuple[int, int, int]],
) -> None:
    needs = needs_of(*works)
    group = WorkloadGroup(0, frozenset(range(len(works))))
    sizes = GroupSizes(needs)
    rows = sizes._rows_of(group)  # the result doesn't contain the proof
    found = sizes.nodes(group)
    assert found is not None
    assert sizes.least(group) <= found <= max(sizes.least(group), rows.in_any_order)


@settings(deadline=None)
@given(WORKS, st.randoms(use_true_random=False))
def test_no_order_needs_more_nodes_than_proved(
    works: list[tuple[int, int, int]], chance: object
) -> None:
    """Given any order and either scoring, expect the proved count to place every pod."""
    needs = needs_of(*works)
    group, sizes = WorkloadGroup(0, frozenset(range(len(works)))), GroupSizes(needs)
    rows = sizes._rows_of(group)
    order = [at for at, (pods, _, _) in enumerate(works) for _ in range(pods)]
    chance.shuffle(order)  # type: ignore[attr-defined]  # a Random
    for scoring in ("spread", "pack"):
        enough = max(sizes.least(group), rows.in_any_order)
        assert rows.model.places_all(order, enough, scoring)  # type: ignore[arg-type]  # one of the two


def test_refuted_count_also_applies_to_larger_groups() -> None:
    """Given two workloads with four pods of one GPU each, one of which failed on three nodes,
    expect four nodes for this workload and for both together, and one node for the other workload.
    """
    sizes = GroupSizes(needs_of((4, 1, 1), (4, 1, 1)))
    both, first, second = (WorkloadGroup(0, frozenset(works)) for works in ({0, 1}, {0}, {1}))
    assert [sizes.nodes(each) for each in (both, first, second)] == [1, 1, 1]

    sizes.refute(first, 3)

    assert [sizes.nodes(each) for each in (both, first, second)] == [4, 4, 1]
    assert sizes.nodes(both, 3) is None
