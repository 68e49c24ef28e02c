"""The obstacles, other than capacity, that affect a workload's verdict in a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from dra_planner.claims.manifest_claims import written_claims
from dra_planner.errors import FILE_NOT_READ, Diagnostic, RejectedObject
from dra_planner.model import Reason, Verdict, worst
from dra_planner.plan.blockers import Blocker
from dra_planner.plan.model import Plan

CLAIM_KINDS: Final = ("ResourceClaim", "ResourceClaimTemplate")


def find_obstacles(plan: Plan, workloads: Collection[str]) -> Iterator[Blocker]:
    """Yield obstacles that prevent pods of these workloads from running although their devices fit,
    and facts about them.

    Unread objects and files are included, because they can affect any pod. So are the plan's
    warnings about the workloads and their claims.
    """
    subjects = tuple(_subjects(plan, workloads))
    for each in plan.blockers:
        concerns_all = not each.workloads and each.verdict == "cannot-tell"
        if concerns_all or not set(workloads).isdisjoint(map(str, each.workloads)):
            yield each
    for found in (*plan.diagnostics, *plan.beside):
        if found.severity == "warning" and found.message.startswith(subjects):
            yield _as_blocker(found, "fits")
        if found.code == FILE_NOT_READ:
            yield Blocker(
                code=found.code,
                message=f"{found.place.file} {found.message}, so its objects aren't in the plan",
                fix=found.fix,
                place=found.place,
                verdict="cannot-tell",
            )


def find_stalls(plan: Plan, workloads: Collection[str]) -> Iterator[Blocker]:
    """Yield why rollouts of these workloads never finish. Their pods run."""
    for found in plan.beside:
        if found.severity == "error" and not set(workloads).isdisjoint(found.subjects):
            yield _as_blocker(found, "does-not-fit")


class Obstacles(NamedTuple):
    """What keeps workloads from running or from being replaced, the verdict with it, and whether
    only a rollout never finishes.
    """

    reasons: tuple[Reason, ...]
    verdict: Verdict
    stalls: bool

    @classmethod
    def of(cls, plan: Plan, workloads: Collection[str], verdict: Verdict) -> Obstacles:
        """Return the obstacles of workloads whose verdict is known without them."""
        own = tuple(find_obstacles(plan, workloads))
        stalls = tuple(find_stalls(plan, workloads))
        running = worst((verdict, *(each.verdict for each in own)))
        return cls(
            reasons=tuple(each.reason for each in (*own, *stalls)),
            verdict=worst((running, *(each.verdict for each in stalls))),
            stalls=running == "fits" and bool(stalls),
        )


def _as_blocker(found: Diagnostic, verdict: Verdict) -> Blocker:
    return Blocker(
        code=found.code, message=found.message, fix=found.fix, place=found.place, verdict=verdict
    )


def _subjects(plan: Plan, workloads: Collection[str]) -> Iterator[str]:
    """Yield the starts of messages about these workloads, and about claims that they use."""
    yield from (f"{name} " for name in workloads)
    for claim in () if plan.manifests is None else written_claims(plan.manifests):
        if not set(workloads).isdisjoint(map(str, claim.users)):
            yield f"{claim.title} "
            yield f"{claim.title}: "


def find_rejections(plan: Plan, reasons: Iterable[Reason]) -> Iterator[Reason]:
    """Yield the API server's errors in the claims and templates that reasons name as rejected."""
    names = {each.claim for each in reasons if each.code == "claim-refused"}
    named = {RejectedObject(kind, name) for kind in CLAIM_KINDS for name in names}
    for found in plan.diagnostics:
        if found.severity == "error" and found.rejected in named:
            yield Reason(code=found.code, message=found.message, fix=found.fix, place=found.place)
