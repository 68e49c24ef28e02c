"""Explanation of one pool: the devices of its nodes, its workloads, other workloads that fit, and
workloads that don't, with reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation import Refusal, Undecided, reasons_of
from dra_planner.errors import PlannerError
from dra_planner.model import Reason, Shape, Unknown, Verdict, worst
from dra_planner.offers import Offer
from dra_planner.plan.explanation.obstacles import find_obstacles, find_stalls
from dra_planner.plan.judgement.judgement import PoolAnswer
from dra_planner.plan.model import Plan, PlannedPool, PlannedWorkload
from dra_planner.wording import use_one_of


class PublishedDevices(Struct, frozen=True, kw_only=True):
    """Equal devices of one node: their number, their memory, and their product or profile ("" if
    not published).
    """

    driver: str
    name: str
    devices: int
    memory: str = ""


class PoolUse(Struct, frozen=True, kw_only=True):
    """A workload's use of the pool: the answer of the pool's empty node to its pods, with reasons.

    `here` is the number of its pods on the pool, `pending` is the number of pods without a pool,
    and `elsewhere` are the pools of the other pods. If a workload could run here, `reasons` also
    explains why the plan's verdict for it isn't *fits*.
    """

    workload: str
    answer: Verdict
    reasons: tuple[Reason, ...]
    here: int
    pending: int
    elsewhere: tuple[str, ...]


class PoolReport(Struct, frozen=True, kw_only=True):
    """One pool of a plan, or one node of a snapshot.

    `verdict` is the worst verdict of the workloads that run here or fit here. If it is *does not
    fit*, the pool is too small for these workloads, or they can't run for another reason. `uses`
    are in the order of the workloads.
    """

    pool: PlannedPool
    verdict: Verdict
    published: tuple[PublishedDevices, ...]
    uses: tuple[PoolUse, ...]
    doubts: tuple[Reason, ...] = ()  # objects and files that weren't read
    is_observed: bool = False
    # the workloads that run here or fit here, but whose rollouts never finish
    stalled: tuple[str, ...] = ()
    # workloads that had pods here before a change of the fleet, and don't fit after it
    lost: tuple[str, ...] = ()

    @property
    def takes(self) -> tuple[PoolUse, ...]:
        """The workloads with pods here."""
        return tuple(use for use in self.uses if use.here)

    @property
    def could_take(self) -> tuple[PoolUse, ...]:
        """The workloads that fit an empty node, but whose pods are elsewhere or pending."""
        return tuple(use for use in self.uses if not use.here and use.answer == "fits")

    @property
    def refuses(self) -> tuple[PoolUse, ...]:
        """The workloads whose pods don't fit any node of the pool, or for which this is unknown."""
        return tuple(use for use in self.uses if not use.here and use.answer != "fits")

    @property
    def has_pending_pods(self) -> bool:
        """Whether pods that fit an empty node are pending."""
        return any(use.pending for use in (*self.takes, *self.could_take))


def compare_pool(report: PoolReport, before: PoolReport, plan: Plan) -> PoolReport:
    """Return the report of a pool after a change of the fleet.

    It includes the workloads that ran on the pool before the change, and don't fit in the changed
    plan.
    """
    verdicts = {str(each.workload): each.verdicts[plan.level] for each in plan.workloads}
    lost = [use.workload for use in before.takes if verdicts.get(use.workload, "fits") != "fits"]
    return replace(
        report,
        verdict=worst([report.verdict, *(verdicts[name] for name in lost)]),
        lost=tuple(lost),
    )


def explain_pool(plan: Plan, name: str) -> PoolReport:
    """Return the report of a plan's pool.

    Raises PlannerError with the existing pools if the pool isn't found.
    """
    pool = next((each for each in plan.pools if each.name == name), None)
    offer = next((each for each in plan.offers if each.name == name), None)
    if pool is None or offer is None:
        raise PlannerError(
            f'pool "{name}" isn\'t in the plan',
            fix=use_one_of("pool", [each.name for each in plan.pools]),
        )
    uses = tuple(_uses(plan, name))
    concerned = {use.workload for use in uses if use.here or use.answer == "fits"}
    verdicts = [
        each.verdicts[plan.level] for each in plan.workloads if str(each.workload) in concerned
    ]
    stalled = tuple(name for name in plan.stalled if name in concerned)
    doubts = tuple(find_obstacles(plan, ()))
    verdict = worst((*verdicts, *(each.verdict for each in doubts)))
    return PoolReport(
        pool=pool,
        doubts=tuple(each.reason for each in doubts),
        verdict="does-not-fit" if stalled else verdict,
        published=tuple(_published(offer)),
        uses=uses,
        is_observed=plan.judgement.is_observed,
        stalled=stalled,
    )


def _published(offer: Offer) -> Iterator[PublishedDevices]:
    counted: Counter[tuple[str, str, str]] = Counter()
    for each in offer.slices:
        for device in each.devices:
            name = device.attributes.get("profile") or device.attributes.get("productName") or ""
            memory = device.capacity.get("memory")
            amount = (
                "" if memory is None or isinstance(memory.value, Unknown) else str(memory.value)
            )
            counted[(each.driver, "" if isinstance(name, Unknown) else str(name), amount)] += 1
    for (driver, text, amount), devices in counted.items():
        yield PublishedDevices(driver=driver, name=text, devices=devices, memory=amount)


def _uses(plan: Plan, pool: str) -> Iterator[PoolUse]:
    judgement = plan.judgement
    shapes = [shape for shape in judgement.demand.shapes if shape.id not in judgement.on_system]
    for workload in plan.workloads:
        own = [
            shape
            for shape in shapes
            if any(member.workload == workload.workload for member in shape.members)
        ]
        if own:
            use = _use(workload, pool, [_answer(plan, shape, pool) for shape in own])
            yield replace(use, reasons=(*use.reasons, *_obstacles(plan, workload, use)))


def _obstacles(plan: Plan, workload: PlannedWorkload, use: PoolUse) -> Iterator[Reason]:
    """Yield why a workload that could run in the pool doesn't have the verdict *fits* in the plan,
    or why its rollouts never finish.
    """
    if not (use.here or use.answer == "fits"):
        return
    if workload.verdicts[plan.level] == "fits":
        yield from (each.reason for each in find_stalls(plan, {use.workload}))
        return
    of_workload = find_obstacles(plan, {use.workload})
    of_all = {each.reason for each in find_obstacles(plan, ())}
    blockers = (each.reason for each in of_workload if each.verdict != "fits")
    found = dict.fromkeys((*workload.reasons, *(each for each in blockers if each not in of_all)))
    yield from (each for each in found if each not in use.reasons)


def _answer(plan: Plan, shape: Shape, pool: str) -> PoolAnswer:
    return next(each for each in plan.judgement.answers(shape) if each.offer.name == pool)


def _use(workload: PlannedWorkload, pool: str, answers: Iterable[PoolAnswer]) -> PoolUse:
    pool_answers = list(answers)
    refused = [each.answer for each in pool_answers if isinstance(each.answer, Refusal | Undecided)]
    return PoolUse(
        workload=str(workload.workload),
        answer=worst(each.verdict for each in pool_answers),
        reasons=tuple(dict.fromkeys(reason for answer in refused for reason in reasons_of(answer))),
        here=sum(pods for name, pods in workload.placements if name == pool),
        pending=workload.pending,
        elsewhere=tuple(name for name, pods in workload.placements if pods and name != pool),
    )
