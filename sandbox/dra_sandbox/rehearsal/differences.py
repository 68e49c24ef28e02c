"""The possible reasons why plan, simulation, and outcome differ.

One of the reasons is a bug in the planner.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, Literal

from msgspec import Struct

from dra_sandbox.rehearsal.outcome import RehearsedWorkload
from dra_sandbox.rehearsal.simulation import Simulated, SimulatedWorkload

ReasonCode = Literal[
    "one-pod-at-a-time",
    "shared-claim",
    "choice-of-node",
    "packing-not-found",
    "who-goes-without",
    "decided-by-unknown",
    "ordered-start",
    "pods-refused",
    "claim-not-prepared",
    "refused-as-planned",
    "waits-for-others",
    "not-decided-in-time",
    "tie-between-nodes",
    "replaced-during-preemption",
    "arrived-together",
    "no-controller",
    "simulation-cannot-tell",
    "unexplained",
]

REASONS: Mapping[ReasonCode, str] = {
    "one-pod-at-a-time": "The scheduler places pods one at a time and never moves them, so pods "
    "stay pending even if a better packing exists. According to the plan, "
    "these pods don't fit on the current nodes either.",
    "shared-claim": "Pods that share a claim run on the node with its devices. The first pod "
    "determines the node, which doesn't have enough free capacity for all these "
    "pods.",
    "choice-of-node": "These pods fit in several pools, and the scheduler's scores favor a "
    "different pool than the plan's packing.",
    "packing-not-found": "The plan's verdict is \"cannot tell\", because the plan didn't find "
    "a packing, but the scheduler placed all pods.",
    "who-goes-without": "Not all pods fit, and the pod arrival order determines which "
    "workload stays pending. In the plan, pods of another workload stay "
    "pending.",
    "decided-by-unknown": 'The plan\'s verdict is "cannot tell", because it depends on values that are known '
    "only at run time. The rehearsal invents these values.",
    "ordered-start": "A StatefulSet starts its pods one after the other, so it doesn't "
    "create the next pod while a pod is pending.",
    "pods-refused": "The API server rejected pods because of a quota, a limit, or an admission "
    "rule.",
    "claim-not-prepared": "The scheduler places pods whose claims the driver can't prepare, "
    "or whose namespace, volumes, or other objects don't exist. These pods would never "
    "start, but the rehearsal creates namespaces, replaces volumes, and doesn't run kubelets. "
    "These pods use devices that the plan assigns to other pods.",
    "refused-as-planned": "The API server rejects the object, as the plan predicts.",
    "waits-for-others": "The pods wait for another scheduler, or for a controller that "
    "removes their scheduling gates, as the plan predicts. The rehearsal "
    "doesn't run this scheduler or this controller.",
    "not-decided-in-time": "The time limit was reached before the scheduler had tried every pod.",
    "tie-between-nodes": "Nodes have equal scores, and the scheduler chooses between them at "
    "random. With different random choices, the simulation has the same "
    "outcome as the cluster.",
    "replaced-during-preemption": "A pod that preempts other pods waits until these pods "
    "terminate. In the meantime, the scheduler places their "
    "replacements. If the preempted pods terminate at "
    "different times in the simulation, it has the same outcome "
    "as the cluster.",
    "arrived-together": "Workloads arrived together, so small timing differences determine "
    "which controller creates its pods first, and when pods become ready "
    "or terminate. With a different pod arrival order or different "
    "timing, the simulation has the same outcome.",
    "no-controller": (
        "The pods were deleted with their node, and no controller in the rehearsal re-creates them."
    ),
    "simulation-cannot-tell": "The simulation didn't finish, or it depends on values that are "
    "known only at run time.",
    "unexplained": "Plan and scheduler disagree, and no known reason explains the difference. "
    "Please report this case.",
}

_FEW: Final = 8
"""Number of tie-breaking seeds that are tried together."""


class OutcomeDifference(Struct, frozen=True):
    """The reason why a workload's outcome differs from the plan.

    `detail` contains the values for this workload.
    """

    reason: ReasonCode
    detail: str = ""

    @property
    def message(self) -> str:
        """The reason as a sentence, with the detail."""
        return f"{REASONS[self.reason]} {self.detail}".rstrip()


def deviation(
    outcome: RehearsedWorkload, runs: Sequence[Simulated], *, one_by_one: bool
) -> OutcomeDifference | None:
    """Return the reason why the first simulated run differs from the outcome of a workload, or None
    if they're equal.

    Only a run with the same outcome explains a difference. The later runs break ties differently,
    and some of them also end pods at other moments. If workloads arrive together, they also use
    other arrival orders.
    """
    outcomes = [run[outcome.workload] for run in runs if outcome.workload in run]
    if not outcomes or is_same(outcomes[0], outcome):
        return None
    if not all(each.is_decided for each in outcomes):
        return OutcomeDifference("simulation-cannot-tell")
    same = [each for each in outcomes if is_same(each, outcome)]
    if same and not one_by_one:
        return OutcomeDifference("arrived-together")
    if same:
        in_time = any(not each.lags for each in same)
        return OutcomeDifference("tie-between-nodes" if in_time else "replaced-during-preemption")
    return OutcomeDifference(
        "unexplained",
        f"the simulation places {_placed(outcomes[0].pools)}, the scheduler {_placed(outcome.pools)}",
    )


def enough_runs(
    runs: Iterable[Simulated], outcomes: Iterable[RehearsedWorkload], *, one_by_one: bool
) -> tuple[Simulated, ...]:
    """Return the first simulated run if it equals the outcome. Otherwise, also return additional
    runs until they explain every deviation, or all runs.
    """
    left, outcomes = iter(runs), tuple(outcomes)
    taken = tuple(islice(left, 1)) or ({},)
    if all(is_same(taken[0].get(each.workload), each) for each in outcomes):
        return taken
    while more := tuple(islice(left, _FEW)):
        taken += more
        found = (deviation(each, taken, one_by_one=one_by_one) for each in outcomes)
        if not any(each is not None and each.reason == "unexplained" for each in found):
            break
    return taken


def is_same(simulated: SimulatedWorkload | None, outcome: RehearsedWorkload) -> bool:
    """Return True if each pool has the same number of pods in both, or if nothing was simulated."""
    return simulated is None or dict(simulated.pools) == dict(outcome.pools)


def _placed(pools: Mapping[str, int]) -> str:
    where = ", ".join(f"{pool} {count}" for pool, count in sorted(pools.items()))
    return f"{sum(pools.values())} ({where})" if where else "none"
