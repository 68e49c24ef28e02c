"""Kinds that create groups of pods: leaders with workers, cliques, graphs, wrapped objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.kind_description import ObjectPart, Reading, rolling_update
from dra_planner.manifests.workloads.pod_counts import Bounds, Surge
from dra_planner.manifests.workloads.updates import (
    clone_start,
    group_start,
    unknown_updates,
    with_new_first,
)
from dra_planner.manifests.workloads.volume_zones import (
    NewVolume,
    needed_classes,
    same_volumes,
    with_new_volumes,
)
from dra_planner.model import PodSet, PodTemplate


def read_stateful_set(reading: Reading) -> list[PodSet]:
    """Read a StatefulSet: replicas of one template, created in order, each with its own
    volumes.
    """
    root = reading.root
    replicas = root.number("spec.replicas", 1)
    in_order = root.get("spec.podManagementPolicy", "OrderedReady") == "OrderedReady"
    sets = [
        replace(pods, in_order=in_order, is_counted=root.get("spec.replicas") is not None)
        for pods in reading.pod_set(
            "", root.at("spec.template"), reading.figures(replicas, bounds=reading.bounds)
        )
    ]
    volumes = [
        NewVolume(str(claim.get("metadata.name", name)), claim.get("spec", {}))
        for name, claim in root.at("spec.volumeClaimTemplates").members()
    ]
    own = {each.name for each in volumes}
    replaced = {
        ("PersistentVolumeClaim", volume.get("persistentVolumeClaim.claimName"))
        for _, volume in root.at("spec.template.spec.volumes").members()
        if volume.get("name") in own
    }
    return [
        replace(
            pods,
            template=_with_volumes(
                reading, _without_needs(pods.template, replaced), volumes, replicas
            ),
        )
        for pods in sets
    ]


def _without_needs(template: PodTemplate, replaced: Set[tuple[str, Any]]) -> PodTemplate:
    """Return a template that doesn't need claims whose volumes the StatefulSet replaces with its
    own. Source: kubernetes/kubernetes:pkg/controller/statefulset/stateful_set_utils.go@v1.36.0
    (updateStorage).
    """
    return replace(template, needs=tuple(each for each in template.needs if each not in replaced))


_MOST_CLAIMS: Final = 1000
"""Number of pods of a StatefulSet whose existing claims are compared."""


def _with_volumes(
    reading: Reading, template: PodTemplate, volumes: Sequence[NewVolume], replicas: int
) -> PodTemplate:
    """Return the template with the set's volumes, of which each pod has its own."""
    spec = template.spec
    spec = replace(spec, zonal_volumes=(*spec.zonal_volumes, *(each.name for each in volumes)))
    name = reading.object.name
    claims = (reading.lookup("PersistentVolumeClaim", f"{v.name}-{name}-0") for v in volumes)
    if "uid" in reading.object.metadata or any(each is not None for each in claims):
        ordinals = range(replicas) if replicas <= _MOST_CLAIMS else ()
        existing = [
            found
            for each in volumes
            for found in same_volumes(
                each.name, [f"{each.name}-{name}-{number}" for number in ordinals], reading.lookup
            )
        ]
        return replace(template, spec=with_new_volumes(spec, existing, reading.lookup))
    return replace(
        template,
        spec=with_new_volumes(spec, volumes, reading.lookup),
        needs=(*template.needs, *needed_classes(volumes, reading.lookup)),
    )


def read_leader_worker_set(reading: Reading) -> list[PodSet]:
    """Read a LeaderWorkerSet: each replica is a group of `size` pods, with a leader from its own
    template, or from the workers' template.
    """
    root = reading.root
    replicas, size = (
        root.number("spec.replicas", 1),
        root.number("spec.leaderWorkerTemplate.size", 1),
    )
    surge = Surge(root.get("spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge", 0))
    leader = root.at("spec.leaderWorkerTemplate.leaderTemplate")
    worker = root.at("spec.leaderWorkerTemplate.workerTemplate")

    def figures(pods: int) -> Any:
        return reading.figures(replicas, pods=pods, bounds=reading.bounds, surge=surge)

    def pods(name: str, template: ObjectPart, number: int) -> list[PodSet]:
        start = group_start(root, figures(1).steady, number)
        return with_new_first(reading.pod_set(name, template, figures(number)), start)

    if not isinstance(leader.data, Mapping):
        return pods("worker", worker, size)
    sets = pods("leader", leader, 1)
    return sets + (pods("worker", worker, size - 1) if size > 1 else [])


def read_clone_set(reading: Reading) -> list[PodSet]:
    """Read a CloneSet: replicas of one template."""
    root = reading.root
    replicas = root.number("spec.replicas", 1)
    surge = rolling_update("spec.updateStrategy", 0, field="maxSurge")(root)
    figures = reading.figures(replicas, bounds=reading.bounds, surge=surge)
    is_counted = root.get("spec.replicas") is not None
    sets = reading.pod_set("", root.at("spec.template"), figures)
    return with_new_first(
        [replace(each, is_counted=is_counted) for each in sets], clone_start(root, replicas)
    )


