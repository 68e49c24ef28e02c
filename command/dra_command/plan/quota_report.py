"""The quotas of a cloud account, from `plan --quotas FILE`. They are added to the fleet and
compared with the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from dra_command.command_line.arguments import UsageError
from dra_planner.clouds.account_quotas import AccountQuota, read_account_quotas
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import Place
from dra_planner.fleet import Fleet
from dra_planner.plan import Plan
from dra_planner.plan.pools.account_quotas import fleet_quotas, pools_without_quota, quota_uses
from dra_planner.sources import read_file
from dra_planner.wording import verb

_UNITS = {"vcpus": "vCPUs", "gpus": "GPUs"}


class AccountQuotas(Struct, frozen=True):
    """The quotas of an account, for a fleet without them."""

    fleet: Fleet
    quotas: tuple[AccountQuota, ...]

    def limited_fleet(self) -> Fleet:
        """Return the fleet with the quotas."""
        return self.fleet.model_copy(
            update={"quotas": [*self.fleet.quotas, *fleet_quotas(self.quotas)]}
        )

    def report(self, plan: Plan, plan_without: Callable[[], Plan]) -> Iterator[str]:
        """Yield a sentence for each quota that is too small, with the command that requests an
        increase.

        `plan_without` computes a plan without the quotas, to determine the nodes that the workloads
        need.
        """
        needed = plan if plan.running == "fits" else plan_without()
        nodes = {pool.name: pool.nodes.desired for pool in needed.pools}
        for use in quota_uses(self.fleet, self.quotas, nodes):
            unit, quota = _UNITS[use.quota.unit], use.quota
            used = f", of which {quota.used} are used" if quota.used else ""
            has = f"the account's limit is {quota.limit}{used}"
            if use.missing:
                yield (
                    f"quota {quota.name}: the plan needs {use.planned} {unit}, but {has}, so "
                    f"{use.missing} {verb(use.missing, 'are')} missing. To request an increase, "
                    f"run `{self._request(quota, quota.used + use.planned)}`"
                )
            elif use.at_most > quota.free:
                yield (
                    f"quota {quota.name}: the plan needs {use.planned} {unit}, and the pools need "
                    f"{use.at_most} at their maximum size, but {has}. To request an increase, run "
                    f"`{self._request(quota, quota.used + use.at_most)}`"
                )
        for name in pools_without_quota(self.fleet, self.quotas):
            yield (
                f"pool {name}: the file doesn't contain a quota for its machine type, so its "
                "limit is unknown"
            )

    def _request(self, quota: AccountQuota, limit: int) -> str:
        return quota.request(limit).replace("REGION", self.fleet.region)


def read_quotas(path: str, fleet: Fleet) -> AccountQuotas:
    """Return the quotas in a file. Raises PlannerError if the file isn't a quota export, or is from
    another cloud.
    """
    found = read_account_quotas(_data(path))
    if found is None:
        raise UsageError(
            "isn't an export of account quotas",
            place=Place(path),
            fix="save the output of `aws service-quotas list-service-quotas --service-code ec2`, "
            "`az vm list-usage`, or `gcloud compute regions describe`",
        )
    name, quotas = found
    if name != fleet.cloud:
        title = name.upper()
        raise UsageError(
            f"contains quotas for {title}, but the fleet is on {fleet.cloud.upper()}",
            place=Place(path),
            fix="pass the quotas of the fleet's account",
        )
    return AccountQuotas(fleet, _counting(quotas))


def _counting(quotas: Sequence[AccountQuota]) -> tuple[AccountQuota, ...]:
    """Return one quota for each name, because a fleet requires unique names."""
    return tuple({quota.name: quota for quota in quotas}.values())


def _data(path: str) -> Any:
    try:
        return read_yaml(read_file(path).text)[0]
    except Fault as fault:
        raise UsageError(
            f"can't be read: {fault.message}", place=Place(path, fault.line), fix=fault.fix
        ) from None
