"""Empty pools that nothing scales up, although the claims don't fit any other pool."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_planner.plan import Judgement
from dra_policies.rules.cluster.autoscaler_of_another_cluster import (
    autoscalers_of_other_clusters,
)
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import DeclaredPool, StackView


def check(view: StackView) -> Iterator[Finding]:
    if view.complete:
        yield from autoscalers_of_other_clusters(view)
    empty = {pool.offer_name: pool for pool in view.pools if _stays_empty(pool)}
    if not view.complete or view.judgement is None or not empty:
        return
    reported: set[str] = set()
    for workload, names in _choices(view.judgement):
        if names and names <= set(empty) and not names & reported:
            reported |= names
            pool = empty[sorted(names)[0]]
            label = cloud(pool.cloud).wakes_by_label
            if label and not pool.is_fixed:
                yield Finding(
                    message=f"{pool.title} has no nodes, and the autoscaler doesn't add nodes for pods "
                    f"with claims, because the pool doesn't have the node label {label}=true. The "
                    f"pods of {workload} therefore stay pending",
                    fix=f"add the node label {label}=true, or set the pool's minimum node count to 1",
                    urn=pool.urn,
                )
            else:
                yield Finding(
                    message=f"{pool.title} has no nodes, and autoscalers don't scale it up from zero "
                    f"for pods with claims, so the pods of {workload} stay pending",
                    fix="set the minimum and desired node counts to 1",
                    urn=pool.urn,
                )


def _choices(judgement: Judgement) -> Iterator[tuple[str, set[str]]]:
    """Yield every workload with the pools that fit its pods."""
    for shape in judgement.demand.shapes:
        if shape.id not in judgement.on_system and shape.members:
            fits = {
                answer.offer.name for answer in judgement.answers(shape) if answer.verdict == "fits"
            }
            yield str(shape.members[0].workload), fits


def _stays_empty(pool: DeclaredPool) -> bool:
    """Return whether no known component adds a node to the pool, and the pool doesn't have nodes of
    its own.
    """
    if pool.count_min != 0 or pool.count_desired != 0 or pool.leaves_desired or not pool.is_dra:
        return False
    label = cloud(pool.cloud).wakes_by_label
    if not label or pool.is_fixed:
        return True
    return pool.labels is not None and pool.labels.get(label, "") not in (None, "true")


RULE = Rule(
    id="pool-never-woken",
    description="No autoscaler can scale an empty pool from zero for pods with claims, "
    "or the autoscaler is configured for another cluster.",
    why="Autoscalers can't predict the devices of a node that doesn't exist, so the pool stays "
    "empty.",
    fix="Keep one node, or use an autoscaler that can scale the pool from zero.",
    level="advisory",
    needs="stack",
    check=check,
)
