"""CPU architectures that pods select, and pods that fit pools with different architectures."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from dra_planner.manifests import Manifests
from dra_planner.model import PodSpec
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.wording import listed, named

ARCH_LABEL: Final = "kubernetes.io/arch"
_MOST_NAMED: Final = 3


def selected_architectures(manifests: Manifests) -> frozenset[str]:
    """Return the architectures that pods require with node selectors or node affinity."""
    return frozenset(
        arch
        for each in manifests.workloads
        for pods in each.pod_sets
        for arch in _selected(pods.template.spec)
    )


def _selected(pod: PodSpec) -> Iterator[str]:
    if ARCH_LABEL in pod.node_selector:
        yield pod.node_selector[ARCH_LABEL]
    for term in pod.node_affinity.terms if pod.node_affinity is not None else ():
        for each in term.match_expressions:
            if each.key == ARCH_LABEL and each.operator == "In":
                yield from each.values


def architecture_assumptions(judgement: Judgement) -> Iterator[str]:
    """Yield the assumption that images run on all architectures of the pools that fit their
    pods.
    """
    archs = {offer.node.meta.labels.get(ARCH_LABEL, "") for offer in judgement.offers} - {""}
    if len(archs) < 2:
        return
    workloads: dict[tuple[str, ...], dict[str, None]] = {}
    for shape in judgement.demand.shapes:
        if shape.id in judgement.on_system:
            continue
        fitting = {
            answer.offer.node.meta.labels.get(ARCH_LABEL, "")
            for answer in judgement.answers(shape)
            if answer.verdict != "does-not-fit"
        } - {""}
        if len(fitting) > 1:
            for member in shape.members:
                workloads.setdefault(tuple(sorted(fitting)), {})[str(member.workload)] = None
    for fitting_archs, names in workloads.items():
        yield (
            f"the plan assumes that the images of {_shortened(list(names))} run on "
            f"{listed(fitting_archs)}, because "
            f"{named('pool', _pools_of(judgement, fitting_archs))} have CPUs of different "
            f"architectures, and the pods don't select {ARCH_LABEL}"
        )


def _pools_of(judgement: Judgement, archs: Collection[str]) -> list[str]:
    return [
        offer.name for offer in judgement.offers if offer.node.meta.labels.get(ARCH_LABEL) in archs
    ]


def _shortened(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f", and {more} more" if more > 0 else "")
