"""Autoscalers, alerts, and dashboards whose metrics don't include pods with claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_planner.manifests.metric_readers import MetricReader
from dra_planner.model import WorkloadRef
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.claim_specs import gpu_entries
from dra_policies.view.stack_view import StackView

URL: Final = "https://github.com/NVIDIA/dcgm-exporter"


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None or not view.manifests.metric_readers:
        return
    users = {
        workload.ref: str(workload.ref)
        for workload, pod_set in pod_sets_with_claims(view.manifests)
        if gpu_entries(view.manifests, workload, pod_set)
    }
    for reader in view.manifests.metric_readers:
        user = _user(reader, users)
        if user:
            yield from _counted(reader, user)
            yield from _exported(reader, user, view.manifests.exporter_names_claims)


def _user(reader: MetricReader, users: Mapping[WorkloadRef, str]) -> str:
    """Return a workload with claims that the metrics refer to, or ""."""
    if reader.target is not None:
        return users.get(reader.target, "")
    return next(iter(users.values()), "")


def _counted(reader: MetricReader, user: str) -> Iterator[Finding]:
    if reader.counted:
        yield Finding(
            message=f"{reader.title} uses metric {reader.counted[0]}, which doesn't count the claims "
            f"of {user}",
            fix="use kube_pod_resourceclaim_info instead (requires kube-state-metrics 2.20.0 or later)",
            place=reader.place,
        )


def _exported(reader: MetricReader, user: str, names_claims: bool | None) -> Iterator[Finding]:
    """Yield a finding unless the exporter is known to label series with pods that use claims."""
    if not reader.exported or not reader.selects_pods or names_claims:
        return
    what = f"{reader.title} selects {reader.exported[0]} by pod"
    reason = "dcgm-exporter adds pod labels to the metrics of claimed devices"
    yield Finding(
        message=(
            f"{what}, but {user} uses claims, and {reason} only if kubernetesDRA.enabled is set"
        )
        if names_claims is False
        else f"{what}, and {user} uses claims, but it's unknown whether {reason}",
        fix="set kubernetesDRA.enabled to true in the values of dcgm-exporter (version 4.6.0-4.8.3 or later)",
        place=reader.place,
        certain=names_claims is False,
    )


RULE = Rule(
    id="metric-ignores-claims",
    description="An autoscaler, alert, or dashboard uses a GPU metric that doesn't include claims.",
    why="By default, kube-state-metrics counts only extended resources, and dcgm-exporter "
    "doesn't label its metrics with pods that use claims. As a result, autoscalers stop "
    "scaling, and alerts never fire.",
    fix="Collect kube_pod_resourceclaim_info from kube-state-metrics, and set "
    "kubernetesDRA.enabled in dcgm-exporter.",
    level="advisory",
    url=URL,
    check=check,
)
