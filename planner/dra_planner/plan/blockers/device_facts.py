"""Facts that affect pods' devices and that no other check reports, each with its consequence."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.allocation.node.selectors import tolerates
from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.manifests.completeness import GIVEN_NAMESPACES, defined_namespaces, is_missing
from dra_planner.manifests.workloads.kind_description import SUSPENDED
from dra_planner.model import ClaimSpec, DeviceTaintRule, Workload, WorkloadRef
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.plan.blockers.drivers.autoscaler_memory import find_memory_that_starts_no_node
from dra_planner.plan.blockers.drivers.notes import find_driver_notes
from dra_planner.plan.blockers.idle_configuration import find_idle_configuration
from dra_planner.plan.blockers.idle_devices import find_idle_devices
from dra_planner.plan.blockers.limited_tolerations import find_limited_tolerations
from dra_planner.plan.blockers.pods_of_missing_claims import find_doubled_requests
from dra_planner.plan.blockers.scheduler_bugs import find_crashing_claims, find_stuck_shared_claims
from dra_planner.plan.blockers.server_gpus import (
    connects_mig_devices,
    find_different_flags,
    find_ray_workers_without_gpus,
    is_mig_class,
)
from dra_planner.plan.blockers.topology.spread_domains import find_idle_domains


def find_facts(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield all facts of a situation."""
    yield from _taint_rules(situation)
    yield from _namespaces(situation)
    yield from _suspended(situation)
    yield from _idle_in_init_containers(situation)
    yield from _partitions(situation)
    yield from find_idle_configuration(situation)
    yield from find_stuck_shared_claims(situation)
    yield from find_crashing_claims(situation)
    yield from find_doubled_requests(situation)
    yield from find_idle_devices(situation)
    yield from find_idle_domains(situation)
    yield from find_driver_notes(situation)
    yield from find_memory_that_starts_no_node(situation)
    yield from find_ray_workers_without_gpus(situation)
    yield from find_different_flags(situation)


