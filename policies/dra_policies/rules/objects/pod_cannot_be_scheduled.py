"""Pods that can't run on any node because of their own rules."""

from __future__ import annotations

from dra_planner.plan.blockers.device_facts import find_facts
from dra_planner.plan.blockers.pods_of_missing_claims import find_pods_of_missing_claims
from dra_planner.plan.blockers.queueing.exclusive_groups import find_exclusive_groups
from dra_planner.plan.blockers.queueing.small_gangs import find_small_gangs
from dra_planner.plan.blockers.replica_claims import find_daemons_with_shared_claims
from dra_planner.plan.blockers.storage.shared_volumes import find_shared_volumes
from dra_planner.plan.blockers.topology.kubelet_admission import find_pods_refused_by_kubelets
from dra_planner.plan.blockers.topology.same_node import find_crowded_nodes
from dra_planner.plan.blockers.topology.unmet_affinity import (
    find_daemons_on_system_nodes,
    find_daemons_without_devices,
    find_unmet_affinity,
)
from dra_planner.plan.blockers.topology.unmet_topology import find_unmet_topology
from dra_policies.rules.blockers import cluster_check
from dra_policies.rules.rule import Rule

RULE = Rule(
    id="pod-cannot-be-scheduled",
    description="A pod's scheduling rules, its group, or a taint on its devices prevents it from running.",
    why="If a pod requires affinity to missing pods, or if its group is too small, it stays "
    "pending. DaemonSet pods with claims stay pending on nodes without devices. If "
    "several pods use the same ReadWriteOncePod volume, only one of them runs. The kubelet "
    "rejects pods with spec.nodeName that don't fit on the node.",
    fix="Correct the labels in podAffinity, or tolerate the taint on the nodes with devices.",
    level="mandatory",
    needs="pools",
    url="https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/",
    check=cluster_check(
        "pod-cannot-be-scheduled",
        find_unmet_affinity,
        find_daemons_without_devices,
        find_daemons_on_system_nodes,
        find_daemons_with_shared_claims,
        find_unmet_topology,
        find_crowded_nodes,
        find_pods_of_missing_claims,
        find_pods_refused_by_kubelets,
        find_exclusive_groups,
        find_small_gangs,
        find_shared_volumes,
        find_facts,
    ),
)
