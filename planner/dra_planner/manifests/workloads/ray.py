"""Ray: a head and groups of workers, where each worker has a number of hosts.

Source: ray-project/kuberay:ray-operator/apis/ray/v1@v1.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from dra_planner.manifests.workloads.kind_description import ObjectPart, Reading
from dra_planner.manifests.workloads.pod_counts import Bounds
from dra_planner.manifests.workloads.updates import unknown_updates
from dra_planner.model import Figures, NewFirst, PodSet

NEW_CLUSTER: Final = "an upgrade starts a second Ray cluster before it stops the first one"
NO_UPGRADES: Final = "set upgradeStrategy.type to None, and delete the RayCluster to replace it"
WORKERS_OF_SERVE: Final = "Ray Serve determines how many workers of the second cluster must run"
NO_NUM_GPUS: Final = (
    "Ray reads the number of GPUs from the pod's limits, because num-gpus isn't set"
)
"""The assumption about workers whose rayStartParams don't set num-gpus."""


def read_ray_cluster(reading: Reading) -> list[PodSet]:
    return _cluster(reading, reading.root.at("spec"))


def read_ray_job(reading: Reading) -> list[PodSet]:
    """Read a RayJob: the cluster, and the pod that submits the job if it's described."""
    root = reading.root
    sets = _cluster(reading, root.at("spec.rayClusterSpec"))
    if root.get("spec.submissionMode", "K8sJobMode") == "K8sJobMode":
        submitter = reading.pod_set(
            "submitter", root.at("spec.submitterPodTemplate"), reading.figures(1)
        )
        if not submitter:
            reading.assume(
                "the plan doesn't count the pod that submits the job, because it doesn't "
                "request devices"
            )
        sets += submitter
    return sets


def read_ray_service(reading: Reading) -> list[PodSet]:
    """Read a RayService: its cluster. An upgrade starts a second cluster, and removes the first one
    when the applications of Ray Serve run on the second one.
    """
    root = reading.root
    spec = root.at("spec.rayClusterConfig")
    if spec.data is None:
        spec = root.at("spec.rayClusterSpec")
    sets = _cluster(reading, spec)
    if root.get("spec.upgradeStrategy.type", "NewCluster") == "None":
        return sets
    reading.assume("an upgrade runs two clusters at the same time")
    doubled = [_doubled(pod_set) for pod_set in sets]
    if root.get("spec.upgradeStrategy.type") == "NewClusterWithIncrementalUpgrade":
        reading.assume(unknown_updates("an incremental upgrade removes pods of the old cluster"))
        return doubled
    if sum(pod_set.figures.steady for pod_set in doubled) > len(doubled):
        reading.assume(unknown_updates(WORKERS_OF_SERVE))
    return [_started_first(pod_set) for pod_set in doubled]


def _started_first(pod_set: PodSet) -> PodSet:
    """Return a pod set of which one pod of the second cluster must run: the head, and a worker for
    the applications. Serve determines how many more workers they need.
    """
    pods = min(1, pod_set.figures.steady)
    start = NewFirst(pods, NEW_CLUSTER, NO_UPGRADES, together=True)
    return replace(pod_set, new_first=start)


def _doubled(pod_set: PodSet) -> PodSet:
    floor, steady, ceiling, peak = pod_set.figures
    figures = Figures(floor, steady, ceiling, None if peak is None else 2 * peak)
    return replace(pod_set, figures=figures)


def _cluster(reading: Reading, spec: ObjectPart) -> list[PodSet]:
    sets = reading.pod_set("head", spec.at("headGroupSpec.template"), reading.figures(1))
    scales = spec.get("enableInTreeAutoscaling") is True
    for index, (_, group) in enumerate(spec.at("workerGroupSpecs").members()):
        replicas = group.number("replicas", group.number("minReplicas", 0))
        bounds = None
        if scales:
            most = group.get("maxReplicas")
            least = group.number("minReplicas", 0)
            bounds = Bounds(least, None if most is None else group.number("maxReplicas", replicas))
        else:  # the operator respects these limits even without autoscaling
            replicas = max(replicas, group.number("minReplicas", 0))
            replicas = min(replicas, max(group.number("maxReplicas", replicas), 0))
        if group.get("suspend") is True:
            replicas, bounds = 0, None
        figures = reading.figures(replicas, pods=group.number("numOfHosts", 1), bounds=bounds)
        name = str(group.get("groupName", f"workers-{index}"))
        started = group.get("rayStartParams")
        has_number = isinstance(started, Mapping) and "num-gpus" in started
        found = reading.pod_set(name, group.at("template"), figures)
        sets += found if has_number else map(_without_number, found)
    return sets


def _without_number(pod_set: PodSet) -> PodSet:
    if not pod_set.template.spec.resource_claims:
        return pod_set
    return replace(pod_set, assumptions=(*pod_set.assumptions, NO_NUM_GPUS))