def read_pod_clique_set(reading: Reading) -> list[PodSet]:
    """Read a PodCliqueSet: cliques of pods, multiplied by the replicas of the set and of the
    clique's scaling group. Its rollouts delete pods before they create new ones. Source:
    ai-dynamo/grove:docs/designs/update-strategy.md@main (maxUnavailable 1 and maxSurge 0).
    """
    root = reading.root
    replicas = root.number("spec.replicas", 1)
    scaled: dict[str, ObjectPart] = {
        str(name): group
        for _, group in root.at("spec.template.podCliqueScalingGroups").members()
        for name in group.get("cliqueNames", ())
    }
    sets = []
    for name, clique in root.at("spec.template.cliques").members():
        pods = clique.number("spec.replicas", 1)
        group = scaled.get(name)
        source, count = (
            (group, group.number("replicas", 1)) if group is not None else (clique.at("spec"), pods)
        )
        config = source.at("scaleConfig") if group is not None else source.at("autoScalingConfig")
        each = replicas * (pods if group is not None else 1)
        bounds = None
        if isinstance(config.data, Mapping) and config.get("maxReplicas") is not None:
            bounds = Bounds(
                config.number("minReplicas", count), config.number("maxReplicas", count)
            )
        figures = reading.figures(count, pods=each, bounds=bounds)
        sets += reading.pod_set(name, clique.at("spec.podSpec"), figures, inline=True)
    return sets


def read_dynamo_graph(reading: Reading) -> list[PodSet]:
    """Read a DynamoGraphDeployment: services with replicas, each with a number of nodes."""
    reading.assume(
        unknown_updates(
            "it depends on the installed operators whether they create Deployments, "
            "LeaderWorkerSets, or a PodCliqueSet"
        )
    )
    sets = []
    for name, service in reading.root.at("spec.services").members():
        replicas, nodes = service.number("replicas", 1), service.number("multinode.nodeCount", 1)
        bounds = None
        if service.get("autoscaling.enabled") is True:
            least = service.number("autoscaling.minReplicas", 1)
            bounds = Bounds(least, service.number("autoscaling.maxReplicas", max(replicas, least)))
        place = service.place
        pod = ObjectPart(_dynamo_pod(service), place)
        sets += reading.pod_set(
            name, pod, reading.figures(replicas, pods=nodes, bounds=bounds), inline=True
        )
    return sets


def _dynamo_pod(service: ObjectPart) -> dict[str, Any]:
    """Return the pod of a service: its extra pod spec, with the service's resources in the main
    container.
    """
    spec: dict[str, Any] = dict(service.get("extraPodSpec", {}))
    main = dict(spec.pop("mainContainer", None) or {})
    main.setdefault("name", "main")
    resources: dict[str, Any] = dict(main.get("resources") or {})
    for field in ("requests", "limits"):
        amounts = dict(resources.get(field) or {})
        for name, value in service.get(f"resources.{field}", {}).items():
            if name == "gpu":
                amounts.setdefault(
                    str(service.get("resources.limits.gpuType", "nvidia.com/gpu")), value
                )
            elif name in ("cpu", "memory"):
                amounts.setdefault(name, value)
        if amounts:
            resources[field] = amounts
    claims = service.get("resources.claims")
    if claims:
        resources["claims"] = claims
    main["resources"] = resources
    return {**spec, "containers": [main, *(spec.get("containers") or ())]}


def read_model_deployment(reading: Reading) -> list[PodSet]:
    """Read a ModelDeployment: engines with a leader and, with several nodes, its workers."""
    root = reading.root
    replicas = root.number("spec.replicas", 1)
    base = root.at("spec.template.spec.engines")
    sets = []
    for engine, node in base.members():
        for index, (_, member) in enumerate(node.at("members").members()):
            nodes = member.number("worker.nodes", 0)
            pods = node.number("replicas", 1) * (1 + nodes)
            name = f"{engine}-{member.get('name', index)}"
            sets += reading.pod_set(
                name, member.at("template"), reading.figures(replicas, pods=pods)
            )
    return sets


def read_app_wrapper(reading: Reading) -> list[PodSet]:
    """Read an AppWrapper: each wrapped object is read as its own kind."""
    sets: list[PodSet] = []
    for index, (_, component) in enumerate(reading.root.at("spec.components").members()):
        wrapped = component.at("template")
        if not isinstance(wrapped.data, Mapping):
            continue
        api_version, kind = str(wrapped.get("apiVersion", "")), str(wrapped.get("kind", ""))
        inner = KubernetesObject(api_version, kind, wrapped.data, wrapped.place)
        prefix = str(wrapped.get("metadata.name", index))
        for pod_set in reading.nested(inner):
            name = f"{prefix}-{pod_set.name}" if pod_set.name else prefix
            figures = pod_set.figures
            if reading.suspended:
                figures = type(figures)(0, 0, figures.ceiling, figures.peak)
            sets.append(
                PodSet(
                    name=name, template=pod_set.template, figures=figures, per_node=pod_set.per_node
                )
            )
    return sets