def _taint_rules(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield the effects of DeviceTaintRules. The allocation only reads the rules' taints."""
    for rule in sorted(situation.manifests.taint_rules, key=lambda each: each.meta.name):
        title, taint = f"DeviceTaintRule {rule.meta.name}", rule.taint
        fields = (("driver", rule.driver), ("pool", rule.pool), ("device", rule.device))
        parts = [f"{name} {value}" for name, value in fields if value is not None]
        devices = (
            f"the devices of {', '.join(parts)}"
            if parts
            else "every device, because its deviceSelector is empty"
        )
        if not situation.features.device_taint_rules:
            text = f"{title} has no effect, because the DRADeviceTaintRules feature gate is off"
            yield fact(text, place=rule.meta.place)
            continue
        if rule.pool is not None and not situation.manifests.nodes:
            text = f"{title} taints the devices of node {rule.pool}, which isn't in the plan"
            yield fact(text, place=rule.meta.place)
            continue
        text = (
            f"{title} taints {devices}, so claims for these devices need a toleration for "
            f"{taint.key}:{taint.effect}"
        )
        if taint.effect == "NoExecute":
            refs = tuple(_evicted(situation, rule))
            names = ", ".join(f"{ref.namespace}/{ref.name}" for ref in refs)
            evicted = (
                f". The rule evicts the running pods of {names}"
                if names
                else ". The rule doesn't evict any of the pods in these manifests"
            )
            text += evicted
            yield from find_limited_tolerations(situation, rule)
        elif taint.effect == "None":
            text = f"{title} taints {devices}, but its effect is None, so the taint does nothing"
        yield fact(text, place=rule.meta.place)


def _evicted(situation: ClusterSituation, rule: DeviceTaintRule) -> Iterator[WorkloadRef]:
    manifests, seen = situation.manifests, set[WorkloadRef]()
    for workload, pod_set in pod_sets_with_claims(manifests):
        for entry in pod_set.template.spec.resource_claims:
            spec = spec_of(manifests, workload.meta.namespace, entry)
            if spec is not None and _is_evicted(spec, rule) and workload.ref not in seen:
                seen.add(workload.ref)
                yield workload.ref


def _is_evicted(spec: ClaimSpec, rule: DeviceTaintRule) -> bool:
    ways = [way for request in spec.requests for way in request.alternatives]
    return any(not any(tolerates(each, rule.taint) for each in way.tolerations) for way in ways)


def _namespaces(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield namespaces that no manifest creates, if manifests create other namespaces."""
    manifests = situation.manifests
    defined = defined_namespaces(manifests)
    if not defined:
        return
    used: dict[str, list[WorkloadRef]] = {}
    for workload in manifests.workloads:
        if workload.ref not in manifests.existing:
            used.setdefault(workload.meta.namespace, []).append(workload.ref)
    for name in sorted(used.keys() - defined - {*GIVEN_NAMESPACES}):
        if is_missing(manifests, "Namespace", name):
            continue
        text = (
            f'Namespace "{name}" isn\'t in the manifests. Until the namespace exists, the '
            "API server rejects all of its objects"
        )
        fix = f'add a manifest for Namespace "{name}", or create the namespace first'
        yield fact(text, fix, *dict.fromkeys(used[name]))


def _suspended(situation: ClusterSituation) -> Iterator[Blocker]:
    manifests = situation.manifests
    for workload in manifests.workloads:
        if SUSPENDED in workload.assumptions and workload.ref not in manifests.existing:
            text = f"{workload.ref} {SUSPENDED}"
            yield fact(text, "", workload.ref, place=workload.place)
        elif _is_paused(workload) and workload.ref not in manifests.existing:
            text = (
                f"{workload.ref} is paused and doesn't create pods until you resume it, but the "
                "plan counts its pods"
            )
            yield fact(text, "remove paused", workload.ref, place=workload.place)


def _is_paused(workload: Workload) -> bool:
    return workload.kind == "Deployment" and any(
        pods.rollout is not None and pods.rollout.kept for pods in workload.pod_sets
    )


def _idle_in_init_containers(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield claims that only init containers use. Their devices stay allocated as long as the pod
    exists.
    """
    for workload, pod_set in pod_sets_with_claims(situation.manifests):
        spec = pod_set.template.spec
        lasting = (
            *spec.containers,
            *(each for each in spec.init_containers if each.always_restarts),
        )
        used = {claim.name for container in lasting for claim in container.claims}
        at_start = {
            claim.name for container in spec.init_containers for claim in container.claims
        } - used
        for name in sorted(at_start):
            text = (
                f'{workload.ref}: only an init container uses claim "{name}", but its devices '
                "stay allocated until the pod terminates"
            )
            yield fact(
                text,
                "use the claim in a regular container, or move this work to a Job",
                workload.ref,
            )


def _partitions(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield containers with several MIG devices, because CUDA enumerates only one of them.

    Source: NVIDIA, "MIG User Guide", section "CUDA Device Enumeration".
    """
    manifests = situation.manifests
    for workload, pod_set in pod_sets_with_claims(manifests):
        spec = pod_set.template.spec
        partitions: dict[str, int] = {}
        for entry in spec.resource_claims:
            claim = spec_of(manifests, workload.meta.namespace, entry)
            ways = (
                [request.alternatives[:1] for request in claim.requests]
                if claim is not None
                else []
            )
            partitions[entry.name] = sum(
                way.count
                for found in ways
                for way in found
                if is_mig_class(way.device_class_name, situation)
            )
        for container in spec.containers:
            slices = sum(
                partitions.get(each.name, 0) for each in container.claims if not each.request
            )
            if slices > 1 and not connects_mig_devices(situation, workload, pod_set, container):
                text = (
                    f'{workload.ref}: container "{container.name}" gets {slices} MIG devices, but '
                    "a CUDA process uses "
                    "only one of them"
                )
                fix = "request one larger MIG profile, or a whole GPU"
                yield fact(text, fix, workload.ref, place=workload.place)
