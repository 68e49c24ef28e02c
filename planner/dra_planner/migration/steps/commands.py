"""The commands of a step, its checks, and its rollback commands, as shell lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import POOL
from dra_planner.migration.steps.step import MigrationStep, StepKind
from dra_planner.wording import listed

_UP = "pulumi up"
_IMMUTABLE: Final = {"Job": "complete", "JobSet": "completed"}
"""Kinds whose pod templates can't change, and the condition that their objects have when they end.
Source: kubernetes/api:batch/v1/types.go@v0.36.0,
kubernetes-sigs/jobset:api/jobset/v1alpha2/jobset_types.go@v0.10.0.
"""
_NO_PENDING = "kubectl get pods -A --field-selector=status.phase=Pending  # must list no GPU pod"
_PENDING_CLAIMS = (
    "kubectl get resourceclaims -A  # delete pending claims of the new version, or "
    "their pods stay in Terminating"
)


def step_commands(step: MigrationStep) -> tuple[str, ...]:
    """Return the commands that run a step."""
    return tuple(_commands(step))


def step_checks(step: MigrationStep, *, has_new_nodes: bool) -> tuple[str, ...]:
    """Return the commands that check a step before the next one starts.

    `has_new_nodes` means that DRA pools get nodes.
    """
    found = [_NO_PENDING]
    if has_new_nodes:
        found += [
            "kubectl get resourceslices  # must list the devices on each new node",
            f"kubectl get nodes -l {POOL} -o "
            "custom-columns=NAME:.metadata.name,GPUS:.status.allocatable."
            r"nvidia\.com/gpu  # must be <none> or 0 on DRA nodes",
        ]
    return tuple(found)


def step_rollback(step: MigrationStep) -> tuple[str, ...]:
    """Return the commands that undo a step. The device-plugin pools keep their nodes until the step
    is checked.
    """
    match step.kind:
        case StepKind.PREPARE:
            return ("restore the fleet, workloads, and plan file from before this step", _UP)
        case StepKind.MOVE:
            return (
                *_scale_up(step),
                *(
                    f"kubectl delete -n {namespace} {job}"
                    for namespace, job, _ in _immutable_jobs(step)
                ),
                *_applied(step, "previous.yaml"),
                _PENDING_CLAIMS,
            )
        case StepKind.SERVE:
            return (*_scale_up(step), *_served_pods_back(step))
        case StepKind.SHRINK:
            return tuple(_scale_up(step))
        case _:
            return (f"replace the stack's fleet with {step.folder}/fleet.yaml", *_plan_and_up())


def _commands(step: MigrationStep) -> Iterator[str]:
    match step.kind:
        case StepKind.PREPARE:
            yield f"copy the pools from {step.folder}/fleet.yaml to the stack's fleet"
            yield from _plan_and_up()
            yield from _applied(step, "manifests.yaml")
        case StepKind.MOVE:
            yield from _resize(step)
            yield from _finished_jobs(step)
            yield from _applied(step, "manifests.yaml")
            yield _NO_PENDING
            yield from _shrink(step)
        case StepKind.SERVE:
            yield from _resize(step)
            for resource, name in sorted(step.served.items()):
                yield (
                    f"kubectl get deviceclass {name} -o jsonpath={{.spec.extendedResourceName}}  "
                    f"# must print {resource}"
                )
            yield from _shrink(step)
        case StepKind.SHRINK:
            yield from _shrink(step)
        case _:
            yield from _drains(step)
            yield (
                f"replace the stack's fleet with {step.folder}/fleet-after.yaml, which has no "
                "devicePlugin"
            )
            yield from _plan_and_up()
            yield (
                "remove requests.nvidia.com/gpu from ResourceQuotas, unless a DeviceClass serves "
                "nvidia.com/gpu"
            )


def _applied(step: MigrationStep, file: str) -> tuple[str, str]:
    """Return the commands that apply manifests. Later plans of the stack also need these
    manifests.
    """
    return (
        f"kubectl apply -f {step.folder}/{file}",
        f"copy the manifests from {step.folder}/{file} to the stack's workloads",
    )


def _finished_jobs(step: MigrationStep) -> Iterator[str]:
    """Yield the commands for Jobs. Their pod templates can't change, so each Job must end and be
    re-created.
    """
    for namespace, job, condition in _immutable_jobs(step):
        yield f"kubectl wait -n {namespace} --for=condition={condition} --timeout=-1s {job}"
        yield f"kubectl delete -n {namespace} {job}"


def _immutable_jobs(step: MigrationStep) -> Iterator[tuple[str, str, str]]:
    """Yield namespace, `kind/name`, and the condition at the end of each moved Job."""
    for kind, _, name in (each.partition(" ") for each in step.moves):
        if kind in _IMMUTABLE:
            namespace, _, own = name.partition("/")
            yield namespace, f"{kind.lower()}/{own}", _IMMUTABLE[kind]


def _served_pods_back(step: MigrationStep) -> Iterator[str]:
    """Yield the commands that start served pods on the old nodes again.

    They're needed because both kinds of nodes accept these pods.
    """
    twins = [pool.name for pool in step.pools if pool.allocation == "dra" and pool.during]
    for pool in twins:
        yield f"kubectl cordon -l {POOL}={pool}"
    yield (f"delete the pods of {listed(step.moves)}, so that they start again on the old nodes")
    for pool in twins:
        yield f"kubectl uncordon -l {POOL}={pool}"


def _resize(step: MigrationStep) -> Iterator[str]:
    """Yield the commands that give the pools their nodes at the start of a step."""
    if any(pool.during != pool.after or pool.allocation == "dra" for pool in step.pools):
        yield f"copy the pools from {step.folder}/fleet.yaml to the stack's fleet"
        yield from _plan_and_up()


def _drains(step: MigrationStep) -> Iterator[str]:
    """Yield the commands that drain nodes, including DaemonSet pods with GPUs."""
    for pool in step.pools:
        if pool.drained:
            yield (
                f"kubectl get nodes -l {POOL}={pool.name} -o name | tail -n {pool.drained} | "
                "xargs -n 1 kubectl drain --ignore-daemonsets --delete-emptydir-data"
            )


def _shrink(step: MigrationStep) -> Iterator[str]:
    """Yield the commands that drain nodes and delete them."""
    yield from _drains(step)
    drained = [pool for pool in step.pools if pool.drained]
    if drained:
        yield f"copy the pools from {step.folder}/fleet-after.yaml to the stack's fleet"
        yield from _plan_and_up()
    for pool in drained:
        if pool.after:
            yield (
                f"kubectl uncordon -l {POOL}={pool.name}  # the cloud might have deleted other "
                "nodes in the pool"
            )


def _scale_up(step: MigrationStep) -> Iterator[str]:
    if any(pool.drained for pool in step.pools):
        yield (
            f"copy the pools from {step.folder}/fleet.yaml to the stack's fleet  # brings the "
            "drained nodes back"
        )
        yield from _plan_and_up()


def _plan_and_up() -> tuple[str, str]:
    return ("pulumi-dra plan --stack STACK --write", _UP)
