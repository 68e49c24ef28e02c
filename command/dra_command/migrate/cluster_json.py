"""The report of a running cluster as the published JSON."""

from __future__ import annotations

from dra_command.migrate.cluster_contract import (
    ClusterChangeRow,
    ClusterPoolRow,
    DeviceUserRow,
    MigrateClusterOutput,
    PodLossRow,
)
from dra_planner.migration.cluster import ClusterReport, DeviceUser


def cluster_json(report: ClusterReport) -> str:
    """Return the report as indented JSON."""
    output = MigrateClusterOutput(
        is_ready=report.is_ready,
        pools=[
            ClusterPoolRow(
                name=pool.name,
                nodes=pool.nodes,
                allocator=pool.allocator,
                offered=dict(pool.offered),
                held=dict(pool.held),
                published=pool.published,
                claimed=pool.claimed,
                contested=list(pool.contested),
            )
            for pool in report.pools
        ],
        users=[_user(each) for each in report.users],
        losses=[
            PodLossRow(pod=each.pod, node=each.node, reason=each.reason, fix=each.fix)
            for each in report.losses
        ],
        changes=[ClusterChangeRow(object=each.object, what=each.what) for each in report.changes],
        notes=list(report.notes),
    )
    return output.model_dump_json(indent=2)


def _user(user: DeviceUser) -> DeviceUserRow:
    outcome = user.outcome
    return DeviceUserRow(
        workload=user.workload,
        pods=user.pods,
        waiting=user.waiting,
        units=dict(user.units),
        nodes=list(user.nodes),
        by_claims=user.by_claims,
        result=None if outcome is None else outcome.result.value,
        reason="" if outcome is None else outcome.reason,
        alternatives=[] if outcome is None else list(outcome.alternatives),
    )
