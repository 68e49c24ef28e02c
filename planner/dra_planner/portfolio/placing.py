"""Assign workloads that can run in several clusters, with a lower bound for the cost of all
assignments. The cost of a cluster with some of the workloads is the cost of its plan. Workloads
that share a claim stay together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims import expand_claims
from dra_planner.clouds import cloud
from dra_planner.fleet import Fleet
from dra_planner.manifests import Manifests
from dra_planner.model import DemandLevel, ObjectKey, Verdict, Workload, WorkloadRef
from dra_planner.offers import Offer, predict_offers
from dra_planner.plan import Plan, fleet_classes
from dra_planner.plan.judgement.system_pods import set_aside
from dra_planner.plan.planning import plan_manifests
from dra_planner.portfolio.joint_bound import Block, JointModel
from dra_planner.records import equality
from dra_planner.sizing import Sizer
from dra_planner.sizing.bound.rounding import raise_to_whole_nodes

CLUSTER_LABEL = "cluster.pulumi-dra/"
"""Label prefix of a workload for required labels of its cluster."""
MOST_EXHAUSTIVE = 256
"""Maximum number of assignments for an exhaustive search."""
MOST_PLANS = 2_000
"""Maximum number of plans in the search."""
_MICRO = 1_000_000


@equality(unhashed=("labels",))
class PlacingCluster(Struct, frozen=True, kw_only=True):
    """A cluster: its fleet, and its own manifests together with all workloads to place."""

    name: str
    labels: Mapping[str, str]
    fleet: Fleet
    manifests: Manifests


@equality(unhashed=("clusters",))
class Movable(Struct, frozen=True, kw_only=True):
    """A workload to place, and the labels that its cluster must have."""

    ref: WorkloadRef
    clusters: Mapping[str, str]


class Assigned(Struct, frozen=True, kw_only=True):
    """The cluster of a workload, or "" if no cluster has the labels."""

    workload: WorkloadRef
    cluster: str
    may: tuple[str, ...]


class ClusterAssignment(Struct, frozen=True, kw_only=True):
    """An assignment.

    `cost` and `bound` are for all clusters together, in US dollars per hour or in nodes.

    The cheapest assignment costs at least `bound`, and at most `cost`, which is the packing's cost.
    `hourly_simulated` is the cost of the simulated nodes if it's fully known. `pending` is the
    number of pods without a node.
    """

    verdict: Verdict
    assigned: tuple[Assigned, ...]
    unit: str  # "usd" or "nodes"
    cost: Decimal
    bound: Decimal
    pending: int
    plans: int  # number of plans that were made
    exhaustive: bool
    clusters: tuple[tuple[str, Decimal, int], ...]  # name, cost, and nodes
    hourly_simulated: Decimal | None
    assumptions: tuple[str, ...] = ()

    @property
    def gap(self) -> Decimal:
        """The maximum savings of any other assignment, as a share of this assignment's cost. 0
        means proven optimal.
        """
        return (
            Decimal(0) if not self.cost or self.bound >= self.cost else 1 - self.bound / self.cost
        )


def place_workloads(
    clusters: Sequence[PlacingCluster], movable: Iterable[Movable], level: DemandLevel, steps: int
) -> ClusterAssignment:
    """Return the cheapest assignment found.

    Raises PlannerError for a fleet that can't be planned. `steps` limits the simulation of each
    cluster's plan after the assignment is found.
    """
    search = _Search.of(clusters, movable, level)
    joint = search.joint_model()
    bound, fractional = joint.bound()
    best = search.run(_rounded(search, joint, fractional))
    cost, pending = search.cost(best), search.pending(best)
    if not pending:
        nodes = [pool.minimum for pool in joint.model.pools]
        whole = [int(each) for each in joint.costs]
        bound = raise_to_whole_nodes(min(bound, Fraction(cost)), cost, nodes, joint.model, whole)
    unfit = [group for group, target in zip(search.groups, best, strict=True) if target is None]
    verdict: Verdict = "fits" if not pending and not unfit else "cannot-tell"
    if unfit or (pending and joint.is_too_much()):
        verdict = "does-not-fit"
    final = (
        [search.plan(at, search.chosen(best, at), steps) for at in range(len(clusters))]
        if steps
        else []
    )
    simulated = [
        plan.cost.hourly_usd for plan in final if plan.cost is not None and plan.running == "fits"
    ]
    if final and verdict == "fits" and any(plan.running != "fits" for plan in final):
        verdict = "cannot-tell"
    return ClusterAssignment(
        verdict=verdict,
        assigned=tuple(search.assigned(best)),
        unit="usd" if search.priced else "nodes",
        cost=search.shown(Fraction(cost)),
        bound=search.shown(bound),
        pending=pending,
        plans=len(search.known),
        exhaustive=search.exhaustive,
        clusters=tuple(
            (cluster.name, search.shown(Fraction(each.cost)), each.nodes)
            for at, cluster in enumerate(clusters)
            for each in [search.size(at, search.chosen(best, at))]
        ),
        hourly_simulated=sum(simulated, Decimal(0))
        if final and len(simulated) == len(clusters)
        else None,
        assumptions=search.assumptions,
    )


Assignment = tuple[int | None, ...]
"""The cluster of each group, by position. It's None if no cluster has the labels."""


