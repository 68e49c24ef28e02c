"""Quotas of the cloud account that a stack sets too low for its own pools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from dra_planner.clouds.account_quotas import AccountQuota, read_account_quotas
from dra_planner.clouds.account_quotas.ec2 import QUOTA_NAMES
from dra_planner.wording import counted
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import is_spot, known_machine
from dra_policies.view.stack_view import DeclaredPool, DeclaredResource, StackView

_OF_EC2: Final = "aws:servicequotas/serviceQuota:ServiceQuota"
_OF_COMPUTE_ENGINE: Final = "gcp:cloudquota/sQuotaPreference:SQuotaPreference"
_PER_REGION: Final = "-per-project-region"


def check(view: StackView) -> Iterator[Finding]:
    for each in view.declared if view.complete else ():
        found = read_account_quotas(_export(each))
        cloud_name, quotas = found or ("", ())
        for quota in quotas:
            yield from _of_quota(view, each, cloud_name, quota)


def _export(resource: DeclaredResource) -> Mapping[str, Any]:
    """Return a resource in the form in which the cloud's command exports its quota, or {}."""
    props = resource.props
    if resource.type == _OF_EC2:
        name, value = QUOTA_NAMES.get(props.text("quotaCode") or ""), props.count("value", -1)
        row = {"QuotaCode": props.text("quotaCode"), "QuotaName": name, "Value": value}
        return {"Quotas": [row]} if name and value is not None and value >= 0 else {}
    if resource.type == _OF_COMPUTE_ENGINE:
        quota, value = props.text("quotaId") or "", props.count("quotaConfig.preferredValue", -1)
        metric = quota.removesuffix(_PER_REGION).replace("-", "_")
        row = {"metric": metric, "limit": value}
        return {"quotas": [row]} if metric and value is not None and value >= 0 else {}
    return {}


def _of_quota(
    view: StackView, resource: DeclaredResource, cloud_name: str, quota: AccountQuota
) -> Iterator[Finding]:
    pools = [pool for pool in view.node_pools if _counts(quota, pool, cloud_name)]
    needed = sum((pool.count_max or 0) * _units(quota, pool) for pool in pools)
    if pools and needed > quota.limit:
        nodes = sum(pool.count_max or 0 for pool in pools)
        unit = {"vcpus": "vCPU", "gpus": "GPU"}[quota.unit]
        yield Finding(
            message=f'quota "{resource.name}" ({quota.name}) allows {counted(quota.limit, unit)}, but '
            f"{pools[0].title}{' and others' if len(pools) > 1 else ''} can grow to "
            f"{counted(nodes, 'node')}{' in total' if len(pools) > 1 else ''}, which need "
            f"{counted(needed, unit)}",
            fix=f"raise the quota to at least {needed}, or lower the maximum node count of the "
            f"{'pool' if len(pools) == 1 else 'pools'}",
            urn=resource.urn,
        )


def _counts(quota: AccountQuota, pool: DeclaredPool, cloud_name: str) -> bool:
    """Return whether a quota certainly counts the nodes of a pool."""
    spot = is_spot(pool)
    return (
        pool.cloud == cloud_name
        and known_machine(cloud_name, pool.machine) is not None
        and spot is not None
        and ("spot" if spot else "on-demand") in quota.capacity
        and any(fnmatchcase(pool.machine or "", each) for each in quota.machines)
    )


def _units(quota: AccountQuota, pool: DeclaredPool) -> int:
    machine = known_machine(pool.cloud, pool.machine)
    if machine is None:
        return 0
    return (machine.vcpus if quota.unit == "vcpus" else machine.gpu_count) or 0


RULE = Rule(
    id="account-quota-too-small",
    description="The account quota that the stack requests is too small for its pools.",
    why="The cloud rejects new nodes, so pods stay pending, and the update can fail.",
    fix="Request enough quota for the maximum size of all pools that count toward it.",
    level="mandatory",
    url="https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html",
    needs="stack",
    check=check,
)
