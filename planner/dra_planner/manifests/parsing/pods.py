"""Pods and pod templates: the fields that the scheduler reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from dra_planner.documents.plain_values import texts
from dra_planner.documents.tree import child
from dra_planner.errors import NOWHERE, Place
from dra_planner.manifests.parsing.fields import (
    Data,
    parse_amounts,
    parse_label_selector,
    parse_node_selector,
    parse_node_term,
    parse_texts,
    text_of,
)
from dra_planner.manifests.parsing.needed_objects import needed_objects
from dra_planner.model import (
    Container,
    ContainerClaim,
    ContainerPort,
    LabelSelector,
    PastClaim,
    PodAffinityTerm,
    PodResourceClaim,
    PodSpec,
    PodTemplate,
    PreferredNodes,
    PreferredPods,
    Requirement,
    Toleration,
    TopologySpreadConstraint,
)

NO_LABELS: Final[Mapping[str, str]] = MappingProxyType({})
SYSTEM_PRIORITIES: Final = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def parse_pod_template(data: Data, place: Place = NOWHERE) -> PodTemplate:
    """Return a pod template (or a pod) after defaulting. `place` is the place of the template."""
    meta = data.get("metadata") or {}
    labels = parse_texts(meta.get("labels"))
    return PodTemplate(
        spec=parse_pod_spec(data.get("spec") or {}, child(place, data, "spec"), labels),
        labels=labels,
        annotations=parse_texts(meta.get("annotations")),
        past_claims=ways_past_claims(data.get("spec") or {}),
        needs=needed_objects(data.get("spec") or {}),
        place=place,
    )


def parse_pod_spec(
    data: Data, place: Place = NOWHERE, labels: Mapping[str, str] = NO_LABELS
) -> PodSpec:
    """Return the parts of a pod that the scheduler reads. `place` is the place of the spec, and
    `labels` are the pod's labels.
    """
    affinity = data.get("affinity") or {}
    host_network = bool(data.get("hostNetwork"))
    priority_class = text_of(data.get("priorityClassName"))
    priority = data.get("priority")
    if priority is None:
        priority = SYSTEM_PRIORITIES.get(priority_class, 0)
    containers, init_containers = (
        tuple(_container(item, host_network) for item in data.get(field) or ())
        for field in ("containers", "initContainers")
    )
    return PodSpec(
        containers=containers,
        init_containers=init_containers,
        pod_requests=_pod_level_requests(
            data.get("resources") or {}, (*containers, *init_containers)
        ),
        overhead=parse_amounts(data.get("overhead")),
        resource_claims=_resource_claims(data, place),
        node_name=text_of(data.get("nodeName")),
        node_selector=parse_texts(data.get("nodeSelector")),
        node_affinity=parse_node_selector((affinity.get("nodeAffinity") or {}).get(_REQUIRED)),
        pod_affinity=_affinity_terms(affinity.get("podAffinity"), labels),
        pod_anti_affinity=_affinity_terms(affinity.get("podAntiAffinity"), labels),
        preferred_nodes=_preferred_nodes(affinity.get("nodeAffinity")),
        preferred_pods=(
            *_preferred_pods(affinity.get("podAffinity"), labels, 1),
            *_preferred_pods(affinity.get("podAntiAffinity"), labels, -1),
        ),
        topology_spread=tuple(
            _spread(item) for item in data.get("topologySpreadConstraints") or ()
        ),
        tolerations=tuple(parse_toleration(item) for item in data.get("tolerations") or ()),
        priority=int(priority),
        priority_class_name=priority_class,
        preemption_policy=data.get("preemptionPolicy") or "PreemptLowerPriority",
        scheduling_gates=tuple(
            text_of(item.get("name")) for item in data.get("schedulingGates") or ()
        ),
        scheduler_name=data.get("schedulerName") or "default-scheduler",
        runtime_class_name=text_of(data.get("runtimeClassName")),
        host_network=host_network,
        pod_group=text_of((data.get("schedulingGroup") or {}).get("podGroupName")),
        zonal_volumes=_zonal_volumes(data.get("volumes") or ()),
    )


def _container(data: Data, host_network: bool) -> Container:
    resources = data.get("resources") or {}
    return Container(
        name=text_of(data.get("name")),
        requests=_requests(resources),
        limits=parse_amounts(resources.get("limits")),
        claims=tuple(
            ContainerClaim(text_of(item.get("name")), text_of(item.get("request")))
            for item in resources.get("claims") or ()
        ),
        ports=tuple(_port(item, host_network) for item in data.get("ports") or ()),
        always_restarts=data.get("restartPolicy") == "Always",
        command=(*texts(data.get("command")), *texts(data.get("args"))),
        written_memory=_written_memory(resources),
    )


def _written_memory(resources: Data) -> tuple[str, str]:
    """Return the memory request and limit as written. A limit without a request is also the
    request.
    """
    limit = text_of((resources.get("limits") or {}).get("memory"))
    return text_of((resources.get("requests") or {}).get("memory")) or limit, limit


def _requests(resources: Data) -> dict[str, int]:
    """Return the requests. A limit without a request is also the request."""
    return parse_amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _pod_level_requests(resources: Data, containers: Iterable[Container]) -> dict[str, int]:
    """Return the pod-level requests. A pod-level limit is also the request, except for CPU and
    memory that containers request.

    Source: kubernetes/kubernetes:pkg/apis/core/v1/defaults.go@v1.36.3 (defaultPodRequests).
    """
    listed = {name for each in containers for name in each.requests} & {"cpu", "memory"}
    limits = resources.get("limits") or {}
    kept = {name: amount for name, amount in limits.items() if name not in listed}
    return _requests({**resources, "limits": kept})


def _port(data: Data, host_network: bool) -> ContainerPort:
    port = int(data.get("containerPort") or 0)
    return ContainerPort(
        container_port=port,
        host_port=int(data.get("hostPort") or (port if host_network else 0)),
        protocol=data.get("protocol") or "TCP",
        host_ip=text_of(data.get("hostIP")),
    )


def _resource_claims(data: Data, place: Place) -> tuple[PodResourceClaim, ...]:
    listed = data.get("resourceClaims") or ()
    if not listed:
        return ()
    at = child(place, data, "resourceClaims")
    return tuple(
        PodResourceClaim(
            name=text_of(item.get("name")),
            resource_claim_name=item.get("resourceClaimName"),
            resource_claim_template_name=item.get("resourceClaimTemplateName"),
            place=child(at, listed, index),
        )
        for index, item in enumerate(listed)
    )


def _affinity_terms(data: Data | None, labels: Mapping[str, str]) -> tuple[PodAffinityTerm, ...]:
    return tuple(_affinity_term(item, labels) for item in (data or {}).get(_REQUIRED) or ())


def _affinity_term(data: Data, labels: Mapping[str, str]) -> PodAffinityTerm:
    return PodAffinityTerm(
        topology_key=text_of(data.get("topologyKey")),
        label_selector=_without_own(data, labels),
        namespaces=tuple(data.get("namespaces") or ()),
        namespace_selector=parse_label_selector(data.get("namespaceSelector")),
        match_label_keys=tuple(data.get("matchLabelKeys") or ()),
    )


def _preferred_nodes(data: Data | None) -> tuple[PreferredNodes, ...]:
    return tuple(
        PreferredNodes(int(item.get("weight") or 0), parse_node_term(item.get("preference") or {}))
        for item in (data or {}).get(_PREFERRED) or ()
    )


def _preferred_pods(
    data: Data | None, labels: Mapping[str, str], sign: int
) -> tuple[PreferredPods, ...]:
    return tuple(
        PreferredPods(
            sign * int(item.get("weight") or 0),
            _affinity_term(item.get("podAffinityTerm") or {}, labels),
        )
        for item in (data or {}).get(_PREFERRED) or ()
    )


def _without_own(data: Data, labels: Mapping[str, str]) -> LabelSelector | None:
    """Return the selector of a term. The server converts `mismatchLabelKeys` to requirements that
    exclude the pod's values. Source:
    kubernetes/kubernetes:pkg/registry/core/pod/strategy.go@v1.36.3
    (applyMatchLabelKeysAndMismatchLabelKeys).
    """
    selector = parse_label_selector(data.get("labelSelector"))
    keys = [text_of(key) for key in data.get("mismatchLabelKeys") or ()]
    if selector is None:
        return None
    others = tuple(Requirement(key, "NotIn", (labels[key],)) for key in keys if key in labels)
    return LabelSelector(
        (*selector.requirements, *(item for item in others if item not in selector.requirements))
    )


def _spread(data: Data) -> TopologySpreadConstraint:
    minimum = data.get("minDomains")
    return TopologySpreadConstraint(
        max_skew=int(data.get("maxSkew") or 1),
        topology_key=text_of(data.get("topologyKey")),
        when_unsatisfiable=data.get("whenUnsatisfiable") or "DoNotSchedule",
        label_selector=parse_label_selector(data.get("labelSelector")),
        min_domains=None if minimum is None else int(minimum),
        node_affinity_policy=data.get("nodeAffinityPolicy") or "Honor",
        node_taints_policy=data.get("nodeTaintsPolicy") or "Ignore",
        match_label_keys=tuple(data.get("matchLabelKeys") or ()),
    )


def parse_toleration(data: Data) -> Toleration:
    seconds = data.get("tolerationSeconds")
    return Toleration(
        key=text_of(data.get("key")),
        operator=data.get("operator") or "Equal",
        value=text_of(data.get("value")),
        effect=text_of(data.get("effect")),
        toleration_seconds=None if seconds is None else int(seconds),
    )


def _zonal_volumes(volumes: Iterable[Data]) -> tuple[str, ...]:
    """Return the volumes of PersistentVolumeClaims, whose zone is known only at run time."""
    names: list[str] = []
    for volume in volumes:
        claim: Any = volume.get("persistentVolumeClaim")
        if claim:
            names.append(text_of(claim.get("claimName")))
        elif volume.get("ephemeral"):
            names.append(text_of(volume.get("name")))
    return tuple(names)


_DEVICE_FILES: Final = ("/dev/nvidia", "/dev/dri", "/dev/vfio")
VISIBLE_DEVICES: Final = "NVIDIA_VISIBLE_DEVICES"
_NOTHING: Final = ("", "void", "none")


def ways_past_claims(spec: Mapping[str, Any]) -> tuple[PastClaim, ...]:
    """Return how a pod spec gets access to GPUs without a claim, each way once."""
    return tuple(dict.fromkeys((*_of_volumes(spec), *_of_containers(spec))))


def _of_volumes(spec: Mapping[str, Any]) -> Iterator[PastClaim]:
    for volume in _mappings(spec.get("volumes")):
        host = volume.get("hostPath")
        path = str(host.get("path") or "") if isinstance(host, Mapping) else ""
        if path.rstrip("/") == "/dev" or path.startswith(_DEVICE_FILES):
            yield PastClaim(f"mounts {path} from the host", f"the {path} mount")


def _of_containers(spec: Mapping[str, Any]) -> Iterator[PastClaim]:
    for container in (*_mappings(spec.get("initContainers")), *_mappings(spec.get("containers"))):
        for variable in _mappings(container.get("env")):
            value = variable.get("value")
            if (
                variable.get("name") == VISIBLE_DEVICES
                and isinstance(value, str)
                and value not in _NOTHING
            ):
                yield PastClaim(f'sets {VISIBLE_DEVICES} to "{value}"', VISIBLE_DEVICES)
        security = container.get("securityContext")
        if isinstance(security, Mapping) and security.get("privileged") is True:
            yield PastClaim("is privileged", "privileged: true")


def _mappings(value: Any) -> Sequence[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
