"""Pods with claims that reach GPUs without them as well."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.written import pod_sets_with_claims
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.claim_specs import gpu_entries
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for workload, pod_set in pod_sets_with_claims(view.manifests) if view.manifests else ():
        assert view.manifests is not None
        if workload.kind == "DaemonSet" or not gpu_entries(view.manifests, workload, pod_set):
            continue  # drivers, exporters and the like are there for all devices of a node
        for way in pod_set.template.past_claims:
            yield Finding(
                message=f"{workload.ref} has claims, but {way}, so it can access GPUs of other "
                "pods",
                fix="remove it, because the claim provides the device files and libraries",
                place=pod_set.template.place if pod_set.template.place.file else workload.place,
            )


RULE = Rule(
    id="device-taken-past-claim",
    says="A pod with claims can access other GPUs of the node.",
    why="Device files of the host, NVIDIA_VISIBLE_DEVICES, and privileged containers give access "
    "to all GPUs of the "
    "node, including GPUs of other pods.",
    fix="Remove the mount, the variable, or the privilege.",
    level="advisory",
    check=check,
)
