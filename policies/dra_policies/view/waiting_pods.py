"""Pods of a plan that stay pending, with the result for each pool. Messages are based on these
facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from dra_planner.manifests import Manifests
from dra_planner.model import Member, Reason, Shape, WorkloadRef
from dra_planner.offers import SYSTEM_POOL
from dra_planner.plan import Judgement, PoolAnswer
from dra_planner.plan.judgement.shared_cause import SharedCause, shared_cause
from dra_planner.sizing import WorkloadSize, devices_of
from dra_planner.wording import named
from dra_policies.view.stack_view import StackView


class Waiting(Struct, frozen=True, eq=False):
    """Pods of one shape in a workload of which some pods don't fit. Pools are in the order of the
    fleet. `has_other_pods` is set if the workload has several pod sets.
    """

    size: WorkloadSize
    shape: Shape
    member: Member
    pools: tuple[PoolAnswer, ...]
    has_other_pods: bool = False

    @property
    def own_reasons(self) -> tuple[Reason, ...]:
        """The reasons why no empty node accepts these pods, or none if a node accepts them."""
        if self.fits_somewhere:
            return ()
        return tuple(dict.fromkeys(reason for pool in self.pools for reason in pool.reasons))

    @property
    def pod_set(self) -> str:
        """The name of the pod set, if the workload has others."""
        return self.member.pod_set if self.has_other_pods else ""

    @property
    def fits_somewhere(self) -> bool:
        return any(pool.verdict == "fits" for pool in self.pools)

    @property
    def is_undecided(self) -> bool:
        """Whether no pool fits, and some pool can't be evaluated."""
        return not self.fits_somewhere and any(pool.verdict == "cannot-tell" for pool in self.pools)

    @property
    def devices_per_pod(self) -> int:
        """The number of devices that one pod needs exclusively, by the first alternative of each
        request.
        """
        return devices_of(self.shape)


@lru_cache(maxsize=4)
def waiting(judgement: Judgement) -> tuple[Waiting, ...]:
    """Return every pod shape in workloads that don't fit or can't be evaluated, with the results
    for the pools, sorted by workload.
    """
    return tuple(case for case in _waiting(judgement) if case.shape.id not in judgement.on_system)


@lru_cache(maxsize=4)
def waiting_for_one_cause(judgement: Judgement) -> SharedCause | None:
    """Return the common cause of several workloads in `waiting`, or None if there is none."""
    sizes = {case.size.workload: case.size for case in waiting(judgement)}
    return shared_cause(((ref, size.reasons) for ref, size in sizes.items()), judgement.simulated)


def waiting_on_system(judgement: Judgement) -> tuple[Waiting, ...]:
    """Return the same for pods without devices, which run on the system pool: each pod set that
    doesn't fit any node, or otherwise all pod sets that need more nodes.

    If other pods of their workload have devices or are blocked, rules about pools cover a shortage
    that doesn't concern the system pool.
    """
    on_pools = {
        member.workload
        for shape in judgement.demand.shapes
        for member in shape.members
        if shape.id not in judgement.on_system
    } | {each.member.workload for each in judgement.demand.blocked}
    cases = [case for case in _waiting(judgement) if case.shape.id in judgement.on_system]
    misfits = [case for case in cases if case.own_reasons]
    explained = {
        case.size.workload
        for case in misfits
        if not case.is_undecided or case.size.verdict == "cannot-tell"
    }
    too_many = [
        case
        for case in cases
        if not case.own_reasons
        and case.size.workload not in explained
        and (
            case.size.workload not in on_pools
            or any(reason.pool == SYSTEM_POOL for reason in case.size.reasons)
        )
    ]
    return (*misfits, *too_many)


def pods_left(judgement: Judgement, size: WorkloadSize) -> int:
    """Return the number of a workload's pods that aren't placed, except pods for the system
    pool.
    """
    wanted = sum(
        member.figures.at(judgement.level) or 0
        for shape in judgement.demand.shapes
        if shape.id not in judgement.on_system
        for member in shape.members
        if member.workload == size.workload
    )
    placed = sum(pods for pool, pods in size.placements if pool != SYSTEM_POOL)
    return max(0, wanted - placed)


def _waiting(judgement: Judgement) -> Iterator[Waiting]:
    pod_sets: dict[WorkloadRef, set[str]] = {}
    for member in _members(judgement):
        pod_sets.setdefault(member.workload, set()).add(member.pod_set)
    for size in judgement.sizing.workloads:
        if size.verdict == "fits":
            continue
        for shape in judgement.demand.shapes:
            for member in shape.members:
                if member.workload == size.workload:
                    has_other_pods = len(pod_sets[member.workload]) > 1
                    yield Waiting(size, shape, member, judgement.answers(shape), has_other_pods)


def _members(judgement: Judgement) -> Iterator[Member]:
    for shape in judgement.demand.shapes:
        yield from shape.members
    yield from (blocked.member for blocked in judgement.demand.blocked)


def subject(
    cases: Sequence[Waiting], manifests: Manifests | None, *, names_pod_sets: bool = True
) -> str:
    """Return the subject of a message: `claim default/train-gpu (template "two-gpus", Job
    default/train)`, or only the workload. The template is only known with the manifests.

    `cases` are pods of one workload with the same claims. The subject contains the names of their
    pod sets if the workload has others.
    """
    case = cases[0]
    pod_sets = dict.fromkeys(each.pod_set for each in cases if each.pod_set and names_pod_sets)
    workload = ", ".join([str(case.size.workload), *pod_sets])
    if not case.shape.claims:
        return workload
    names = [claim.title(case.size.workload) for claim in case.shape.claims]
    templates = _templates(case, manifests)
    shown = [
        f'template "{templates[claim.name]}"'
        for claim in case.shape.claims
        if claim.name in templates
    ]
    return f"{named('claim', names)} ({', '.join([*shown, workload])})"


def _templates(case: Waiting, manifests: Manifests | None) -> dict[str, str]:
    """Return the template of each claim entry in the pending pod set."""
    ref = case.size.workload
    return {
        entry.name: entry.resource_claim_template_name
        for workload in (manifests.workloads if manifests else ())
        if workload.meta.name == ref.name and workload.ref == ref
        for pod_set in workload.pod_sets
        if pod_set.name == case.member.pod_set
        for entry in pod_set.template.spec.resource_claims
        if entry.resource_claim_template_name
    }


def doubt(view: StackView) -> str:
    """Return a note for a shortage that isn't certain, because a pool might have more resources
    than are known.
    """
    return (
        f"; some facts about {', '.join(view.doubtful_pools)} are unknown"
        if view.doubtful_pools
        else ""
    )
