"""Prepare the simulation of a demand on nodes: kinds of pods with their rules, the initial cluster,
and the controllers of pods.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count as numbers
from itertools import groupby

from msgspec import Struct, field
from msgspec.structs import replace

from dra_planner.allocation import NodeState, open_offer, sight_of
from dra_planner.allocation.node.filters import reject_for_good
from dra_planner.model import (
    Demand,
    DemandLevel,
    DeviceClass,
    Member,
    Node,
    ObjectKey,
    PodQuotas,
    PodSetKey,
    Rollout,
    Shape,
    Toleration,
    WorkloadRef,
)
from dra_planner.offers import Offer
from dra_planner.releases import Features
from dra_planner.simulation.cluster.cluster import (
    PlacedPod,
    SharedClaim,
    SimulatedPod,
    Start,
    usable_nodes,
)
from dra_planner.simulation.cluster.equal_nodes import Distinctions, share_states
from dra_planner.simulation.cluster.nodes import SimulatedNode, interleave_zones
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.pod_requests import CpuMemory, scored_amounts
from dra_planner.simulation.cluster.stages import NodeStage, Stages
from dra_planner.simulation.existing_pods import (
    existing_pods,
    members_in_order,
    siblings_of,
    terminating_pods,
)
from dra_planner.simulation.known_answers import KnownAnswers
from dra_planner.simulation.plugins import PLUGINS
from dra_planner.simulation.scheduler.pod_rules import PodRules
from dra_planner.simulation.scheduler.profile import Profile
from dra_planner.simulation.scheduler.score_cache import Weighing
from dra_planner.simulation.scheduler.scoring import Scoring
from dra_planner.simulation.scheduler.stage_scores import Standings
from dra_planner.simulation.workloads.controllers import (
    BARE_POD,
    UNBOUNDED,
    Controller,
    Ordered,
    PerNode,
    Replicas,
)
from dra_planner.simulation.workloads.disruption_budgets import Budget, compile_budgets
from dra_planner.simulation.workloads.rollouts import RollingOrdered, RollingReplicas

_LABELS = frozenset[str]().union(*(each.labels for each in PLUGINS))
_OF_DAEMONS = (
    *(
        Toleration(f"node.kubernetes.io/{key}", "Exists", "", "NoExecute")
        for key in ("not-ready", "unreachable")
    ),
    *(
        Toleration(f"node.kubernetes.io/{key}", "Exists", "", "NoSchedule")
        for key in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    ),
)
"""Tolerations that the DaemonSet controller adds to each pod:
kubernetes/kubernetes:pkg/controller/daemon/util/daemonset_util.go @v1.36.3.
"""


class Setting(Struct, frozen=True, kw_only=True):
    """The common input of all pod arrival orders. `stages` and `standings` are cached between
    orders.
    """

    nodes: tuple[SimulatedNode, ...]
    kinds: tuple[PodKind, ...]
    rules: tuple[PodRules, ...]  # by the kind's number
    scoring: Scoring
    standings: tuple[Standings, ...]  # by the kind's number
    weighing: Weighing
    stages: Stages
    start: Start
    members: tuple[tuple[Member, PodKind], ...]  # in document order
    running: Mapping[ObjectKey, SimulatedPod]  # pods that already exist, by name
    level: DemandLevel
    budgets: tuple[Budget, ...] = ()
    quotas: PodQuotas | None = None  # quotas that admit pods as they arrive
    # pending pods of earlier templates
    leaving: Mapping[PodSetKey, Sequence[SimulatedPod]] = {}
    # DaemonSet pods that quotas admit
    daemon_room: Mapping[PodSetKey, int] = {}
    # pods that aren't admitted
    refused: Mapping[PodSetKey, int] = field(default_factory=Counter[PodSetKey])
    # pods that are deleted before pods with the same name are created
    ending: tuple[ObjectKey, ...] = ()
    # pods that are deleted only after their replacements are created
    lasting: tuple[ObjectKey, ...] = ()

    def documents(self) -> list[list[Controller]]:
        """Return new controllers, grouped by document."""
        index: dict[WorkloadRef, Iterator[int]] = defaultdict(numbers)
        found = [each for each in self.members if not each[0].leaving]
        by_document = groupby(
            found, lambda each: not each[0].ahead and (each[0].place, each[0].workload)
        )
        return [[self._charged(*each, index) for each in group] for _, group in by_document]

    def _charged(
        self, member: Member, kind: PodKind, index: Mapping[WorkloadRef, Iterator[int]]
    ) -> Controller:
        """Return the controller of a member. If there are quotas, they limit the number of its
        pods.
        """
        wanted, quotas, key = (
            member.figures.at(self.level) or 0,
            self.quotas,
            (member.workload, member.pod_set),
        )
        if quotas is None or key not in quotas.charges:
            return self._controller(member, kind, wanted, index)
        refused = quotas.refused.get(key)
        more = 0 if refused is None else refused.at(self.level) or 0
        made = self._controller(member, kind, wanted + more, index)
        made.charges = quotas.charges[key]
        return made

    def _controller(
        self, member: Member, kind: PodKind, wanted: int, index: Mapping[WorkloadRef, Iterator[int]]
    ) -> Controller:
        ref = member.workload
        before = sorted(
            [self.running[name] for name in member.running if name in self.running], key=_ordinal
        )
        taken = {pod.name for pod in before}
        keys = (ObjectKey(ref.namespace, ref.pod_name(number)) for number in index[ref])
        names = (name for name in keys if name not in taken)
        assert kind.shape is not None  # members of the demand
        if kind.shape.per_node:
            return self._daemons(member, kind, kind.shape, wanted, names, before)
        by_crowd = member.spreads and ref.kind != "StatefulSet"
        waiting = self.leaving.get((ref, member.pod_set), ())
        stuck = [SimulatedPod(name, kind) for name in member.stuck]
        is_old = member.changed or bool(member.outdated)
        if ref.kind == "StatefulSet" and (before or waiting or stuck):
            old = [pod for pod in before if member.changed or pod.name in member.outdated]
            new = [pod for pod in before if pod not in old]
            old += [*waiting, *stuck]
            total = wanted + (self.refused[ref, member.pod_set] if self.quotas is None else 0)
            partition = total if member.rollout is None else member.rollout.kept
            return RollingOrdered(
                ref, kind, wanted, total, old, waiting, partition, member.in_order, pods=new
            )
        if member.rollout is not None and (is_old or waiting or stuck):
            surge, unavailable, kept, _, recreates = member.rollout
            if kept:  # the rollout is paused, so its ReplicaSet is scaled, but keeps its template
                pods = [*before, *waiting, *stuck]
                return Replicas(
                    ref, kind, wanted, names, by_crowd=by_crowd, pods=pods, waiting=waiting
                )
            new = (
                [] if member.changed else [pod for pod in before if pod.name not in member.outdated]
            )
            old = [*(pod for pod in before if pod not in new), *waiting, *stuck]
            existing = 0 if member.changed else max(0, member.charged - len(old))
            return RollingReplicas(
                ref,
                kind,
                wanted,
                names,
                old,
                waiting,
                surge,
                unavailable,
                by_crowd,
                existing,
                waits_for_ends=recreates,
                pods=new,
            )
        if member.in_order:
            return Ordered(ref, kind, wanted, names, member.charged, pods=before)
        is_bare = ref.kind == BARE_POD
        exists = is_bare and member.ahead
        return Replicas(ref, kind, wanted, names, not is_bare, exists, by_crowd, pods=before)

    def _daemons(
        self,
        member: Member,
        kind: PodKind,
        shape: Shape,
        wanted: int,
        names: Iterator[ObjectKey],
        before: list[SimulatedPod],
    ) -> PerNode:
        """Return the controller of a DaemonSet's pods, of which `before` are already running."""
        ref = member.workload
        chosen = [
            number for number, each in enumerate(self.nodes) if _gets_daemon_pod(shape, each.node)
        ]
        chosen.sort(key=lambda number: self.nodes[number].node.name not in member.awaited)
        if not wanted and not before:  # quotas don't admit any pod
            chosen = []
        most = self.daemon_room.get((ref, member.pod_set), UNBOUNDED)
        old = [pod for pod in before if member.changed or pod.name in member.outdated]
        if member.rollout is None:
            waiting = self._waiting_daemons(member)
            return PerNode(
                ref, kind, chosen, names, most, pods=[*before, *waiting], waiting=waiting
            )
        if not old:
            return PerNode(ref, kind, chosen, names, most, pods=before)
        surge, unavailable = _on_nodes(member.rollout, len(chosen))
        new = [pod for pod in before if pod not in old]
        return PerNode(
            ref,
            kind,
            chosen,
            names,
            most,
            pods=new,
            replaced=old,
            surge=surge,
            unavailable=unavailable,
        )

    def _waiting_daemons(self, member: Member) -> list[SimulatedPod]:
        """Return the pending pods of an earlier template, which `OnDelete` doesn't replace."""
        numbers = {each.node.name: number for number, each in enumerate(self.nodes)}
        return [
            SimulatedPod(pod.name, pod.kind, numbers[name])
            for pod in self.leaving.get((member.workload, member.pod_set), ())
            if pod.kind.shape is not None and pod.kind.shape.pod.node_affinity is not None
            for name in pod.kind.shape.pod.node_affinity.named_nodes
            if name in numbers
        ]


