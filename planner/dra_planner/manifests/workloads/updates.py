"""How controllers that aren't part of Kubernetes start an update: with new pods, or by stopping old
pods.

Sources: argoproj/argo-rollouts:utils/replicaset/replicaset.go@v1.8.3 (NewRSNewReplicas: a
blue-green update scales the new ReplicaSet to all replicas before the switch),
ray-project/kuberay:ray-operator/controllers/ray/rayservice_controller.go@v1.4.2
(shouldPrepareNewCluster, reconcileServe), kubernetes-sigs/lws:pkg/controllers/
leaderworkerset_controller.go@v0.7.0 (rollingUpdateParameters, rollingUpdatePartition) and @v0.9.0
(calculateRollingUpdateReplicas),
openkruise/kruise:pkg/controller/cloneset/sync/cloneset_sync_utils.go@v1.8.0
(calculateDiffsWithExpectation).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from dra_planner.manifests.workloads.kind_description import ObjectPart, rolling_pods
from dra_planner.manifests.workloads.pod_counts import Surge, share_of
from dra_planner.model import NewFirst, PodSet

DELETE_FIRST: Final = "set the rollout's maxSurge to 0 and maxUnavailable to 1"
"""The fix that makes a controller delete a pod before it creates one."""
POD_FIRST: Final = NewFirst(
    1,
    "a new pod must run before an old pod stops (maxUnavailable allows 0 pods)",
    DELETE_FIRST,
)
"""An update that starts one pod before it stops one, and can repeat this for every pod."""
OLD_GROUP_CONTROLLERS: Final = (
    "LeaderWorkerSet controllers before version 0.9.0 don't create a second group for 1 replica"
)
NEW_GROUP_CONTROLLER: Final = "upgrade the LeaderWorkerSet controller to version 0.9.0 or later"


def unknown_updates(why: str) -> str:
    """Return the assumption about updates whose additional pods are unknown."""
    return f"the plan can't tell whether its rollouts finish, because {why}"


def with_new_first(pod_sets: Iterable[PodSet], start: NewFirst | None) -> list[PodSet]:
    """Return the pod sets with the start of their updates."""
    return [replace(each, new_first=start) for each in pod_sets]


def all_first(
    pod_sets: Iterable[PodSet], cause: str, fix: str = "", *, together: bool = False
) -> list[PodSet]:
    """Return pod sets whose updates start a full second set of pods before they stop old pods."""
    return [
        replace(each, new_first=NewFirst(each.figures.steady, cause, fix, together))
        for each in pod_sets
    ]


def rolling_start(part: ObjectPart, path: str, replicas: int) -> NewFirst | None:
    """Return the start of a rolling update with the strategy at a path, or None if it can stop
    pods first.
    """
    surge, unavailable, kept, *_ = rolling_pods(path)(part, replicas)
    return POD_FIRST if surge and not (unavailable or kept) else None


def clone_start(root: ObjectPart, replicas: int) -> NewFirst | None:
    """Return the start of an update of a CloneSet, or None if it can stop pods first, or if
    all pods keep their template. With `maxSurge`, a percentage of unavailable pods is rounded down.
    """
    path = "spec.updateStrategy"
    surge = Surge(root.get(f"{path}.maxSurge", 0)).of(replicas)
    kept = Surge(root.get(f"{path}.partition", 0)).of(replicas)
    if not surge or root.get(f"{path}.paused") is True or kept >= replicas:
        return None
    return None if share_of(root.get(f"{path}.maxUnavailable", "20%"), replicas) else POD_FIRST


def group_start(root: ObjectPart, replicas: int, pods: int) -> NewFirst | None:
    """Return the start of an update of a LeaderWorkerSet, or None if it can stop a group first, or
    if all groups keep their template.

    `pods` is the number of pods of a pod set in one group. By default, one group can be
    unavailable. All `maxSurge` groups are created, and the one with the highest number must be
    ready first, so one group is the least that must fit. With one replica, controllers before
    0.9.0 create no group. Source: kubernetes-sigs/lws pull requests 778 (merged) and 779.
    """
    path = "spec.rolloutStrategy.rollingUpdateConfiguration"
    surge = Surge(root.get(f"{path}.maxSurge", 0)).of(replicas)
    if not surge or share_of(root.get(f"{path}.maxUnavailable", 1), replicas):
        return None
    if root.number(f"{path}.partition", 0) >= replicas:
        return None
    cause = "a new group must run before an old group stops (maxUnavailable allows 0 groups)"
    start = NewFirst(pods, cause, DELETE_FIRST, together=True)
    if replicas > 1:
        return start
    return start._replace(old_controllers=OLD_GROUP_CONTROLLERS, upgrade=NEW_GROUP_CONTROLLER)
