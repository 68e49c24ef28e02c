"""Devices of observed nodes that a device plugin and a DRA driver might both allocate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.allocation import NodeState
from dra_planner.errors import Diagnostic
from dra_planner.offers import ContestedDevices, Offer, contested_devices, pod_requests
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.model import DEVICES_CONTESTED
from dra_planner.wording import counted, verb

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