def prepare(
    demand: Demand,
    nodes: Sequence[SimulatedNode],
    classes: Mapping[str, DeviceClass],
    features: Features,
    *,
    profile: Profile,
    level: DemandLevel,
    place_budget: int,
    known: KnownAnswers | None = None,
    quotas: PodQuotas | None = None,
) -> Setting:
    """Return the setting of a demand on nodes, numbered in the scheduler's order. `known` are the
    answers that were cached for the same demand on other nodes.
    """
    nodes = interleave_zones(nodes)
    known = KnownAnswers() if known is None else known
    kinds = known.kinds
    members = tuple(
        (member, kinds.of_shape(created_shape(shape), siblings_of(member)))
        for shape, member in members_in_order(demand)
    )
    own = _open_nodes(nodes, demand, classes, features, known.states)
    bound = existing_pods(nodes, own, kinds, demand)
    ending, lasting = terminating_pods(nodes)
    answers = known.answers(demand.namespaces, profile, place_budget)
    noticed = frozenset[int]().union(*(each.noticed for each in answers.rules))
    equal = share_states(own, Distinctions.of(kinds.all, classes.values(), _LABELS))
    first = [
        _first_stage(answers.stages, each.offer, state, pods, noticed)
        for each, state, pods in zip(nodes, equal, bound, strict=True)
    ]
    return Setting(
        nodes=tuple(nodes),
        kinds=tuple(kinds.all),
        rules=answers.rules,
        scoring=answers.scoring,
        standings=answers.standings,
        weighing=answers.weighing,
        stages=answers.stages,
        start=_start(nodes, own, first, bound),
        members=members,
        running={placed.pod.name: placed.pod for pods in bound for placed in pods},
        level=level,
        budgets=compile_budgets(
            demand.budgets, kinds.all, members, [each.offer for each in nodes], level
        ),
        quotas=quotas,
        leaving=_leaving(members),
        daemon_room=_daemon_room(demand, nodes) if quotas is None else {},
        refused=_refused(demand, level),
        ending=ending,
        lasting=lasting,
    )


