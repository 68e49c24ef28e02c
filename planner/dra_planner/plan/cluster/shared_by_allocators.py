"""Devices that a device plugin and a DRA driver might both allocate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from dra_planner.allocation import NodeState
from dra_planner.allocation.node.selectors import requirement_holds, untolerated_taint
from dra_planner.clouds import DRA
from dra_planner.errors import Diagnostic
from dra_planner.manifests import Manifests
from dra_planner.model import NodeSelectorTerm, PodSpec, Requirement, Workload
from dra_planner.offers import ContestedDevices, Offer, contested_devices, pod_requests
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.model import DEVICES_CONTESTED
from dra_planner.wording import counted, listed, verb

PLUGIN_ON_DRA_NODE: Final = "device-plugin-on-dra-node"
"""The code of the finding, and the ID of the rule that also checks stacks."""
OPERATOR_OPT_OUT: Final = "nvidia.com/gpu.deploy.device-plugin"
"""The label whose value "false" keeps the GPU Operator's device plugin off a node."""
EXCLUSION: Final = f'{{key: {DRA}, operator: NotIn, values: ["true"]}}'
_PLUGIN: Final = "nvidia-device-plugin"

_FIX: Final = (
    "drain the node, because pods keep the plugin's devices until they terminate. Then remove "
    "either the device plugin or the DRA driver from the node"
)


def find_shared_by_allocators(judgement: Judgement) -> Iterator[Diagnostic]:
    """Yield each node whose devices both allocators give to pods, as an error if there aren't
    enough for all of them.
    """
    outcome = judgement.outcome
    states = (
        {}
        if outcome is None
        else dict(zip((each.name for each in outcome.nodes), outcome.states, strict=True))
    )
    for offer in judgement.offers:
        if offer.origin != "observed" or offer.name not in states:
            continue
        for contested in contested_devices(offer):
            yield from _finding(contested, states[offer.name], _served(offer, contested.resource))


def _served(offer: Offer, resource: str) -> int:
    """Return the units of running pods that claims serve and that the node's usage also counts."""
    return sum(
        pod_requests(pod.spec).get(resource, 0) for pod in offer.pods if pod.is_served_by_claim
    )


def _finding(contested: ContestedDevices, state: NodeState, served: int) -> Iterator[Diagnostic]:
    requested = dict(state.used).get(contested.resource, 0) - served
    claimed = _claimed(state, contested)
    if requested <= 0 or not claimed:
        return
    short = requested + claimed - contested.devices
    is_short = contested.units in (0, contested.devices) and short > 0
    what = (
        f", so at least {counted(short, 'device')} {verb(short, 'are')} used by two pods"
        if is_short
        else ". The device plugin and the driver don't know about each other's allocations, so two "
        "pods can get the same device"
    )
    yield Diagnostic(
        severity="error" if is_short else "warning",
        code="devices-allocated-twice" if is_short else DEVICES_CONTESTED,
        message=f"Node {contested.node} has {counted(contested.devices, 'device')}. The "
        f"device plugin allocates {requested} of them to pods as "
        f"{contested.resource}, and the DRA driver allocates {claimed} to claims"
        f"{what}",
        fix=_FIX,
    )


def _claimed(state: NodeState, contested: ContestedDevices) -> int:
    """Return the number of devices of the contested drivers that claims hold on the node."""
    shared = sum(1 << index for index, _ in state.shares)
    return sum(
        bool(each.bit & (state.taken | shared))
        for each in state.template.candidates
        if each.id.driver in contested.drivers
    )


def is_device_plugin(workload: Workload) -> bool:
    """Return whether a workload is NVIDIA's device plugin, by its name or its container's name."""
    if workload.kind != "DaemonSet" or not workload.pod_sets:
        return False
    containers = workload.pod_sets[0].template.spec.containers
    return any(
        _PLUGIN in name for name in (workload.meta.name, *(each.name for each in containers))
    )


