"""NVIDIA's device plugin on DRA nodes. Both would allocate the same GPUs, so a node can run only
one of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_planner.offers import contested_devices
from dra_planner.plan.cluster.shared_by_allocators import (
    EXCLUSION,
    PLUGIN_ON_DRA_NODE,
    reason_of_terms,
)
from dra_planner.wording import counted, noun, verb
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.node_selection import REQUIRED_TERMS, may_run_on, shown_term, term_accepts
from dra_policies.view.stack_view import DeclaredPool, PluginWorkload, StackView


def check(view: StackView) -> Iterator[Finding]:
    pools = [pool for pool in view.pools if pool.is_dra is not False and pool.has_gpus is not False]
    for plugin in view.device_plugins:
        if plugin.urn:
            yield from _on_pools(plugin, pools)
    yield from _of_manifests(view)
    for pool in pools:
        yield from _of_the_platform(pool)
    yield from _on_observed_nodes(view)
    yield from broken_rows(view, RULE.id)


def _of_manifests(view: StackView) -> Iterator[Finding]:
    """Yield the plan's errors about plugins in manifests."""
    is_of_stack = any(plugin.urn for plugin in view.device_plugins)
    plan = None if view.plan is None or is_of_stack else view.plan()
    for found in plan.diagnostics if plan is not None else ():
        if found.code == PLUGIN_ON_DRA_NODE and found.severity == "error":
            yield Finding(message=found.message, fix=found.fix, place=found.place)


def _on_pools(plugin: PluginWorkload, pools: list[DeclaredPool]) -> Iterator[Finding]:
    """Yield one finding for the pools that a plugin runs on, and one for pools that can't be
    evaluated.
    """
    for certain in (True, False):
        hit = [pool for pool in pools if _runs_on(plugin, pool) is (True if certain else None)]
        if hit:
            shown = _and([pool.title for pool in hit])
            yield Finding(
                message=(
                    (
                        f"{plugin.title} runs NVIDIA's device plugin on the nodes in {shown}, because "
                        f"{_reason(plugin, hit[0])}"
                    )
                    if certain
                    else (
                        f"it's unknown whether {plugin.title} runs the device plugin on the nodes in "
                        f"{shown}, because some of its values are unknown"
                    )
                ),
                fix=_fix(plugin),
                urn=plugin.urn,
                place=plugin.place,
                certain=certain,
            )


def _on_observed_nodes(view: StackView) -> Iterator[Finding]:
    """Yield a finding for the nodes of a snapshot on which both allocators manage the same
    device.
    """
    offers = view.judgement.offers if view.judgement is not None else ()
    found = [
        each for offer in offers if offer.origin == "observed" for each in contested_devices(offer)
    ]
    both = [each for each in found if each.units]
    left = [each for each in found if not each.units]
    if both:
        names = sorted({each.node for each in both})
        yield Finding(
            message=(
                f"a device plugin on {_nodes(names)} advertises {both[0].units} "
                f"{both[0].resource}, and a DRA driver publishes the same "
                f"{counted(both[0].devices, 'device')}"
            ),
            fix=f"drain the {noun(len(names), 'node')}, and remove either the device plugin or the DRA driver "
            f"from {_them(names)}",
        )
    if left:
        names = sorted({each.node for each in left})
        held = sum(each.held for each in left)
        yield Finding(
            message=f"{_nodes(names)} no longer {verb(len(names), 'run')} a device plugin, but "
            f"pods still use {held} {left[0].resource}, and the DRA driver allocates "
            "the same devices to claims",
            fix="drain the nodes completely before the driver starts",
        )


def _nodes(names: list[str]) -> str:
    shown = _and(names) if len(names) <= 3 else f"{', '.join(names[:3])}, and {len(names) - 3} more"
    return f"{'Node' if len(names) == 1 else 'Nodes'} {shown}"


def _them(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _runs_on(plugin: PluginWorkload, pool: DeclaredPool) -> bool | None:
    runs = may_run_on(plugin.pod, pool)
    if plugin.opt_out_label and pool.labels is not None and runs is not False:
        value = pool.labels.get(plugin.opt_out_label, "")
        runs = None if value is None else runs if value != "false" else False
    if runs and pool.is_dra is None:
        return None  # such a pool might not use DRA
    return runs


def _reason(plugin: PluginWorkload, pool: DeclaredPool) -> str:
    """Explain which of the ORed terms admits the plugin, or that nothing excludes it."""
    terms = plugin.pod.items(REQUIRED_TERMS) or ()
    if plugin.opt_out_label:
        return f'the nodes don\'t have the label {plugin.opt_out_label}="false"'
    matching = [shown_term(term) for term in terms if term_accepts(term, pool) is not False]
    return reason_of_terms(matching, len(terms))


def _fix(plugin: PluginWorkload) -> str:
    if plugin.opt_out_label:
        return (
            f'add the label {plugin.opt_out_label}="false" to the nodes, or set '
            "devicePlugin.enabled to false in the operator's values"
        )
    terms = plugin.pod.items(REQUIRED_TERMS)
    if terms is not None and not terms:
        return f"add a required node affinity with the match expression {EXCLUSION}"
    return f"in the plugin's required node affinity, add {EXCLUSION} to the matchExpressions of every term"


def _of_the_platform(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield the device plugin that the cloud runs on the pool's nodes."""
    of_cloud = cloud(pool.cloud)
    label = of_cloud.no_device_plugin_label
    if label:
        value = "" if pool.labels is None else pool.labels.get(label, "")
        if value != "true" and pool.is_dra:
            yield Finding(
                message=(
                    f"{of_cloud.title} runs its own device plugin on the nodes in {pool.title}, "
                    f"because the nodes don't have the label {label}=true"
                    if value is not None
                    else f"it's unknown whether {of_cloud.title} runs its own device plugin on the nodes in "
                    f"{pool.title}, because the value of the label {label} is unknown"
                ),
                fix=f"create the pool with the node label {label}=true",
                urn=pool.urn,
                certain=value is not None,
            )
    if pool.image and pool.image.startswith(of_cloud.images_with_device_plugin) and pool.is_dra:
        yield from _of_the_image(pool, pool.image)


def _of_the_image(pool: DeclaredPool, image: str) -> Iterator[Finding]:
    """Yield the device plugin in the pool's image, unless the nodes' settings disable it."""
    of_cloud = cloud(pool.cloud)
    runs = (
        None if pool.boot_script is None else of_cloud.keeps_device_plugin(image, pool.boot_script)
    )
    if runs is not False:
        yield Finding(
            message=f"{pool.title} uses the image {image}, which runs its own device plugin"
            + ("" if runs else ", unless the unknown node settings disable it"),
            fix="disable the device plugin in the node settings, or use an image without a device "
            f"plugin ({' or '.join(sorted(set(of_cloud.gpu_images.values())))})",
            urn=pool.template_urn or pool.urn,
            certain=runs is True,
        )


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


RULE = Rule(
    id=PLUGIN_ON_DRA_NODE,
    description="NVIDIA's device plugin runs on a DRA node.",
    why="The device plugin and the DRA driver allocate the same GPUs independently, so two pods "
    "can get the same GPU.",
    fix=f"Add {EXCLUSION} to every node-selector term of the device plugin, because a "
    "node needs to match only one of the terms. If the cloud has its own "
    "plugin, label the pool as the finding shows.",
    level="mandatory",
    is_outage=True,
    needs="pools",
    check=check,
)
