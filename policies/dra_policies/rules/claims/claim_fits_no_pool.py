"""A claim that no pool can satisfy, even with one empty node for each pod."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from dra_planner.allocation import Refusal
from dra_planner.allocation.reasons.devices import ADD_NODE_FOR_DEVICES
from dra_planner.allocation.reasons.edits import keeps_intent
from dra_planner.model import Reason
from dra_planner.plan import PoolAnswer
from dra_planner.plan.suggestion.missing.missing_pools import (
    NO_POOL,
    is_idle_toleration,
    missing_pool,
)
from dra_planner.plan.suggestion.missing.nearest_pools import smallest_change
from dra_planner.wording import counted, noun, verb
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView
from dra_policies.view.waiting_pods import Waiting, doubt, subject, waiting

MOST_REASONS = 4  # number of devices that one sentence names
MOST_NAMES = 3  # number of pools that give the same reason
# another finding already reports the problem with the object
REPORTED_OBJECTS = ("claim-refused", "class-refused")


def check(view: StackView) -> Iterator[Finding]:
    judgement = view.judgement
    if judgement is None:
        return
    alike: dict[tuple[str, str, str], list[Waiting]] = {}
    for case in waiting(judgement):
        proved = case.size.verdict == "does-not-fit" and case.size.wanted != 0
        if proved and not case.fits_somewhere and not case.is_undecided:
            missing = missing_pool(judgement, case.shape)
            doesnt = f"{verb(max(len(case.shape.claims), 1), 'do')}n't"
            message = (
                f"{doesnt} fit any {_kind(case.pools)}: {_pools(case)}{doubt(view)}"
                f"{_no_machine(missing)}{_details(case)}"
            )
            key = (
                subject([case], view.manifests, names_pod_sets=False),
                message,
                _fix(case, missing),
            )
            alike.setdefault(key, []).append(case)
    for (_, message, fix), cases in alike.items():
        yield Finding(
            message=f"{subject(cases, view.manifests)} {message}",
            fix=fix,
            urn=view.judged_urn,
            place=cases[0].member.place,
            about=str(cases[0].size.workload),
            certain=not view.doubtful_pools,
        )
    unfit = {size.workload for size in judgement.sizing.workloads if size.verdict != "fits"}
    for blocked in judgement.demand.blocked:
        if blocked.member.workload not in unfit:
            # only a rollout or a scaler adds these pods, or this workload isn't being checked
            continue
        if blocked.verdict == "does-not-fit" and not (
            view.diagnostics and blocked.reason.code in REPORTED_OBJECTS
        ):
            yield Finding(
                message=f"{blocked.member.workload}: {blocked.reason.message}",
                fix=blocked.reason.fix,
                urn=view.judged_urn,
                place=blocked.member.place,
                about=str(blocked.member.workload),
            )


def _pools(case: Waiting) -> str:
    if not case.pools:
        return "there are no DRA pools"
    kind = _kind(case.pools)
    groups: dict[str, list[str]] = {}
    for pool in case.pools:
        groups.setdefault(_reason(case, pool), []).append(_name(pool))
    reasons = [
        _clause(f"{noun(len(names), kind)} {_listed(names)}", reason, len(names), kind)
        for reason, names in groups.items()
    ]
    more = len(reasons) - MOST_REASONS
    return "; ".join(
        [*reasons[:MOST_REASONS], *([f"and {counted(more, 'reason')} more"] if more > 0 else [])]
    )


def _details(case: Waiting) -> str:
    """Return the sentences that follow the reasons, or ""."""
    reasons = (reason for pool in case.pools for reason in _nearest(pool))
    return "".join(dict.fromkeys(f". {each.details}" for each in reasons if each.details))


def _clause(pools: str, reason: str, count: int, kind: str) -> str:
    """Return a clause about pools. A reason that starts with "has" is a predicate."""
    of_pools = reason.removeprefix("has ")
    if of_pools != reason:
        return f"{pools} {verb(count, 'have')} {of_pools}"
    return f"{'on' if kind == 'node' else 'in'} {pools}, {reason}"


def _listed(names: list[str]) -> str:
    shown = (
        names
        if len(names) <= MOST_NAMES
        else [*names[:MOST_NAMES], f"{len(names) - MOST_NAMES} more"]
    )
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _kind(pools: tuple[PoolAnswer, ...]) -> str:
    return "node" if any(pool.offer.origin == "observed" for pool in pools) else "pool"


def _name(pool: PoolAnswer) -> str:
    return f'"{pool.offer.name}"' + (f" ({pool.offer.machine})" if pool.offer.machine else "")


def _reason(case: Waiting, pool: PoolAnswer) -> str:
    """Explain the shortage of a number of devices on one node, or otherwise the nearest miss."""
    needed, offered = case.devices_per_pod, _offered(pool)
    reasons = _nearest(pool)
    matches = all(reason.code != "selector-mismatch" for reason in reasons)
    if matches and _lacks_devices(pool) and 0 < offered < needed:
        return f"has {counted(offered, 'device')} per node, but each pod needs {needed}"
    return (
        ", and ".join(" ".join(reason.message.split()) for reason in reasons)
        or "the reason is unknown"
    )


def _offered(pool: PoolAnswer) -> int:
    return sum(len(part.devices) for part in pool.offer.slices)


def _lacks_devices(pool: PoolAnswer) -> bool:
    """Return whether a node rejects the pod because of its devices, or of amounts that it checks
    first. More nodes don't help.
    """
    answer = pool.answer
    if not isinstance(answer, Refusal):
        return False
    return answer.kind == "devices" or (
        answer.misfit is not None and answer.misfit.filter == "resources"
    )


def _nearest(pool: PoolAnswer) -> tuple[Reason, ...]:
    """Return the nearest miss and, with a taint or label, the devices that the node lacks. () if
    none is known.
    """
    if not isinstance(pool.answer, Refusal):
        return ()
    misfit, reasons = pool.answer.misfit, pool.reasons
    if misfit is None or misfit.filter == "resources":
        return reasons[:1]
    return reasons[: 1 + len(misfit.shortages)]


def _no_machine(missing: Reason | None) -> str:
    """Return why no additional pool helps either, or ""."""
    return "" if missing is None or missing.message == NO_POOL else f"; {missing.message}"


def _fix(case: Waiting, missing: Reason | None) -> str:
    """Return what to add to the fleet or change in the claim. Each fix was tried on a node."""
    of_fleet = missing.fix if missing is not None else ""
    in_claim, keeps = _fix_of_claim(case, bool(of_fleet))
    ordered = (in_claim, of_fleet) if keeps else (of_fleet, in_claim)
    return "; or ".join(filter(None, ordered))


def _fix_of_claim(case: Waiting, has_fleet_change: bool) -> tuple[str, bool]:
    """Return the fewest changes to the pod or its claims that make it fit a pool, and whether they
    only correct selectors. If a change of the fleet helps, tolerations for pools that lack hardware
    anyway aren't included.
    """
    refusals = [pool.answer for pool in case.pools if isinstance(pool.answer, Refusal)]
    # the node would accept the pod if it had the devices
    near = [answer for answer in refusals if answer.misfit is None]
    useful = [pool for pool in case.pools if not is_idle_toleration(pool)]
    for pool in useful if has_fleet_change else (useful or case.pools):
        if not (near and _lacks_devices(pool)) and (fix := _fix_of_node(case, pool)):
            return fix, False
    fewest = smallest_change(case.pools)
    of_driver = (answer.fix for answer in near or refusals if answer.kind == "claim")
    of_reasons = (reason.fix for pool in case.pools for reason in pool.reasons if reason.fix)
    others = chain(of_driver, of_reasons) if not has_fleet_change else of_driver
    text = " and ".join(edit.text for edit in fewest) or next(others, "")
    if any(each.changes and each.needs_another_node for each in case.size.reasons):
        text = f"{text}, and {ADD_NODE_FOR_DEVICES}"
    return text, keeps_intent(fewest)


def _fix_of_node(case: Waiting, pool: PoolAnswer) -> str:
    """Return the change that makes a node of the pool accept the pod, if the node itself rejects
    it, or "".
    """
    if not isinstance(pool.answer, Refusal) or pool.answer.misfit is None:
        return ""
    most = max(map(_offered, case.pools), default=0)
    if 0 < most < case.devices_per_pod and all(map(_lacks_devices, case.pools)):
        return f"request at most {counted(most, 'device')} per pod, the most on any node"
    return ", and ".join(reason.fix for reason in _nearest(pool) if reason.fix)


RULE = Rule(
    id="claim-fits-no-pool",
    description="A claim doesn't fit in any pool.",
    why="The claim's pods stay pending, no matter how many nodes are added.",
    fix="Add a pool with devices that satisfy the claim, or relax the claim's selectors, "
    "count, or constraints.",
    level="mandatory",
    needs="pools",
    check=check,
)
