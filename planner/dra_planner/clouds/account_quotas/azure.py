"""Quotas of `az vm list-usage --location REGION -o json`: vCPUs of families of VM sizes, and their
usage.

Names of families: https://learn.microsoft.com/azure/quotas/per-vm-quota-requests (seen 2026-11).
The export doesn't list the sizes of a family. A size belongs to a family if the letters, the
accelerator, and the version in its name belong to only one family.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from dra_planner.catalog import machines, machines_without_accelerators
from dra_planner.clouds.account_quotas.quota import AccountQuota
from dra_planner.documents.plain_values import block, number, text

CLOUD: Final = "aks"
_SIZE: Final = re.compile(
    r"Standard_(?P<letters>[A-Z]+)\d+(?:-\d+)?(?P<features>[a-z]*)"
    r"(?:_(?P<chip>[A-Z][A-Za-z0-9]*))?(?:_v(?P<version>\d+))?"
)
_SPOT: Final = "lowPriorityCores"


def is_azure(data: Any) -> bool:
    """Return whether plain data is such an export."""
    return isinstance(data, list) and any(
        isinstance(each, Mapping)
        and "currentValue" in each
        and text(block(each, "name").get("value"))
        for each in data
    )


def read_azure(data: Sequence[Any]) -> Iterator[AccountQuota]:
    """Yield the quotas of VM families that have sizes in the catalog, and the quota of Spot VMs."""
    rows = [each for each in data if isinstance(each, Mapping)]
    families = [text(block(each, "name").get("value")) for each in rows]
    sizes = [each.name for each in (*machines(CLOUD), *machines_without_accelerators(CLOUD))]
    members: dict[str, list[str]] = {}
    for size in sizes:
        fitting = [family for family in families if _is_of(size, family)]
        if len(fitting) == 1:
            members.setdefault(fitting[0], []).append(size)
    for row, family in zip(rows, families, strict=True):
        limit = number(row.get("limit"))
        if limit is None or not (family in members or family == _SPOT):
            continue
        yield AccountQuota(
            name=text(row.get("localName"))
            or text(block(row, "name").get("localizedValue"))
            or family,
            unit="vcpus",
            limit=limit,
            used=number(row.get("currentValue")) or 0,
            machines=tuple(members.get(family, ())),
            capacity=("spot",) if family == _SPOT else ("on-demand", "reservation"),
            request=partial(_request, family),
        )


def _is_of(size: str, family: str) -> bool:
    """Return whether a size can belong to a family.

    Standard_NC64as_T4_v3 belongs to standardNCASv3_T4Family.
    """
    found = _SIZE.fullmatch(size)
    if found is None or not family.lower().endswith("family"):
        return False
    name = family[: -len("family")].lower().removeprefix("standard").replace("_", "")
    chip, version = (
        (found["chip"] or "").lower(),
        f"v{found['version']}" if found["version"] else "",
    )
    for part in filter(None, (chip, version)):
        if part not in name:
            return False
        name = name.replace(part, "", 1)
    letters = found["letters"].lower()
    features = found["features"] or ""
    if not name.startswith(letters) or "v" in name[len(letters) :].strip("adeilmprstb"):
        return False
    return all(letter in f"{features}s" for letter in name[len(letters) :])


def _request(family: str, limit: int) -> str:
    scope = "/subscriptions/SUBSCRIPTION/providers/Microsoft.Compute/locations/REGION"
    amount = f"--limit-object value={limit} --resource-type dedicated"
    return f"az quota update --resource-name {family} --scope {scope} {amount}"