def find_device_plugins(manifests: Manifests, offers: Iterable[Offer]) -> Iterator[Diagnostic]:
    """Yield an error for each DaemonSet that runs the device plugin on a pool's DRA nodes."""
    pools = _dra_pools(offers)
    for workload in manifests.workloads:
        if workload.ref in manifests.existing or not is_device_plugin(workload):
            continue
        pod = workload.pod_sets[0].template.spec
        hit = [pool for pool in pools if _may_run(pod, pool)]
        if hit:
            names = listed(f'pool "{pool.name}"' for pool in hit)
            yield Diagnostic(
                severity="error",
                code=PLUGIN_ON_DRA_NODE,
                message=f"{workload.ref} runs NVIDIA's device plugin on the nodes in {names}, because "
                f"{_reason(pod, hit[0])}",
                place=workload.place,
                fix=f"in the plugin's required node affinity, add {EXCLUSION} to the "
                "matchExpressions of every term"
                if _terms(pod)
                else f"add a required node affinity with the match expression {EXCLUSION}",
            )


def with_plugins_of_operators(
    found: Iterable[Diagnostic], offers: Iterable[Offer]
) -> tuple[Diagnostic, ...]:
    """Return the findings of reading manifests, with an operator's device plugin as an error if a
    pool's DRA nodes run it.
    """
    runs = any(
        each.node.meta.labels.get(OPERATOR_OPT_OUT) != "false" for each in _dra_pools(offers)
    )
    return tuple(
        replace(each, severity="error") if runs and _is_of_operator(each) else each
        for each in found
    )


def _is_of_operator(found: Diagnostic) -> bool:
    # a note is about nodes that aren't in the fleet
    return found.code == PLUGIN_ON_DRA_NODE and found.severity == "warning"


def _dra_pools(offers: Iterable[Offer]) -> list[Offer]:
    return [
        each
        for each in offers
        if each.origin == "predicted" and each.slices and each.node.meta.labels.get(DRA) == "true"
    ]


def _may_run(pod: PodSpec, pool: Offer) -> bool:
    """Return whether a pool's nodes can accept a pod. Their unknown labels can have any value."""
    wanted = (Requirement(key, "In", (value,)) for key, value in pod.node_selector.items())
    if not all(_may_hold(each, pool) for each in wanted):
        return False
    terms = _terms(pod)
    if pod.node_affinity is not None and not any(_may_match(each, pool) for each in terms):
        return False
    return untolerated_taint(pool.node.taints, pod.tolerations) is None


def _terms(pod: PodSpec) -> tuple[NodeSelectorTerm, ...]:
    return () if pod.node_affinity is None else pod.node_affinity.terms


def _may_match(term: NodeSelectorTerm, pool: Offer) -> bool:
    return bool(term.match_expressions) and all(
        _may_hold(each, pool) for each in term.match_expressions
    )


def _may_hold(requirement: Requirement, pool: Offer) -> bool:
    return pool.is_unknown_label(requirement.key) or requirement_holds(
        requirement, pool.node.meta.labels
    )


def _reason(pod: PodSpec, pool: Offer) -> str:
    """Explain which of the ORed terms admits the plugin, or that nothing excludes it."""
    terms = _terms(pod)
    matching = [_shown(each) for each in terms if _may_match(each, pool)]
    return reason_of_terms(matching, len(terms))


def reason_of_terms(matching: Sequence[str], terms: int) -> str:
    """Return why a required node affinity with this number of terms admits DRA nodes. `matching`
    are the terms that match the nodes, in readable form.
    """
    if not matching:
        return f"it doesn't have a node affinity that excludes nodes labeled {DRA}=true"
    shown = "; ".join(matching)
    if terms == 1:
        return f"its node-selector term ({shown}) doesn't exclude nodes labeled {DRA}=true"
    some = (
        "none of them excludes"
        if terms == len(matching)
        else f"{len(matching)} of them {verb(len(matching), 'do')}n't exclude"
    )
    return (
        f"its required node affinity doesn't exclude nodes labeled {DRA}=true. A node needs to "
        f"match only one of the affinity's {terms} terms, and {some} this label: {shown}"
    )


def _shown(term: NodeSelectorTerm) -> str:
    """Return a term in readable form: `nvidia.com/gpu.present In [true]`."""
    return " and ".join(
        f"{each.key} {each.operator} [{', '.join(each.values)}]"
        if each.values
        else f"{each.key} {each.operator}"
        for each in term.match_expressions
    )
