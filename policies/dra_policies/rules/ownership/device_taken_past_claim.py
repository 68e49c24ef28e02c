"""Pods that can access GPUs that they don't request."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_planner.plan.demand.unrequested_devices import DEVICE_TAKEN, find_unrequested_devices
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.claim_specs import gpu_entries
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for workload, pod_set in pod_sets_with_claims(view.manifests) if view.manifests else ():
        assert view.manifests is not None
        if workload.kind == "DaemonSet" or not gpu_entries(view.manifests, workload, pod_set):
            continue  # drivers, exporters, and similar programs need all devices of a node
        for way in pod_set.template.past_claims:
            yield Finding(
                message=f"{workload.ref} has claims, but {way.description}, so its pods can access other pods' "
                "GPUs",
                fix=f"remove {way.setting}, because the claim provides the device files and libraries",
                place=pod_set.template.place if pod_set.template.place.file else workload.place,
            )
    yield from _without_request(view)


def _without_request(view: StackView) -> Iterator[Finding]:
    """Yield pods without device requests, unless the view's plan already reports them."""
    if view.manifests is None or any(each.code == DEVICE_TAKEN for each in view.diagnostics):
        return
    for found in find_unrequested_devices(view.manifests):
        yield Finding(message=found.message, fix=found.fix, place=found.place)


RULE = Rule(
    id=DEVICE_TAKEN,
    description="A pod can access GPUs that it doesn't request.",
    why="Host device files, NVIDIA_VISIBLE_DEVICES, and privileged containers give access to "
    "all GPUs on the node, including other pods' GPUs.",
    fix="Remove the mount, the variable, or the privileged setting.",
    level="advisory",
    check=check,
)
