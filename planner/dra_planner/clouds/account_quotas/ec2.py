"""Quotas of `aws service-quotas list-service-quotas --service-code ec2`: vCPUs of families of
machine types.

Names of quotas: https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html (seen
2026-11). The command doesn't state usage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from dra_planner.clouds.account_quotas.quota import AccountQuota
from dra_planner.documents.plain_values import blocks, text, whole

CLOUD: Final = "eks"
_ON_DEMAND: Final = re.compile(r"Running On-Demand (?P<families>.+?) instances")
_SPOT: Final = re.compile(r"All (?P<families>.+?) Spot Instance Requests")
_STANDARD: Final = re.compile(r"Standard \((?P<families>[^)]*)\)")
QUOTA_NAMES: Final[Mapping[str, str]] = {
    "L-417A185B": "Running On-Demand P instances",
    "L-DB2E81BA": "Running On-Demand G and VT instances",
    "L-7212CCBC": "All P4, P3 and P2 Spot Instance Requests",
    "L-C4BD4855": "All P5 Spot Instance Requests",
    "L-3819A6DF": "All G and VT Spot Instance Requests",
}
"""The names of the quotas of GPU instances, by the codes that stay the same in every region."""
_KINDS: Final = ((_ON_DEMAND, ("on-demand", "reservation")), (_SPOT, ("spot",)))


def is_ec2(data: Any) -> bool:
    """Return whether plain data is such an export."""
    return isinstance(data, Mapping) and any("QuotaCode" in each for each in blocks(data, "Quotas"))


def read_ec2(data: Mapping[str, Any]) -> Iterator[AccountQuota]:
    """Yield the quotas of instances."""
    for row in blocks(data, "Quotas"):
        name, limit = text(row.get("QuotaName")), whole(row.get("Value"))
        for pattern, capacity in _KINDS:
            found = pattern.fullmatch(name)
            if found is not None and limit is not None:
                families = _STANDARD.sub(lambda match: match["families"], found["families"])
                yield AccountQuota(
                    name=name,
                    unit="vcpus",
                    limit=limit,
                    used=0,
                    machines=tuple(
                        _pattern(each) for each in re.split(r",\s*|\s+and\s+", families) if each
                    ),
                    capacity=capacity,
                    request=partial(_request, text(row.get("QuotaCode"))),
                )


def _pattern(family: str) -> str:
    """Return the pattern of a family of machine types. G includes g4dn, g5, and g6.

    P5 includes p5, p5e, and p5en.
    """
    return f"{family.lower()}*.*" if family[-1].isdigit() else f"{family.lower()}[0-9]*.*"


def _request(code: str, limit: int) -> str:
    return (
        f"aws service-quotas request-service-quota-increase --service-code ec2 --quota-code {code} "
        f"--desired-value {limit} --region REGION"
    )
