"""Pools with contradictory settings, which their cloud rejects: counts, names, templates, labels,
and taints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, get_args

from dra_planner.clouds import cloud
from dra_planner.clouds.protocol.resources import CountLimits
from dra_planner.clouds.protocol.setting_faults import label_value_fault
from dra_planner.model.nodes import TaintEffect
from dra_planner.wording import either, one_or_more
from dra_policies.rules.api_values import rejected_values
from dra_policies.rules.cluster.addon_values import rejected_addon_values
from dra_policies.rules.cluster.control_plane_zones import too_few_zones
from dra_policies.rules.cluster.maintenance_time import too_little_maintenance
from dra_policies.rules.cluster.system_pools import clusters_without_system_pool
from dra_policies.rules.pools.existing_entries import associations_without_entry, entries_that_exist
from dra_policies.rules.pools.launch_templates import RejectedPool, template_faults
from dra_policies.rules.resource_rows import rows_that_break
from dra_policies.rules.rule import Finding, Rule, sentence
from dra_policies.view.stack_view import DeclaredPool, StackView

_OF_KUBERNETES: Final = ("kubernetes.io", "k8s.io")
# the kubelet rejects labels in these domains: kubernetes/kubernetes:pkg/kubelet/apis
_RESERVED: Final = re.compile(r"(?!(.+\.)?(kubelet|node)\.).+\.(kubernetes\.io|k8s\.io)")
_OF_KUBELET: Final = (
    "topology.kubernetes.io",
    "failure-domain.beta.kubernetes.io",
    "beta.kubernetes.io",
)


def check(view: StackView) -> Iterator[Finding]:
    broken = list(rows_that_break(view, RULE.id))
    for row in broken:
        yield row.finding
    yield from rejected_values(view, {place for row in broken for place in row.places})
    yield from rejected_addon_values(view)
    yield from entries_that_exist(view)
    yield from associations_without_entry(view)
    yield from too_few_zones(view)
    yield from too_little_maintenance(view)
    yield from clusters_without_system_pool(view)
    for pool in view.pools:
        for problem, fix in _faults(pool):
            yield Finding(message=sentence(pool.title, problem), fix=fix, urn=pool.urn)


def _faults(pool: DeclaredPool) -> Iterator[RejectedPool]:
    if not pool.own.values or pool.own.has("spec.template"):
        # pools of a plan have the labels that their nodes will have; Karpenter sets labels that
        # users can't set
        return
    yield from _counts(pool)
    yield from _upgrades(pool)
    yield from _labels(pool)
    yield from _effects(pool)
    yield from template_faults(pool)
    yield from _name_and_zones(pool)
    yield from _taints_of_system_pools(pool)


def _counts(pool: DeclaredPool) -> Iterator[RejectedPool]:
    """Yield contradictory counts. GKE adds nodes up to the minimum itself."""
    paths = cloud(pool.cloud).pool
    for limits in paths.limits if not pool.is_fixed else ():
        low, high = pool.own.count(limits.minimum, -1), pool.own.count(limits.maximum, -1)
        if low is None or high is None or high < 0:
            continue
        if low > high:
            yield RejectedPool(
                f"its minimum node count ({low}) is greater than its maximum ({high})",
                fix=f"set {limits.minimum} to {high} or less, or set {limits.maximum} to "
                f"{low} or more",
            )
            return
        path = next((each for each in paths.desired if pool.own.has(each)), paths.desired[0])
        wanted = _initial_count(pool, path, limits)
        if wanted is None or wanted < 0:
            continue
        if wanted > high:
            yield RejectedPool(
                f"its initial node count ({wanted}) is greater than its maximum ({high})",
                fix=f"set {path} to {high} or less, or set {limits.maximum} to {wanted} or more",
            )
        elif wanted < low and not paths.desired_per_zone:
            yield RejectedPool(
                f"its initial node count ({wanted}) is lower than its minimum ({low})",
                fix=f"set {path} to {low} or more, or set {limits.minimum} to {wanted} or less",
            )


def _initial_count(pool: DeclaredPool, path: str, limits: CountLimits) -> int | None:
    """Return the initial count to compare with these limits, or None if it's unknown. On GKE, the
    count is per zone.
    """
    paths = cloud(pool.cloud).pool
    wanted = pool.own.count(path, -1)
    if not paths.desired_per_zone or limits.per_zone or wanted is None:
        return wanted
    zones = pool.own.texts(paths.zones) if paths.zones else None
    return wanted * len(zones) if zones else None


def _upgrades(pool: DeclaredPool) -> Iterator[RejectedPool]:
    """Yield an upgrade that replaces more nodes at the same time than the cloud allows."""
    paths, most = cloud(pool.cloud).pool.upgrade_sum
    counts = [pool.own.count(path, 0) for path in paths]
    total = sum(count or 0 for count in counts)
    if total > most:
        names = " and ".join(paths)
        yield RejectedPool(
            f"it upgrades {total} nodes at a time, but {cloud(pool.cloud).title} allows at most {most}",
            fix=f"lower {names} so that their sum is at most {most}",
        )


def _labels(pool: DeclaredPool) -> Iterator[RejectedPool]:
    """Yield labels that the cloud rejects from users. This project's own labels are ignored
    here.
    """
    of_cloud = cloud(pool.cloud)
    for key, value in (pool.labels or {}).items():
        domain = key.rpartition("/")[0]
        if value is not None and _RESERVED.fullmatch(domain) and domain not in _OF_KUBELET:
            yield RejectedPool(
                f'the label "{key}" prevents the kubelet from starting, because Kubernetes '
                "reserves the label's domain",
                fix=f'remove the label "{key}", or use your own domain',
            )
            continue
        if value and (fault := label_value_fault(value)):
            yield RejectedPool(
                f'the label "{key}" prevents the kubelet from starting, because {fault}',
                fix=f'correct the value of the label "{key}"',
            )
            continue
        taken = domain in (*_OF_KUBERNETES, *of_cloud.reserved_domains)
        certain = taken or not value or of_cloud.labels_are_judged
        if value is None or not certain or key in of_cloud.reserved_labels:
            continue
        if rejection := of_cloud.label_fault(key, value):
            yield RejectedPool(
                rejection.problem,
                fix=f'remove the label "{key}", or {rejection.fix}'
                if rejection.fix
                else "shorten the label's key",
            )


def _effects(pool: DeclaredPool) -> Iterator[RejectedPool]:
    """Yield effects spelled as in Kubernetes, if the cloud spells them differently (EKS API
    reference, Taint).
    """
    of_cloud = cloud(pool.cloud)
    for item in pool.own.items("taints") or () if of_cloud.taint_effects else ():
        effect = item.text("effect")
        if effect and effect not in of_cloud.taint_effects:
            intended = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", effect).upper()
            is_known = effect in get_args(TaintEffect)
            effects = f'"{intended}"' if is_known else either(of_cloud.taint_effects)
            yield RejectedPool(
                f'{of_cloud.title} doesn\'t support the taint effect "{effect}"',
                fix=f"set the taint's effect to {effects}",
            )


def _name_and_zones(pool: DeclaredPool) -> Iterator[RejectedPool]:
    """Yield names and zones that the cloud rejects, if it has a pattern for names or a list of
    zones.
    """
    of_cloud = cloud(pool.cloud)
    name = pool.own.text("agentPoolName") or pool.own.text("name")
    if name and of_cloud.pool_name_pattern and not re.fullmatch(of_cloud.pool_name_pattern, name):
        most = of_cloud.longest_pool_name
        yield RejectedPool(
            f'{of_cloud.title} rejects the agent pool name "{name}", because a name must have 1 to '
            f"{most} lowercase letters or digits, and start with a letter",
            fix=f'rename the pool (for example, to "{of_cloud.pool_name(name)}")',
        )
    known = of_cloud.zone_names
    wrong = [
        zone
        for zone in (pool.own.texts(of_cloud.pool.zone_list) if known else None) or ()
        if zone and zone not in known
    ]
    if wrong:
        fix = f"use {one_or_more('zone', known)}"
        yield RejectedPool(f'{of_cloud.title} doesn\'t have a zone "{wrong[0]}"', fix=fix)


def _taints_of_system_pools(pool: DeclaredPool) -> Iterator[RejectedPool]:
    """Yield taints on pools whose mode doesn't support taints."""
    of_cloud = cloud(pool.cloud)
    key, value = of_cloud.system_mode
    for taint in pool.taints or () if key and pool.own.text(key) == value else ():
        if taint.key != "CriticalAddonsOnly" and taint.effect != "PreferNoSchedule":
            problem = (
                f"it is a system pool, but {of_cloud.title} doesn't support the {taint.key} taint "
                "on system pools"
            )
            yield RejectedPool(problem, fix=f'set {key} to "User"')


RULE = Rule(
    id="pool-refused-by-cloud",
    description="The cloud rejects a setting on a pool, on its cluster, or on a resource that the nodes "
    "use.",
    why="The update fails when it creates or changes the pool, often after it has already "
    "created the cluster.",
    fix="Set each value only once, and keep minimum ≤ desired ≤ maximum.",
    level="mandatory",
    needs="stack",
    check=check,
)
