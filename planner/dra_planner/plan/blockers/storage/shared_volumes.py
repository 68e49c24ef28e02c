"""Pods that use the same PersistentVolumeClaim, although its access mode allows only one pod or
node.

Sources: kubernetes/kubernetes:pkg/scheduler/framework/plugins/volumerestrictions/
volume_restrictions.go (ErrReasonReadWriteOncePodConflict)@v1.36.3; Kubernetes documentation,
concepts/storage/persistent-volumes, "Access Modes".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from dra_planner.allocation.node.pod_rules import PodView, term_selects
from dra_planner.model import ObjectKey, PodSet, Workload
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.plan.blockers.topology.same_node import lacks_on_one_node
from dra_planner.wording import counted, listed

_CODE: Final = "pod-cannot-be-scheduled"
_HOST: Final = "kubernetes.io/hostname"


class _User(NamedTuple):
    workload: Workload
    pod_set: PodSet

    @property
    def pods(self) -> int:
        # a DaemonSet runs one pod on each node
        return 2 if self.pod_set.per_node else self.pod_set.figures.steady


def find_shared_volumes(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield the workloads whose pods use one volume on more nodes, or in more pods, than its claim
    allows.
    """
    for key, claim in sorted(situation.manifests.volume_claims.items()):
        if not (claim.for_one_pod or claim.for_one_node):
            continue
        users = list(_users(situation, key))
        pods = sum(user.pods for user in users)
        if pods < 2:
            continue
        if claim.for_one_pod:
            yield _blocker(
                users,
                f"{_subject(users)} ReadWriteOncePod volume {key}, which only one pod can use, so "
                f"{counted(pods - 1, 'pod')} stay{'s' if pods == 2 else ''} pending",
            )
        elif not (_is_on_one_node(situation, users) or _has_one_node(situation, users)):
            message = (
                f"{_subject(users)} ReadWriteOnce volume {key}, which only one node can attach"
            )
            pods_of = [(user.workload, user.pod_set, user.pods) for user in users]
            scarce = lacks_on_one_node(situation, pods_of)
            yield _blocker(
                users,
                f"{message}, but no node has enough {scarce} for all of them, so some pods stay in "
                "ContainerCreating"
                if scarce
                else f"{message}, so pods on other nodes stay in ContainerCreating",
                is_certain=bool(scarce) and claim.is_attached,
                may_share_node=not scarce,
            )


def _users(situation: ClusterSituation, key: ObjectKey) -> Iterator[_User]:
    for workload in situation.manifests.workloads:
        if workload.ref in situation.manifests.existing or workload.meta.namespace != key.namespace:
            continue
        for pod_set in workload.pod_sets:
            if ("PersistentVolumeClaim", key.name) in pod_set.template.needs:
                yield _User(workload, pod_set)


def _subject(users: Sequence[_User]) -> str:
    refs = list(dict.fromkeys(str(user.workload.ref) for user in users))
    return f"{refs[0]}: its pods share the" if len(refs) == 1 else f"{listed(refs)} share the"


def _blocker(
    users: Sequence[_User], message: str, *, is_certain: bool = True, may_share_node: bool = False
) -> Blocker:
    one_node = f" require pod affinity with topologyKey {_HOST}," if may_share_node else ""
    return Blocker(
        code=_CODE,
        message=message,
        fix="use access mode ReadWriteMany with a StorageClass that supports it,"
        f"{one_node} or give each pod its own volume (volumeClaimTemplates of a StatefulSet)",
        place=users[0].workload.place,
        workloads=tuple(dict.fromkeys(user.workload.ref for user in users)),
        verdict="does-not-fit" if is_certain else "cannot-tell",
    )


def _is_on_one_node(situation: ClusterSituation, users: Sequence[_User]) -> bool:
    """Return whether every pod must run on the node of the others."""
    namespaces = {name: meta.labels for name, meta in situation.manifests.namespaces.items()}
    views = [
        PodView(user.workload.meta.namespace, user.pod_set.template.labels, ()) for user in users
    ]
    return all(
        any(
            term.topology_key == _HOST
            and all(term_selects(term, own, v, namespaces) for v in views)
            for term in user.pod_set.template.spec.pod_affinity
        )
        or bool(user.pod_set.template.spec.node_name)
        or _HOST in user.pod_set.template.spec.node_selector
        for own, user in zip(views, users, strict=True)
    )


def _has_one_node(situation: ClusterSituation, users: Sequence[_User]) -> bool:
    """Return whether the pools with devices have only one node, and all pods need devices."""
    most = [offer.count_max for offer in situation.offers if offer.slices]
    return most == [1] and all(user.pod_set.template.spec.resource_claims for user in users)
