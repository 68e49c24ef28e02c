"""Workloads whose pods run, but whose rollouts never finish."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.plan.judgement.rollouts.daemons import find_stalled_daemons
from dra_planner.plan.judgement.rollouts.findings import rollout_findings, unchecked_findings
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView
from dra_policies.view.stalled_rollouts import (
    checked_rollouts,
    stalled_rollouts,
    unchecked_rollouts,
)


def check(view: StackView) -> Iterator[Finding]:
    judgement = view.judgement
    if judgement is None or judgement.sizing.verdict != "fits":
        return  # another rule reports workloads that don't fit without a rollout
    found = (
        *rollout_findings(stalled_rollouts(view).values(), checked_rollouts(judgement).by_version),
        *find_stalled_daemons(judgement),
        *unchecked_findings(unchecked_rollouts(view)),
    )
    for each in found:
        yield Finding(
            message=each.message,
            fix=each.fix,
            urn=view.judged_urn,
            place=each.place,
            about=each.subject,
            remark=each.severity == "warning",
        )


RULE = Rule(
    id="rollout-cannot-finish",
    description="A rollout must start pods before it deletes pods, but the new pods can't run.",
    why="The rollout of a Deployment whose maxUnavailable is 0, or of a DaemonSet with maxSurge, "
    "waits for a new pod. A blue-green Rollout, a Knative revision, or a RayService waits for a "
    "full second set of pods. If no pool has capacity for the new pods at its maximum size, or a "
    "ResourceQuota rejects them, the old pods keep running, and the new version never starts.",
    fix="Raise a pool's maximum or the quota, or set maxSurge to 0 and maxUnavailable to 1.",
    level="mandatory",
    url="https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment",
    needs="pools",
    check=check,
)
