"""Pods that a change of the fleet displaces, although each of them still fits an empty node."""

from __future__ import annotations

from dra_planner.offers import predict_offers
from dra_planner.plan.judgement.judge import judge
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.suggestion.missing.tried_fleets import FleetChange, FleetTrials


def displaces_pods(change: FleetChange, trials: FleetTrials) -> bool:
    """Return whether pods that the unchanged fleet places stay pending with a change."""
    if change.text not in trials.displacing:
        trials.displacing[change.text] = _displaces(change, trials.judgement)
    return trials.displacing[change.text]


def _displaces(change: FleetChange, before: Judgement) -> bool:
    after = judge(
        before.demand,
        predict_offers(change.fleet, before.features),
        before.classes,
        before.features,
        level=before.level,
        fleet=change.fleet,
        with_fixes=False,
    )
    pending = {size.workload: size.pending for size in before.sizing.workloads}
    return any(size.pending > pending[size.workload] for size in after.sizing.workloads)
