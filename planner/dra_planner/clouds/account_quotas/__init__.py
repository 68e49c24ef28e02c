"""Quotas of cloud accounts, as the clouds' own commands export them.

read_account_quotas(data) -> the cloud and its quotas, or None for data that no such command prints
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.clouds.account_quotas import azure, compute_engine, ec2
from dra_planner.clouds.account_quotas.quota import AccountQuota

__all__ = ["AccountQuota", "read_account_quotas"]

_LONGEST_NAME: Final = 120


def read_account_quotas(data: Any) -> tuple[str, tuple[AccountQuota, ...]] | None:
    """Return the cloud of an export, and its quotas that count machine types.

    Returns None for other data.
    """
    if ec2.is_ec2(data):
        return ec2.CLOUD, _with_readable_names(ec2.read_ec2(data))
    if azure.is_azure(data):
        return azure.CLOUD, _with_readable_names(azure.read_azure(data))
    if compute_engine.is_compute_engine(data):
        return compute_engine.CLOUD, _with_readable_names(compute_engine.read_compute_engine(data))
    return None


def _with_readable_names(quotas: Iterable[AccountQuota]) -> tuple[AccountQuota, ...]:
    """Return the quotas whose names a fleet can use: short names with only printable characters."""
    return tuple(
        replace(each, name="".join(filter(str.isprintable, each.name))[:_LONGEST_NAME] or each.unit)
        for each in quotas
    )
