"""The kinds of workloads that are known, one row each."""

from __future__ import annotations

from typing import Final

from dra_planner.manifests.workloads.description import Kind, Role, job_pods, rolling_update

KINDS: Final[tuple[Kind, ...]] = (
    # Kubernetes itself
    Kind(group="", kind="Pod", roles=[Role(template="")]),
    Kind(group="", kind="ReplicationController", roles=[Role(template="spec.template", replicas="spec.replicas")]),
    Kind(
        group="apps",
        kind="Deployment",
        roles=[Role(template="spec.template", replicas="spec.replicas")],
        surge=rolling_update("spec.strategy"),
    ),
    Kind(group="apps", kind="ReplicaSet", roles=[Role(template="spec.template", replicas="spec.replicas")]),
    Kind(group="apps", kind="StatefulSet", roles=[Role(template="spec.template", replicas="spec.replicas")]),
    Kind(group="apps", kind="DaemonSet", roles=[Role(template="spec.template")], per_node=True),
    Kind(
        group="batch",
        kind="Job",
        roles=[Role(template="spec.template", pods=job_pods("spec"))],
        suspend="spec.suspend",
    ),
)
