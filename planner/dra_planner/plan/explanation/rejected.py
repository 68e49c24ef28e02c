"""Objects that the API server rejects, so no workload or claim of the plan has their names."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from dra_planner.model import Blocked, Reason, Verdict
from dra_planner.plan.explanation.obstacles import CLAIM_KINDS, find_rejections
from dra_planner.plan.model import Plan


class NeverCreated(Struct, frozen=True):
    """A workload or claim that is never created, with its full name, and the reasons."""

    name: str
    workload: str  # the workload or object with the error, including its kind
    verdict: Verdict
    reasons: tuple[Reason, ...]


def find_rejected_workload(plan: Plan, name: str) -> NeverCreated | None:
    """Return the rejected object with a name (NAMESPACE/NAME, or NAME), except claims and
    templates.
    """
    return _rejected(plan, name, of_claims=False)


def find_rejected_claim(plan: Plan, name: str) -> NeverCreated | None:
    """Return the claim with a name if its object is rejected or missing, so that its pods don't
    start. The name can be that of the claim, of the template, of the entry in the pod, or of the
    same object in another namespace.
    """
    missing = [each for each in plan.demand.blocked if each.reason.claim]
    named = [each for each in missing if name in _names(each)]
    short = name.partition("/")[2]
    elsewhere = [each for each in missing if each.reason.claim.partition("/")[2] == short]
    for blocked in named or elsewhere:
        reasons = (blocked.reason, *find_rejections(plan, (blocked.reason,)))
        return NeverCreated(
            blocked.reason.claim, str(blocked.member.workload), blocked.verdict, reasons
        )
    return _rejected(plan, name, of_claims=True)


def _names(blocked: Blocked) -> Iterator[str]:
    """Yield the names of a blocked workload's claim, with and without its namespace.

    These are the name of the claim's object, and the names of the claims that the pods would have.
    """
    workload = blocked.member.workload
    short = blocked.reason.claim.partition("/")[2]
    for name in filter(None, (short, blocked.entry)):
        for each in (name, f"{workload.name}-{name}", f"{workload.pod_name(0)}-{name}"):
            yield from (each, f"{workload.namespace}/{each}")


def _rejected(plan: Plan, name: str, *, of_claims: bool) -> NeverCreated | None:
    found: dict[str, list[Reason]] = {}
    for each in plan.diagnostics:
        if each.severity != "error" or each.rejected is None:
            continue
        kind, known = each.rejected
        is_of_claims = kind in CLAIM_KINDS
        if is_of_claims == of_claims and name in (known, known.partition("/")[2]):
            path = each.place.path
            where = f" ({path})" if path and path not in each.message else ""
            reason = Reason(
                code=each.code, message=f"{each.message}{where}", fix=each.fix, place=each.place
            )
            found.setdefault(f"{kind} {known}", []).append(reason)
    for named, reasons in found.items():
        return NeverCreated(named.partition(" ")[2], named, "does-not-fit", tuple(reasons))
    return None
