"""Pods of a plan that stay pending, with the result for each pool. Messages are based on these
facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from dra_planner.manifests import Manifests
from dra_planner.model import Member, Reason, Shape, WorkloadRef
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
    """Return the same for pods without devices, which run on the system pool.

    If other pods of their workload have devices, they are only returned if they themselves don't
    fit. Rules about pools cover the other pods.
    """
    on_pools = {
        member.workload
        for shape in judgement.demand.shapes
        for member in shape.members
        if shape.id not in judgement.on_system
    }
    cases = (case for case in _waiting(judgement) if case.shape.id in judgement.on_system)
    return tuple(case for case in cases if case.size.workload not in on_pools or case.own_reasons)


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


def subject(case: Waiting, manifests: Manifests | None = None) -> str:
    """Return the subject of a message: `claim default/train-gpu (template "two-gpus", Job
    default/train)`, or only the workload. The template is only known with the manifests.
    """
    if not case.shape.claims:
        return str(case.size.workload)
    names = [claim.title(case.size.workload) for claim in case.shape.claims]
    templates = _templates(case, manifests)
    shown = [
        f'template "{templates[claim.name]}"'
        for claim in case.shape.claims
        if claim.name in templates
    ]
    return f"{named('claim', names)} ({', '.join([*shown, str(case.size.workload)])})"


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
