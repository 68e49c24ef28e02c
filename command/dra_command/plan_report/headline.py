"""The verdict of a plan in one sentence, and the target of the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dra_command.pens.amounts import usd
from dra_command.pens.verdict_words import stalls_in_words
from dra_command.plan_report.guards import with_guards
from dra_planner.catalog import cloud_titles
from dra_planner.claims.resolution import NODE_NAME_SET
from dra_planner.model import DEMAND_LEVELS
from dra_planner.plan import Plan
from dra_planner.wording import counted, verb

_SHOWN = 4  # unknown kinds in a headline


def headline(plan: Plan) -> str:
    """Return the verdict in one sentence, without a full stop."""
    verdict, level, remarks = verdict_parts(plan)
    return f"{verdict}{level}{': ' if remarks else ''}{remarks}"


def verdict_parts(plan: Plan) -> tuple[str, str, str]:
    """Return the verdict, the demand if it isn't the steady one (" at peak demand"), and further
    remarks.
    """
    level = "" if plan.level == "steady" else f" at {plan.level} demand"
    apart = [each.diagnostic for each in plan.blockers if not each.workloads]
    errors = sum(finding.severity == "error" for finding in (*plan.diagnostics, *apart))
    if not plan.workloads and not errors and not plan.blockers:
        return "Nothing to place", "", _without_workloads(plan)
    stalls = stalls_in_words(len(plan.stalled)) if plan.stalled else ""
    if plan.running == "fits":
        number = len(plan.workloads)
        workloads = f"all {number} workloads" if number > 1 else "1 workload"
        beside = [
            name
            for name in DEMAND_LEVELS
            if any(each.code == f"{name}-does-not-fit" for each in plan.beside)
        ]
        but = f"; not at {beside[0]} demand" if beside else ""
        verdict = f"All pods fit, but {stalls}" if stalls else "Fits"
        return verdict, level, f"{workloads}{_on_nodes(plan)}{with_guards(plan)}{but}"
    wrong = counted(errors, "error") if errors else ""
    simulated = _simulated_pending(plan)
    pending = "" if simulated and plan.judgement.is_observed else _pending(plan)
    hindered = _hindered(plan, is_pending_counted=bool(pending or simulated))
    remarks = ", ".join(filter(None, (pending, simulated, *hindered, stalls, wrong)))
    verdict = "Does not fit" if plan.verdict == "does-not-fit" else "Cannot tell"
    return verdict, level, remarks


def _without_workloads(plan: Plan) -> str:
    """Return why nothing is to be placed, with the kinds that the plan doesn't know."""
    unknown = sorted(plan.manifests.unknown_kinds) if plan.manifests is not None else []
    if not unknown:
        bound = () if plan.manifests is None else plan.manifests.bound_pods
        if any(not pod.exists for pod in bound):
            return "every pod in the manifests names its node"
        return "the manifests don't contain a workload"
    more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
    kinds = f"{counted(len(unknown), 'unknown kind')} {verb(len(unknown), 'are')} ignored"
    return (
        "the manifests don't contain a workload of a known kind, and "
        f"{kinds}: {', '.join(unknown[:_SHOWN])}{more}"
    )


def _hindered(plan: Plan, *, is_pending_counted: bool) -> Iterator[str]:
    """Yield the number of workloads that never run although their devices fit, and the number of
    objects and pods that the plan can't evaluate.
    """
    certain = {ref for each in plan.blockers if each.is_certain for ref in each.workloads}
    doubtful = {
        ref for each in plan.blockers if each.verdict == "cannot-tell" for ref in each.workloads
    } - certain
    if certain and not is_pending_counted:
        yield f"{counted(len(certain), 'workload')} can't run"
    if doubtful:
        yield f"{counted(len(doubtful), 'workload')} may not run"
    yield from _not_evaluated(plan)


def _not_evaluated(plan: Plan) -> Iterator[str]:
    """Yield the number of unknown or unreadable objects, and the number of pods on unknown
    nodes.
    """
    codes = Counter(
        each.code for each in plan.blockers if each.verdict == "cannot-tell" and not each.workloads
    )
    pods = codes.pop(NODE_NAME_SET, 0)
    unread = codes.total()
    if unread:
        yield f"{counted(unread, 'object')} {'isn' if unread == 1 else 'aren'}'t read"
    if pods == 1:
        yield "1 pod names a node that isn't in the plan"
    elif pods:
        yield f"{pods} pods name nodes that aren't in the plan"


def _on_nodes(plan: Plan) -> str:
    if plan.fleet is None:
        return f" on {counted(len(plan.pools), 'observed node')}"
    is_growth = plan.judgement.is_observed
    nodes = sum(pool.nodes.desired - (pool.existing or 0) for pool in plan.pools)
    if not nodes:
        return f"; no {'additional' if is_growth else 'GPU'} node is needed"
    more = " more" if is_growth else ""
    cost = "" if plan.cost is None else f", {usd(plan.cost.hourly_usd)} per hour{more}"
    return f" on {counted(nodes, 'additional GPU node' if is_growth else 'GPU node')}{cost}"


def _pending(plan: Plan) -> str:
    """Return the number of pending pods and of their workloads. "" if no pod is pending."""
    waiting = [workload.pending for workload in plan.workloads if workload.pending]
    if not waiting:
        return ""
    pods = f"{sum(waiting)} of {counted(plan.pods, 'pod')} pending"
    return (
        f"{pods} in {len(waiting)} of {len(plan.workloads)} workloads"
        if len(plan.workloads) > 1
        else pods
    )


def _simulated_pending(plan: Plan) -> str:
    """Return the number of pods that stay pending in the simulation if the search didn't find node
    counts at which all pods fit.
    """
    found = plan.judgement.simulated
    if found is None or found.counts is not None:
        return ""
    strandings = found.at_maximum or found.at_packing
    most = max(each.pods for each in strandings)
    # a DaemonSet also has pods on nodes of pools that the plan doesn't use
    of_all = found.scale == 1 and most <= plan.pods
    pods = f"{most} of {counted(plan.pods, 'pod')}" if of_all else counted(most, "pod")
    where = " even with every pool at its maximum" if found.at_maximum else ""
    return f"up to {pods} pending in {len(strandings)} of {len(found.orders)} pod arrival orders{where}"


def setting(plan: Plan) -> str:
    """Return the target of the plan: cloud, region, and Kubernetes version, or a snapshot."""
    if plan.fleet is None:
        return f"{counted(len(plan.pools), 'observed node')} · Kubernetes {plan.kubernetes}"
    there = f" · {counted(len(plan.offers), 'observed node')}" if plan.judgement.is_observed else ""
    return (
        f"{cloud_titles()[plan.fleet.cloud]} {plan.fleet.region}{there} · Kubernetes "
        f"{plan.kubernetes}"
    )
