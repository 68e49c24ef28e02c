"""Pods and pod templates: the fields that the scheduler reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dra_planner.manifests.parsing.pods import SYSTEM_PRIORITIES
from dra_planner.manifests.rendering.fields import (
    compact,
    render_amounts,
    render_label_selector,
    render_node_selector,
    render_node_term,
)
from dra_planner.model import (
    Amounts,
    Container,
    ContainerPort,
    PodAffinityTerm,
    PodSpec,
    PodTemplate,
    PreferredPods,
    Toleration,
    TopologySpreadConstraint,
)

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def render_pod_template(template: PodTemplate) -> dict[str, Any]:
    """Return a pod template: its spec, and its metadata unless it's empty."""
    metadata = compact(
        labels=dict(sorted(template.labels.items())),
        annotations=dict(sorted(template.annotations.items())),
    )
    return {**({"metadata": metadata} if metadata else {}), "spec": render_pod_spec(template.spec)}


def render_pod_spec(spec: PodSpec) -> dict[str, Any]:
    """Return the fields of a pod that the scheduler reads."""
    return compact(
        containers=[_container(container, spec.host_network) for container in spec.containers],
        initContainers=[
            _container(container, spec.host_network) for container in spec.init_containers
        ],
        resources=compact(requests=render_amounts(spec.pod_requests)),
        overhead=render_amounts(spec.overhead),
        resourceClaims=[
            compact(
                name=claim.name,
                resourceClaimName=claim.resource_claim_name,
                resourceClaimTemplateName=claim.resource_claim_template_name,
            )
            for claim in spec.resource_claims
        ],
        nodeName=spec.node_name,
        nodeSelector=dict(sorted(spec.node_selector.items())),
        affinity=_affinity(spec),
        topologySpreadConstraints=[_spread(constraint) for constraint in spec.topology_spread],
        tolerations=[_toleration(toleration) for toleration in spec.tolerations],
        priority=None
        if spec.priority == SYSTEM_PRIORITIES.get(spec.priority_class_name, 0)
        else spec.priority,
        priorityClassName=spec.priority_class_name,
        preemptionPolicy=None
        if spec.preemption_policy == "PreemptLowerPriority"
        else spec.preemption_policy,
        schedulingGates=[{"name": gate} for gate in spec.scheduling_gates],
        schedulerName=None if spec.scheduler_name == "default-scheduler" else spec.scheduler_name,
        runtimeClassName=spec.runtime_class_name,
        hostNetwork=spec.host_network,
        schedulingGroup=compact(podGroupName=spec.pod_group),
        volumes=[
            {"name": name, "persistentVolumeClaim": {"claimName": name}}
            for name in spec.zonal_volumes
        ],
    )


def _container(container: Container, host_network: bool) -> dict[str, Any]:
    claims = [compact(name=claim.name, request=claim.request) for claim in container.claims]
    return compact(
        name=container.name,
        resources=compact(
            claims=claims,
            limits=render_amounts(container.limits),
            requests=render_amounts(_beyond_limits(container.requests, container.limits)),
        ),
        ports=[_port(port, host_network) for port in container.ports],
        restartPolicy="Always" if container.always_restarts else None,
    )


def _beyond_limits(requests: Amounts, limits: Amounts) -> Amounts:
    return {name: amount for name, amount in requests.items() if limits.get(name) != amount}


def _port(port: ContainerPort, host_network: bool) -> dict[str, Any]:
    implied = port.container_port if host_network else 0
    return compact(
        containerPort=port.container_port,
        hostPort=port.host_port if port.host_port != implied else None,
        protocol=None if port.protocol == "TCP" else port.protocol,
        hostIP=port.host_ip,
    )


def _affinity(spec: PodSpec) -> dict[str, Any]:
    nodes = [
        {"weight": each.weight, "preference": render_node_term(each.term)}
        for each in spec.preferred_nodes
    ]
    return compact(
        nodeAffinity=compact(
            **{_REQUIRED: render_node_selector(spec.node_affinity), _PREFERRED: nodes}
        ),
        podAffinity=_pod_affinity(
            spec.pod_affinity, (each for each in spec.preferred_pods if each.weight > 0)
        ),
        podAntiAffinity=_pod_affinity(
            spec.pod_anti_affinity, (each for each in spec.preferred_pods if each.weight <= 0)
        ),
    )


def _pod_affinity(
    required: Iterable[PodAffinityTerm], preferred: Iterable[PreferredPods]
) -> dict[str, Any]:
    weighted = [
        {"weight": abs(each.weight), "podAffinityTerm": _affinity_term(each.term)}
        for each in preferred
    ]
    return compact(**{_REQUIRED: [_affinity_term(term) for term in required], _PREFERRED: weighted})


def _affinity_term(term: PodAffinityTerm) -> dict[str, Any]:
    rendered = compact(
        topologyKey=term.topology_key,
        namespaces=list(term.namespaces),
        matchLabelKeys=list(term.match_label_keys),
    )
    return {
        **rendered,
        **_selector("labelSelector", render_label_selector(term.label_selector)),
        **_selector("namespaceSelector", render_label_selector(term.namespace_selector)),
    }


def _selector(name: str, selector: dict[str, Any] | None) -> dict[str, Any]:
    """Return the selector field. An empty selector stays, because it matches everything."""
    return {} if selector is None else {name: selector}


def _spread(constraint: TopologySpreadConstraint) -> dict[str, Any]:
    rendered = compact(
        maxSkew=constraint.max_skew,
        topologyKey=constraint.topology_key,
        whenUnsatisfiable=constraint.when_unsatisfiable,
        minDomains=constraint.min_domains,
        nodeAffinityPolicy=None
        if constraint.node_affinity_policy == "Honor"
        else constraint.node_affinity_policy,
        nodeTaintsPolicy=None
        if constraint.node_taints_policy == "Ignore"
        else constraint.node_taints_policy,
        matchLabelKeys=list(constraint.match_label_keys),
    )
    return {
        **rendered,
        **_selector("labelSelector", render_label_selector(constraint.label_selector)),
    }


def _toleration(toleration: Toleration) -> dict[str, Any]:
    return compact(
        key=toleration.key,
        operator=None if toleration.operator == "Equal" else toleration.operator,
        value=toleration.value,
        effect=toleration.effect,
        tolerationSeconds=toleration.toleration_seconds,
    )
