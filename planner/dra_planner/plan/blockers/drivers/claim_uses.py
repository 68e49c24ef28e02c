"""Uses of a claim for which a driver can't prepare devices, so the pods never start."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.claims.requested_drivers import driver_of_request
from dra_planner.drivers import driver_of
from dra_planner.drivers.protocol.driver import PodUse
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation


def find_unprepared_uses(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield every use of a claim that keeps containers from starting."""
    manifests = situation.manifests
    classes = {**situation.classes, **manifests.classes}
    for workload, pod_set in pod_sets_with_claims(manifests):
        spec = pod_set.template.spec
        for entry in spec.resource_claims:
            claim = spec_of(manifests, workload.meta.namespace, entry)
            ways = [
                way for request in (claim.requests if claim else ()) for way in request.alternatives
            ]
            users = tuple(
                each.name
                for each in (*spec.containers, *spec.init_containers)
                if any(used.name == entry.name for used in each.claims)
            )
            for domain in sorted({driver_of_request(way, classes) for way in ways}):
                driver = driver_of(domain)
                own = [way for way in ways if driver_of_request(way, classes) == domain]
                use = PodUse(
                    claim=entry.name,
                    containers=users,
                    capacities=tuple(way.capacity for way in own),
                )
                for fault in driver.pod_faults(use, situation.features) if driver else ():
                    yield Blocker(
                        code="driver-config-refused",
                        message=f"{workload.ref}: {fault.message}, so the pod never starts",
                        fix=fault.fix,
                        place=pod_set.template.place
                        if pod_set.template.place.file
                        else workload.place,
                        workloads=(workload.ref,),
                    )