def _open_nodes(
    nodes: Iterable[SimulatedNode],
    demand: Demand,
    classes: Mapping[str, DeviceClass],
    features: Features,
    opened: dict[int, NodeState],
) -> list[NodeState]:
    """Return the state of each node with its own pods. New states are added to `opened`."""
    sight = sight_of(demand.shapes, demand.namespaces)
    states: list[NodeState] = []
    for each in nodes:
        if id(each.offer) not in opened:
            opened[id(each.offer)] = open_offer(each.offer, classes, features, sight)
        states.append(opened[id(each.offer)])
    return states


def _start(
    nodes: Sequence[SimulatedNode],
    states: Iterable[NodeState],
    stages: Iterable[NodeStage],
    pods: Iterable[Sequence[PlacedPod]],
) -> Start:
    """Return the cluster at the start of every pod arrival order."""
    return Start(
        nodes=tuple(each.node for each in nodes),
        templates=tuple(state.template for state in states),
        stages=tuple(stages),
        pods=tuple(placed for of_node in pods for placed in of_node),
        claims=_shared_claims(nodes),
    )


def _first_stage(
    stages: Stages,
    offer: Offer,
    state: NodeState,
    pods: Sequence[PlacedPod],
    noticed: Collection[int],
) -> NodeStage:
    """Return the stage of a node on which only its own pods run."""
    company = Counter(
        placed.pod.kind.number for placed in pods if placed.pod.kind.number in noticed
    )
    return stages.open(state, _scored(offer, pods), tuple(sorted(company.items())))


