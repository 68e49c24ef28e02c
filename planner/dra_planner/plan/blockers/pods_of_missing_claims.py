"""Pods whose claims aren't in the manifests: pods that no pool with devices accepts for another
reason, and pods that also request devices as extended resources.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.allocation import Refusal, reasons_of
from dra_planner.claims.admission.runtime_classes import with_runtime_class
from dra_planner.claims.extended_resources import tolerate_extended_resources
from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.claims.pod_equality import strip
from dra_planner.drivers import publishers_of
from dra_planner.model import Container, Demand, Reason, Shape, Workload
from dra_planner.model.pods import PodTemplate
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.sizing import DoubtfulPlace


def find_pods_of_missing_claims(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads whose pods, without their claims, fit no node with devices.

    The missing claims might not request a device, so the verdict stays *cannot tell*.
    """
    manifests = situation.manifests
    if not any(offer.slices for offer in situation.offers):
        return
    for workload, pod_set in pod_sets_with_claims(manifests):
        if workload.ref in manifests.existing or pod_set.per_node:
            continue
        namespace, spec = workload.meta.namespace, pod_set.template.spec
        if all(spec_of(manifests, namespace, each) for each in spec.resource_claims):
            continue
        reason = _reason(workload, pod_set.template, situation)
        if reason is not None:
            yield Blocker(
                code="pod-cannot-be-scheduled",
                message=f"{workload.ref}: no pool with devices accepts its pods, regardless "
                f"of the devices that they claim, because {reason.message}",
                fix=reason.fix,
                place=workload.place,
                workloads=(workload.ref,),
                verdict="cannot-tell",
            )


def _reason(
    workload: Workload, template: PodTemplate, situation: ClusterSituation
) -> Reason | None:
    """Return the first reason of the pool that is the nearest miss, or None if a pool might accept
    the pod.
    """
    pod = strip(with_runtime_class(template.spec, situation.manifests.runtime_classes))
    if situation.cloud is None or situation.cloud.tolerates_extended_resources:
        pod = tolerate_extended_resources(pod)
    shape = Shape(
        id=str(workload.ref),
        namespace=workload.meta.namespace,
        labels=template.labels,
        pod=pod,
        claims=(),
        members=(),
    )
    place, found = DoubtfulPlace(), list[tuple[Reason, ...]]()
    demand = Demand(shapes=(shape,))
    for offer in situation.offers:
        if not offer.slices:
            continue
        node, _ = place.open(offer, situation.classes, situation.features, demand)
        answer = place(shape, node)
        if not isinstance(answer, Refusal) or not _is_certain(answer):
            return None
        found.append(reasons_of(answer))
    return min(found, key=len)[0] if found else None


def _is_certain(refusal: Refusal) -> bool:
    """Return whether claims can't change a rejection. Claims can serve extended resources."""
    misfit = refusal.misfit
    if misfit is None:
        return False
    return misfit.filter != "resources" or not any("/" in name for name, _, _ in misfit.shortages)


def find_doubled_requests(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield containers that get devices twice if their missing claim requests such devices."""
    manifests = situation.manifests
    for workload, pod_set in pod_sets_with_claims(manifests):
        spec = pod_set.template.spec
        missing = {
            each.name
            for each in spec.resource_claims
            if spec_of(manifests, workload.meta.namespace, each) is None
        }
        for container in (*spec.containers, *spec.init_containers):
            claims = [each.name for each in container.claims if each.name in missing]
            for resource in _device_resources(container) if claims else ():
                yield fact(
                    f'{workload.ref}: container "{container.name}" requests {resource} and also '
                    f'uses claim "{claims[0]}", so it gets devices twice if the claim requests '
                    "them too",
                    f"if the claim replaces {resource}, remove {resource} from the container's "
                    "limits and requests, and add a toleration for the nodes' taint, because the "
                    "API server adds tolerations only for extended resources",
                    workload.ref,
                    place=workload.place,
                )


def _device_resources(container: Container) -> list[str]:
    """Return the extended resources of a container whose devices a DRA driver can publish."""
    return sorted(
        name
        for name, amount in container.requests.items()
        if amount and "/" in name and publishers_of(name)
    )
