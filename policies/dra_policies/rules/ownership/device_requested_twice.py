"""Pods that get GPUs both through a claim and from a device plugin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dra_planner.claims.extended_resources import index_classes
from dra_planner.claims.manifest_claims import pod_sets_with_claims
from dra_planner.drivers import publishers_of
from dra_planner.drivers.nvidia import GPU_DRIVER
from dra_planner.errors import Place
from dra_planner.model import Container, LimitRange, PodSet, Workload
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.claim_specs import gpu_entries
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    served = _served(view)
    for workload, pod_set in pod_sets_with_claims(view.manifests) if view.manifests else ():
        assert view.manifests is not None
        gpus = gpu_entries(view.manifests, workload, pod_set)
        if gpus:
            yield from _from_manifest(workload, pod_set, gpus, served)
            limits = [
                each
                for each in view.manifests.limit_ranges
                if each.meta.namespace == workload.meta.namespace
            ]
            yield from _from_limit_ranges(workload, pod_set, limits)


def _served(view: StackView) -> Mapping[str, str]:
    """Return the extended resources that DeviceClasses serve, so that no device plugin is
    needed.
    """
    if view.features is None or not view.features.extended_resource or view.manifests is None:
        return {}
    return index_classes({**view.classes, **view.manifests.classes})


def _from_manifest(
    workload: Workload, pod_set: PodSet, gpus: frozenset[str], served: Mapping[str, str]
) -> Iterator[Finding]:
    containers = _containers(pod_set)
    claiming = [each for each in containers if any(used.name in gpus for used in each.claims)]
    requesting = {each.name: name for each in containers for name in _gpu_resources(each)}
    both = [each.name for each in claiming if each.name in requesting]
    if both:
        name = requesting[min(both)]
        yield Finding(
            message=f'{workload.ref}: container "{min(both)}" has a claim and also requests '
            f"{name}, {_effect(name, served)}",
            fix=f"remove {name} from the container's limits and requests",
            place=_place(workload, pod_set),
        )
        return
    for container, name in requesting.items() if claiming else ():
        if name not in served:
            yield Finding(
                message=f'{workload.ref}: container "{claiming[0].name}" has a claim, but '
                f'container "{container}" requests {name}, so the pod needs a node on which a '
                "DRA driver and a device plugin allocate GPUs",
                fix=f'use the claim in container "{container}" too, and remove {name}',
                place=_place(workload, pod_set),
            )


def _effect(name: str, served: Mapping[str, str]) -> str:
    if name in served:
        return f"which DeviceClass {served[name]} provides, so the container gets an additional GPU"
    return "so it gets one GPU from the DRA driver and a second GPU from the device plugin"


def _from_limit_ranges(
    workload: Workload, pod_set: PodSet, limits: list[LimitRange]
) -> Iterator[Finding]:
    for limit in limits:
        for name in filter(_is_gpu, limit.default_limits):
            given = [each.name for each in _containers(pod_set)
                     if name not in {**each.limits, **each.requests}]  # fmt: skip
            if given and limit.default_limits[name]:
                yield Finding(
                    message=(
                        f"{workload.ref}: LimitRange {limit.meta.key} adds {name} to "
                        f'container "{given[0]}", which already has a claim, so the pod '
                        "gets more GPUs than it requests"
                    ),
                    fix=f"remove {name} from the limits of LimitRange {limit.meta.key}",
                    place=limit.meta.place,
                )


def _containers(pod_set: PodSet) -> tuple[Container, ...]:
    spec = pod_set.template.spec
    return (*spec.containers, *spec.init_containers)


def _gpu_resources(container: Container) -> list[str]:
    return sorted(name for name, amount in container.requests.items() if amount and _is_gpu(name))


def _is_gpu(resource: str) -> bool:
    return "/" in resource and GPU_DRIVER in publishers_of(resource)


def _place(workload: Workload, pod_set: PodSet) -> Place:
    return pod_set.template.place if pod_set.template.place.file else workload.place


RULE = Rule(
    id="device-requested-twice",
    description="A pod requests GPUs through both a claim and an extended resource.",
    why="The pod needs a node where both the device plugin and the DRA driver allocate GPUs, "
    "which few clusters have. A LimitRange can also add the extended resource.",
    fix="Keep the claim, and remove the extended resource.",
    level="advisory",
    check=check,
)
