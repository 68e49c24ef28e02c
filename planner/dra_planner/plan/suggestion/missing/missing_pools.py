"""Fleet changes from the catalog for a pod that doesn't fit any pool. Each change was tried."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from dra_planner.allocation import Refusal, reasons_of
from dra_planner.allocation.reasons.applied_edits import apply_edits
from dra_planner.allocation.reasons.edits import Edit
from dra_planner.allocation.reasons.nodes import failing_requirements
from dra_planner.allocation.reasons.possible_edits import toleration_edits
from dra_planner.clouds import cloud, names
from dra_planner.drivers import every_driver
from dra_planner.model import Reason, Shape, Toleration
from dra_planner.plan.judgement.judgement import Judgement, PoolAnswer
from dra_planner.plan.model import MISSING_POOL
from dra_planner.plan.suggestion.missing.driver_changes import setting_changes, version_changes
from dra_planner.plan.suggestion.missing.dynamic_mig import dynamic_changes
from dra_planner.plan.suggestion.missing.mig_changes import (
    changes_text,
    class_changes,
    configuration_changes,
    missing_mig,
    pools_of_known_machines,
    whole_gpus_instead,
)
from dra_planner.plan.suggestion.missing.new_pools import partitioned_pools, whole_gpu_pools
from dra_planner.plan.suggestion.missing.tried_fleets import FleetChange, trials_of

_MACHINE_LABELS: Final = {
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    *filter(None, (cloud(name).accelerator_label for name in names())),
}
"""Labels whose values the machine type determines."""
NO_POOL: Final = "no pool in this fleet fits the pod"


def missing_pool(judgement: Judgement, shape: Shape) -> Reason | None:
    """Return the fleet change for a pod that doesn't fit the fleet's pools, or None if no change
    helps.

    Pods that taints, labels, or other pods exclude have other reasons, and aren't handled here.
    """
    changes = fleet_changes(judgement, shape)
    if not changes:
        return _no_machine(judgement, shape)
    return Reason(code=MISSING_POOL, message=NO_POOL, fix=changes_text(changes))


def _no_machine(judgement: Judgement, shape: Shape) -> Reason | None:
    """Return the reason that the cloud or region lacks a machine type for the pod, or None if one
    fits or some weren't tried.
    """
    trials = trials_of(judgement)
    if trials is None or not shape.claims:
        return None
    if not all(map(_fails_or_lacks, judgement.answers(shape))):
        return None
    if without_mig := missing_mig(shape, trials):
        return Reason(code=MISSING_POOL, message=without_mig, fix=whole_gpus_instead(shape, trials))
    if not all(map(_lacks_hardware, judgement.answers(shape))):
        return None
    classes = _requested_classes(shape)
    messages = (driver.no_machine(trials.fleet.region, classes) for driver in every_driver())
    message = next(filter(None, messages), "")
    return Reason(code=MISSING_POOL, message=message) if message else None


def _requested_classes(shape: Shape) -> frozenset[str]:
    return frozenset(
        way.device_class_name
        for claim in shape.claims
        for request in claim.spec.requests
        for way in request.alternatives
    )


def fleet_changes(judgement: Judgement, shape: Shape) -> tuple[FleetChange, ...]:
    """Return the smallest changes of the fleet with which the pod fits a node, with the tolerations
    that the pod lacks on every pool.

    The order is: a MIG configuration, unless a new pool costs less (with the class for MIG devices
    if the pod's selectors need it, or only the class if an existing pool has such devices, or with
    a guard for a class that fails on whole GPUs), driver settings, another driver, the cheapest
    machine types in the fleet's region (one for each GPU, whole or partitioned), and dynamic
    partitioning.
    """
    tolerations = _missing_tolerations(judgement, shape)
    if not tolerations:
        return _changes(judgement, shape)
    found = _changes(judgement, apply_edits(tolerations, shape))
    return tuple(replace(each, edits=(*tolerations, *each.edits)) for each in found)


def _missing_tolerations(judgement: Judgement, shape: Shape) -> tuple[Edit, ...]:
    """Return the tolerations that a pod lacks on every pool."""
    answers = judgement.answers(shape)
    if any(_behind_taints(each) is each for each in answers):
        return ()
    edits = (edit for each in answers for edit in toleration_edits(shape.pod, each.node.node))
    return tuple(dict.fromkeys(edits))


def _changes(judgement: Judgement, shape: Shape) -> tuple[FleetChange, ...]:
    trials = trials_of(judgement)
    if trials is None or not shape.claims:
        return ()
    if all(map(_selects_another_machine, judgement.answers(shape))):
        return whole_gpu_pools(shape, trials)
    if not all(map(_lacks_hardware, judgement.answers(shape))):
        fails = all(map(_fails_or_lacks, judgement.answers(shape)))
        return class_changes(shape, trials, is_failing=True) if fails else ()
    return (
        configuration_changes(shape, trials)
        or class_changes(shape, trials)
        or setting_changes(shape, trials)
        or version_changes(shape, trials)
        or whole_gpu_pools(shape, trials)
        or partitioned_pools(shape, trials)
        or pools_of_known_machines(shape, trials)
        or dynamic_changes(shape, trials)
    )


def _fails_or_lacks(pool_answer: PoolAnswer) -> bool:
    """Return whether a selector fails with an error on the pool's devices.

    For example, a selector for MIG devices fails on whole GPUs.
    """
    return _lacks_hardware(pool_answer) or (
        isinstance(pool_answer.answer, Refusal) and pool_answer.answer.kind == "error"
    )


def without_idle_tolerations(
    judgement: Judgement, shape: Shape, reasons: Iterable[Reason]
) -> tuple[Reason, ...]:
    """Return the reasons without the fix to tolerate the taints of pools that then still lack
    hardware for the pod.
    """
    idle = {
        pool_answer.offer.name
        for pool_answer in judgement.answers(shape)
        if is_idle_toleration(pool_answer)
    }
    return tuple(
        replace(each, fix="") if each.code == "missing-toleration" and each.pool in idle else each
        for each in reasons
    )


def is_idle_toleration(pool_answer: PoolAnswer) -> bool:
    """Return whether a taint excludes the pod from a pool that lacks hardware for it anyway."""
    return _behind_taints(pool_answer) is not pool_answer and _lacks_hardware(pool_answer)


def _behind_taints(pool_answer: PoolAnswer) -> PoolAnswer:
    """Return the pool's answer to the same pod with tolerations for every taint of the pool, if a
    taint excludes the pod.
    """
    misfit = pool_answer.answer.misfit if isinstance(pool_answer.answer, Refusal) else None
    if misfit is None or misfit.filter != "taint":
        return pool_answer
    pod = replace(pool_answer.shape.pod, tolerations=(Toleration("", "Exists", "", ""),))
    tolerant = replace(pool_answer.shape, id=f"{pool_answer.shape.id}+tolerant", pod=pod)
    return replace(
        pool_answer, shape=tolerant, answer=pool_answer.doubtful_place(tolerant, pool_answer.node)
    )


def _lacks_hardware(pool_answer: PoolAnswer) -> bool:
    answer = _behind_taints(pool_answer).answer
    if not isinstance(answer, Refusal):
        return False
    if any(reason.code == "device-taint" for reason in reasons_of(answer)):
        return False  # a taint rule also taints the devices of other pools
    misfit = answer.misfit
    if misfit is None or misfit.filter != "resources":
        return answer.kind == "devices"
    allocatable = pool_answer.node.node.allocatable
    if all(map(_is_pool_setting, (name for name, _, _ in misfit.shortages))):
        return False
    # DRA nodes of every machine type lack resources that only device plugins advertise
    return all("/" not in name or allocatable.get(name) for name, _, _ in misfit.shortages)


def _selects_another_machine(pool_answer: PoolAnswer) -> bool:
    """Return whether a pod selects nodes by a label that only other machine types have."""
    answer = pool_answer.answer
    misfit = answer.misfit if isinstance(answer, Refusal) else None
    if misfit is None or misfit.filter != "node-selector":
        return False
    keys = (
        {misfit.label.partition("=")[0]}
        if misfit.label
        else {
            each.key for each in failing_requirements(pool_answer.shape.pod, pool_answer.node.node)
        }
    )
    return not keys - _MACHINE_LABELS


def _is_pool_setting(resource: str) -> bool:
    """Return whether a pool's settings determine the amount of a resource, not its machine type."""
    return resource == "ephemeral-storage" or resource.startswith("hugepages-")
