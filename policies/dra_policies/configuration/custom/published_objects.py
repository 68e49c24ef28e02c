"""The objects that custom rules read in one check, from the same plan that the other rules use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any

from msgspec import Struct

from dra_planner.catalog import HOURS_PER_MONTH
from dra_planner.cel.values import MapValue
from dra_planner.errors import NOWHERE, Place
from dra_planner.model import (
    Demand,
    Member,
    ObjectKey,
    PodSet,
    Shape,
    ShapeClaim,
    Workload,
    WorkloadRef,
)
from dra_planner.plan import Plan
from dra_planner.plan.model import PlannedPool, PlannedWorkload
from dra_planner.plan.nodes.built_placements import built_pools
from dra_planner.plan.nodes.cost_shares import CostShare, cost_shares, namespace_shares
from dra_planner.plan.nodes.groups import FilledNodes, fill_nodes
from dra_policies.configuration.custom.claim_objects import (
    NamedClaim,
    claim_value,
    devices_of,
    written_claims,
)
from dra_policies.configuration.custom.object_types import Subject
from dra_policies.configuration.custom.object_values import (
    add_up,
    in_dollars,
    multiply,
    object_value,
)
from dra_policies.configuration.custom.pool_objects import pool_value, zones_of
from dra_policies.view.stack_view import StackView


class PublishedObject(Struct, frozen=True):
    """An object that a rule checks: its values, its name in messages, and its location."""

    value: MapValue
    name: str
    place: Place = NOWHERE
    urn: str = ""


class _Pods(Struct, frozen=True, kw_only=True):
    """Equal pods of a workload."""

    labels: Mapping[str, str] | None  # None: not known
    replicas: int
    priority_class: str
    claims: tuple[NamedClaim, ...]


class PublishedObjects:
    """The objects of a view, each created on first use."""

    def __init__(self, view: StackView) -> None:
        self._view = view

    def of(self, subject: Subject) -> Iterator[PublishedObject]:
        """Yield the objects that rules for this subject check, in a stable order."""
        match subject:
            case "plan":
                yield PublishedObject(self.plan, "the plan", urn=self._view.judged_urn)
            case "pool":
                yield from self._pools.values()
            case "workload":
                yield from self._workloads.values()
            case "claim":
                yield from self._claims.values()

    @cached_property
    def plan(self) -> MapValue:
        """The plan, with all nested values."""
        plan, fleet = self._plan, None if self._plan is None else self._plan.fleet
        features = self._view.features if plan is None else plan.judgement.features
        values: dict[str, Any] = {
            "stack": self._view.stack,
            "kubernetes": "" if features is None else features.version,
            "workloads": [each.value for each in self._workloads.values()],
            "claims": [each.value for each in self._claims.values()],
        }
        if plan is not None:
            values |= {
                "verdict": plan.placing,
                "nodes": sum(self._nodes(pool) for pool in plan.pools),
                "pools": [each.value for each in self._pools.values()],
            }
        if fleet is not None:
            values |= {"cloud": fleet.cloud, "region": fleet.region, "autoscaler": fleet.autoscaler}
        return object_value("Plan", values, "the plan")

    @cached_property
    def cost(self) -> MapValue:
        """The cost of all pools. A value is unknown if it needs an unknown price."""
        values: dict[str, Any] = {}
        if self._plan is not None and self._plan.fleet is not None:
            pools = self._plan.pools
            hourly = add_up(multiply(pool.hourly_usd, self._nodes(pool)) for pool in pools)
            most = add_up(
                multiply(pool.hourly_usd, pool.maximum * HOURS_PER_MONTH) for pool in pools
            )
            values = {
                "hourly": in_dollars(hourly),
                "monthly": in_dollars(multiply(hourly, HOURS_PER_MONTH)),
                "maxMonthly": in_dollars(most),
            }
            if self._shares is not None:
                shares = namespace_shares(self._shares).items()
                names = {ref.namespace for ref in self._planned}
                monthly = dict.fromkeys(sorted(names), 0.0)
                monthly |= {name: float(usd * HOURS_PER_MONTH) for name, usd in shares}
                values["monthlyByNamespace"] = MapValue.of_strings(monthly)
        return object_value("Cost", values, "the cost")

    # -- the data from which the objects are created

    @cached_property
    def _plan(self) -> Plan | None:
        return None if self._view.plan is None else self._view.plan()

    @cached_property
    def _demand(self) -> Demand:
        return Demand(shapes=()) if self._plan is None else self._plan.demand

    @cached_property
    def _planned(self) -> dict[WorkloadRef, PlannedWorkload]:
        return {} if self._plan is None else {each.workload: each for each in self._plan.workloads}

    @cached_property
    def _filled(self) -> FilledNodes | None:
        return None if self._plan is None else fill_nodes(self._plan)

    @cached_property
    def _built_pools(self) -> Mapping[WorkloadRef, set[str]]:
        return {} if self._plan is None else built_pools(self._plan)

    @cached_property
    def _shares(self) -> tuple[CostShare, ...] | None:
        plan, filled = self._plan, self._filled
        if plan is None or filled is None or plan.cost is None:
            return None
        return cost_shares(plan, filled)

    @cached_property
    def _hourly_by_workload(self) -> dict[WorkloadRef, Decimal]:
        sums: dict[WorkloadRef, Decimal] = {}
        for share in self._shares or ():
            if share.workload is not None:
                sums[share.workload] = sums.get(share.workload, Decimal(0)) + share.hourly_usd
        return sums

    def _nodes(self, pool: PlannedPool) -> int:
        """Return the number of nodes to build, from the plan file if the stack has one."""
        record = self._view.record
        rows = record.plan_file.pools if record is not None and record.plan_file is not None else ()
        return next(
            (row.nodes.desired for row in rows if row.name == pool.name), pool.nodes.desired
        )

    # -- pools

    @cached_property
    def _pools(self) -> dict[str, PublishedObject]:
        if self._plan is None or self._filled is None:
            return {}
        urns = {pool.offer_name: pool.urn for pool in self._view.pools if pool.urn}
        return {
            pool.name: PublishedObject(
                pool_value(self._plan, pool, self._nodes(pool), self._filled.kinds(pool.name)),
                f'pool "{pool.name}"',
                urn=urns.get(pool.name, self._view.judged_urn),
            )
            for pool in self._plan.pools
        }

    # -- workloads

    @cached_property
    def _workloads(self) -> dict[WorkloadRef, PublishedObject]:
        written = self._written_workloads
        places = {ref: workload.place for ref, workload in written.items()}
        pods: dict[WorkloadRef, list[_Pods]] = {}
        for shape in self._demand.shapes:
            for member in shape.members:
                pods.setdefault(member.workload, []).append(self._pods_of_shape(shape, member))
                places.setdefault(member.workload, member.place)
        # their pods can't be created, or their DeviceClasses are unknown
        for ref in written.keys() - pods.keys():
            pods[ref] = [self._pods_of_set(ref, each) for each in written[ref].pod_sets]
        return {
            ref: PublishedObject(
                self._workload(ref, pods[ref]), str(ref), places[ref], self._view.judged_urn
            )
            for ref in sorted(pods)
        }

    def _pods_of_shape(self, shape: Shape, member: Member) -> _Pods:
        return _Pods(
            labels=self._written_labels.get((member.workload, member.pod_set)),
            replicas=member.figures.steady,
            priority_class=shape.pod.priority_class_name,
            claims=tuple(
                self._shape_claim(member.workload, shape, claim) for claim in shape.claims
            ),
        )

    @cached_property
    def _written_labels(self) -> dict[tuple[WorkloadRef, str], Mapping[str, str]]:
        """Labels of pods by workload and pod set. A shape has only the labels that the scheduler
        reads.
        """
        manifests = self._view.manifests
        return {
            (workload.ref, pods.name): pods.template.labels
            for workload in (manifests.workloads if manifests is not None else ())
            for pods in workload.pod_sets
        }

    def _pods_of_set(self, ref: WorkloadRef, pods: PodSet) -> _Pods:
        claims = {(each.kind, each.key): each for each in self._written_claims}
        spec = pods.template.spec
        wanted = (
            ("ResourceClaim", entry.resource_claim_name)
            if entry.resource_claim_name is not None
            else ("ResourceClaimTemplate", entry.resource_claim_template_name or "")
            for entry in spec.resource_claims
        )
        keys = ((kind, ObjectKey(ref.namespace, name)) for kind, name in wanted)
        return _Pods(
            labels=pods.template.labels,
            replicas=pods.figures.steady,
            priority_class=spec.priority_class_name,
            claims=tuple(claims[key] for key in keys if key in claims),
        )

    def _workload(self, ref: WorkloadRef, pods: list[_Pods]) -> MapValue:
        claims, labels = (
            dict.fromkeys(claim for each in pods for claim in each.claims),
            pods[0].labels,
        )
        values: dict[str, Any] = {
            "kind": ref.kind,
            "namespace": ref.namespace,
            "name": ref.name,
            "labels": None if labels is None else MapValue.of_strings(dict(labels)),
            "replicas": sum(each.replicas for each in pods),
            "priorityClass": pods[0].priority_class,
            "claims": [claim_value(claim) for claim in claims],
            "devicesPerPod": max(sum(map(devices_of, each.claims)) for each in pods),
        }
        planned = self._planned.get(ref)
        if planned is not None and self._plan is not None:
            used = self._built_pools[ref]
            built = [pool.name for pool in self._plan.pools if pool.name in used]
            pools = [*built, *sorted(used.difference(built))]
            values |= {
                "verdict": planned.verdicts[self._plan.level],
                "placed": planned.placed,
                "pending": planned.pending,
                "pools": pools,
                **zones_of(self._plan, pools),
            }
            if self._shares is not None:
                hourly = self._hourly_by_workload.get(ref, Decimal(0))
                values |= {
                    "hourlyCost": in_dollars(hourly),
                    "monthlyCost": in_dollars(hourly * HOURS_PER_MONTH),
                }
        return object_value("Workload", values, str(ref))

    # -- claims

    @cached_property
    def _claims(self) -> dict[str, PublishedObject]:
        found = list(self._written_claims)
        for shape in self._demand.shapes:  # claims that only a plan file describes
            for member in shape.members:
                if member.workload not in self._written_workloads:
                    found += [
                        self._shape_claim(member.workload, shape, claim) for claim in shape.claims
                    ]
        return {
            each.title: PublishedObject(
                claim_value(each), each.title, each.place, self._view.judged_urn
            )
            for each in sorted(found, key=lambda each: (each.key, each.kind))
        }

    @cached_property
    def _written_workloads(self) -> dict[WorkloadRef, Workload]:
        manifests = self._view.manifests
        return {each.ref: each for each in (manifests.workloads if manifests is not None else ())}

    @cached_property
    def _written_claims(self) -> tuple[NamedClaim, ...]:
        return written_claims(self._view.manifests)

    def _shape_claim(self, ref: WorkloadRef, shape: Shape, claim: ShapeClaim) -> NamedClaim:
        """Return a pod's claim from its object, or from its entry in the pod if only a plan file
        describes it.
        """
        if claim.shared is not None:
            wanted = ("ResourceClaim", claim.shared)
        else:
            name = self._template_names.get((ref, claim.name), claim.name)
            wanted = ("ResourceClaimTemplate", ObjectKey(ref.namespace, name))
        for each in self._written_claims:
            if (each.kind, each.key) == wanted:
                return each
        kind = wanted[0] if self._view.manifests is None or claim.shared is not None else ""
        return NamedClaim(kind=kind, key=wanted[1], spec=claim.spec, labels=None, place=claim.place)

    @cached_property
    def _template_names(self) -> dict[tuple[WorkloadRef, str], str]:
        """Templates by workload and entry of its pods."""
        manifests = self._view.manifests
        return {
            (workload.ref, entry.name): entry.resource_claim_template_name
            for workload in (manifests.workloads if manifests is not None else ())
            for pods in workload.pod_sets
            for entry in pods.template.spec.resource_claims
            if entry.resource_claim_template_name is not None
        }
