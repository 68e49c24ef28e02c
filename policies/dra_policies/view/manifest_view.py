"""The view of manifests and a plan, for use without a stack."""

from __future__ import annotations

from collections.abc import Callable

from dra_planner.drivers import nvidia
from dra_planner.fleet import Fleet
from dra_planner.manifests import Manifests, render_pod_spec
from dra_planner.model import Node, Workload
from dra_planner.offers import Offer
from dra_planner.plan import Judgement, Plan
from dra_planner.plan.cluster.shared_by_allocators import is_device_plugin
from dra_planner.releases import Features
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import DeclaredPool, NvidiaInUse, PluginWorkload, StackView


def view_of(
    manifests: Manifests,
    features: Features,
    plan: Plan | None = None,
    whole_judgement: Callable[[], Judgement] | None = None,
) -> StackView:
    """Return the view of manifests, and of their plan if there is one."""
    plugins = tuple(
        plugin for plugin in map(_device_plugin, manifests.workloads) if plugin is not None
    )
    if plan is None:
        return StackView(
            manifests=manifests,
            features=features,
            device_plugins=plugins,
            diagnostics=manifests.diagnostics,
        )
    pools = (
        tuple(_pool(offer, plan.fleet.cloud) for offer in plan.offers)
        if plan.fleet is not None
        else ()
    )
    return StackView(
        manifests=manifests,
        features=features,
        diagnostics=plan.diagnostics,
        device_plugins=plugins,
        judgement=plan.judgement,
        classes=plan.classes,
        pools=pools,
        nvidia=None if plan.fleet is None else nvidia_of(plan.fleet),
        whole_judgement=whole_judgement,
        plan=lambda: plan,
        other_devices=plan.left_out.others if plan.left_out else (),
        not_described=plan.left_out.not_described if plan.left_out else (),
    )


def nvidia_of(fleet: Fleet) -> NvidiaInUse | None:
    """Return the version of NVIDIA's driver in a fleet, or None if it doesn't run the driver."""
    options = fleet.drivers.of(nvidia.DRIVER)
    return None if options is None else NvidiaInUse(options.version, options.settings)


def view_of_plan(plan: Plan) -> StackView:
    """Return the view of a plan that was made from manifests."""
    assert plan.manifests is not None  # make_plan stores the manifests that it read
    return view_of(
        plan.manifests,
        plan.judgement.features,
        plan,
        whole_judgement=lambda: plan.judgement,
    )


def _device_plugin(workload: Workload) -> PluginWorkload | None:
    """Return NVIDIA's device plugin if the workload is one."""
    if not is_device_plugin(workload):
        return None
    return PluginWorkload(
        title=str(workload.ref),
        pod=Properties(render_pod_spec(workload.pod_sets[0].template.spec)),
        place=workload.place,
    )


def _pool(offer: Offer, cloud: str) -> DeclaredPool:
    node: Node = offer.node
    return DeclaredPool(
        urn="",
        title=f'pool "{offer.name}"',
        cloud=cloud,
        name=offer.name,
        machine=offer.machine,
        count_min=offer.count_min,
        count_desired=None,
        count_max=offer.count_max,
        labels=dict(node.meta.labels),
        taints=node.taints,
        has_gpus=bool(offer.slices),
    )
