"""Simulate the scheduler for a demand on given nodes, order by order.

Bound pods are running and ready immediately, and don't end. Time is only an order of events:
controllers are evaluated whenever the queue is empty, and failed pods are retried after events that
might help them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from dra_planner.allocation import Placement, Refusal
from dra_planner.allocation.search.depth_first import STEP_BUDGET
from dra_planner.model import Demand, DemandLevel, DeviceClass, ObjectKey, PodQuotas, WorkloadRef
from dra_planner.releases import Features
from dra_planner.simulation.arrival_orders import SETTLED, ArrivalOrder
from dra_planner.simulation.cluster.cluster import Cluster, PlacedPod, SimulatedPod
from dra_planner.simulation.cluster.nodes import SimulatedNode
from dra_planner.simulation.cluster.soft_spread_counts import Census
from dra_planner.simulation.known_answers import KnownAnswers
from dra_planner.simulation.outcome import SimulationOutcome, WorkloadOutcome
from dra_planner.simulation.preparation import Setting, prepare
from dra_planner.simulation.scheduler.preemption import find_victims
from dra_planner.simulation.scheduler.profile import DEFAULT, Profile
from dra_planner.simulation.scheduler.queue import Queue
from dra_planner.simulation.scheduler.scheduling import (
    Choice,
    Scheduler,
    SchedulingFailure,
    needs_cluster,
)
from dra_planner.simulation.workloads.admission import Admission
from dra_planner.simulation.workloads.chances import Chances
from dra_planner.simulation.workloads.controllers import Controller, PerNode
from dra_planner.simulation.workloads.disruption_budgets import Allowance, BudgetCounts
from dra_planner.simulation.workloads.late_pods import LatePods
from dra_planner.simulation.workloads.lifetimes import LaggingLifetimes, Lifetimes

STEPS = 50_000_000
"""Steps (see `Scheduler`) of one order, unless another limit is set."""


class Simulator(Struct, frozen=True):
    """Simulates one demand on the same nodes in several orders, and caches the answers of nodes."""

    setting: Setting

    @classmethod
    def of(
        cls,
        demand: Demand,
        nodes: Sequence[SimulatedNode],
        classes: Mapping[str, DeviceClass],
        features: Features,
        *,
        profile: Profile = DEFAULT,
        level: DemandLevel = "steady",
        place_budget: int = STEP_BUDGET,
        known: KnownAnswers | None = None,
        quotas: PodQuotas | None = None,
    ) -> Simulator:
        """Return a simulator. `place_budget` limits each search for devices.

        `known` caches the answers of nodes to the same demand, for simulators with other nodes.
        With the `quotas` of the demand, pods are admitted as they arrive, including pods that the
        demand omits because of quotas.
        """
        return cls(
            prepare(
                demand,
                nodes,
                classes,
                features,
                profile=profile,
                level=level,
                place_budget=place_budget,
                known=known,
                quotas=quotas,
            )
        )

    def run(
        self,
        order: ArrivalOrder = SETTLED,
        *,
        arrivals: Sequence[WorkloadRef] = (),
        steps: int = STEPS,
        lost: Collection[str] = (),
        lags: bool = False,
    ) -> SimulationOutcome:
        """Return the outcome of the pods in this order.

        The same arguments always give the same result.

        `arrivals` (default: `order.arrivals`) are the workloads in an order other than document
        order. Workloads that it doesn't contain come first. `lost` are the names of nodes that are
        removed after all pods are placed. Controllers then re-create their pods. With `lags`, pods
        become ready and disappear at different moments, which the order's seed determines.
        Otherwise, both happen immediately.
        """
        run = Run(self.setting, order, steps, lags=lags)
        for phase in order.phases(_arranged(self.setting.documents(), arrivals or order.arrivals)):
            run.start(phase)
        if self.setting.lasting:
            run.end(self.setting.lasting)
        if lost:
            run.lose(
                {number for number, each in enumerate(self.setting.nodes) if each.node.name in lost}
            )
        return run.outcome()


def _arranged(
    documents: list[list[Controller]], arrivals: Sequence[WorkloadRef]
) -> list[list[Controller]]:
    rank = {ref: number for number, ref in enumerate(arrivals)}
    return sorted(documents, key=lambda each: rank.get(each[0].workload, -1))


def _is_tried_before(pod: SimulatedPod, failure: SchedulingFailure) -> bool:
    """Return True if a pod is retried when another pod is deleted, a moment before its devices are
    free.

    Pods that lack only devices are retried when the devices are free. By then, a pod that lacks CPU
    on some node is already in back-off.
    """
    shape = pod.kind.shape
    refusals = (each.verdict for each in failure.rejections)
    filters = {
        each.misfit.filter
        for each in refusals
        if isinstance(each, Refusal) and each.misfit is not None
    }
    return shape is not None and bool(shape.claims) and "resources" in filters


def _never(_pod: SimulatedPod, _failure: SchedulingFailure) -> bool:
    return False


def _admission(setting: Setting) -> Admission | None:
    if setting.quotas is None:
        return None
    replaced = {
        name: setting.quotas.freed[member.workload, member.pod_set]
        for member, _ in setting.members
        if (member.workload, member.pod_set) in setting.quotas.freed and member.changed
        for name in member.running
    }
    return Admission(setting.quotas, replaced)


class Run:
    """A running simulation of one order."""

    def __init__(
        self, setting: Setting, order: ArrivalOrder, steps: int, *, lags: bool = False
    ) -> None:
        self._setting = setting
        self._order = order
        self._steps = steps
        self._cluster = Cluster(setting.start, setting.stages, Census(setting.kinds, setting.rules))
        self._scheduler = Scheduler(
            self._cluster,
            setting.rules,
            setting.scoring,
            setting.standings,
            setting.weighing,
            order.seed,
        )
        self._budgets = BudgetCounts(setting.budgets, self._cluster)
        self._admission = _admission(setting)
        self._queue = Queue()
        self._controllers: list[Controller] = []
        self._owner: dict[ObjectKey, Controller] = {}
        self._preempted: list[ObjectKey] = []
        # by kind and node: version and reason
        self._failed: dict[tuple[int, int | None], tuple[int, SchedulingFailure]] = {}
        self._turn = 0
        for name in setting.ending:
            self._cluster.remove(name)
        self._lags = lags
        self._chances = Chances(order.seed)
        self._lifetimes = (
            LaggingLifetimes(self._cluster, order.seed) if lags else Lifetimes(self._cluster)
        )
        # with lags: the node of each pending pod that preempted pods there, and the preempted pods
        # that haven't ended yet
        self._nominated: dict[ObjectKey, tuple[int, list[ObjectKey]]] = {}
        self._late = LatePods(self._chances)  # only with lags

    @property
    def _is_exhausted(self) -> bool:
        return self._scheduler.steps > self._steps

    def start(self, controllers: Sequence[Controller]) -> None:
        """Start the controllers, and continue until nothing changes."""
        self._controllers += controllers
        self._queue.rest()
        for controller in controllers:
            controller.seed = self._order.seed
            self._owner.update(
                (pod.name, controller) for pod in (*controller.pods, *controller.old)
            )
            self._queue.add(controller.waiting)
        self._schedule()
        while not self._is_exhausted:
            self._turn += 1
            self._cluster.now = self._turn
            moved = self._delete()
            if moved:  # pending pods use free resources before new pods are created
                self._schedule()
            if late := self._late.arrive():
                self._queue.add(late)
                moved = True
            moved |= self._create()
            self._schedule()
            moved |= self._queue.wake(self._may_fit_now)
            if not moved and not self._late:
                return
            self._schedule()

    def lose(self, nodes: Collection[int]) -> None:
        """Remove nodes with their pods, and continue until nothing changes."""
        for controller in self._controllers:
            if isinstance(controller, PerNode):
                controller.nodes = [node for node in controller.nodes if node not in nodes]
        for node in sorted(nodes):
            for placed in list(self._cluster.pods_on(node)):
                self._cluster.remove(placed.pod.name)
                self._lose(placed.pod)
            self._cluster.close(node)
        self._queue.wake(lambda _pod, _failure: True)
        self.start(())

    def end(self, pods: Iterable[ObjectKey]) -> None:
        """Remove the existing terminating pods, and continue until nothing changes."""
        for name in pods:
            if name in self._cluster.pods:
                self._cluster.remove(name)
        self._queue.wake(lambda _pod, _failure: True)
        self._schedule()
        self.start(())

    def _lose(self, pod: SimulatedPod) -> None:
        """Report the loss of a pod to its controller."""
        owner = self._owner.pop(pod.name, None)
        if owner is not None:
            owner.lose(pod)
            if self._admission is not None:
                self._admission.release(owner, pod)

    def retire(self, controller: Controller) -> None:
        """Stop a controller from creating pods. Its existing pods stay, and another controller can
        adopt them.
        """
        self._controllers.remove(controller)

    def allowances(self) -> list[Allowance]:
        """Return the number of disruptions that each budget of the setting currently allows."""
        return self._budgets.left(self._cluster, self._controllers)

    # -- controllers

    def _runs(self, pod: SimulatedPod) -> PlacedPod | None:
        return self._lifetimes.runs(pod)

    def _delete(self) -> bool:
        going = [
            (pod, controller)
            for controller in self._controllers
            for pod in controller.delete(self._runs)
        ]
        gone: list[SimulatedPod] = []
        for pod, controller in going:
            owner = self._owner.pop(pod.name, None)
            if owner is not None and self._admission is not None:
                self._admission.release(owner, pod)
            self._queue.drop(pod.name)
            self._late.drop(pod)
            if pod.name in self._cluster.pods:
                if controller.waits_for_ends:
                    gone.append(pod)
                else:
                    self._lifetimes.end(pod)
        became_ready, ended = self._lifetimes.pass_time()
        frees = self._remove([*gone, *ended])
        self._release_nodes()
        if going or ended:
            self._queue.wake(
                lambda _pod, _failure: True, late=_is_tried_before if frees else _never
            )
        return bool(going or ended) or became_ready

    def _remove(self, pods: Iterable[SimulatedPod]) -> bool:
        """Remove pods that have ended. Return True if devices become free."""
        frees = False
        for pod in pods:
            frees |= any(got.picks for got in self._cluster.pods[pod.name].picks)
            self._cluster.remove(pod.name)
        return frees

    def _create(self) -> bool:
        if self._nominated and self._chances.is_replacement_late(self._turn):
            return False
        controllers = self._in_turn()
        prompt, late = (
            self._chances.split_retries(controllers, self._turn)
            if self._admission is not None and self._lags
            else (controllers, ())
        )
        return self._create_for(prompt) or self._create_for(late)

    def _create_for(self, controllers: Iterable[Controller]) -> bool:
        made: list[list[SimulatedPod]] = []
        admission = self._admission
        for controller in controllers:
            made.append(
                controller.create(self._runs)
                if admission is None
                else admission.create(controller, self._runs)
            )
            self._owner.update((pod.name, controller) for pod in made[-1])
        pods = self._order.mix(made, self._turn)
        self._queue.add(self._late.keep(pods) if self._lags else pods)
        return bool(pods)

    def _in_turn(self) -> Sequence[Controller]:
        """Return the controllers in the order in which they create pods.

        The order decides only under quotas: each controller retries after its own back-off.
        """
        if self._admission is None:
            return self._controllers
        return self._order.shuffled(self._controllers, self._turn)

    # -- scheduling

    def _schedule(self) -> None:
        for pod in self._queue.drain():
            result = self._attempt(pod)
            if isinstance(result, Choice):
                self._cluster.bind(pod, result.node, result.placement)
                if self._lags and self._chances.is_event_early(len(self._cluster.pods)):
                    self._queue.wake(self._may_fit_now)
            else:
                self._queue.park(pod, result)
            if self._is_exhausted:
                return

    def _attempt(self, pod: SimulatedPod) -> Choice | SchedulingFailure:
        cluster = self._cluster
        known = self._failed.get((pod.kind.number, pod.only_node))
        if known is not None and known[0] == cluster.version:
            return known[1]
        result = self._scheduler.attempt(pod)
        if isinstance(result, Choice):
            return result
        if result.error is None and self._free_unused_claim(pod):
            return self._attempt(pod)
        choice = self._preempt(pod, result)
        if choice is not None:
            return choice
        if pod.name not in self._nominated:  # another pod of this kind might still preempt pods
            self._failed[pod.kind.number, pod.only_node] = cluster.version, result
        return result

    def _free_unused_claim(self, pod: SimulatedPod) -> bool:
        """Free a claim of the pod that no other pod uses."""
        assert pod.kind.shape is not None  # only pods of the demand are scheduled
        for entry in pod.kind.shape.claims:
            claim = self._cluster.claims.get(entry.shared) if entry.shared is not None else None
            if claim is not None and entry.shared is not None and not claim.consumers:
                self._cluster.free_claim(entry.shared)
                return True
        return False

    def _preempt(self, pod: SimulatedPod, failure: SchedulingFailure) -> Choice | None:
        if pod.name in self._nominated:
            return None
        found = find_victims(pod, self._scheduler, failure, self.allowances())
        if found is None:
            return None
        node, victims = found
        if self._lags:
            self._nominate(pod, node, victims)
            return None
        for victim in victims:
            name = victim.pod.name
            self._preempted.append(name)
            self._cluster.remove(name)
            self._lose(victim.pod)
        self._queue.wake(lambda _pod, _failure: True, freed=True)
        answer = self._scheduler.judge(
            pod.kind, self._cluster.stage_of[node], self._cluster.population
        )
        assert isinstance(answer, Placement)  # the victims were chosen so that the pod fits
        return Choice(node, answer)

    def _nominate(self, pod: SimulatedPod, node: int, victims: Iterable[PlacedPod]) -> None:
        """Preempt pods that keep their node for a while.

        Their controllers replace them immediately, so a replacement on another node can prevent the
        pod from being placed. As a simplification, no other pod can use the node in the meantime,
        except if the nomination isn't known. Source of the behavior:
        kubernetes/kubernetes:pkg/scheduler/framework/preemption/preemption.go @v1.36.3 (the pod is
        retried after its victims are deleted).
        """
        self._nominated[pod.name] = node, [each.pod.name for each in victims]
        if self._chances.is_nomination_known(self._turn):
            self._cluster.reserve(node)
        for victim in victims:
            self._preempted.append(victim.pod.name)
            self._lifetimes.end(victim.pod)
            self._lose(victim.pod)

    def _release_nodes(self) -> None:
        """End the reservations of nodes on which all preempted pods have ended."""
        for name, (node, victims) in list(self._nominated.items()):
            if not any(each in self._cluster.pods for each in victims):
                del self._nominated[name]
                if all(node != other for other, _ in self._nominated.values()):
                    self._cluster.release(node)

    def _may_fit_now(self, pod: SimulatedPod, failure: SchedulingFailure) -> bool:
        """Return True if newer pods might help: they can satisfy rules between pods, or fill nodes
        that ended an attempt with an error. An error doesn't show which event the pod needs, so
        the pod is retried after any change, as in the cluster. Source:
        kubernetes/kubernetes:pkg/scheduler/backend/queue/scheduling_queue.go @v1.36.3
        (AddUnschedulablePodIfNotPresent: no unschedulable plugins).
        """
        known = self._failed.get((pod.kind.number, pod.only_node))
        changed = known is None or known[0] != self._cluster.version
        return changed and (
            failure.error is not None or needs_cluster(self._setting.rules[pod.kind.number])
        )

    # -- the end

    def outcome(self) -> SimulationOutcome:
        cluster, pending = self._cluster, dict(self._queue.parked)
        workloads: dict[WorkloadRef, list[Controller]] = {}
        for controller in self._controllers:
            workloads.setdefault(controller.workload, []).append(controller)
        return SimulationOutcome(
            order=self._order,
            complete=not self._is_exhausted,
            workloads={
                ref: self._workload(ref, controllers) for ref, controllers in workloads.items()
            },
            placed={
                name: cluster.pods[name].node
                for name in self._owner
                if name in cluster.pods and name not in self._setting.running
            },
            pending={name: failure for name, (_, failure) in pending.items()},
            pending_kinds=Counter(pod.kind for pod, _ in pending.values()),
            preempted=tuple(self._preempted),
            steps=self._scheduler.steps,
            cluster=cluster,
        )

    def _workload(self, ref: WorkloadRef, controllers: Sequence[Controller]) -> WorkloadOutcome:
        made = [pod for controller in controllers for pod in controller.pods]
        running = [self._cluster.pods[pod.name].node for pod in made if self._runs(pod)]
        before = [
            pod
            for controller in controllers
            for pod in controller.old
            if pod not in made and self._runs(pod)
        ]
        waiting = [
            pod for controller in controllers for pod in controller.old if not self._runs(pod)
        ]
        failures = {
            id(failure): failure for pod in (*made, *waiting) for failure in self._failure_of(pod)
        }
        behind = [self._cluster.pods[pod.name].node for pod in before]
        nodes = self._setting.nodes
        return WorkloadOutcome(
            workload=ref,
            nodes=Counter(nodes[number].node.name for number in running),
            groups=Counter(nodes[number].group for number in running),
            pending=len(made) - len(running) + len(waiting),
            not_created=sum(controller.wanted for controller in controllers) - len(made),
            lost=sum(controller.lost for controller in controllers),
            failures=tuple(failures.values()),
            old=Counter(nodes[number].node.name for number in behind),
            old_groups=Counter(nodes[number].group for number in behind),
            old_pending=len(waiting),
        )

    def _failure_of(self, pod: SimulatedPod) -> list[SchedulingFailure]:
        parked = self._queue.parked.get(pod.name)
        return [] if parked is None else [parked[1]]
