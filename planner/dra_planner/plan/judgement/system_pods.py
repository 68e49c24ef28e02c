"""Pods without devices that neither tolerate the taint of GPU nodes nor select these nodes, so they
run on the system pool.

The plan doesn't size that pool, because the fleet sets its count. But the plan checks whether such
pods fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation.node.selectors import node_matches, untolerated_taint
from dra_planner.fleet import Fleet
from dra_planner.model import (
    Demand,
    DemandLevel,
    DeviceClass,
    Node,
    PodSpec,
    Reason,
    Shape,
    WorkloadRef,
    worst,
)
from dra_planner.offers import SYSTEM_POOL, Offer, predict_system_offer
from dra_planner.releases import Features
from dra_planner.sizing import Sizer, Sizing, WorkloadSize

_OF_EVERY_NODE = ("cpu", "memory", "ephemeral-storage", "pods")


def set_aside(demand: Demand, offers: Iterable[Offer]) -> tuple[Demand, Demand]:
    """Return the demand on GPU pools, and the demand on the system pool."""
    nodes = [offer.node for offer in offers]
    system = [
        shape
        for shape in demand.shapes
        if _wants_no_device(shape) and not any(_is_for_gpu_node(shape.pod, node) for node in nodes)
    ]
    ids = {shape.id for shape in system}
    gpu = tuple(shape for shape in demand.shapes if shape.id not in ids)
    return replace(demand, shapes=gpu), replace(demand, shapes=tuple(system), blocked=())


def _wants_no_device(shape: Shape) -> bool:
    wanted = {
        name
        for each in (*shape.pod.containers, *shape.pod.init_containers)
        for name, amount in each.requests.items()
        if amount
    }
    return not shape.claims and not shape.per_node and all(_is_ordinary(name) for name in wanted)


def _is_ordinary(resource: str) -> bool:
    return resource in _OF_EVERY_NODE or resource.startswith("hugepages-")


def _is_for_gpu_node(pod: PodSpec, node: Node) -> bool:
    """Return whether a pod tolerates the taints of a GPU node, or selects it by a label that nodes
    of the system pool don't have.
    """
    if untolerated_taint(node.taints, pod.tolerations) is None:
        return True
    labels, affinity = node.meta.labels, pod.node_affinity
    terms = () if affinity is None else affinity.terms
    keys = {*pod.node_selector, *(each.key for term in terms for each in term.match_expressions)}
    return (
        any(key in labels and not _is_on_every_node(key) for key in keys)
        and pod.node_selector.items() <= labels.items()
        and (affinity is None or node_matches(affinity, node))
    )


def _is_on_every_node(label: str) -> bool:
    return label.partition("/")[0].endswith("kubernetes.io")


class SystemPods(Struct, frozen=True):
    """The demand on the system pool. `offer` and `sizer` are None if its machine type isn't in the
    tables.
    """

    demand: Demand
    machine: str
    offer: Offer | None
    sizer: Sizer | None

    @classmethod
    def of(
        cls, demand: Demand, fleet: Fleet, classes: Mapping[str, DeviceClass], features: Features
    ) -> SystemPods:
        """Evaluate a fleet's system pods."""
        offer = predict_system_offer(fleet)
        sizer = None if offer is None else Sizer.of(demand, (offer,), classes, features)
        return cls(demand, fleet.system_pool.machine, offer, sizer)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions on which the answer depends."""
        texts = () if self.offer is None else self.offer.assumptions
        return tuple(f"pool {SYSTEM_POOL}: {text}" for text in texts)

    def with_demand(self, demand: Demand) -> SystemPods:
        """Return the evaluation with fewer pods of the same shapes."""
        return replace(
            self,
            demand=demand,
            sizer=None
            if self.sizer is None
            else replace(self.sizer, demand=demand, with_raises=False),
        )

    def size(self, level: DemandLevel) -> tuple[WorkloadSize, ...]:
        """Return the answer for each workload on the system pool."""
        if self.sizer is not None:
            return self.sizer.size(level).workloads
        wanted: dict[WorkloadRef, int | None] = {}
        for member in (member for shape in self.demand.shapes for member in shape.members):
            before, more = wanted.get(member.workload, 0), member.figures.at(level)
            wanted[member.workload] = None if before is None or more is None else before + more
        return tuple(_not_known(ref, pods, self.machine) for ref, pods in sorted(wanted.items()))


def add_system(sizing: Sizing, system: Iterable[WorkloadSize]) -> Sizing:
    """Return the sizing of the GPU pools together with the answers for pods on the system pool."""
    answers: dict[WorkloadRef, WorkloadSize] = {size.workload: size for size in sizing.workloads}
    for size in system:
        before = answers.get(size.workload)
        answers[size.workload] = size if before is None else _sum(before, size)
    workloads = tuple(answers[ref] for ref in sorted(answers))
    return replace(sizing, workloads=workloads, verdict=worst(size.verdict for size in workloads))


def _sum(one: WorkloadSize, other: WorkloadSize) -> WorkloadSize:
    return replace(
        one,
        wanted=None if one.wanted is None or other.wanted is None else one.wanted + other.wanted,
        placed=one.placed + other.placed,
        pending=one.pending + other.pending,
        verdict=worst((one.verdict, other.verdict)),
        placements=(*one.placements, *other.placements),
        fits=(*one.fits, *other.fits),
        reasons=(*one.reasons, *other.reasons),
    )


def _not_known(ref: WorkloadRef, pods: int | None, machine: str) -> WorkloadSize:
    reason = Reason(
        code="system-machine-unknown",
        message=f"the CPU and memory of {machine}, the system pool's machine type, are unknown",
        fix="use a machine type from the catalog for the system pool",
        pool=SYSTEM_POOL,
    )
    return WorkloadSize(
        workload=ref,
        wanted=pods,
        placed=0,
        pending=pods or 0,
        verdict="cannot-tell",
        fits=((SYSTEM_POOL, "cannot-tell"),),
        reasons=(reason,),
    )