class _Size(Struct, frozen=True):
    pending: int
    cost: int  # micro-dollars, or nodes
    nodes: int


class _Search(Struct):
    """Groups of workloads, the clusters that each can use, and cached costs of clusters with some
    of them.
    """

    clusters: Sequence[PlacingCluster]
    level: DemandLevel
    groups: tuple[tuple[WorkloadRef, ...], ...]
    targets: tuple[tuple[int, ...], ...]
    offers: tuple[tuple[Offer, ...], ...]
    priced: bool
    assumptions: tuple[str, ...]
    known: dict[tuple[int, frozenset[int]], _Size] = {}
    exhaustive: bool = False

    @classmethod
    def of(
        cls, clusters: Sequence[PlacingCluster], movable: Iterable[Movable], level: DemandLevel
    ) -> _Search:
        wanted = {each.ref: each.clusters for each in movable}
        workloads = {
            each.ref: each
            for cluster in clusters
            for each in cluster.manifests.workloads
            if each.ref in wanted
        }
        groups = _groups(workloads)
        targets = tuple(
            tuple(
                at for at, cluster in enumerate(clusters) if _may(cluster, group, workloads, wanted)
            )
            for group in groups
        )
        offers = tuple(predict_offers(each.fleet, each.fleet.features) for each in clusters)
        priced = all(offer.hourly_usd is not None for pools in offers for offer in pools)
        notes = (
            () if priced else ("a price is unknown, so the search compares clusters by node count",)
        )
        return cls(clusters, level, groups, targets, offers, priced, notes)

    # -- plans

    def plan(self, at: int, chosen: frozenset[int], steps: int) -> Plan:
        """Return the plan of a cluster with some groups."""
        cluster = self.clusters[at]
        away = {
            ref for index, group in enumerate(self.groups) if index not in chosen for ref in group
        }
        manifests = replace(
            cluster.manifests,
            workloads=tuple(each for each in cluster.manifests.workloads if each.ref not in away),
        )
        features = cluster.fleet.features
        return plan_manifests(
            manifests,
            cluster.fleet,
            features,
            level=self.level,
            steps=steps,
            offers=self.offers[at],
        )

    def size(self, at: int, chosen: frozenset[int]) -> _Size:
        """Return the cost of a cluster with some groups."""
        key = (at, chosen)
        if key not in self.known:
            sizing = self.plan(at, chosen, 0).judgement.sizing
            nodes = sizing.nodes_plan
            cost = int((sizing.hourly_plan or Decimal(0)) * _MICRO) if self.priced else nodes
            self.known[key] = _Size(sum(each.pending for each in sizing.workloads), cost, nodes)
        return self.known[key]

    def chosen(self, assignment: Assignment, at: int) -> frozenset[int]:
        return frozenset(index for index, target in enumerate(assignment) if target == at)

    def cost(self, assignment: Assignment) -> int:
        return sum(
            self.size(at, self.chosen(assignment, at)).cost for at in range(len(self.clusters))
        )

    def pending(self, assignment: Assignment) -> int:
        return sum(
            self.size(at, self.chosen(assignment, at)).pending for at in range(len(self.clusters))
        )

    def rank(self, assignment: Assignment) -> tuple[int, int]:
        return self.pending(assignment), self.cost(assignment)

    # -- search

    def run(self, starts: Iterable[Assignment]) -> Assignment:
        """Return the best assignment found."""
        free = [index for index, targets in enumerate(self.targets) if targets]
        if prod(len(self.targets[index]) for index in free) <= MOST_EXHAUSTIVE:
            self.exhaustive = True
            return min(self._all(free), key=lambda each: (self.rank(each), _key(each)))
        found = [self._improved(start) for start in (self._greedy(), *starts)]
        return min(found, key=lambda each: (self.rank(each), _key(each)))

    def _all(self, free: Sequence[int]) -> Iterable[Assignment]:
        found: list[Assignment] = [(None,) * len(self.groups)]
        for index in free:
            found = [
                (*each[:index], target, *each[index + 1 :])
                for each in found
                for target in self.targets[index]
            ]
        return found

    def _greedy(self) -> Assignment:
        """Assign each group to the cluster where it adds the lowest cost, starting with the groups
        with the highest cost.
        """

        def added(index: int, at: int, before: frozenset[int]) -> tuple[int, int]:
            one, other = self.size(at, before | {index}), self.size(at, before)
            return one.pending - other.pending, one.cost - other.cost

        none: frozenset[int] = frozenset()
        order = sorted(
            (index for index, targets in enumerate(self.targets) if targets),
            key=lambda index: (min(added(index, at, none) for at in self.targets[index]), -index),
            reverse=True,
        )
        result: list[int | None] = [None] * len(self.groups)
        for index in order:
            result[index] = min(
                self.targets[index],
                key=lambda at: (added(index, at, self.chosen(tuple(result), at)), at),
            )
        return tuple(result)

    def _improved(self, start: Assignment) -> Assignment:
        """Move single groups and swap pairs, as long as it helps and plans remain."""
        best, rank = start, self.rank(start)
        helps = True
        while helps and len(self.known) < MOST_PLANS:
            helps = False
            for other in self._neighbours(best):
                if len(self.known) >= MOST_PLANS:
                    break
                if (found := self.rank(other)) < rank:
                    best, rank, helps = other, found, True
                    break
        return best

    def _neighbours(self, one: Assignment) -> Iterable[Assignment]:
        for index, targets in enumerate(self.targets):
            for at in targets:
                if at != one[index]:
                    yield (*one[:index], at, *one[index + 1 :])
        for first in range(len(one)):
            for second in range(first + 1, len(one)):
                a, b = one[first], one[second]
                if a != b and b in self.targets[first] and a in self.targets[second]:
                    yield (*one[:first], b, *one[first + 1 : second], a, *one[second + 1 :])

    # -- answer

    def joint_model(self) -> JointModel:
        """Return the relaxation over all clusters."""
        movable = {
            ref: frozenset(targets)
            for group, targets in zip(self.groups, self.targets, strict=True)
            for ref in group
            if targets
        }
        return JointModel.of([self._block(at) for at in range(len(self.clusters))], movable)

    def _block(self, at: int) -> Block:
        cluster, offers = self.clusters[at], self.offers[at]
        features = cluster.fleet.features
        here = {
            ref
            for group, targets in zip(self.groups, self.targets, strict=True)
            for ref in group
            if at in targets
        }
        movable = {ref for group in self.groups for ref in group}
        manifests = replace(
            cluster.manifests,
            workloads=tuple(
                each
                for each in cluster.manifests.workloads
                if each.ref not in movable or each.ref in here
            ),
        )
        classes = {**fleet_classes(cluster.fleet, features), **manifests.classes}
        tolerates = cloud(cluster.fleet.cloud).tolerates_extended_resources
        demand = expand_claims(manifests, classes, features, tolerates_extended_resources=tolerates)
        on_gpus, elsewhere = set_aside(demand, offers)
        sizer = Sizer.of(on_gpus, offers, classes, features, limits=cluster.fleet.limits)
        prices = [Fraction(offer.hourly_usd or 0) * _MICRO for offer in sizer.offers]
        blocked = frozenset((each.member.workload, each.member.pod_set) for each in demand.blocked)
        return Block.of(
            sizer,
            self.level,
            prices if self.priced else [Fraction(1)] * len(prices),
            self.plan(at, frozenset(), 0).judgement.sizing,
            elsewhere,
            blocked,
        )

    def assigned(self, assignment: Assignment) -> Iterable[Assigned]:
        for group, targets, target in zip(self.groups, self.targets, assignment, strict=True):
            for ref in group:
                yield Assigned(
                    workload=ref,
                    cluster="" if target is None else self.clusters[target].name,
                    may=tuple(self.clusters[at].name for at in targets),
                )

    def shown(self, cost: Fraction) -> Decimal:
        """Return a cost in its unit. Dollars are rounded down to a millionth."""
        if self.priced:
            return Decimal(int(cost)) / _MICRO
        return Decimal(-(-cost.numerator // cost.denominator))


def _rounded(
    search: _Search, joint: JointModel, fractional: Mapping[tuple[int, int], float]
) -> list[Assignment]:
    """Return the assignment of each group to the cluster that runs most of the group in the
    relaxation.
    """
    if not fractional:
        return []
    mass: dict[tuple[WorkloadRef, int], float] = {}
    for (item, pool), amount in fractional.items():
        refs, pods = joint.tokens.get(item, (frozenset[WorkloadRef](), 1))
        for ref in refs:
            key = (ref, joint.cluster_of[pool])
            mass[key] = mass.get(key, 0.0) + amount / pods
    return [
        tuple(
            max(targets, key=lambda at: (sum(mass.get((ref, at), 0.0) for ref in group), -at))
            if targets
            else None
            for group, targets in zip(search.groups, search.targets, strict=True)
        )
    ]


def _may(
    cluster: PlacingCluster,
    group: Iterable[WorkloadRef],
    workloads: Mapping[WorkloadRef, Workload],
    wanted: Mapping[WorkloadRef, Mapping[str, str]],
) -> bool:
    """Return whether a cluster has the labels that a group's workloads and the portfolio
    require.
    """
    here = {each.ref for each in cluster.manifests.workloads}
    for ref in group:
        own = {
            key.removeprefix(CLUSTER_LABEL): value
            for key, value in workloads[ref].meta.labels.items()
            if key.startswith(CLUSTER_LABEL)
        }
        required = (*wanted[ref].items(), *own.items())
        if ref not in here or any(cluster.labels.get(key) != value for key, value in required):
            return False
    return True


def _groups(workloads: Mapping[WorkloadRef, Workload]) -> tuple[tuple[WorkloadRef, ...], ...]:
    """Return groups of workloads that share a claim, sorted by name."""
    group_of: dict[WorkloadRef, int] = {}
    by_claim: dict[ObjectKey, int] = {}
    for number, ref in enumerate(sorted(workloads)):
        keys = {
            ObjectKey(ref.namespace, entry.resource_claim_name)
            for pods in workloads[ref].pod_sets
            for entry in pods.template.spec.resource_claims
            if entry.resource_claim_name
        }
        same = {by_claim[key] for key in keys if key in by_claim}
        mine = min(same, default=number)
        for other, at in list(group_of.items()):
            group_of[other] = mine if at in same else at
        by_claim = {key: mine if at in same else at for key, at in by_claim.items()}
        group_of[ref] = mine
        by_claim.update(dict.fromkeys(keys, mine))
    groups: dict[int, list[WorkloadRef]] = {}
    for ref, number in group_of.items():
        groups.setdefault(number, []).append(ref)
    return tuple(tuple(sorted(group)) for group in groups.values())


def _key(assignment: Assignment) -> tuple[int, ...]:
    return tuple(-1 if target is None else target for target in assignment)