def _leaving(members: Iterable[tuple[Member, PodKind]]) -> dict[PodSetKey, list[SimulatedPod]]:
    found: dict[PodSetKey, list[SimulatedPod]] = {}
    for member, kind in members:
        own = [SimulatedPod(name, kind) for name in member.leaving]
        if own:
            found.setdefault((member.workload, member.pod_set), []).extend(own)
    return found


def _daemon_room(demand: Demand, nodes: Sequence[SimulatedNode]) -> dict[PodSetKey, int]:
    """Return how many pods of each DaemonSet the quotas of a cluster admit.

    It's undefined which nodes don't get a pod.
    """
    if demand.quotas is None or any(each.offer.origin == "predicted" for each in nodes):
        return {}
    desired = {
        (member.workload, member.pod_set): sum(_gets_daemon_pod(shape, each.node) for each in nodes)
        for shape, member in members_in_order(demand)
        if shape.per_node
    }
    return {key: known + room for key, known, room, _ in demand.quotas.daemon_rooms(desired)}


def _refused(demand: Demand, level: DemandLevel) -> Counter[PodSetKey]:
    """Count the pods that aren't admitted, which the demand omits."""
    found = Counter[PodSetKey]()
    for each in demand.blocked:
        found[each.member.workload, each.member.pod_set] += each.member.figures.at(level) or 0
    return found


def created_shape(shape: Shape) -> Shape:
    """Return the shape of the pods as their controller creates them."""
    if not shape.per_node:
        return shape
    pod = replace(shape.pod, tolerations=(*shape.pod.tolerations, *_OF_DAEMONS))
    return replace(shape, id=f"{shape.id}@daemon", pod=pod)


def _ordinal(pod: SimulatedPod) -> tuple[str, int, str]:
    """Return the sort key of a workload's pod. The ordinals of a StatefulSet are numbers."""
    stem, _, number = pod.name.name.rpartition("-")
    return (stem, int(number), "") if number.isdecimal() else ("", 0, pod.name.name)


def _on_nodes(rollout: Rollout, nodes: int) -> tuple[int, int]:
    """Return on how many of these nodes a DaemonSet can have one additional pod, and on how many
    one fewer. Percentages are rounded up.

    Source: kubernetes/kubernetes:pkg/controller/daemon/update.go@v1.36.3
    (updatedDesiredNodeCounts).
    """
    surge, unavailable = rollout.surge, rollout.unavailable
    if rollout.of_nodes:
        surge, unavailable = -(-surge * nodes // 100), -(-unavailable * nodes // 100)
    return surge, unavailable if surge or unavailable else 1


def _gets_daemon_pod(shape: Shape, node: Node) -> bool:
    """Return True if a DaemonSet creates a pod for the node."""
    return reject_for_good(shape.pod, node) is None


def _scored(offer: Offer, pods: Iterable[PlacedPod]) -> CpuMemory:
    """Return the amounts that count as requested for a node's score."""
    taken = [scored_amounts(each.amounts, each.containers) for each in offer.deductions]
    taken += [placed.pod.kind.scored for placed in pods]
    return CpuMemory(sum(each.cpu for each in taken), sum(each.memory for each in taken))


def _shared_claims(nodes: Sequence[SimulatedNode]) -> dict[ObjectKey, SharedClaim]:
    real = [each.node for each in nodes]
    claims = {
        claim.meta.key: claim
        for each in nodes
        for claim in each.offer.claims
        if not claim.owner_pod
    }
    return {
        key: SharedClaim(
            claim.allocation, usable_nodes(claim.allocation, real), len(claim.reserved_for)
        )
        for key, claim in claims.items()
        if claim.allocation is not None
    }
